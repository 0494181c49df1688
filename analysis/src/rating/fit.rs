//! Maximum-likelihood ratings and their covariance.

use super::matrix::{Matrix, dot, inverse, product};
use super::pairing::Pairing;

const MAX_STEPS: usize = 200;
const TOLERANCE: f64 = 1e-10;

/// The expected score for a rating difference, on the logistic scale.
pub(super) fn expected(difference: f64) -> f64 {
    1.0 / (1.0 + (-difference).exp())
}

/// The likelihood of the ratings, given the results of all pairings.
pub(super) struct Fit<'a> {
    /// The number of unknown ratings.
    pub(super) unknowns: usize,
    /// The index of a player's unknown; `None` for the anchor, whose rating is 0.
    pub(super) unknown: &'a dyn Fn(usize) -> Option<usize>,
    pub(super) pairings: Vec<Pairing>,
}

impl Fit<'_> {
    /// The expected score of a pairing's first player.
    fn score(&self, ratings: &[f64], pairing: &Pairing) -> f64 {
        let rating = |player: usize| (self.unknown)(player).map_or(0.0, |unknown| ratings[unknown]);
        expected(rating(pairing.first) - rating(pairing.second))
    }

    /// The unknowns that a pairing depends on, each with the sign of its rating in the difference.
    fn ends(&self, pairing: &Pairing) -> impl Iterator<Item = (usize, f64)> + Clone {
        let end = |player: usize, sign: f64| (self.unknown)(player).map(|unknown| (unknown, sign));
        [end(pairing.first, 1.0), end(pairing.second, -1.0)].into_iter().flatten()
    }

    /// Newton's method, with steps of at most 1 so that it does not diverge from a distant start.
    pub(super) fn maximum(&self) -> Vec<f64> {
        let mut ratings = vec![0.0; self.unknowns];
        for _ in 0..MAX_STEPS {
            let mut gradient = vec![0.0; self.unknowns];
            for pairing in &self.pairings {
                let residual = pairing.points() - pairing.games() * self.score(&ratings, pairing);
                self.ends(pairing).for_each(|(unknown, sign)| gradient[unknown] += sign * residual);
            }
            let inverse = inverse(&self.information(&ratings));
            let step: Vec<f64> = inverse.iter().map(|row| dot(row, &gradient)).collect();
            let longest = step.iter().fold(1.0_f64, |longest, step| longest.max(step.abs()));
            ratings.iter_mut().zip(&step).for_each(|(rating, step)| *rating += step / longest);
            if step.iter().all(|step| step.abs() < TOLERANCE) {
                break;
            }
        }
        ratings
    }

    /// H: minus the second derivatives of the log-likelihood.
    fn information(&self, ratings: &[f64]) -> Matrix {
        self.summed(|pairing| {
            let score = self.score(ratings, pairing);
            pairing.games() * score * (1.0 - score)
        })
    }

    /// J: the variance of the scores (gradients of the log-likelihood) of the game pairs.
    fn score_variance(&self, ratings: &[f64]) -> Matrix {
        self.summed(|pairing| pairing.variance(self.score(ratings, pairing)))
    }

    fn summed(&self, weight: impl Fn(&Pairing) -> f64) -> Matrix {
        let mut sum = vec![vec![0.0; self.unknowns]; self.unknowns];
        for pairing in &self.pairings {
            let weight = weight(pairing);
            for (row, a) in self.ends(pairing) {
                for (column, b) in self.ends(pairing) {
                    sum[row][column] += a * b * weight;
                }
            }
        }
        sum
    }

    /// The sandwich estimate H⁻¹ J H⁻¹.
    pub(super) fn covariance(&self, ratings: &[f64]) -> Matrix {
        let model = inverse(&self.information(ratings));
        product(&product(&model, &self.score_variance(ratings)), &model)
    }
}
