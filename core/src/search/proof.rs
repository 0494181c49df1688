//! Results that are certain.

use crate::network::Wdl;

/// A certain result: of a node for its side to move, of a move for the side that makes it. Better results are greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Proof {
    /// Lost.
    Loss,
    /// Drawn.
    Draw,
    /// Won.
    Win,
}

impl Proof {
    /// Of a score: 1, 0 or −1.
    pub(super) fn of_score(score: i8) -> Self {
        match score {
            1 => Self::Win,
            0 => Self::Draw,
            _ => Self::Loss,
        }
    }

    /// The same result as the opponent sees it.
    pub(super) fn for_opponent(self) -> Self {
        match self {
            Self::Loss => Self::Win,
            Self::Draw => Self::Draw,
            Self::Win => Self::Loss,
        }
    }

    /// 1 or −1, or what a draw is worth.
    pub fn value(self, draw: f64) -> f64 {
        match self {
            Self::Loss => -1.0,
            Self::Draw => draw,
            Self::Win => 1.0,
        }
    }

    pub(super) fn wdl(self) -> Wdl {
        match self {
            Self::Loss => Wdl::LOSS,
            Self::Draw => Wdl::DRAW,
            Self::Win => Wdl::WIN,
        }
    }
}
