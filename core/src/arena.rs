//! Matches of colour-reversed pairs, and their score with its confidence interval.

mod adjudication;
mod answers;
mod baselines;
mod error;
mod generate;
mod job;
mod judges;
mod league;
mod match_game;
mod params;
mod play;
mod program;
mod puzzles;
pub mod rating;
mod score;
mod sprt;
mod student;

pub use crate::board::Fault;
pub use adjudication::{AdjudicationParams, AgreedDrawParams, ResignationParams};
pub use answers::{ProgramSolver, PuzzleSolver, summarise_answers};
pub use baselines::{BASELINES, Baseline, baseline};
pub use error::ArenaError;
pub use generate::{BookError, BookStart, MakeJudge, RandomBookParams, generate_book};
pub use job::{Lineup, MakeProgram, Match, Mind, Player};
pub use judges::{NetJudge, OpeningJudge, ProgramJudge};
pub use league::{LeagueParams, LeagueWeights};
pub use match_game::opening;
pub use params::{ArenaParams, PlayerParams};
pub use play::{KeepMatchShard, MatchShard, evaluators, play, play_shard};
pub use program::{Answer, Clock, Forfeit, NotBegun, Program};
pub use puzzles::{
    MAX_MATE, OnlyMove, Puzzle, mates_of_game, mating_moves, only_moves_of_game, read_puzzles,
};
pub use score::{
    EloInterval, MatchSummary, Requested, elo_of, interval, normalized, pair_points, summarise, superiority,
};
pub use sprt::{EloModel, Sprt, SprtPairs, SprtParams, Verdict};
pub use student::student;

#[cfg(test)]
mod tests;
