//! Playing matches.

use thiserror::Error;

use super::job::{Match, Mover, Player};
use super::match_game::MatchGame;
use crate::event::{Cancelled, Event, Observer};
use crate::network::{Evaluator, EvaluatorError};
use crate::search::Lockstep;
use crate::selfplay::lanes::{self, Shard};
use crate::selfplay::with_cache;
use crate::store::MatchGameRow;

/// A match ended early. Shards that were kept remain valid.
#[derive(Debug, Error)]
pub enum ArenaError {
    /// A net failed.
    #[error(transparent)]
    Evaluator(#[from] EvaluatorError),
    /// The user asked to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// A finished shard could not be kept.
    #[error("shard {shard} of the match was played but could not be kept")]
    Keep {
        /// The shard's number.
        shard: u32,
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// A finished shard of a match.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchShard {
    /// Its games in the order of their numbers.
    pub rows: Vec<MatchGameRow>,
    /// Evaluations that searches requested.
    pub evaluations: u64,
}

/// Stores a finished shard; called from the lanes' threads.
pub type KeepMatchShard<'a> =
    dyn Fn(Shard, MatchShard) -> Result<(), Box<dyn std::error::Error + Send + Sync>> + Sync + 'a;

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
        &|| Ok(Lane::new(&job.players, job.params.cache)?),
        &|lane: &mut Lane, shard| lane.play_shard(job, shard, observer),
        &|shard, result| {
            keep(shard, result).map_err(|source| ArenaError::Keep { shard: shard.index, source })
        },
    )
}

/// The evaluators of one lane.
struct Lane {
    movers: [Mover; 2],
    evaluators: Vec<Box<dyn Evaluator>>,
}

impl Lane {
    fn new(players: &[Player<'_>; 2], cache: u32) -> Result<Self, EvaluatorError> {
        let mut evaluators = Vec::new();
        let mut mover = |player: &Player<'_>| -> Result<Mover, EvaluatorError> {
            match player {
                Player::Network { make_evaluator, .. } => {
                    evaluators.push(with_cache(make_evaluator()?, cache));
                    Ok(Mover::Evaluator(evaluators.len() - 1))
                }
                Player::Baseline(baseline) => Ok(Mover::Baseline(*baseline)),
            }
        };
        let movers = [mover(&players[0])?, mover(&players[1])?];
        Ok(Self { movers, evaluators })
    }

    fn play_shard(
        &mut self,
        job: &Match<'_>,
        shard: Shard,
        observer: &dyn Observer,
    ) -> Result<MatchShard, ArenaError> {
        let names = [job.players[0].name(), job.players[1].name()];
        let game = |number| MatchGame::new(job, self.movers, number);
        let mut slots: Vec<MatchGame> = shard.game_numbers().map(game).collect();
        self.evaluators.iter_mut().for_each(|evaluator| evaluator.start_shard());
        let mut lockstep = Lockstep::new(self.evaluators.len());
        let (mut rows, mut evaluations) = (Vec::new(), 0);
        while !slots.is_empty() {
            observer.check()?;
            let evaluated = lockstep.round(&mut slots, &mut self.evaluators)? as u64;
            observer.event(Event::Work { unit: "evaluations", amount: evaluated });
            observer.on_game(slots[0].number(), &|| slots[0].snapshot());
            evaluations += evaluated;
            let before = rows.len();
            slots.retain(|slot| {
                slot.row(names).is_none_or(|row| {
                    rows.push(row);
                    false
                })
            });
            observer.event(Event::Work { unit: "games", amount: (rows.len() - before) as u64 });
        }
        rows.sort_by_key(|row| row.game);
        Ok(MatchShard { rows, evaluations })
    }
}
