//! Proven results.

use crate::network::Wdl;

/// A proven result: of a node for its side to move, of an edge for the side that makes its move. Better results are greater.
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
    /// The result of a score: 1, 0 or −1.
    pub(super) fn of_score(score: i8) -> Self {
        match score {
            1 => Self::Win,
            0 => Self::Draw,
            _ => Self::Loss,
        }
    }

    /// Its name in tables, answers and explanations.
    pub fn name(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::Draw => "draw",
            Self::Win => "win",
        }
    }

    /// The same result for the opponent.
    pub(super) fn for_opponent(self) -> Self {
        match self {
            Self::Loss => Self::Win,
            Self::Draw => Self::Draw,
            Self::Win => Self::Loss,
        }
    }

    /// 1 or −1, or `draw_value` for a draw.
    pub fn value(self, draw_value: f64) -> f64 {
        match self {
            Self::Loss => -1.0,
            Self::Draw => draw_value,
            Self::Win => 1.0,
        }
    }

    /// Probability 1 of the result.
    pub(super) fn wdl(self) -> Wdl {
        match self {
            Self::Loss => Wdl::LOSS,
            Self::Draw => Wdl::DRAW,
            Self::Win => Wdl::WIN,
        }
    }
}
