//! The likeliest ratings, and how sure they are.

use super::link::Link;
use super::matrix::{Matrix, dot, inverse, product};

const STEPS: usize = 200;
const CLOSE_ENOUGH: f64 = 1e-10;

/// The score that a difference of ratings predicts.
pub(super) fn expected(difference: f64) -> f64 {
    1.0 / (1.0 + (-difference).exp())
}

/// Everything that decides on the ratings.
pub(super) struct Fit<'a> {
    pub(super) unknowns: usize,
    pub(super) unknown: &'a dyn Fn(usize) -> Option<usize>,
    pub(super) links: Vec<Link>,
}

impl Fit<'_> {
    /// The score that is expected of a link's first player.
    fn score(&self, at: &[f64], link: &Link) -> f64 {
        let rating = |player: usize| (self.unknown)(player).map_or(0.0, |unknown| at[unknown]);
        expected(rating(link.first) - rating(link.second))
    }

    /// The unknowns that a link depends on, each with the sign of its rating in the difference.
    fn ends(&self, link: &Link) -> impl Iterator<Item = (usize, f64)> + Clone {
        let end = |player: usize, sign: f64| (self.unknown)(player).map(|unknown| (unknown, sign));
        [end(link.first, 1.0), end(link.second, -1.0)].into_iter().flatten()
    }

    /// Newton's method, with steps of at most 1 so that it cannot run away from far starts.
    pub(super) fn maximum(&self) -> Vec<f64> {
        let mut at = vec![0.0; self.unknowns];
        for _ in 0..STEPS {
            let mut slope = vec![0.0; self.unknowns];
            for link in &self.links {
                let missing = link.points() - link.games() * self.score(&at, link);
                self.ends(link).for_each(|(unknown, sign)| slope[unknown] += sign * missing);
            }
            let inverse = inverse(&self.information(&at));
            let step: Vec<f64> = inverse.iter().map(|row| dot(row, &slope)).collect();
            let longest = step.iter().fold(1.0_f64, |longest, step| longest.max(step.abs()));
            at.iter_mut().zip(&step).for_each(|(at, step)| *at += step / longest);
            if step.iter().all(|step| step.abs() < CLOSE_ENOUGH) {
                break;
            }
        }
        at
    }

    /// H: minus the second derivatives of the log-likelihood.
    fn information(&self, at: &[f64]) -> Matrix {
        self.summed(|link| {
            let score = self.score(at, link);
            link.games() * score * (1.0 - score)
        })
    }

    /// J: the scatter of the pairs' slopes.
    fn scatter(&self, at: &[f64]) -> Matrix {
        self.summed(|link| link.scatter(self.score(at, link)))
    }

    fn summed(&self, weight: impl Fn(&Link) -> f64) -> Matrix {
        let mut sum = vec![vec![0.0; self.unknowns]; self.unknowns];
        for link in &self.links {
            let weight = weight(link);
            for (row, a) in self.ends(link) {
                for (column, b) in self.ends(link) {
                    sum[row][column] += a * b * weight;
                }
            }
        }
        sum
    }

    pub(super) fn covariance(&self, at: &[f64]) -> Matrix {
        let model = inverse(&self.information(at));
        product(&product(&model, &self.scatter(at)), &model)
    }
}
