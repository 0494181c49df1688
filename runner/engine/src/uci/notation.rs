//! How moves are written.

use dc0_core::board::{Move, Position};

/// What `UCI_Chess960` decides: whether castling is always written as the king's move to its rook. Otherwise it is written so only
/// where standard chess has no such castling.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Notation {
    pub(super) is_chess960: bool,
}

impl Notation {
    /// A legal move of a position.
    pub(super) fn text(self, position: &Position, mv: Move) -> String {
        let mv = if self.is_chess960 { position.to_rook(mv) } else { mv };
        mv.to_string()
    }

    /// The moves of a line from a position.
    pub(super) fn line(self, start: &Position, moves: &[Move]) -> Vec<String> {
        if !self.is_chess960 {
            return moves.iter().map(ToString::to_string).collect();
        }
        let mut position = start.clone();
        let text = |mv: &Move| {
            let text = self.text(&position, *mv);
            position.play_unchecked(*mv, 0);
            text
        };
        moves.iter().map(text).collect()
    }
}
