//! Errors of exporting, reading and running ONNX files.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::OnnxLibraryError;
use crate::network::TensorProblems;
use crate::params::ParamErrors;

/// A net could not be exported to ONNX, read from it, or loaded into ONNX Runtime.
#[derive(Debug, Error)]
pub enum OnnxError {
    /// The weights do not match the spec.
    #[error("cannot write the net as ONNX: {0}")]
    Weights(#[from] TensorProblems),
    /// The net does not fit into one file.
    #[error("the net takes {bytes} bytes as ONNX, and a file can hold at most {limit}; export a smaller net")]
    TooLarge {
        /// The size of the net in bytes.
        bytes: usize,
        /// The largest file in bytes.
        limit: usize,
    },
    /// A file could not be written.
    #[error("{}: cannot be written; check permissions and free space", file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file could not be read.
    #[error("{}: cannot be read; check the path and permissions", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The bytes are not in the ONNX format.
    #[error("{net}: expected an ONNX file ({cause}); the file is damaged or of another kind")]
    Format {
        /// The file.
        net: String,
        /// The parser's message.
        cause: String,
    },
    /// An ONNX file from another program.
    #[error(
        "{net}: expected an ONNX file written by dc0, found none of its metadata (`{missing}`); \
         its input planes are unknown, export the net with `dc0-run export onnx`"
    )]
    Foreign {
        /// The file.
        net: String,
        /// The first missing metadata entry.
        missing: &'static str,
    },
    /// The file has another version.
    #[error("{net}: expected {expected}, found {found}; use the dc0 that wrote it, or export the net again")]
    Version {
        /// The file.
        net: String,
        /// The version that this program reads.
        expected: String,
        /// The version in the file.
        found: String,
    },
    /// The file's spec describes a net that this program does not know, for instance because of its encoding.
    #[error("{net}: its net reads {encoding}; this dc0 does not know such a net")]
    Spec {
        /// The file.
        net: String,
        /// The encoding that the file names.
        encoding: String,
        /// All problems with their paths.
        source: ParamErrors,
    },
    /// Inputs or outputs do not match the file's own spec.
    #[error(
        "{net}: expected {expected} by its spec, found {found}; the file was changed, export the net again"
    )]
    Tensors {
        /// The file.
        net: String,
        /// The inputs or outputs of the spec.
        expected: String,
        /// Those in the file.
        found: String,
    },
    /// ONNX Runtime's library cannot be used.
    #[error(transparent)]
    Library(#[from] OnnxLibraryError),
    /// ONNX Runtime rejects the net.
    #[error("{net}: ONNX Runtime {version} cannot load the net: {cause}")]
    Session {
        /// The file.
        net: String,
        /// The runtime's version.
        version: String,
        /// The runtime's message.
        cause: String,
    },
}
