//! Why a program cannot be an opponent.

use std::io;
use std::path::PathBuf;

use dc0_core::board::TablebaseError;
use dc0_core::params::{ParamErrors, Problem};
use dc0_process::exit::Exit;
use dc0_process::fault::Fault;
use thiserror::Error;

/// Why a program cannot be an opponent.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum OpponentError {
    #[error("expected the name or path of a program, such as \"stockfish\", found an empty text")]
    NoCommand,
    #[error("there is no program \"{command}\" in {folders}{hint}")]
    NotInstalled { command: String, hint: String, folders: String },
    /// The file is none that can be started.
    #[error("{} {what}", path.display())]
    NoProgram {
        path: PathBuf,
        /// What it is, and what to do.
        what: String,
    },
    /// A file that decides how the program plays cannot be read.
    #[error("cannot read {} for its digest: {cause}; expected a file that this account can read", path.display())]
    Unreadable { path: PathBuf, cause: io::Error },
    #[error("cannot start {}: {cause}{hint}", path.display())]
    Start {
        path: PathBuf,
        cause: io::Error,
        /// What to do, if that is known; may be empty.
        hint: String,
    },
    /// The program ended before it was ready.
    #[error("{program} {ending}; expected {expectation}{hint}")]
    Ended {
        program: String,
        /// How it ended and what it wrote.
        ending: String,
        /// The answer that was expected, and to what.
        expectation: String,
        hint: String,
    },
    #[error(
        "{program} {found} within {seconds} s; expected {expectation}{hint}; raise `start_timeout` for a \
         program that starts slowly"
    )]
    NotReady {
        program: String,
        found: String,
        seconds: f64,
        /// The answer that was expected, and to what.
        expectation: String,
        hint: String,
    },
    /// Wrong parameters, or options that the program does not have.
    #[error(transparent)]
    Params(#[from] ParamErrors),
    /// The tablebases of dc0's own search cannot be opened.
    #[error(transparent)]
    Tablebases(#[from] TablebaseError),
    #[error(
        "{} has changed since this match began; run the script again, and games against the new version become a match of their own",
        path.display()
    )]
    Changed { path: PathBuf },
}

impl Fault for OpponentError {
    fn exit(&self) -> Exit {
        match self {
            Self::NoCommand
            | Self::NotInstalled { .. }
            | Self::NoProgram { .. }
            | Self::Start { .. }
            | Self::Params(_)
            | Self::Tablebases(_) => Exit::BadInput,
            Self::Unreadable { cause, .. }
                if matches!(cause.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidInput) =>
            {
                Exit::BadInput
            }
            Self::Unreadable { .. } => Exit::Storage,
            Self::Ended { .. } | Self::NotReady { .. } | Self::Changed { .. } => Exit::Failed,
        }
    }

    fn problems(&self) -> &[Problem] {
        match self {
            Self::Params(errors) => errors.problems(),
            _ => &[],
        }
    }
}
