//! Why a match ended early.

use thiserror::Error;

use super::program::{Forfeit, NotBegun};
use crate::board::TablebaseError;
use crate::event::Cancelled;
use crate::network::EvaluatorError;

/// A match ended early. Shards that were kept remain valid.
#[derive(Debug, Error)]
pub enum ArenaError {
    /// A net failed.
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
    /// A program loses every game at once.
    #[error(
        "\"{player}\" lost {games} games in a row before it had made a move, so the match ends here; finished games are stored. The last time: {detail}"
    )]
    Hopeless {
        /// The player's name.
        player: String,
        /// Games in a row.
        games: u32,
        /// What happened last.
        detail: String,
    },
    /// A program cannot begin to search.
    #[error(
        "\"{player}\" could not begin {puzzles} puzzles in a row, so the step ends here; finished puzzles are stored. The last time: {detail}"
    )]
    NoPuzzleBegins {
        /// The player's name.
        player: String,
        /// Puzzles in a row.
        puzzles: u32,
        /// What happened last.
        detail: String,
    },
    /// A program that judges openings does not report what it thinks of them.
    #[error("\"{player}\" reports no score with its moves; expected one that judges positions")]
    NoScore {
        /// The player's name.
        player: String,
    },
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
