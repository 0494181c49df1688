//! Playing shards.

use std::ops::ControlFlow;

use thiserror::Error;

use super::game_slot::GameSlot;
use super::lanes::{self, Shard};
use super::openings::Openings;
use super::params::SelfPlayParams;
use super::records::{GameRow, PositionRow};
use super::searcher::{SearcherKind, SelfPlaySearch};
use super::stats::SelfPlayStats;
use crate::board::{GameTextError, Tablebase, TablebaseError};
use crate::event::{Cancelled, Event, Observer};
use crate::network::{Cached, Evaluator, EvaluatorError};
use crate::rng::Seed;
use crate::search::{Lockstep, SearchSlot};

/// Creates an evaluator for one lane; called in the lane's own thread.
pub type MakeEvaluator<'a> = dyn Fn() -> Result<Box<dyn Evaluator>, EvaluatorError> + Sync + 'a;
/// Stores a finished shard; called from the lanes' threads.
pub type KeepShard<'a> =
    dyn Fn(Shard, ShardResult) -> Result<(), Box<dyn std::error::Error + Send + Sync>> + Sync + 'a;

/// Self-play ended early. Shards that were kept remain valid.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum SelfPlayError {
    #[error(transparent)]
    Evaluator(#[from] EvaluatorError),
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    #[error("a stored game is not valid")]
    Game(#[from] GameTextError),
    #[error(
        "game {game}, ply {ply}: a stored position should be one of a game of its shard, in the order of the games; the data is \
        damaged, play or import it again"
    )]
    Stray { game: u32, ply: u16 },
    #[error(transparent)]
    Tablebase(#[from] TablebaseError),
    /// The job is for games of another search.
    #[error("expected parameters with `search` of the kind \"{expected}\", got another one")]
    Searcher { expected: &'static str },
    #[error("shard {shard} of the self-play games was played but could not be kept")]
    Keep { shard: u32, source: Box<dyn std::error::Error + Send + Sync> },
}

/// Everything that determines the games of an iteration.
#[derive(Clone, Copy)]
pub struct SelfPlayJob<'a> {
    /// How to play.
    pub params: &'a SelfPlayParams,
    /// The seed of the random streams.
    pub seed: Seed,
    /// The name of the net, as games record it.
    pub network: &'a str,
    /// Creates the net's evaluator; for tree searches.
    pub make_evaluator: &'a MakeEvaluator<'a>,
    /// The tablebases of the searches; [`SelfPlaySearch::open_tablebases`] opens them.
    pub tables: Option<&'a Tablebase>,
    /// What the games start from, besides the initial position.
    pub openings: Option<&'a Openings>,
}

impl<'a> SelfPlayJob<'a> {
    /// Games from the initial position, without tablebases.
    pub const fn new(
        params: &'a SelfPlayParams,
        seed: Seed,
        network: &'a str,
        make_evaluator: &'a MakeEvaluator<'a>,
    ) -> Self {
        Self { params, seed, network, make_evaluator, tables: None, openings: None }
    }
}

/// The games of a shard, in the order of their numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct ShardResult {
    /// One row for each game.
    pub games: Vec<GameRow>,
    /// One row for each searched ply, by game and ply.
    pub positions: Vec<PositionRow>,
    /// Their statistics.
    pub stats: SelfPlayStats,
}

/// Plays shards by tree searches on some lanes, and passes each to `keep` when it is finished.
pub fn play(
    job: &SelfPlayJob<'_>,
    shards: &[Shard],
    lanes: u32,
    keep: &KeepShard<'_>,
    observer: &dyn Observer,
) -> Result<(), SelfPlayError> {
    lanes::run(
        shards,
        lanes,
        &|| Ok([with_cache((job.make_evaluator)()?, job.params.cache)]),
        &|evaluators: &mut [Box<dyn Evaluator>; 1], shard| play_shard(job, shard, evaluators, observer),
        &|shard, result| kept(keep, shard, result),
    )
}

/// Passes a finished shard to `keep`; the lanes go on unless that fails.
pub(super) fn kept(
    keep: &KeepShard<'_>,
    shard: Shard,
    result: ShardResult,
) -> Result<ControlFlow<()>, SelfPlayError> {
    let kept = keep(shard, result).map(|()| ControlFlow::Continue(()));
    kept.map_err(|source| SelfPlayError::Keep { shard: shard.index, source })
}

/// Adds a cache of this many evaluations to an evaluator; 0 adds none.
pub fn with_cache(evaluator: Box<dyn Evaluator>, size: u32) -> Box<dyn Evaluator> {
    if size == 0 { evaluator } else { Box::new(Cached::new(evaluator, size as usize)) }
}

/// Plays one shard, in as many game slots as the parameters have; the next game takes the slot of a finished one.
pub fn play_shard(
    job: &SelfPlayJob<'_>,
    shard: Shard,
    evaluators: &mut [Box<dyn Evaluator>; 1],
    observer: &dyn Observer,
) -> Result<ShardResult, SelfPlayError> {
    let SelfPlaySearch::Tree(search) = &job.params.search else {
        return Err(SelfPlayError::Searcher { expected: SearcherKind::Tree.name() });
    };
    let none = Openings::default();
    let openings = job.openings.unwrap_or(&none);
    let start = |number| -> Result<GameSlot<'_>, GameTextError> {
        let start = openings.start(job.params, job.seed, number)?;
        Ok(GameSlot::new(job.params, search, job.tables, job.seed, number, start))
    };
    let mut waiting = shard.game_numbers().map(start);
    let mut slots: Vec<GameSlot> =
        waiting.by_ref().take(job.params.game_slots as usize).collect::<Result<_, _>>()?;
    evaluators[0].start_shard();
    let mut lockstep = Lockstep::new(1);
    let mut stats = SelfPlayStats::default();
    let mut finished = Vec::new();
    while !slots.is_empty() {
        observer.check()?;
        let evaluated = lockstep.round(&mut slots, evaluators)? as u64;
        stats.add_round(evaluated, evaluators[0].cache_hits());
        observer.event(Event::Work { unit: "evaluations", amount: evaluated });
        observer.on_game(slots[0].number(), &|| slots[0].snapshot());
        let before = finished.len();
        for slot in &mut slots {
            if let Some(game) = slot.finish(job.network, &mut stats)? {
                let positions = game.positions.len() as u64;
                observer.event(Event::Work { unit: "positions", amount: positions });
                observer.event(Event::Work { unit: "games", amount: 1 });
                finished.push(game);
                if let Some(next) = waiting.next() {
                    *slot = next?;
                }
            }
        }
        if finished.len() > before {
            slots.retain_mut(|slot| SearchSlot::waiting(slot).is_some());
        }
    }
    finished.sort_by_key(|game| game.game.game);
    let (games, positions): (Vec<_>, Vec<_>) =
        finished.into_iter().map(|game| (game.game, game.positions)).unzip();
    Ok(ShardResult { games, positions: positions.into_iter().flatten().collect(), stats })
}
