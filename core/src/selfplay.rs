//! Self-play: shards of games, played in lockstep by lanes.
//!
//! A *shard* is a fixed list of games with their own random streams; its result depends on nothing outside it. A *lane* is a
//! thread that plays one shard at a time: gather from all its games, evaluate one batch, apply to all. Lanes share nothing, so
//! any number of them gives the same games. Games whose moves alpha-beta searches need no
//! batches; a lane plays them one after the other.

mod alphabeta;
mod game_record;
mod game_slot;
pub mod lanes;
mod openings;
mod params;
mod play;
mod reanalysis;
mod records;
mod searcher;
mod stats;

pub use alphabeta::play_alphabeta;
pub use lanes::{Shard, shards_of};
pub use openings::{Archive, Openings};
pub use params::{LevelDraw, PlayoutCap, SelfPlayParams, SelfPlayResignation, StartParams};
pub use play::{
    KeepShard, MakeEvaluator, SelfPlayError, SelfPlayJob, ShardResult, play, play_shard, with_cache,
};
pub use reanalysis::{ReanalysisJob, ReanalysisParams, Reanalyzed, ReanalyzedPositions};
pub use records::{GameRow, PositionRow, games_with_positions};
pub use searcher::{AlphaBetaSearch, SearcherKind, SelfPlaySearch};
pub use stats::SelfPlayStats;

#[cfg(test)]
mod tests;
