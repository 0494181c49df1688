//! Which two players should meet next, and when ratings are good enough.
//!
//! Games between i and j measure the difference of their ratings. After K games with expected score s, a covariance Σ becomes
//! `Σ − k Σx xᵀΣ / (1 + k xᵀΣx)` with `x = e_i − e_j` and `k = K s (1 − s) / dispersion`, whatever the results: the Bayesian design of
//! experiments (Chaloner and Verdinelli 1995, sections 2 and 4). The pair chosen reduces the sum of the cubes of the ratings' variances
//! most: between A-optimality, the sum of variances, and the largest of them, which the widest interval belongs to (Kiefer 1975).

use super::Ratings;
use super::matrix::Matrix;
use super::model::{ELO, expected};

/// Whether two players, the smaller index first, may still meet.
pub type MayMeet<'a> = &'a dyn Fn([usize; 2]) -> bool;

impl Ratings {
    /// The width of the widest 95 % interval, in Elo; `None` while some player has no rating.
    pub fn widest(&self) -> Option<f64> {
        self.players.iter().try_fold(0.0_f64, |widest, rating| Some(widest.max(rating.as_ref()?.width())))
    }

    /// The two players, among those that may meet, whose next `games` games teach most; `None` if there are none whose games would change
    /// a rating.
    ///
    /// Groups that no game connects to the rated players come first: the first player of the largest meets the rated player nearest to
    /// the mean, which is the likeliest to be near an unknown strength.
    pub fn next_pair(&self, games: u32, may_meet: MayMeet<'_>) -> Option<[usize; 2]> {
        self.next_pairs(games, 1, may_meet).first().copied()
    }

    /// The pairs of the next `count` rounds of `games` each, if they are planned at once: each is chosen as if the ones before had been
    /// played. Fewer if no others would change a rating.
    pub fn next_pairs(&self, games: u32, count: usize, may_meet: MayMeet<'_>) -> Vec<[usize; 2]> {
        let mut pairs: Vec<[usize; 2]> =
            self.connecting().into_iter().filter(|pair| may_meet(*pair)).take(count).collect();
        let mut covariance = self.covariance.clone();
        while pairs.len() < count {
            let Some(pair) = self.most_informative(&covariance, f64::from(games), may_meet) else { break };
            covariance = self.after(&covariance, pair, f64::from(games));
            pairs.push(pair);
        }
        pairs
    }

    /// A pair for each group that is not connected to the rated players.
    fn connecting(&self) -> Vec<[usize; 2]> {
        let Some((rated, others)) = self.groups.split_first() else { return Vec::new() };
        let elo = |player: usize| self.players[player].map_or(0.0, |rating| rating.elo);
        let mean = rated.iter().map(|player| elo(*player)).sum::<f64>() / rated.len() as f64;
        let far = |player: &usize| (elo(*player) - mean).abs();
        let middle = rated.iter().copied().min_by(|a, b| far(a).total_cmp(&far(b)));
        let pair = |group: &Vec<usize>| middle.map(|middle| [middle.min(group[0]), middle.max(group[0])]);
        others.iter().filter_map(pair).collect()
    }

    /// The pair whose games reduce uncertainty most, the first of several.
    fn most_informative(&self, covariance: &Matrix, games: f64, may_meet: MayMeet<'_>) -> Option<[usize; 2]> {
        let players: &[usize] = self.groups.first().map_or(&[], Vec::as_slice);
        let mut best: Option<([usize; 2], f64)> = None;
        for (index, first) in players.iter().enumerate() {
            for second in &players[index + 1..] {
                let gain = self.gain(covariance, [*first, *second], games);
                if gain > best.map_or(0.0, |(_, gain)| gain) && may_meet([*first, *second]) {
                    best = Some(([*first, *second], gain));
                }
            }
        }
        best.map(|(pair, _)| pair)
    }

    /// By how much games of a pair reduce the sum of cubes, up to a factor and to the first order.
    fn gain(&self, covariance: &Matrix, [first, second]: [usize; 2], games: f64) -> f64 {
        let moved = |player: usize| covariance[player][first] - covariance[player][second];
        let precision = self.precision([first, second], games);
        let spread = moved(first) - moved(second);
        let reduced =
            (0..covariance.len()).map(|player| moved(player).powi(2) * covariance[player][player].powi(2));
        precision * reduced.sum::<f64>() / (1.0 + precision * spread)
    }

    /// What games of a pair add to the precision of the difference of its ratings, per Elo².
    fn precision(&self, [first, second]: [usize; 2], games: f64) -> f64 {
        let elo = |player: usize| self.players[player].map_or(0.0, |rating| rating.elo);
        let score = expected((elo(first) - elo(second)) / ELO);
        games * score * (1.0 - score) / (self.dispersion * ELO * ELO)
    }

    /// The covariance after games of a pair.
    fn after(&self, covariance: &Matrix, [first, second]: [usize; 2], games: f64) -> Matrix {
        let moved: Vec<f64> = covariance.iter().map(|row| row[first] - row[second]).collect();
        let precision = self.precision([first, second], games);
        let factor = precision / (1.0 + precision * (moved[first] - moved[second]));
        let row = |(row, a): (&Vec<f64>, &f64)| {
            row.iter().zip(&moved).map(|(cell, b)| cell - factor * a * b).collect()
        };
        covariance.iter().zip(&moved).map(row).collect()
    }
}
