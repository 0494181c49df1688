//! One joint rating of all players of all matches.
//!
//! The model is that of Bradley and Terry (1952): player i scores `1 / (1 + exp(r_j − r_i))` against j, where a draw is half a
//! point. Ratings maximise the likelihood of all games at once: averages along a chain of matches would inflate, a joint fit does
//! not. Every two players that met get one extra drawn game, so that a match won outright gives a finite rating (the virtual
//! draws of Coulom's `BayesElo`).
//!
//! Intervals are 95 % intervals of the difference to the anchor. The games of a pair share an opening, and draws make scores less
//! variable than the model assumes, so the covariance is the sandwich estimator of White (1982), H⁻¹ J H⁻¹, with one cluster for
//! each pair of games. The variance of the G pairs of two players is multiplied by G / (G − 1), because the rating was fitted to
//! them; where the pairs carry no information about it (a single pair, or a match won outright) it is at least the model's own
//! variance. The virtual draw counts as half a game won and half a game lost: the likelihood is the same, but it has a variance,
//! since a match whose pairs are all level does not prove that the players are equal.

mod fit;
mod matrix;
mod pairing;
#[cfg(test)]
mod tests;

use fit::Fit;
use pairing::pairings;

/// Elo per unit of the logistic scale.
const ELO: f64 = 400.0 / std::f64::consts::LN_10;
const QUANTILE_95: f64 = 1.959_963_984_540_054;

/// The result of a pair of games, or of a single game.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PairResult {
    /// The first player.
    pub(crate) first: usize,
    /// The second player.
    pub(crate) second: usize,
    /// Number of games, usually two: the same opening with colours reversed.
    pub(crate) games: f64,
    /// The first player's points.
    pub(crate) points: f64,
}

/// A player's rating.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rating {
    /// Elo relative to the anchor.
    pub(crate) elo: f64,
    /// The lower end of the 95 % interval.
    pub(crate) low: f64,
    /// The upper end.
    pub(crate) high: f64,
    /// Games played.
    pub(crate) games: f64,
}

/// The ratings of players 0 to `players` relative to player `anchor`, whose rating is 0. A player that no chain of matches connects
/// to the anchor has none.
pub(crate) fn ratings(players: usize, anchor: usize, results: &[PairResult]) -> Vec<Option<Rating>> {
    let connected = connected_to(players, anchor, results);
    // The unknowns are the ratings of the connected players without the anchor's, which is fixed.
    let rank = |player: usize| connected[..player].iter().filter(|is| **is).count();
    let unknown = |player: usize| {
        (player != anchor && connected[player]).then(|| rank(player) - usize::from(player > anchor))
    };
    let count = connected.iter().filter(|is| **is).count() - 1;
    let counted: Vec<PairResult> = results.iter().filter(|result| connected[result.first]).copied().collect();
    let fit = Fit { unknowns: count, unknown: &unknown, pairings: pairings(&counted) };
    let fitted = fit.maximum();
    let covariance = fit.covariance(&fitted);
    (0..players)
        .map(|player| {
            let games =
                counted.iter().filter(|r| r.first == player || r.second == player).map(|r| r.games).sum();
            match (unknown(player), connected[player]) {
                (Some(index), _) => {
                    let elo = rounded(ELO * fitted[index]);
                    let margin = ELO * QUANTILE_95 * covariance[index][index].max(0.0).sqrt();
                    Some(Rating { elo, low: elo - margin, high: elo + margin, games })
                }
                (None, true) => Some(Rating { elo: 0.0, low: 0.0, high: 0.0, games }),
                (None, false) => None,
            }
        })
        .collect()
}

/// Elo to a billionth: what the fit leaves beyond that is noise, and equal players shall be equal.
fn rounded(elo: f64) -> f64 {
    // Adding zero turns −0 into 0.
    (elo * 1e9).round() / 1e9 + 0.0
}

/// The players that a chain of matches connects to the anchor.
fn connected_to(players: usize, anchor: usize, results: &[PairResult]) -> Vec<bool> {
    let mut connected = vec![false; players];
    connected[anchor] = true;
    loop {
        let mut grew = false;
        for result in results {
            if connected[result.first] != connected[result.second] {
                (connected[result.first], connected[result.second], grew) = (true, true, true);
            }
        }
        if !grew {
            return connected;
        }
    }
}
