//! The games between two players.

use std::collections::BTreeMap;

use super::PairResult;

/// Extra drawn games for every two players that met.
const VIRTUAL_DRAWS: f64 = 1.0;

/// All games between two players.
pub(super) struct Pairing {
    pub(super) first: usize,
    pub(super) second: usize,
    /// For each pair of games: the number of games, and the first player's points.
    pairs: Vec<(f64, f64)>,
}

/// A pairing for every two players that met.
pub(super) fn pairings(results: &[PairResult]) -> Vec<Pairing> {
    let mut met: BTreeMap<(usize, usize), Vec<(f64, f64)>> = BTreeMap::new();
    for result in results {
        let (players, points) = if result.first < result.second {
            ((result.first, result.second), result.points)
        } else {
            ((result.second, result.first), result.games - result.points)
        };
        met.entry(players).or_default().push((result.games, points));
    }
    met.into_iter().map(|((first, second), pairs)| Pairing { first, second, pairs }).collect()
}

impl Pairing {
    /// Number of games, including the virtual draw.
    pub(super) fn games(&self) -> f64 {
        VIRTUAL_DRAWS + self.pairs.iter().map(|(games, _)| games).sum::<f64>()
    }

    /// The first player's points, including those of the virtual draw.
    pub(super) fn points(&self) -> f64 {
        0.5 * VIRTUAL_DRAWS + self.pairs.iter().map(|(_, points)| points).sum::<f64>()
    }

    /// The variance of the pairs' points about the first player's expected score: this pairing's part of J.
    pub(super) fn variance(&self, score: f64) -> f64 {
        let count = self.pairs.len() as f64;
        let squares: f64 = self.pairs.iter().map(|(games, points)| (points - games * score).powi(2)).sum();
        let model = self.pairs.iter().map(|(games, _)| games).sum::<f64>() * score * (1.0 - score);
        let pairs = if self.has_no_spread() { squares.max(model) } else { squares * count / (count - 1.0) };
        let half = 0.5 * VIRTUAL_DRAWS;
        pairs + half.powi(2) * ((1.0 - score).powi(2) + score.powi(2))
    }

    /// Whether the pairs cannot show a variance: there is only one, or all were won outright by the same player.
    fn has_no_spread(&self) -> bool {
        self.pairs.len() < 2
            || self.pairs.iter().all(|(_, points)| *points == 0.0)
            || self.pairs.iter().all(|(games, points)| points == games)
    }
}
