//! One joint rating of all players of all matches.
//!
//! **Model.** Player i with White scores `1 / (1 + exp(r_j − r_i − a))` against j, where a draw is half a point: the model of Bradley
//! and Terry (1952) with White's advantage a (Davidson and Beaver 1977). So Elo means the same expected score as in a match, whatever
//! the draws. Draws follow from the expected score and the draw rate of equal players (Davidson 1970), as in the program Ordo (Ballicora); see
//! [`chances`]. `BayesElo` estimates the same two parameters, `eloAdvantage` and
//! `eloDraw`, but there Elo changes its meaning with the draws.
//!
//! **Estimate.** Ratings and White's advantage maximise the likelihood of the points of all games at once: averages along a chain of
//! matches would inflate, a joint fit does not. The draw rate is the one that predicts as many draws as were played, one
//! virtual game between equals, drawn by half, included. Every player brings half a drawn game, spread over its opponents as its games
//! are, half with each colour, so that a match won outright gives a finite rating (the virtual draws of Coulom's `BayesElo`).
//!
//! **Intervals** are 95 % intervals of the difference to the anchors, or to the mean. The games of a pair share an opening, and draws
//! make scores less variable than independent wins and losses, so the covariance is the sandwich estimator of White (1982),
//! `H⁻¹ J H⁻¹`, with one cluster for each pair of games. The part of a cluster's variance that the fit has taken up, `M H⁻¹ M` for the
//! model's M, is added again (the bias of Mancl and DeRouen 2001), scaled by the dispersion of all pairs (Wedderburn 1974). Student's
//! quantile has the degrees of freedom of Satterthwaite (1946). Half of the virtual draws count as won and half as lost: the
//! likelihood is the same, but they have a variance, since a match whose pairs are all level does not prove that the players are equal.

mod fit;
mod groups;
mod matrix;
mod meetings;
mod model;
mod pairing;
mod results;
mod standings;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::student::student;
use fit::{Fit, Maximum};
use matrix::{Matrix, dot};
use model::{ELO, expected};

/// The logit of a draw rate beyond which its fit has no bound: one decided game in ten million. Chosen.
const MAX_LOGIT: f64 = 16.0;

pub use groups::groups;
pub use model::{Chances, chances};
pub use pairing::MayMeet;
pub use results::{PairResult, Tally};
pub use standings::{RatingError, Standing, Standings};

/// A figure with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// A player's rating.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rating {
    /// Elo: relative to the anchors' ratings; without anchors, to the mean of all rated players.
    pub elo: f64,
    /// The lower end of the 95 % interval of the difference; equal to `elo` for an anchor.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// A joint fit.
#[derive(Debug, Clone)]
pub struct Ratings {
    /// By player; `None` for those that no chain of games connects to the rated ones.
    pub players: Vec<Option<Rating>>,
    /// White's advantage in Elo; `None` if no game counts.
    pub white_advantage: Option<Estimate>,
    /// How often equal players draw, in (0, 1), White's advantage apart; `None` if no game counts, and if more games
    /// were drawn than the scores permit, so that no rate fits.
    pub draw_rate: Option<Estimate>,
    /// The players that chains of games connect; those with a rating are the first group. See [`groups`].
    pub groups: Vec<Vec<usize>>,
    /// The covariance of all players' ratings in Elo², rows of 0 for anchors and players without a rating.
    covariance: Matrix,
    /// Variance of the pairs' points, as a share of that of independent games without draws.
    dispersion: f64,
}

impl Rating {
    /// The width of the interval, in Elo.
    pub fn width(&self) -> f64 {
        self.high - self.low
    }
}

/// Rates players 0 to `players` from all their results. `anchors` keep their ratings, in Elo; without any, the mean of all rated
/// players is 0. Rated are the players that a chain of games connects to an anchor; without anchors, those of the largest group, or
/// of the first of several.
///
/// # Panics
///
/// If a result or an anchor names a player that is not there, or an anchor's rating is not finite; [`Standings::new`] checks both.
pub fn fit(players: usize, results: &[PairResult], anchors: &BTreeMap<usize, f64>) -> Ratings {
    assert!(anchors.values().all(|elo| elo.is_finite()), "ratings of anchors are finite");
    let groups = groups(players, results, anchors);
    let mut rated = vec![false; players];
    groups.first().into_iter().flatten().for_each(|player| rated[*player] = true);
    // Without anchors, the first rated player is at 0 until all are moved to their mean.
    let origin = if anchors.is_empty() { rated.iter().position(|is| *is) } else { None };
    let fixed: Vec<f64> =
        (0..players).map(|player| anchors.get(&player).copied().unwrap_or(0.0) / ELO).collect();
    let mut count = 0;
    let free = |player: usize| {
        let is_free = rated[player] && !anchors.contains_key(&player) && origin != Some(player);
        count += usize::from(is_free);
        is_free.then(|| count - 1)
    };
    let unknown: Vec<Option<usize>> = (0..players).map(free).collect();
    let counted: Vec<PairResult> = results.iter().filter(|result| rated[result.first]).copied().collect();
    let meetings = meetings::meetings(&counted);
    let held: Vec<f64> = (0..players).map(|player| if rated[player] { fixed[player] } else { 0.0 }).collect();
    let fit = Fit { fixed: &held, unknown: &unknown, meetings: &meetings };
    if meetings.is_empty() {
        return unplayed(players, anchors, groups);
    }
    let maximum = fit.maximum();
    let combinations = Combinations { unknown: &unknown, rated: &rated, centred: anchors.is_empty() };
    let rating = |player: usize| {
        if !rated[player] {
            return None;
        }
        if let Some(elo) = anchors.get(&player) {
            return Some(Rating { elo: *elo, low: *elo, high: *elo });
        }
        let combination = combinations.of(player, count);
        let elo = rounded(ELO * dot(&combination, &maximum.values));
        let margin = ELO * margin(&fit, &maximum, &combination);
        Some(Rating { elo, low: elo - margin, high: elo + margin })
    };
    let ratings = (0..players).map(rating).collect();
    let covariance = combinations.covariance(players, count, &maximum.covariance);
    let mut advantage = vec![0.0; count + 1];
    advantage[count] = 1.0;
    let white = rounded(ELO * maximum.values[count]);
    let white_margin = ELO * margin(&fit, &maximum, &advantage);
    let (logit, error) = maximum.draws;
    let logit_margin = student(f64::INFINITY) * error;
    Ratings {
        players: ratings,
        white_advantage: Some(Estimate {
            value: white,
            low: white - white_margin,
            high: white + white_margin,
        }),
        draw_rate: (logit < MAX_LOGIT).then(|| Estimate {
            value: expected(logit),
            low: expected(logit - logit_margin),
            high: expected(logit + logit_margin),
        }),
        covariance,
        dispersion: maximum.dispersion,
        groups,
    }
}

/// What is known before any game: the anchors, or else the first player, as the mean of itself.
fn unplayed(players: usize, anchors: &BTreeMap<usize, f64>, groups: Vec<Vec<usize>>) -> Ratings {
    let known = |player: usize| {
        let is_first = anchors.is_empty() && player == 0;
        let elo = anchors.get(&player).copied().or_else(|| is_first.then_some(0.0));
        elo.map(|elo| Rating { elo, low: elo, high: elo })
    };
    Ratings {
        players: (0..players).map(known).collect(),
        white_advantage: None,
        draw_rate: None,
        covariance: vec![vec![0.0; players]; players],
        dispersion: 1.0,
        groups,
    }
}

/// Half the 95 % interval of a combination of unknowns, on the logistic scale.
fn margin(fit: &Fit<'_>, maximum: &Maximum, combination: &[f64]) -> f64 {
    let moved: Vec<f64> = maximum.covariance.iter().map(|row| dot(row, combination)).collect();
    student(fit.degrees(maximum, combination)) * dot(combination, &moved).max(0.0).sqrt()
}

/// Players' ratings as combinations of the unknowns.
struct Combinations<'a> {
    unknown: &'a [Option<usize>],
    rated: &'a [bool],
    /// Whether ratings are relative to the mean of the rated players.
    centred: bool,
}

impl Combinations<'_> {
    /// A rated player's, of `count` ratings and White's advantage.
    fn of(&self, player: usize, count: usize) -> Vec<f64> {
        let rated = self.rated.iter().filter(|is| **is).count() as f64;
        let mut combination = vec![if self.centred { -1.0 / rated } else { 0.0 }; count];
        if let Some(unknown) = self.unknown[player] {
            combination[unknown] += 1.0;
        }
        combination.push(0.0);
        combination
    }

    /// The covariance of all players' ratings, in Elo².
    fn covariance(&self, players: usize, count: usize, of_unknowns: &Matrix) -> Matrix {
        let combinations: Vec<Vec<f64>> = (0..players)
            .map(|player| {
                let is_fixed = !self.rated[player] || (!self.centred && self.unknown[player].is_none());
                if is_fixed { vec![0.0; count + 1] } else { self.of(player, count) }
            })
            .collect();
        let moved: Vec<Vec<f64>> = combinations
            .iter()
            .map(|row| of_unknowns.iter().map(|other| dot(other, row)).collect())
            .collect();
        let row = |a: &Vec<f64>| moved.iter().map(|b| ELO * ELO * dot(a, b)).collect();
        combinations.iter().map(row).collect()
    }
}

/// Elo to a billionth: what the fit leaves beyond that is noise, and equal players shall be equal.
fn rounded(elo: f64) -> f64 {
    // Adding zero turns −0 into 0.
    (elo * 1e9).round() / 1e9 + 0.0
}
