//! How games end.

use super::Side;

/// Why a game ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The side to move is mated.
    Checkmate,
    /// The side to move has no move and is not in check.
    Stalemate,
    /// Neither side can mate.
    InsufficientMaterial,
    /// The same position for the third time (FIDE 9.2, without a claim).
    Threefold,
    /// A hundred plies without a capture or a pawn move (FIDE 9.3, without a claim).
    FiftyMoves,
    /// The game reached its largest allowed length.
    PlyCap,
}

impl Reason {
    /// Every reason, for tables of counts.
    pub const ALL: [Self; 6] = [
        Self::Checkmate,
        Self::Stalemate,
        Self::InsufficientMaterial,
        Self::Threefold,
        Self::FiftyMoves,
        Self::PlyCap,
    ];

    /// The word that tables store.
    pub fn word(self) -> &'static str {
        match self {
            Self::Checkmate => "checkmate",
            Self::Stalemate => "stalemate",
            Self::InsufficientMaterial => "insufficient_material",
            Self::Threefold => "threefold",
            Self::FiftyMoves => "fifty_moves",
            Self::PlyCap => "ply_cap",
        }
    }
}

/// A finished game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// Who won; `None` for a draw.
    pub winner: Option<Side>,
    /// Why the game ended.
    pub reason: Reason,
}

impl Outcome {
    /// A draw.
    pub fn draw(reason: Reason) -> Self {
        Self { winner: None, reason }
    }

    /// 1 if this side won, 0 for a draw, −1 if it lost.
    pub fn score_for(self, side: Side) -> i8 {
        match self.winner {
            None => 0,
            Some(winner) if winner == side => 1,
            Some(_) => -1,
        }
    }
}

/// What ends a game besides the rules of chess.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// A game of this many plies, counted from its start position, is drawn.
    pub max_plies: u32,
}
