//! Why a position cannot be explained.

use std::io;
use std::path::PathBuf;

use dc0_core::board::{GameTextError, TablebaseError};
use dc0_core::event::Cancelled;
use dc0_core::network::EvaluatorError;
use dc0_core::params::ParamErrors;
use dc0_core::store::StoreError;
use thiserror::Error;

use dc0_backend::BackendError;
use dc0_process::exit::Exit;
use dc0_process::fault::Fault;
use dc0_runs::RunError;
use dc0_runs::net::NetError;

/// Why a position cannot be explained.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ExplainError {
    #[error(transparent)]
    Position(#[from] GameTextError),
    #[error("the game is over in \"{fen}\" ({reason}), so there is nothing to search")]
    Over {
        fen: String,
        /// Why, as stored games name it.
        reason: &'static str,
    },
    #[error(
        "there is no stored game \"{name}\": {problem}; expected RUN:ITERATION:GAME@PLY, such as datasets/az_small:3:17@20"
    )]
    Stored { name: String, problem: String },
    #[error(transparent)]
    Net(#[from] NetError),
    #[error(transparent)]
    Params(#[from] ParamErrors),
    #[error(
        "search.{member}: expected a net with a {lacks}, which this one does not have; leave it out, or choose another net"
    )]
    Unmet { member: &'static str, lacks: &'static str },
    #[error(transparent)]
    Backend(#[from] BackendError),
    #[error(transparent)]
    Evaluator(#[from] EvaluatorError),
    /// Tablebases that a parameter names.
    #[error(transparent)]
    Tablebase(#[from] TablebaseError),
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    #[error(transparent)]
    Run(#[from] RunError),
    /// Stored games that cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("a game's recorded targets contradict each other: {0}")]
    Target(String),
    #[error("cannot write the explanation to {}", path.display())]
    Write {
        path: PathBuf,
        #[source]
        cause: io::Error,
    },
}

impl Fault for ExplainError {
    fn exit(&self) -> Exit {
        match self {
            Self::Tablebase(TablebaseError::Damaged { .. }) | Self::Store(_) => Exit::Storage,
            Self::Write { cause, .. } => Exit::of_writing(cause),
            Self::Position(_)
            | Self::Over { .. }
            | Self::Stored { .. }
            | Self::Params(_)
            | Self::Unmet { .. }
            | Self::Backend(_)
            | Self::Tablebase(_) => Exit::BadInput,
            Self::Net(error) => error.exit(),
            Self::Run(error) => error.exit(),
            Self::Evaluator(_) | Self::Target(_) => Exit::Failed,
            Self::Cancelled(_) => Exit::Interrupted,
        }
    }
}
