//! Everything that can be wrong with stored weights.

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
    /// A file is not there.
    #[error("{}: expected a file, found none; a checkpoint is a .safetensors file with its .json beside it, copy both", file.display())]
    Missing {
        /// The file.
        file: PathBuf,
    },
    /// A file is there and cannot be read.
    #[error("{}: cannot be read; check its permissions and the disk", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file could not be written.
    #[error("{}: cannot be written; check permissions and free space", file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The JSON file is not the JSON of a checkpoint.
    #[error("{}: expected the JSON of a checkpoint; it is damaged or of another program, copy it again", file.display())]
    Manifest {
        /// The file.
        file: PathBuf,
        /// Where it goes wrong.
        source: serde_json::Error,
    },
    /// The JSON file says another version, of its format or of the net's input planes.
    #[error("{}: expected {expected}, found {found}; use the dc0 that wrote it, or a newer one", file.display())]
    Version {
        /// The file.
        file: PathBuf,
        /// What this program reads.
        expected: String,
        /// What the file says.
        found: String,
    },
    /// The JSON file's spec is not one of a net.
    #[error("{}: its spec is not that of a net; use the dc0 that wrote it, or a newer one", file.display())]
    Spec {
        /// The file.
        file: PathBuf,
        /// Every problem with its path.
        source: ParamErrors,
    },
    /// The weights file is not the one that the JSON file belongs to.
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
        /// Where it goes wrong.
        source: SafeTensorError,
    },
    /// Names, shapes, types or values are wrong.
    #[error("{}: {source}", file.display())]
    Tensors {
        /// The file.
        file: PathBuf,
        /// Every problem.
        source: TensorProblems,
    },
}
