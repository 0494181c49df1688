//! Players without a net, as baselines for the first hours of a run. Each is a file here and a line in [`BASELINES`].

mod alphabeta;
mod greedy;
mod random;

use std::fmt::Debug;

use crate::board::{Game, Move, Rules};
use crate::rng::Stream;
use alphabeta::AlphaBeta;

pub(super) use alphabeta::balanced_score;

/// A player without a net.
pub trait Baseline: Debug + Sync {
    /// Its name in scripts, inputs of steps and rows, which no other player may ever have.
    fn name(&self) -> &'static str;

    /// What it plays, for editors.
    fn about(&self) -> &'static str;

    /// Its move. The game is not over, and is the same again on return.
    fn choose(&self, game: &mut Game, rules: &Rules, stream: &mut Stream) -> Move;
}

/// All of them.
pub const BASELINES: &[&dyn Baseline] = &[
    &random::Random,
    &greedy::Greedy,
    &AlphaBeta::ONE,
    &AlphaBeta::TWO,
    &AlphaBeta::THREE,
    &AlphaBeta::FOUR,
];

/// The one with a name.
pub fn baseline(name: &str) -> Option<&'static dyn Baseline> {
    BASELINES.iter().copied().find(|baseline| baseline.name() == name)
}
