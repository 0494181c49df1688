//! How well expected scores fit those that followed.

use serde::{Deserialize, Serialize};

/// Expected scores beside those that followed, in ten equal ranges of the expected score.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Calibration {
    ranges: [Range; 10],
}

#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
struct Range {
    count: f64,
    expected: f64,
    scored: f64,
}

impl Calibration {
    /// Adds a position: P(win) + P(draw) / 2, and the score of its game, 0, 1/2 or 1, both for the side to move.
    pub(super) fn add(&mut self, expected: f64, score: f64) {
        let ranges = self.ranges.len();
        let range = &mut self.ranges[((expected * ranges as f64) as usize).min(ranges - 1)];
        range.count += 1.0;
        range.expected += expected;
        range.scored += score;
    }

    /// Adds the positions of another one.
    pub(super) fn merge(&mut self, other: &Self) {
        for (own, other) in self.ranges.iter_mut().zip(&other.ranges) {
            own.count += other.count;
            own.expected += other.expected;
            own.scored += other.scored;
        }
    }

    /// The mean over positions of |expected − scored| of their range; not a number without positions.
    pub(super) fn error(&self) -> f64 {
        let count: f64 = self.ranges.iter().map(|range| range.count).sum();
        let distances = self.ranges.iter().map(|range| (range.expected - range.scored).abs());
        distances.sum::<f64>() / count
    }
}
