//! Random legal moves.

use rand::RngExt;

use super::Baseline;
use crate::board::{Game, Move, Rules};
use crate::rng::Stream;

/// Plays a legal move, drawn uniformly.
#[derive(Debug)]
pub(super) struct Random;

impl Baseline for Random {
    fn name(&self) -> &'static str {
        "random"
    }

    fn about(&self) -> &'static str {
        "random legal moves"
    }

    fn choose(&self, game: &mut Game, _: &Rules, stream: &mut Stream) -> Move {
        let moves = game.position().legal_moves();
        moves[stream.random_range(0..moves.len())]
    }
}
