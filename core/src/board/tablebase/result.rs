//! The result that a table has for a position.

use std::ops::Neg;

use shakmaty_syzygy::Wdl;

/// The result of perfect play for the side to move, from the worst to the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TablebaseResult {
    /// Lost.
    Loss,
    /// A draw by the fifty-move rule alone; lost without it.
    BlessedLoss,
    /// Drawn.
    Draw,
    /// A draw by the fifty-move rule alone; won without it.
    CursedWin,
    /// Won.
    Win,
}

impl TablebaseResult {
    /// The score under the fifty-move rule: 1 for a win, −1 for a loss, 0 for the three kinds of draws.
    pub fn outcome(self) -> i8 {
        match self {
            Self::Loss => -1,
            Self::BlessedLoss | Self::Draw | Self::CursedWin => 0,
            Self::Win => 1,
        }
    }
}

/// The same result from the opponent's side.
impl Neg for TablebaseResult {
    type Output = Self;

    fn neg(self) -> Self {
        match self {
            Self::Loss => Self::Win,
            Self::BlessedLoss => Self::CursedWin,
            Self::Draw => Self::Draw,
            Self::CursedWin => Self::BlessedLoss,
            Self::Win => Self::Loss,
        }
    }
}

impl From<Wdl> for TablebaseResult {
    fn from(wdl: Wdl) -> Self {
        match wdl {
            Wdl::Loss => Self::Loss,
            Wdl::BlessedLoss => Self::BlessedLoss,
            Wdl::Draw => Self::Draw,
            Wdl::CursedWin => Self::CursedWin,
            Wdl::Win => Self::Win,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::TablebaseResult::{BlessedLoss, CursedWin, Draw, Loss, Win};

    #[test]
    fn results_are_ordered_and_negate_for_the_opponent() {
        let all = [Loss, BlessedLoss, Draw, CursedWin, Win];
        assert!(all.is_sorted());
        let negated: Vec<_> = all.iter().rev().map(|&result| -result).collect();
        assert_eq!(negated, all);
        assert_eq!(all.map(super::TablebaseResult::outcome), [-1, 0, 0, 0, 1]);
    }
}
