//! Why the server does not start, or ends early.

use std::io;

use dc0_backend::BackendError;
use dc0_core::board::TablebaseError;
use dc0_core::network::EvaluatorError;
use dc0_core::params::ParamErrors;
use dc0_process::exit::Exit;
use dc0_process::fault::Fault;
use dc0_runs::net::NetError;
use thiserror::Error;

/// Why the server does not start, or ends early.
#[derive(Debug, Error)]
pub(super) enum AnalysisError {
    /// Parameters of the command line.
    #[error(transparent)]
    Params(#[from] ParamErrors),
    #[error(transparent)]
    Net(#[from] NetError),
    #[error(
        "--search {member}: expected a net with a {lacks}, which this one does not have; leave it out, or choose another --net"
    )]
    Unmet { member: &'static str, lacks: &'static str },
    #[error(transparent)]
    Backend(#[from] BackendError),
    #[error("cannot listen for Ctrl-C: {0}")]
    Listen(#[from] ctrlc::Error),
    /// A batch that could not be evaluated, or a tablebase that could not be read.
    #[error(transparent)]
    Evaluator(#[from] EvaluatorError),
    #[error("cannot read queries: {0}")]
    Input(io::Error),
    #[error("cannot write answers: {0}")]
    Output(io::Error),
    /// A bug.
    #[error("a thread of the server ended; the messages before say why")]
    Panicked,
}

impl Fault for AnalysisError {
    fn exit(&self) -> Exit {
        match self {
            Self::Params(_) | Self::Unmet { .. } | Self::Backend(_) => Exit::BadInput,
            Self::Net(error) => error.exit(),
            Self::Evaluator(EvaluatorError::Tablebase(TablebaseError::Damaged { .. })) => Exit::Storage,
            Self::Evaluator(_) | Self::Listen(_) | Self::Input(_) | Self::Output(_) | Self::Panicked => {
                Exit::Failed
            }
        }
    }
}
