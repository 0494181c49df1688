//! Errors of writing and reading checkpoints.

use std::io;
use std::path::PathBuf;

use safetensors::SafeTensorError;
use thiserror::Error;

use crate::network::TensorProblems;
use crate::params::ParamErrors;

/// A checkpoint could not be written or read.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum CheckpointError {
    #[error("{}: a checkpoint's name must end in .safetensors; its .json lies beside it", file.display())]
    Extension { file: PathBuf },
    #[error("{}: expected a file, found none; a checkpoint is a .safetensors file with its .json beside it, copy both", file.display())]
    Missing { file: PathBuf },
    #[error("{}: cannot be read; check its permissions and the disk", file.display())]
    Read { file: PathBuf, source: io::Error },
    #[error("{}: cannot be written; check permissions and free space", file.display())]
    Write { file: PathBuf, source: io::Error },
    #[error("{}: expected the JSON of a checkpoint; it is damaged or from another program, copy it again", file.display())]
    Manifest { file: PathBuf, source: serde_json::Error },
    /// The JSON file has another version of its format or of the net's encoding.
    #[error("{}: expected {expected}, found {found}; use the dc0 that wrote it, or a newer one", file.display())]
    Version { file: PathBuf, expected: String, found: String },
    #[error("{}: its spec is not that of a net; use the dc0 that wrote it, or a newer one", file.display())]
    Spec { file: PathBuf, source: ParamErrors },
    #[error(
        "{}: expected {expected} parameters by its spec, found {found}; the file was changed, copy it again",
        file.display()
    )]
    Parameters { file: PathBuf, expected: usize, found: usize },
    /// The weights file does not match the digest in the JSON file.
    #[error(
        "{}: expected digest {expected} as {} says, found {found}; the file is damaged or belongs to another net, copy both files again; weights changed elsewhere need their own digest there (docs/guides/python.md)",
        file.display(), manifest.display()
    )]
    Digest { file: PathBuf, manifest: PathBuf, expected: String, found: String },
    #[error("{}: expected the safetensors format; the file is damaged, copy it again", file.display())]
    Format { file: PathBuf, source: SafeTensorError },
    /// A sound net cannot be rounded to 16 bits.
    #[error(
        "{}: 16-bit floats reach 65,504, found {value:e} at index {index} of {tensor}; export it without `--rounded`",
        file.display()
    )]
    TooLarge { file: PathBuf, tensor: String, index: usize, value: f32 },
    #[error("{}: {source}", file.display())]
    Tensors { file: PathBuf, source: TensorProblems },
}
