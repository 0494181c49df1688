//! The choice of the move to play from the statistics of the root.

use rand::RngExt;

use super::proof::Proof;
use crate::board::Move;
use crate::rng::Stream;
use crate::{param_enum, params};

param_enum! {
    /// Which move is the best where the temperature is 0.
    pub enum ChooseBy {
        /// The most visited one (Silver et al. 2018).
        Visits = "visits",
        /// The one with the largest mean value.
        Value = "value",
        /// The one whose value is largest even `deviations` standard errors below its mean (LCB, as in Leela Zero and KataGo).
        Bound = "lcb",
    }
}

params! {
    /// The choice of the move of a `puct` root from its statistics.
    pub struct ChoiceParams {
        /// Which move is the best where the temperature is 0.
        by: ChooseBy = ChooseBy::Visits;
        /// Share of the most visited move's visits that `value` and `lcb` ask of a move (KataGo's 0.15).
        trusted_share: f64 = 0.15, in 0.0..=1.0;
        /// Standard errors that `lcb` takes off the mean (KataGo's 5).
        deviations: f64 = 5.0, in 0.0..=100.0;
        /// Added to the visits before they become probabilities; below 0 it leaves out moves with few visits (Leela Chess Zero).
        visit_offset: f64 = 0.0, in -1000.0..=1000.0;
        /// Moves this much worse than the best are not drawn (Leela Chess Zero); 2 leaves none out.
        value_cutoff: f64 = 2.0, in 0.0..=2.0;
    }
}

/// A legal move of the root after a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Visited {
    /// The move.
    pub played: Move,
    /// Simulations that went through it.
    pub visits: u32,
    /// Its prior, noise included.
    pub prior: f32,
    /// Its value in [−1, 1] for the side that makes it: what is proven, else the mean; `None` without a visit.
    pub value: Option<f64>,
    /// The standard error of the mean; 0 where something is proven or nothing was visited.
    pub standard_error: f64,
    /// Its result for the side that makes it, if it is proven.
    pub proof: Option<Proof>,
    /// Plies that are left in the game after it: what is proven, else the mean; `None` unless the search's `moves_left` is set, or
    /// without a visit.
    pub moves_left: Option<f64>,
}

/// What a policy should learn of a move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// The move.
    pub played: Move,
    /// Simulations that went through it.
    pub visits: u32,
    /// Its share of the target, in [0, 1].
    pub share: f64,
}

/// Chooses a move with probability `(visits + visit_offset)^(1/temperature)`, normalised (Silver et al. 2017, Methods), among
/// those within `value_cutoff` of the best.
///
/// A proven win is played at once, and a proven loss only where nothing else is left; the shortest win and the longest loss where
/// plies left are known. Temperature 0 is the best move as `params.by` means it; the larger prior wins ties, and decides where
/// nothing was visited. Draws one random number only where the temperature is above 0 and no win is proven.
pub fn choose_move(moves: &[Visited], params: &ChoiceParams, temperature: f64, stream: &mut Stream) -> Move {
    let moves = candidates(moves);
    let best = best_move(&moves, params);
    if temperature == 0.0 || best.visits == 0 || best.proof == Some(Proof::Win) {
        return best.played;
    }
    let top = moves.iter().filter_map(|of| of.value).fold(f64::NEG_INFINITY, f64::max);
    let open = |of: &&Visited| of.value.is_some_and(|value| value >= top - params.value_cutoff);
    let weights: Vec<(Move, f64)> =
        moves.iter().filter(open).map(|of| (of.played, f64::from(of.visits) + params.visit_offset)).collect();
    drawn(&weights, temperature, stream).unwrap_or(best.played)
}

/// One of the moves, drawn by `weight^(1/temperature)`; weights below 0 count as 0.
fn drawn(weights: &[(Move, f64)], temperature: f64, stream: &mut Stream) -> Option<Move> {
    let largest = weights.iter().map(|(_, weight)| *weight).fold(0.0, f64::max);
    // Relative to the largest weight, so that no power overflows.
    let power =
        |weight: f64| if largest > 0.0 { (weight.max(0.0) / largest).powf(1.0 / temperature) } else { 0.0 };
    let total: f64 = weights.iter().map(|(_, weight)| power(*weight)).sum();
    let mut left = stream.random::<f64>() * total;
    for (played, weight) in weights {
        left -= power(*weight);
        if left < 0.0 {
            return Some(*played);
        }
    }
    None
}

fn best_move(moves: &[Visited], params: &ChoiceParams) -> Visited {
    let most = moves.iter().map(|of| of.visits).max().unwrap_or(0);
    let trusted =
        |of: &Visited| f64::from(of.visits) >= params.trusted_share * f64::from(most) && of.visits > 0;
    let score = |of: &Visited| match params.by {
        ChooseBy::Visits => f64::from(of.visits),
        ChooseBy::Value if trusted(of) => of.value.unwrap_or(-1.0),
        ChooseBy::Bound if trusted(of) => of.value.unwrap_or(-1.0) - params.deviations * of.standard_error,
        ChooseBy::Value | ChooseBy::Bound => f64::NEG_INFINITY,
    };
    let better = |a: &Visited, b: &Visited| {
        (certain_distance(a), score(a), a.prior) >= (certain_distance(b), score(b), b.prior)
    };
    let best = moves.iter().copied().reduce(|a, b| if better(&a, &b) { a } else { b });
    best.expect("a position that is searched has a legal move")
}

/// How good the distance to a proven end is: short of a win, long of a loss; 0 where nothing is proven or known.
fn certain_distance(of: &Visited) -> f64 {
    match of.proof {
        Some(Proof::Win) => -of.moves_left.unwrap_or(0.0),
        Some(Proof::Loss) => of.moves_left.unwrap_or(0.0),
        Some(Proof::Draw) | None => 0.0,
    }
}

/// Shares of the visits, in the order of `moves`, of those that [`choose_move`] would choose from; they sum to 1.
///
/// A proven win counts as visited at least once. Where only proven losses were visited, their visits count.
pub(super) fn visit_shares(moves: &[Visited]) -> Vec<f64> {
    let best = best_rank(moves);
    let counted = |seen: &Visited| match rank(seen) {
        WON if best == WON => seen.visits.max(1),
        rank if rank == best => seen.visits,
        _ => 0,
    };
    let mut counts: Vec<u32> = moves.iter().map(counted).collect();
    if counts.iter().all(|count| *count == 0) {
        counts = moves.iter().map(|seen| seen.visits).collect();
    }
    let total: u64 = counts.iter().map(|count| u64::from(*count)).sum();
    counts.into_iter().map(|count| f64::from(count) / total.max(1) as f64).collect()
}

const WON: u8 = 2;

/// Proven wins go before all, proven losses behind.
pub(super) fn rank(seen: &Visited) -> u8 {
    match seen.proof {
        Some(Proof::Win) => WON,
        Some(Proof::Draw) | None => 1,
        Some(Proof::Loss) => 0,
    }
}

fn best_rank(moves: &[Visited]) -> u8 {
    moves.iter().map(rank).max().unwrap_or(0)
}

/// The moves of the best rank that there is.
fn candidates(moves: &[Visited]) -> Vec<Visited> {
    let best = best_rank(moves);
    moves.iter().filter(|seen| rank(seen) == best).copied().collect()
}
