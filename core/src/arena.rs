//! Matches of colour-reversed pairs, and their score with its confidence interval.

mod baselines;
mod job;
mod match_game;
mod openings;
mod params;
mod play;
mod program;
mod score;
mod sprt;

pub use baselines::{BASELINES, Baseline, baseline};
pub use job::{Match, Player};
pub use openings::{Book, Duplicate};
pub use params::ArenaParams;
pub use play::{ArenaError, KeepMatchShard, MatchShard, play};
pub use program::{Answer, Clock, Fault, Forfeit, MATE, Program};
pub use score::{EloInterval, MatchSummary, elo_of, interval, pair_points, student, summarise};
pub use sprt::{EloModel, Sprt, SprtParams, Verdict};

#[cfg(test)]
mod tests;
