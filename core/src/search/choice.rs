//! The choice of the move to play from the statistics of the root.

use rand::RngExt;

use super::proof::Proof;
use crate::board::Move;
use crate::rng::Stream;

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
    /// Its result for the side that makes it, if it is proven.
    pub proof: Option<Proof>,
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

/// Chooses a move with probability `visits^(1/temperature)`, normalised (Silver et al. 2017, Methods).
///
/// A proven win is played at once, and a proven loss only where nothing else is left. Temperature 0 is the most visited
/// move; the larger prior wins ties, and decides where nothing was visited. Draws one random number only where the
/// temperature is above 0 and no win is proven.
pub fn choose_move(moves: &[Visited], temperature: f64, stream: &mut Stream) -> Move {
    let moves = candidates(moves);
    let most = most_visited(&moves);
    if temperature == 0.0 || most.visits == 0 || most.proof == Some(Proof::Win) {
        return most.played;
    }
    // Relative to the most visited move, so that no power overflows.
    let weight = |of: &Visited| (f64::from(of.visits) / f64::from(most.visits)).powf(1.0 / temperature);
    let total: f64 = moves.iter().map(weight).sum();
    let mut left = stream.random::<f64>() * total;
    for candidate in &moves {
        left -= weight(candidate);
        if left < 0.0 {
            return candidate.played;
        }
    }
    most.played
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
fn rank(seen: &Visited) -> u8 {
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

fn most_visited(moves: &[Visited]) -> Visited {
    let better = |a: &Visited, b: &Visited| (a.visits, a.prior) >= (b.visits, b.prior);
    let best = moves.iter().copied().reduce(|a, b| if better(&a, &b) { a } else { b });
    best.expect("a position that is searched has a legal move")
}
