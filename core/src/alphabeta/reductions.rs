//! Late-move reductions: how many plies less deep a late move is searched at first.

use crate::math::ln;

/// Depths and move numbers that the table has; larger ones count as the last.
const SIZE: usize = 64;

/// By depth and the number of the move.
pub(super) struct Reductions(Vec<[i32; SIZE]>);

impl Reductions {
    /// `0.8 + ln(depth) · ln(move) / 2.3`, rounded down: the form on <https://www.chessprogramming.org/Late_Move_Reductions>, with
    /// constants near those of published engines.
    pub(super) fn new() -> Self {
        let reduction = |depth: usize, number: usize| {
            (0.8 + ln(depth.max(1) as f64) * ln(number.max(1) as f64) / 2.3) as i32
        };
        let row = |depth| std::array::from_fn(|number| reduction(depth, number));
        Self((0..SIZE).map(row).collect())
    }

    /// The plies for the move with a number, from 1, at a depth.
    pub(super) fn of(&self, depth: i32, number: usize) -> i32 {
        self.0[(depth.max(0) as usize).min(SIZE - 1)][number.min(SIZE - 1)]
    }
}

#[cfg(test)]
mod tests {
    use super::Reductions;

    #[test]
    fn later_moves_and_deeper_searches_are_reduced_more() {
        let reductions = Reductions::new();
        // 0.8 + ln 8 · ln 10 / 2.3 = 2.88.
        assert_eq!(
            [(1, 1), (8, 10), (63, 63), (200, 218)].map(|(depth, number)| reductions.of(depth, number)),
            [0, 2, 8, 8]
        );
        for depth in 1..63 {
            assert!(reductions.of(depth, 20) <= reductions.of(depth + 1, 20));
        }
    }
}
