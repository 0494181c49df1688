//! Errors of exporting, reading and running ONNX files.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::OnnxLibraryError;
use crate::network::TensorProblems;
use crate::params::ParamErrors;

/// A net could not be exported to ONNX, read from it, or loaded into ONNX Runtime.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum OnnxError {
    #[error("cannot write the net as ONNX: {0}")]
    Weights(#[from] TensorProblems),
    #[error("the net takes {bytes} bytes as ONNX, and a file can hold at most {limit}; export a smaller net")]
    TooLarge { bytes: usize, limit: usize },
    #[error("{}: cannot be written; check permissions and free space", file.display())]
    Write { file: PathBuf, source: io::Error },
    #[error("{}: cannot be read; check the path and permissions", file.display())]
    Read { file: PathBuf, source: io::Error },
    #[error("{net}: expected an ONNX file ({cause}); the file is damaged or of another kind")]
    Format { net: String, cause: String },
    #[error(
        "{net}: expected an ONNX file written by dc0, found none of its metadata (`{missing}`); \
         its input planes are unknown, export the net with `dc0-run export onnx`"
    )]
    Foreign {
        net: String,
        /// The first missing metadata entry.
        missing: &'static str,
    },
    #[error("{net}: expected {expected}, found {found}; use the dc0 that wrote it, or export the net again")]
    Version { net: String, expected: String, found: String },
    /// The file's spec describes a net that this program does not know, for instance because of its encoding.
    #[error("{net}: its net reads {encoding}; this dc0 does not know such a net")]
    Spec { net: String, encoding: String, source: ParamErrors },
    /// Inputs or outputs do not match the file's own spec.
    #[error(
        "{net}: expected {expected} by its spec, found {found}; the file was changed, export the net again"
    )]
    Tensors { net: String, expected: String, found: String },
    #[error(transparent)]
    Library(#[from] OnnxLibraryError),
    #[error("{net}: ONNX Runtime {version} cannot load the net: {cause}")]
    Session { net: String, version: String, cause: String },
}
