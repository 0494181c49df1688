//! What a match is: who plays, and how.

use super::params::ArenaParams;
use crate::board::Tablebase;
use crate::rng::Seed;
use crate::selfplay::MakeEvaluator;

/// Who plays.
#[derive(Clone, Copy)]
pub enum Player<'a> {
    /// A net with the match's search.
    Network {
        /// As rows record it.
        name: &'a str,
        /// Makes its evaluator for one lane.
        make_evaluator: &'a MakeEvaluator<'a>,
    },
    /// Any legal move.
    Random,
    /// The best material balance one ply on.
    Greedy,
}

impl Player<'_> {
    /// The name that rows record.
    pub fn name(&self) -> &str {
        match self {
            Self::Network { name, .. } => name,
            Self::Random => "random",
            Self::Greedy => "greedy",
        }
    }
}

/// How a player's moves are found within a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mover {
    /// By a search with this evaluator of the lane.
    Evaluator(usize),
    Random,
    Greedy,
}

/// Everything that fixes the games of a match.
#[derive(Clone, Copy)]
pub struct Match<'a> {
    /// How to play.
    pub params: &'a ArenaParams,
    /// Where the random streams come from.
    pub seed: Seed,
    /// The first player and the second; scores are the first's.
    pub players: [Player<'a>; 2],
    /// What their searches may ask.
    pub tables: [Option<&'a Tablebase>; 2],
}
