//! Maximum-likelihood ratings and their covariance.

use super::matrix::{Matrix, dot, inverse, product};
use super::meetings::{Cluster, Meeting, Side};
use super::model::{Drawn, drawn, expected};
use crate::arena::sprt::bisect;

const MAX_STEPS: usize = 500;
const TOLERANCE: f64 = 1e-10;
/// Rounding of a log-likelihood.
const NOISE: f64 = 1e-9;

/// What the pairs' spread is worth before any has been seen: that of one pair between equals, as the model has it.
const PRIOR_SPREAD: f64 = 0.5;

/// A vector or a symmetric matrix in the two directions that a game's result depends on: the difference of the players' ratings, and
/// White's advantage.
type Two = [f64; 2];
type TwoByTwo = [[f64; 2]; 2];

/// Everything that is fitted: the ratings of the free players, and White's advantage as the last unknown.
pub(super) struct Fit<'a> {
    /// The ratings of the players that are not free, on the logistic scale.
    pub(super) fixed: &'a [f64],
    /// The index of a player's unknown; `None` for fixed players.
    pub(super) unknown: &'a [Option<usize>],
    pub(super) meetings: &'a [Meeting],
}

/// The maximum of the likelihood.
#[derive(Debug, Clone)]
pub(super) struct Maximum {
    /// The unknowns; the last one is White's advantage.
    pub(super) values: Vec<f64>,
    /// The sandwich estimate of their covariance.
    pub(super) covariance: Matrix,
    /// Minus the inverse of the second derivatives of the log-likelihood.
    inverse: Matrix,
    /// Variance of the pairs' points, as a share of what the model without draws predicts.
    pub(super) dispersion: f64,
    /// The logit of the draw rate of equal players, and its standard error.
    pub(super) draws: (f64, f64),
}

/// What is predicted for the games of a meeting.
struct Predicted {
    /// The first player's expected score with White, with Black.
    scores: Two,
    /// Games' draws with White, with Black.
    drawn: [Drawn; 2],
}

impl Fit<'_> {
    /// The number of unknowns.
    fn unknowns(&self) -> usize {
        1 + self.unknown.iter().flatten().count()
    }

    fn rating(&self, player: usize, values: &[f64]) -> f64 {
        self.unknown[player].map_or(self.fixed[player], |unknown| values[unknown])
    }

    /// The first player's expected score with White, with Black.
    fn scores(&self, meeting: &Meeting, values: &[f64]) -> Two {
        let difference = self.rating(meeting.first, values) - self.rating(meeting.second, values);
        let advantage = values[values.len() - 1];
        [expected(difference + advantage), expected(difference - advantage)]
    }

    /// The unknowns that a meeting depends on, each with its share of both directions.
    fn ends(&self, meeting: &Meeting) -> impl Iterator<Item = (usize, Two)> + Clone {
        let end = |player: usize, sign: f64| self.unknown[player].map(|unknown| (unknown, [sign, 0.0]));
        let advantage = Some((self.unknowns() - 1, [0.0, 1.0]));
        [end(meeting.first, 1.0), end(meeting.second, -1.0), advantage].into_iter().flatten()
    }

    /// The maximum of the likelihood of all ratings and White's advantage, then of the draw rate at these.
    pub(super) fn maximum(&self) -> Maximum {
        let values = self.newton();
        let inverse = inverse(&self.information(&values));
        let dispersion = self.dispersion(&values, &inverse);
        let variance = self.score_variance(&values, &inverse, dispersion);
        let covariance = product(&product(&inverse, &variance), &inverse);
        let draws = self.draws(&values, &inverse);
        Maximum { values, covariance, inverse, dispersion, draws }
    }

    /// Newton's method. Steps are at most 1, and halved until the likelihood rises, so that it arrives from a distant start.
    fn newton(&self) -> Vec<f64> {
        let count = self.unknowns();
        // Fixed players may be thousands of Elo from 0.
        let fixed: Vec<f64> = self
            .fixed
            .iter()
            .zip(self.unknown)
            .filter(|(_, free)| free.is_none())
            .map(|(fixed, _)| *fixed)
            .collect();
        let start = if fixed.is_empty() { 0.0 } else { fixed.iter().sum::<f64>() / fixed.len() as f64 };
        let mut values = vec![start; count];
        values[count - 1] = 0.0;
        let mut likelihood = self.log_likelihood(&values);
        for _ in 0..MAX_STEPS {
            let gradient = self.gradient(&values);
            let inverse = inverse(&self.information(&values));
            let step: Vec<f64> = inverse.iter().map(|row| dot(row, &gradient)).collect();
            let longest = step.iter().fold(1.0_f64, |longest, step| longest.max(step.abs()));
            let mut scale = 1.0 / longest;
            loop {
                let next: Vec<f64> =
                    values.iter().zip(&step).map(|(value, step)| value + scale * step).collect();
                let reached = self.log_likelihood(&next);
                if reached + NOISE >= likelihood || scale < 1e-6 {
                    (values, likelihood) = (next, reached);
                    break;
                }
                scale *= 0.5;
            }
            if step.iter().all(|step| step.abs() < TOLERANCE) {
                break;
            }
        }
        values
    }

    fn log_likelihood(&self, values: &[f64]) -> f64 {
        let of_side = |side: Side, score: f64| {
            side.points * score.max(f64::MIN_POSITIVE).ln()
                + (side.games - side.points) * (1.0 - score).max(f64::MIN_POSITIVE).ln()
        };
        let of = |meeting: &Meeting| {
            let [white, black] = self.scores(meeting, values);
            let all = meeting.clusters.iter().copied().chain(meeting.virtual_clusters());
            all.map(|c| c.count * (of_side(c.white, white) + of_side(c.black, black))).sum::<f64>()
        };
        self.meetings.iter().map(of).sum()
    }

    /// The first derivatives of the log-likelihood.
    fn gradient(&self, values: &[f64]) -> Vec<f64> {
        let mut gradient = vec![0.0; values.len()];
        for meeting in self.meetings {
            let scores = self.scores(meeting, values);
            let mut sum = [0.0; 2];
            for cluster in meeting.clusters.iter().copied().chain(meeting.virtual_clusters()) {
                let excess = cluster.excess(scores);
                (0..2).for_each(|axis| sum[axis] += cluster.count * excess[axis]);
            }
            self.ends(meeting).for_each(|(unknown, share)| gradient[unknown] += dot(&share, &sum));
        }
        gradient
    }

    /// H: minus the second derivatives of the log-likelihood.
    fn information(&self, values: &[f64]) -> Matrix {
        self.summed(|meeting| {
            let scores = self.scores(meeting, values);
            let all = meeting.clusters.iter().copied().chain(meeting.virtual_clusters());
            all.fold([[0.0; 2]; 2], |sum, cluster| plus(sum, cluster.count, cluster.variance(scores)))
        })
    }

    /// J: the variance of the gradient of the log-likelihood, from that of the clusters.
    fn score_variance(&self, values: &[f64], inverse: &Matrix, dispersion: f64) -> Matrix {
        self.summed(|meeting| {
            let scores = self.scores(meeting, values);
            let found = meeting.clusters.iter().fold([[0.0; 2]; 2], |sum, cluster| {
                let sum = plus(sum, cluster.count, outer(cluster.excess(scores)));
                plus(sum, cluster.count * dispersion, self.taken_up(meeting, cluster, scores, inverse))
            });
            meeting
                .virtual_clusters()
                .iter()
                .fold(found, |sum, cluster| plus(sum, cluster.count, outer(cluster.excess(scores))))
        })
    }

    /// The part of a cluster's variance that its residual lacks, since the ratings were fitted to it.
    fn taken_up(&self, meeting: &Meeting, cluster: &Cluster, scores: Two, inverse: &Matrix) -> TwoByTwo {
        let variance = cluster.variance(scores);
        let mut leverage = [[0.0; 2]; 2];
        for (row, a) in self.ends(meeting) {
            for (column, b) in self.ends(meeting) {
                let cell = inverse[row][column];
                (0..2).for_each(|x| (0..2).for_each(|y| leverage[x][y] += a[x] * b[y] * cell));
            }
        }
        times(times(variance, leverage), variance)
    }

    /// How much the points of pairs vary, relative to games that are independent and never drawn.
    fn dispersion(&self, values: &[f64], inverse: &Matrix) -> f64 {
        let (mut found, mut predicted) = (PRIOR_SPREAD, PRIOR_SPREAD);
        for meeting in self.meetings {
            let scores = self.scores(meeting, values);
            for cluster in &meeting.clusters {
                let rest =
                    cluster.variance(scores)[0][0] - self.taken_up(meeting, cluster, scores, inverse)[0][0];
                found += cluster.count * cluster.excess(scores)[0].powi(2);
                predicted += cluster.count * rest;
            }
        }
        found / predicted
    }

    fn summed(&self, part: impl Fn(&Meeting) -> TwoByTwo) -> Matrix {
        let mut sum = vec![vec![0.0; self.unknowns()]; self.unknowns()];
        for meeting in self.meetings {
            let part = part(meeting);
            for (row, a) in self.ends(meeting) {
                for (column, b) in self.ends(meeting) {
                    let cell = |x: usize, y: usize| a[x] * b[y] * part[x][y];
                    sum[row][column] += cell(0, 0) + cell(0, 1) + cell(1, 0) + cell(1, 1);
                }
            }
        }
        sum
    }

    /// The logit of the draw rate of equal players, at which as many draws are expected as were played, and its standard error.
    /// One virtual game between equals, drawn by half, keeps it finite.
    fn draws(&self, values: &[f64], inverse: &Matrix) -> (f64, f64) {
        let predicted: Vec<(&Meeting, Two)> =
            self.meetings.iter().map(|meeting| (meeting, self.scores(meeting, values))).collect();
        let excess = |logit: f64| -> f64 {
            let of = |(meeting, scores): &(&Meeting, Two)| {
                let chances = scores.map(|score| drawn(score, logit.exp()));
                meeting
                    .clusters
                    .iter()
                    .map(|cluster| cluster.count * cluster.excess_draws(chances))
                    .sum::<f64>()
            };
            0.5 - expected(logit) + predicted.iter().map(of).sum::<f64>()
        };
        let logit = bisect([-40.0, 40.0], 100, |logit| excess(logit) > 0.0);
        (logit, self.error_of_draws(logit, &predicted, inverse))
    }

    /// The standard error of the draw rate's logit, by clusters; it includes that of the ratings.
    fn error_of_draws(&self, logit: f64, predicted: &[(&Meeting, Two)], inverse: &Matrix) -> f64 {
        let rate = expected(logit);
        let mut slope = rate * (1.0 - rate);
        let mut by_unknown = vec![0.0; self.unknowns()];
        let all: Vec<(&Meeting, Predicted)> = predicted
            .iter()
            .map(|(meeting, scores)| {
                (
                    *meeting,
                    Predicted { scores: *scores, drawn: scores.map(|score| drawn(score, logit.exp())) },
                )
            })
            .collect();
        for (meeting, predicted) in &all {
            let mut sum = [0.0; 2];
            for cluster in &meeting.clusters {
                let [white, black] = predicted.slopes(cluster);
                sum[0] += cluster.count * (white + black);
                sum[1] += cluster.count * (white - black);
                slope += cluster.count
                    * (cluster.white.games * predicted.drawn[0].by_rate
                        + cluster.black.games * predicted.drawn[1].by_rate);
            }
            self.ends(meeting).for_each(|(unknown, share)| by_unknown[unknown] += dot(&share, &sum));
        }
        let moved: Vec<f64> = inverse.iter().map(|row| dot(row, &by_unknown)).collect();
        // The virtual game: half of it drawn, half of it decided.
        let mut variance = 0.25 * ((1.0 - rate).powi(2) + rate.powi(2));
        for (meeting, predicted) in &all {
            let mut along = [0.0; 2];
            self.ends(meeting).for_each(|(unknown, share)| {
                (0..2).for_each(|axis| along[axis] += share[axis] * moved[unknown]);
            });
            for cluster in &meeting.clusters {
                let residual =
                    cluster.excess_draws(predicted.drawn) - dot(&along, &cluster.excess(predicted.scores));
                variance += cluster.count * residual.powi(2);
            }
        }
        variance.sqrt() / slope.max(f64::MIN_POSITIVE)
    }

    /// The degrees of freedom of the variance of a combination of unknowns (Satterthwaite 1946): residuals of few clusters show a
    /// variance poorly. Infinite where the model gives all of it.
    pub(super) fn degrees(&self, maximum: &Maximum, combination: &[f64]) -> f64 {
        let moved: Vec<f64> = maximum.inverse.iter().map(|row| dot(row, combination)).collect();
        let (mut all, mut squares) = (0.0, 0.0);
        for meeting in self.meetings {
            let scores = self.scores(meeting, &maximum.values);
            let mut along = [0.0; 2];
            self.ends(meeting).for_each(|(unknown, share)| {
                (0..2).for_each(|axis| along[axis] += share[axis] * moved[unknown]);
            });
            for cluster in &meeting.clusters {
                let whole = maximum.dispersion * form(along, cluster.variance(scores));
                let taken_up = self.taken_up(meeting, cluster, scores, &maximum.inverse);
                let rest = whole - maximum.dispersion * form(along, taken_up);
                all += cluster.count * whole;
                squares += cluster.count * rest.powi(2);
            }
            let halves = meeting.virtual_clusters();
            all += halves.iter().map(|c| c.count * dot(&along, &c.excess(scores)).powi(2)).sum::<f64>();
        }
        if squares > 0.0 { all * all / squares } else { f64::INFINITY }
    }
}

impl Predicted {
    /// How the expected draws with White and with Black change with the first player's rating.
    fn slopes(&self, cluster: &Cluster) -> Two {
        let slope = |axis: usize| self.drawn[axis].by_score * self.scores[axis] * (1.0 - self.scores[axis]);
        [cluster.white.games * slope(0), cluster.black.games * slope(1)]
    }
}

impl Cluster {
    /// The first player's points beyond those expected, and White's: the gradient of the log-likelihood in both directions.
    fn excess(&self, scores: Two) -> Two {
        let white = self.white.points - self.white.games * scores[0];
        let black = self.black.points - self.black.games * scores[1];
        [white + black, white - black]
    }

    fn excess_draws(&self, chances: [Drawn; 2]) -> f64 {
        self.white.draws + self.black.draws
            - self.white.games * chances[0].probability
            - self.black.games * chances[1].probability
    }

    /// The covariance of both excesses for games that are independent and never drawn.
    fn variance(&self, scores: Two) -> TwoByTwo {
        let [white, black] = [(self.white.games, scores[0]), (self.black.games, scores[1])]
            .map(|(games, score)| games * score * (1.0 - score));
        [[white + black, white - black], [white - black, white + black]]
    }
}

fn outer(a: Two) -> TwoByTwo {
    a.map(|x| a.map(|y| x * y))
}

fn plus(a: TwoByTwo, times: f64, b: TwoByTwo) -> TwoByTwo {
    std::array::from_fn(|row| std::array::from_fn(|column| a[row][column] + times * b[row][column]))
}

fn times(a: TwoByTwo, b: TwoByTwo) -> TwoByTwo {
    std::array::from_fn(|row| {
        std::array::from_fn(|column| a[row][0] * b[0][column] + a[row][1] * b[1][column])
    })
}

/// aᵀ M a.
fn form(a: Two, matrix: TwoByTwo) -> f64 {
    (0..2).map(|row| a[row] * dot(&matrix[row], &a)).sum()
}
