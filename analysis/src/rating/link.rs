//! What two players played against each other.

use std::collections::BTreeMap;

use super::PairResult;

/// Games drawn that every two players who met are given besides their own.
const VIRTUAL_DRAWS: f64 = 1.0;

/// Everything that two players played against each other.
pub(super) struct Link {
    pub(super) first: usize,
    pub(super) second: usize,
    /// The games of each pair, and the first player's points of them.
    pairs: Vec<(f64, f64)>,
}

/// One link for every two players that met.
pub(super) fn links(results: &[PairResult]) -> Vec<Link> {
    let mut met: BTreeMap<(usize, usize), Vec<(f64, f64)>> = BTreeMap::new();
    for result in results {
        let (players, points) = if result.first < result.second {
            ((result.first, result.second), result.points)
        } else {
            ((result.second, result.first), result.games - result.points)
        };
        met.entry(players).or_default().push((result.games, points));
    }
    met.into_iter().map(|((first, second), pairs)| Link { first, second, pairs }).collect()
}

impl Link {
    /// Games, the virtual draw among them.
    pub(super) fn games(&self) -> f64 {
        VIRTUAL_DRAWS + self.pairs.iter().map(|(games, _)| games).sum::<f64>()
    }

    /// The first player's points, those of the virtual draw among them.
    pub(super) fn points(&self) -> f64 {
        0.5 * VIRTUAL_DRAWS + self.pairs.iter().map(|(_, points)| points).sum::<f64>()
    }

    /// How far the points of pairs scatter about the score that is expected of the first player: this link's part of J.
    pub(super) fn scatter(&self, score: f64) -> f64 {
        let count = self.pairs.len() as f64;
        let squares: f64 = self.pairs.iter().map(|(games, points)| (points - games * score).powi(2)).sum();
        let model = self.pairs.iter().map(|(games, _)| games).sum::<f64>() * score * (1.0 - score);
        let own =
            if self.says_nothing_of_scatter() { squares.max(model) } else { squares * count / (count - 1.0) };
        let half = 0.5 * VIRTUAL_DRAWS;
        own + half.powi(2) * ((1.0 - score).powi(2) + score.powi(2))
    }

    /// One pair has no scatter, and pairs that are all as one-sided as can be show none.
    fn says_nothing_of_scatter(&self) -> bool {
        self.pairs.len() < 2
            || self.pairs.iter().all(|(_, points)| *points == 0.0)
            || self.pairs.iter().all(|(games, points)| points == games)
    }
}
