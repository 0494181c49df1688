//! The definition of a match: who plays, and how.

use super::baselines::Baseline;
use super::params::{ArenaParams, PlayerParams};
use super::program::{Forfeit, Program};
use crate::board::Tablebase;
use crate::book::Book;
use crate::rng::Seed;
use crate::search::SearchParams;
use crate::selfplay::MakeEvaluator;

/// Starts a program for one game after another; called from the lanes' threads.
pub type MakeProgram<'a> = dyn Fn() -> Result<Box<dyn Program>, Forfeit> + Sync + 'a;

/// A player of a match.
#[derive(Clone, Copy)]
pub struct Player<'a> {
    /// Its name, as rows record it.
    pub name: &'a str,
    /// How it finds its moves.
    pub mind: Mind<'a>,
}

/// How a player finds its moves.
#[derive(Clone, Copy)]
pub enum Mind<'a> {
    /// A net with a search.
    Network {
        /// Creates its evaluator for one lane.
        make_evaluator: &'a MakeEvaluator<'a>,
        /// The search of every move.
        search: &'a SearchParams,
        /// The tablebases of the search.
        tables: Option<&'a Tablebase>,
    },
    /// A rule without a net.
    Baseline(&'static dyn Baseline),
    /// Another program.
    Program {
        /// Starts it.
        make: &'a MakeProgram<'a>,
        /// Whether it plays by time. It never shares a lane's time with other games then.
        is_timed: bool,
    },
}

impl Player<'_> {
    /// A player without a net.
    pub fn baseline(baseline: &'static dyn Baseline) -> Self {
        Self { name: baseline.name(), mind: Mind::Baseline(baseline) }
    }
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
    /// The book that openings come from; `None` for random moves.
    pub book: Option<&'a Book>,
    /// The tablebases that decide games.
    pub tables: Option<&'a Tablebase>,
}

impl Match<'_> {
    /// Who meets.
    pub(super) fn lineup(&self) -> Lineup {
        let minds = self.players.map(|player| player.mind);
        Lineup {
            has_net: minds.iter().any(|mind| matches!(mind, Mind::Network { .. })),
            has_program: minds.iter().any(|mind| matches!(mind, Mind::Program { .. })),
            is_timed: minds.iter().any(|mind| matches!(mind, Mind::Program { is_timed: true, .. })),
        }
    }
}

/// The kinds of players that meet, which decide how many games a lane plays at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lineup {
    /// Whether a net with a tree search plays.
    pub has_net: bool,
    /// Whether another program plays, or alpha-beta, which answers as one.
    pub has_program: bool,
    /// Whether a program plays by time.
    pub is_timed: bool,
}

impl Lineup {
    /// That of a match without other programs, given what each net has of its own. Alpha-beta by a net counts as a program.
    pub fn of_nets<'a>(nets: impl IntoIterator<Item = &'a PlayerParams>) -> Self {
        let mut lineup = Self { has_net: false, has_program: false, is_timed: false };
        for own in nets {
            let kind = if own.alphabeta.is_some() { &mut lineup.has_program } else { &mut lineup.has_net };
            *kind = true;
        }
        lineup
    }

    /// The most games that a lane plays at the same time. All of a shard share batches, unless processes or clocks forbid it.
    pub fn games_at_once(self, params: &ArenaParams) -> u32 {
        match self {
            Self { has_program: false, .. } => params.shard_games,
            Self { is_timed: true, .. } | Self { has_net: false, .. } => 1,
            _ => self.shard_games(params),
        }
    }

    /// Games in a shard: where lanes play few games at the same time, no more than these, so that a kill costs little.
    pub fn shard_games(self, params: &ArenaParams) -> u32 {
        match self {
            Self { has_program: false, .. } => params.shard_games,
            Self { is_timed: true, .. } | Self { has_net: false, .. } => 2,
            _ => params.shard_games.min(params.program_games),
        }
    }
}
