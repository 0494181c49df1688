//! Playing matches.

use thiserror::Error;

use super::job::{Match, Mover, Player};
use super::seat::MatchGame;
use crate::event::{Cancelled, Event, Observer};
use crate::network::{Evaluator, EvaluatorError};
use crate::search::Lockstep;
use crate::selfplay::lanes::{self, Shard};
use crate::selfplay::remembering;
use crate::store::MatchGameRow;

/// A match ended early. Shards that were kept stay good.
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
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// A shard of a match that is played.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchShard {
    /// Its games in the order of their numbers.
    pub rows: Vec<MatchGameRow>,
    /// Positions that searches asked of nets.
    pub evaluations: u64,
}

/// Takes a finished shard; called from the lanes' threads.
pub type KeepMatchShard<'a> =
    dyn Fn(Shard, MatchShard) -> Result<(), Box<dyn std::error::Error + Send + Sync>> + Sync + 'a;

/// Plays shards of a match on some lanes and keeps each as it is finished.
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
        &|shard, played| {
            keep(shard, played).map_err(|source| ArenaError::Keep { shard: shard.index, source })
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
                    evaluators.push(remembering(make_evaluator()?, cache));
                    Ok(Mover::Evaluator(evaluators.len() - 1))
                }
                Player::Random => Ok(Mover::Random),
                Player::Greedy => Ok(Mover::Greedy),
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
        let seat = |number| MatchGame::new(job, self.movers, number);
        let mut seats: Vec<MatchGame> = shard.game_numbers().map(seat).collect();
        self.evaluators.iter_mut().for_each(|evaluator| evaluator.start_shard());
        let mut lockstep = Lockstep::new(self.evaluators.len());
        let (mut rows, mut evaluations) = (Vec::new(), 0);
        while !seats.is_empty() {
            observer.check()?;
            let evaluated = lockstep.round(&mut seats, &mut self.evaluators)? as u64;
            observer.event(Event::Work { unit: "evaluations", amount: evaluated });
            observer.look_on(seats[0].number(), &|| seats[0].glimpse());
            evaluations += evaluated;
            let before = rows.len();
            seats.retain(|seat| {
                seat.row(names).is_none_or(|row| {
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
