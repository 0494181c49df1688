//! One joint rating of all players of all matches.
//!
//! The model is that of Bradley and Terry (1952): player i scores `1 / (1 + exp(r_j − r_i))` against j, where a draw is half a
//! point. Ratings maximise the likelihood of all games at once. Averages along a chain of matches would inflate; one fit does
//! not. Each pair of players that met is given one drawn game more, so that a match won outright has a finite rating (the
//! virtual draws of Coulom's `BayesElo`).
//!
//! Intervals are of the difference to the anchor, at 95 %. Games of a pair share an opening, and draws make scores less
//! scattered than the model says, so the covariance is the sandwich of White (1982), H⁻¹ J H⁻¹, with one cluster for each pair
//! of games. The scatter of the G pairs of two players is taken G / (G − 1) times, as the rating was fitted to them, and where
//! it says nothing (one pair alone, or a match won outright) it is the model's own variance at the least. The virtual draw is
//! half a game won and half a game lost, which is the same likelihood, but has a scatter: a match whose pairs are all level is
//! no proof of equality.

mod fit;
mod link;
mod matrix;
#[cfg(test)]
mod tests;

use fit::Fit;
use link::links;

/// Elo for each unit of the logistic scale.
const ELO: f64 = 400.0 / std::f64::consts::LN_10;
const QUANTILE_95: f64 = 1.959_963_984_540_054;

/// What one pair of games, or a game alone, gave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PairResult {
    /// The first player.
    pub(crate) first: usize,
    /// The second player.
    pub(crate) second: usize,
    /// Games, usually two: an opening with either colour.
    pub(crate) games: f64,
    /// The first player's points of them.
    pub(crate) points: f64,
}

/// A player's rating.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rating {
    /// Elo above the anchor.
    pub(crate) elo: f64,
    /// The lower end of the 95 % interval.
    pub(crate) low: f64,
    /// The upper end.
    pub(crate) high: f64,
    /// Games played.
    pub(crate) games: f64,
}

/// The ratings of players 0 to `players` over player `anchor`, which has 0. A player that no chain of matches joins with the
/// anchor has none.
pub(crate) fn ratings(players: usize, anchor: usize, results: &[PairResult]) -> Vec<Option<Rating>> {
    let joined = joined_with(players, anchor, results);
    // The anchor's rating is no unknown.
    let place = |player: usize| {
        (player != anchor && joined[player]).then(|| joined[..player].iter().filter(|is| **is).count())
    };
    let anchor_at = joined[..anchor].iter().filter(|is| **is).count();
    let unknown = |player: usize| place(player).map(|at| if at > anchor_at { at - 1 } else { at });
    let count = joined.iter().filter(|is| **is).count() - 1;
    let own: Vec<PairResult> = results.iter().filter(|result| joined[result.first]).copied().collect();
    let fit = Fit { unknowns: count, unknown: &unknown, links: links(&own) };
    let found = fit.maximum();
    let covariance = fit.covariance(&found);
    (0..players)
        .map(|player| {
            let games = own.iter().filter(|r| r.first == player || r.second == player).map(|r| r.games).sum();
            match (unknown(player), joined[player]) {
                (Some(at), _) => {
                    let (elo, margin) =
                        (ELO * found[at], ELO * QUANTILE_95 * covariance[at][at].max(0.0).sqrt());
                    Some(Rating { elo, low: elo - margin, high: elo + margin, games })
                }
                (None, true) => Some(Rating { elo: 0.0, low: 0.0, high: 0.0, games }),
                (None, false) => None,
            }
        })
        .collect()
}

fn joined_with(players: usize, anchor: usize, results: &[PairResult]) -> Vec<bool> {
    let mut joined = vec![false; players];
    joined[anchor] = true;
    loop {
        let mut grew = false;
        for result in results {
            if joined[result.first] != joined[result.second] {
                (joined[result.first], joined[result.second], grew) = (true, true, true);
            }
        }
        if !grew {
            return joined;
        }
    }
}
