//! Why a broker cannot be used.

use std::path::PathBuf;

use dc0_process::exit::Exit;
use dc0_process::fault::Fault;
use thiserror::Error;

/// Why a broker cannot be used.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum BrokerError {
    #[error("{url} is no address of a broker: {problem}")]
    Address {
        /// The address, without credentials.
        url: String,
        problem: String,
    },
    /// A file with credentials or certificates cannot be used.
    #[error("cannot use the {what} in {}: {problem}", file.display())]
    Unusable { what: &'static str, file: PathBuf, problem: String },
    /// A broker on another machine, without credentials.
    #[error(
        "{address} has no credentials, so everybody who reaches that broker could hand in games; give the broker a token, an NKey or TLS \
         (docs/guides/several-machines.md) and `--credentials FILE`, or use a broker on this machine"
    )]
    Open { address: String },
    #[error("cannot connect to the broker at {address}: {cause}")]
    Connect { address: String, cause: String },
    #[error("the broker at {address} did not {what}: {cause}")]
    Request { address: String, what: &'static str, cause: String },
    #[error(
        "{url} is no place for files: {problem}; expected a folder, s3://BUCKET/PATH, gs://BUCKET/PATH or az://CONTAINER/PATH, with the \
         usual variables for the cloud's credentials (docs/guides/several-machines.md)"
    )]
    Artefacts {
        /// The place, without credentials.
        url: String,
        problem: String,
    },
    #[error("{url} did not {what}: {cause}")]
    Store {
        /// The place, without credentials.
        url: String,
        what: &'static str,
        cause: String,
    },
    #[error("cannot start the thread of the connection to the broker: {0}")]
    Thread(std::io::Error),
}

impl Fault for BrokerError {
    fn exit(&self) -> Exit {
        match self {
            Self::Address { .. } | Self::Unusable { .. } | Self::Open { .. } | Self::Artefacts { .. } => {
                Exit::BadInput
            }
            Self::Connect { .. } | Self::Request { .. } | Self::Store { .. } | Self::Thread(_) => {
                Exit::Failed
            }
        }
    }
}

/// Why an object cannot be had.
#[derive(Debug, Error)]
pub(crate) enum ObjectError {
    #[error(transparent)]
    Broker(#[from] BrokerError),
    #[error("{0}")]
    Missing(String),
    #[error("{0}")]
    Wrong(String),
}

impl ObjectError {
    pub(crate) fn too_large(size: u64, most: u64) -> Self {
        Self::Wrong(format!("it has {size} bytes, expected at most {most}"))
    }
}
