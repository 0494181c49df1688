//! The choice of the move to play from the statistics of the root.

use rand::RngExt;

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
    /// Its mean value in [−1, 1] for the side that makes it; `None` without a visit.
    pub value: Option<f64>,
}

/// Chooses a move with probability `visits^(1/temperature)`, normalised (Silver et al. 2017, Methods).
///
/// Temperature 0 is the most visited move; the larger prior wins ties, and decides where nothing was visited. Draws one
/// random number only where the temperature is above 0.
pub fn choose_move(moves: &[Visited], temperature: f64, stream: &mut Stream) -> Move {
    let most = most_visited(moves);
    if temperature == 0.0 || most.visits == 0 {
        return most.played;
    }
    // Relative to the most visited move, so that no power overflows.
    let weight = |of: &Visited| (f64::from(of.visits) / f64::from(most.visits)).powf(1.0 / temperature);
    let total: f64 = moves.iter().map(weight).sum();
    let mut left = stream.random::<f64>() * total;
    for candidate in moves {
        left -= weight(candidate);
        if left < 0.0 {
            return candidate.played;
        }
    }
    most.played
}

fn most_visited(moves: &[Visited]) -> Visited {
    let better = |a: &Visited, b: &Visited| (a.visits, a.prior) >= (b.visits, b.prior);
    let best = moves.iter().copied().reduce(|a, b| if better(&a, &b) { a } else { b });
    best.expect("a position that is searched has a legal move")
}
