//! Strength: matches of colour-reversed pairs, their score and its interval.

mod greedy;
mod params;
mod play;
mod score;
mod seat;

pub use params::ArenaParams;
pub use play::{ArenaError, KeepMatchShard, Match, MatchShard, Player, play};
pub use score::{EloInterval, MatchSummary, elo_of, student, summarise};

#[cfg(test)]
mod tests;
