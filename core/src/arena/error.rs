//! Why a match ended early.

use thiserror::Error;

use super::program::{Forfeit, NotBegun};
use crate::board::TablebaseError;
use crate::event::Cancelled;
use crate::network::EvaluatorError;

/// A match ended early. Shards that were kept remain valid.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ArenaError {
    #[error(transparent)]
    Evaluator(#[from] EvaluatorError),
    /// A tablebase that decides games cannot be read.
    #[error(transparent)]
    Tablebase(#[from] TablebaseError),
    /// A program cannot be started.
    #[error(transparent)]
    Program(#[from] Forfeit),
    /// A program did not begin a game, which nobody loses by that.
    #[error(transparent)]
    NotBegun(#[from] NotBegun),
    #[error(
        "\"{player}\" lost {games} games in a row before it had made a move, so the match ends here; finished games are stored. The last time: {detail}"
    )]
    Hopeless { player: String, games: u32, detail: String },
    #[error(
        "\"{player}\" could not begin {puzzles} puzzles in a row, so the step ends here; finished puzzles are stored. The last time: {detail}"
    )]
    NoPuzzleBegins { player: String, puzzles: u32, detail: String },
    /// A program that judges openings does not report what it thinks of them.
    #[error("\"{player}\" reports no score with its moves; expected one that judges positions")]
    NoScore { player: String },
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    #[error("shard {shard} of the match was played but could not be kept")]
    Keep { shard: u32, source: Box<dyn std::error::Error + Send + Sync> },
}
