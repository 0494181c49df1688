//! Playing matches.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use super::error::ArenaError;
use super::job::{Match, Mind};
use super::match_game::{MatchGame, Mover};
use super::program::Program;
use super::score::Requested;
use crate::event::{Event, Observer};
use crate::network::{Evaluator, EvaluatorError};
use crate::search::{Lockstep, Search};
use crate::selfplay::lanes::{self, Shard};
use crate::selfplay::with_cache;
use crate::store::MatchGameRow;

/// Games that a program may lose in a row before it has made a move: enough for a machine that is busy for a while, and few enough
/// that a broken program does not lose a whole match.
const MOST_FAILURES: u32 = 4;

/// A finished shard of a match.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchShard {
    /// Its games in the order of their numbers.
    pub rows: Vec<MatchGameRow>,
    /// What the searches of each player requested.
    pub requested: [Requested; 2],
}

/// Stores a finished shard, and says whether the match goes on; called from the lanes' threads.
pub type KeepMatchShard<'a> = dyn Fn(Shard, MatchShard) -> Result<ControlFlow<()>, Box<dyn std::error::Error + Send + Sync>>
    + Sync
    + 'a;

/// Plays shards of a match on some lanes, and passes each to `keep` when it is finished.
pub fn play(
    job: &Match<'_>,
    shards: &[Shard],
    lanes: u32,
    keep: &KeepMatchShard<'_>,
    observer: &dyn Observer,
) -> Result<(), ArenaError> {
    lanes::run(
        shards,
        lanes,
        &|| Ok(Lane::new(job)?),
        &|lane: &mut Lane<'_>, shard| lane.play_shard(shard, observer),
        &|shard, result| {
            keep(shard, result).map_err(|source| ArenaError::Keep { shard: shard.index, source })
        },
    )
}

/// Plays one shard of a match with the evaluators that [`evaluators`] made.
pub fn play_shard(
    job: &Match<'_>,
    shard: Shard,
    evaluators: &mut Vec<Box<dyn Evaluator>>,
    observer: &dyn Observer,
) -> Result<MatchShard, ArenaError> {
    let mut lane = Lane::with(job, std::mem::take(evaluators));
    let played = lane.play_shard(shard, observer);
    *evaluators = lane.evaluators;
    played
}

/// The evaluators of one lane, one for each net, with the caches of the parameters.
pub fn evaluators(job: &Match<'_>) -> Result<Vec<Box<dyn Evaluator>>, EvaluatorError> {
    let mut evaluators = Vec::new();
    for player in &job.players {
        if let Mind::Network { make_evaluator, .. } = player.mind {
            evaluators.push(with_cache(make_evaluator()?, job.params.cache));
        }
    }
    Ok(evaluators)
}

/// The evaluators and processes of one lane.
struct Lane<'a> {
    job: Match<'a>,
    /// The number of each player's evaluator.
    numbers: [usize; 2],
    evaluators: Vec<Box<dyn Evaluator>>,
    /// Programs of each player that wait for a game.
    idle: [Vec<Box<dyn Program>>; 2],
    /// Games in a row that each player lost before it had made a move.
    failures: [u32; 2],
}

impl<'a> Lane<'a> {
    fn new(job: &Match<'a>) -> Result<Self, EvaluatorError> {
        Ok(Self::with(job, evaluators(job)?))
    }

    fn with(job: &Match<'a>, evaluators: Vec<Box<dyn Evaluator>>) -> Self {
        let second = u32::from(matches!(job.players[0].mind, Mind::Network { .. })) as usize;
        Self { job: *job, numbers: [0, second], evaluators, idle: [Vec::new(), Vec::new()], failures: [0; 2] }
    }

    /// Begins a game; programs without a game are used first.
    fn begin(&mut self, number: u32) -> Result<MatchGame<'a>, ArenaError> {
        let job = self.job;
        let mut programs: [Option<Box<dyn Program>>; 2] = [None, None];
        for (player, program) in programs.iter_mut().enumerate() {
            if let Mind::Program { make, .. } = job.players[player].mind {
                *program = Some(self.idle[player].pop().map_or_else(make, Ok)?);
            }
        }
        let numbers = self.numbers;
        Ok(MatchGame::new(&job, number, &mut |player, game| match job.players[player].mind {
            Mind::Network { search, tables, .. } => {
                let (rules, search) = (job.params.rules(), search.clone());
                let search = Search::with_tablebases(game.clone(), rules, search, tables.cloned());
                Mover::Search { evaluator: numbers[player], search: Box::new(search) }
            }
            Mind::Baseline(baseline) => Mover::Baseline(baseline),
            Mind::Program { .. } => {
                Mover::Program(programs[player].take().expect("every program's player got one"))
            }
        }))
    }

    fn play_shard(&mut self, shard: Shard, observer: &dyn Observer) -> Result<MatchShard, ArenaError> {
        let most = self.job.lineup().games_at_once(self.job.params) as usize;
        let mut waiting: VecDeque<u32> = shard.game_numbers().collect();
        let mut slots: Vec<MatchGame<'_>> = Vec::new();
        self.evaluators.iter_mut().for_each(|evaluator| evaluator.start_shard());
        let mut lockstep = Lockstep::new(self.evaluators.len());
        let mut rows = Vec::new();
        let mut evaluations = vec![0; self.evaluators.len()];
        loop {
            while slots.len() < most
                && let Some(number) = waiting.pop_front()
            {
                slots.push(self.begin(number)?);
            }
            observer.check()?;
            if slots.iter().any(MatchGame::waits_for_net) {
                let evaluated = lockstep.round(&mut slots, &mut self.evaluators)? as u64;
                observer.event(Event::Work { unit: "evaluations", amount: evaluated });
                for (sum, evaluated) in evaluations.iter_mut().zip(lockstep.evaluated()) {
                    *sum += *evaluated as u64;
                }
            } else {
                // Only now, and for all of them, so that batches do not depend on which program answers first.
                for slot in &mut slots {
                    slot.wait(observer)?;
                }
            }
            if let Some(error) = slots.iter_mut().find_map(MatchGame::take_error) {
                return Err(error);
            }
            observer.on_game(slots[0].number(), &|| slots[0].snapshot());
            let (over, rest): (Vec<_>, Vec<_>) = slots.into_iter().partition(MatchGame::is_over);
            slots = rest;
            observer.event(Event::Work { unit: "games", amount: over.len() as u64 });
            for game in over {
                rows.push(self.end(game)?);
            }
            if slots.is_empty() && waiting.is_empty() {
                break;
            }
        }
        rows.sort_by_key(|row: &MatchGameRow| row.game);
        let requested = [0, 1].map(|player| match self.job.players[player].mind {
            Mind::Network { .. } => {
                let number = self.numbers[player];
                let cache_hits = self.evaluators[number].cache_hits();
                Requested { evaluations: evaluations[number], cache_hits }
            }
            Mind::Baseline(_) | Mind::Program { .. } => Requested::default(),
        });
        Ok(MatchShard { rows, requested })
    }

    /// The row of a game that is over. Its programs wait for another game.
    fn end(&mut self, game: MatchGame<'_>) -> Result<MatchGameRow, ArenaError> {
        let names = self.job.players.map(|player| player.name);
        let failed = game.failed_at_once().map(|(player, detail)| (player, detail.to_owned()));
        // A game that one player never began says nothing about the other.
        match failed {
            None => self.failures = [0; 2],
            Some((loser, detail)) => {
                self.failures[loser] += 1;
                if self.failures[loser] == MOST_FAILURES {
                    let (player, games) = (names[loser].to_owned(), MOST_FAILURES);
                    return Err(ArenaError::Hopeless { player, games, detail });
                }
            }
        }
        let (row, movers) = game.finish(names, self.job.lineup().is_timed).expect("the game is over");
        for (idle, mover) in self.idle.iter_mut().zip(movers) {
            if let Mover::Program(program) = mover {
                idle.push(program);
            }
        }
        Ok(row)
    }
}
