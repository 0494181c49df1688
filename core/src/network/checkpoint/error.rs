//! Errors of writing and reading checkpoints.

use std::io;
use std::path::PathBuf;

use safetensors::SafeTensorError;
use thiserror::Error;

use crate::network::TensorProblems;
use crate::params::ParamErrors;

/// A checkpoint could not be written or read.
#[derive(Debug, Error)]
pub enum CheckpointError {
    /// The name does not end in `.safetensors`.
    #[error("{}: a checkpoint's name must end in .safetensors; its .json lies beside it", file.display())]
    Extension {
        /// The name.
        file: PathBuf,
    },
    /// A file is missing.
    #[error("{}: expected a file, found none; a checkpoint is a .safetensors file with its .json beside it, copy both", file.display())]
    Missing {
        /// The file.
        file: PathBuf,
    },
    /// A file exists but cannot be read.
    #[error("{}: cannot be read; check its permissions and the disk", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file could not be written.
    #[error("{}: cannot be written; check permissions and free space", file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The JSON file is not the JSON of a checkpoint.
    #[error("{}: expected the JSON of a checkpoint; it is damaged or from another program, copy it again", file.display())]
    Manifest {
        /// The file.
        file: PathBuf,
        /// The parser's error.
        source: serde_json::Error,
    },
    /// The JSON file has another version of its format or of the net's encoding.
    #[error("{}: expected {expected}, found {found}; use the dc0 that wrote it, or a newer one", file.display())]
    Version {
        /// The file.
        file: PathBuf,
        /// The version that this program reads.
        expected: String,
        /// The version in the file.
        found: String,
    },
    /// The JSON file's spec is invalid.
    #[error("{}: its spec is not that of a net; use the dc0 that wrote it, or a newer one", file.display())]
    Spec {
        /// The file.
        file: PathBuf,
        /// All problems with their paths.
        source: ParamErrors,
    },
    /// The JSON file's number of parameters is not that of its spec.
    #[error(
        "{}: expected {expected} parameters by its spec, found {found}; the file was changed, copy it again",
        file.display()
    )]
    Parameters {
        /// The file.
        file: PathBuf,
        /// Those of the spec.
        expected: usize,
        /// The number in the file.
        found: usize,
    },
    /// The weights file does not match the digest in the JSON file.
    #[error(
        "{}: expected digest {expected} as {} says, found {found}; the file is damaged or belongs to another net, copy both files again",
        file.display(), manifest.display()
    )]
    Digest {
        /// The weights file.
        file: PathBuf,
        /// The JSON file.
        manifest: PathBuf,
        /// The digest in the JSON file.
        expected: String,
        /// The digest of the weights file.
        found: String,
    },
    /// The weights file is not in the safetensors format.
    #[error("{}: expected the safetensors format; the file is damaged, copy it again", file.display())]
    Format {
        /// The file.
        file: PathBuf,
        /// The parser's error.
        source: SafeTensorError,
    },
    /// Names, shapes, types or values are wrong.
    #[error("{}: {source}", file.display())]
    Tensors {
        /// The file.
        file: PathBuf,
        /// All problems.
        source: TensorProblems,
    },
}
