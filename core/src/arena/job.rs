//! The definition of a match: who plays, and how.

use super::baselines::Baseline;
use super::params::ArenaParams;
use crate::board::Tablebase;
use crate::rng::Seed;
use crate::selfplay::MakeEvaluator;

/// A player of a match.
#[derive(Clone, Copy)]
pub enum Player<'a> {
    /// A net with the match's search.
    Network {
        /// Its name, as rows record it.
        name: &'a str,
        /// Creates its evaluator for one lane.
        make_evaluator: &'a MakeEvaluator<'a>,
    },
    /// A player without a net.
    Baseline(&'static dyn Baseline),
}

impl Player<'_> {
    /// The name that rows record.
    pub fn name(&self) -> &str {
        match self {
            Self::Network { name, .. } => name,
            Self::Baseline(baseline) => baseline.name(),
        }
    }
}

/// How a lane finds a player's moves.
#[derive(Debug, Clone, Copy)]
pub(super) enum Mover {
    /// By a search with this evaluator of the lane.
    Evaluator(usize),
    Baseline(&'static dyn Baseline),
}

/// Everything that determines the games of a match.
#[derive(Clone, Copy)]
pub struct Match<'a> {
    /// How to play.
    pub params: &'a ArenaParams,
    /// The seed of the random streams.
    pub seed: Seed,
    /// The first player and the second; scores are the first's.
    pub players: [Player<'a>; 2],
    /// The tablebases of their searches.
    pub tables: [Option<&'a Tablebase>; 2],
}
