//! How games end.

use super::Side;
use crate::param_enum;

param_enum! {
    /// Why a game ended.
    pub enum Reason {
        /// The side to move is mated.
        Checkmate = "checkmate",
        /// The side to move has no move and is not in check.
        Stalemate = "stalemate",
        /// Neither side can ever give mate.
        InsufficientMaterial = "insufficient_material",
        /// The same position for the third time (FIDE 9.2, without a claim).
        Threefold = "threefold",
        /// A hundred plies without a capture or a pawn move (FIDE 9.3, without a claim).
        FiftyMoves = "fifty_moves",
        /// The game reached its largest allowed length.
        PlyCap = "ply_cap",
    }
}

/// Who won a game. For a player or for the side to move, results are numbers instead: 1, 0 or −1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GameResult {
    /// White won.
    WhiteWins,
    /// Drawn.
    Draw,
    /// Black won.
    BlackWins,
}

impl GameResult {
    /// From White's score: 1, 0 or −1; `None` for any other number.
    pub fn from_white_score(score: i8) -> Option<Self> {
        match score {
            1 => Some(Self::WhiteWins),
            0 => Some(Self::Draw),
            -1 => Some(Self::BlackWins),
            _ => None,
        }
    }

    /// Won by a side, or drawn.
    pub fn won_by(winner: Option<Side>) -> Self {
        match winner {
            Some(Side::White) => Self::WhiteWins,
            None => Self::Draw,
            Some(Side::Black) => Self::BlackWins,
        }
    }

    /// 1 if this side won, 0 for a draw, −1 if it lost.
    pub fn score_for(self, side: Side) -> i8 {
        let white = match self {
            Self::WhiteWins => 1,
            Self::Draw => 0,
            Self::BlackWins => -1,
        };
        if side == Side::White { white } else { -white }
    }

    /// As PGN has it: `1-0`, `1/2-1/2` or `0-1`.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::WhiteWins => "1-0",
            Self::Draw => "1/2-1/2",
            Self::BlackWins => "0-1",
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

    /// Who won.
    pub fn result(&self) -> GameResult {
        GameResult::won_by(self.winner)
    }

    /// 1 if this side won, 0 for a draw, −1 if it lost.
    pub fn score_for(self, side: Side) -> i8 {
        self.result().score_for(side)
    }
}

/// What ends a game besides the rules of chess.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// A game is drawn after this many plies from its start position.
    pub max_plies: u32,
}
