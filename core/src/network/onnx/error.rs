//! What can be wrong with an ONNX file, its runtime, or a net on its way into one.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::OnnxLibraryError;
use crate::network::TensorProblems;
use crate::params::ParamErrors;

/// A net could not be written as ONNX, read from it, or given to ONNX Runtime.
#[derive(Debug, Error)]
pub enum OnnxError {
    /// The weights are not those of the spec.
    #[error("cannot write the net as ONNX: {0}")]
    Weights(#[from] TensorProblems),
    /// The net does not fit into one file.
    #[error("the net takes {bytes} bytes as ONNX, and a file holds at most {most}; export a smaller net")]
    TooLarge {
        /// Bytes that the net takes.
        bytes: usize,
        /// Bytes that a file can hold.
        most: usize,
    },
    /// A file could not be written.
    #[error("{}: cannot be written; check permissions and free space", file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file could not be read.
    #[error("{}: cannot be read; check the path and permissions", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The bytes are not in the ONNX format.
    #[error("{net}: expected an ONNX file ({cause}); the file is damaged or of another kind")]
    Format {
        /// The file.
        net: String,
        /// Where it goes wrong.
        cause: String,
    },
    /// An ONNX file of another program.
    #[error(
        "{net}: expected an ONNX file written by dc0, found none of its metadata (`{missing}`); \
         which planes it reads is not known, export the net with `dc0-run export onnx`"
    )]
    Foreign {
        /// The file.
        net: String,
        /// The first metadata that is missing.
        missing: &'static str,
    },
    /// The file is of another version.
    #[error("{net}: expected {expected}, found {found}; use the dc0 that wrote it, or export the net again")]
    Version {
        /// The file.
        net: String,
        /// What this program reads.
        expected: String,
        /// What the file says.
        found: String,
    },
    /// The file's spec is not one of a net that this program knows, for instance for its encoding.
    #[error("{net}: its net reads {encoding}; this dc0 does not know such a net")]
    Spec {
        /// The file.
        net: String,
        /// The encoding that the file names.
        encoding: String,
        /// Every problem with its path.
        source: ParamErrors,
    },
    /// Inputs or outputs are not those of the file's own spec.
    #[error(
        "{net}: expected {expected} by its spec, found {found}; the file was changed, export the net again"
    )]
    Tensors {
        /// The file.
        net: String,
        /// What the spec asks for.
        expected: String,
        /// What the file has.
        found: String,
    },
    /// There is no runtime to use.
    #[error(transparent)]
    Library(#[from] OnnxLibraryError),
    /// ONNX Runtime refuses the net.
    #[error("{net}: ONNX Runtime {version} cannot load the net: {cause}")]
    Session {
        /// The file.
        net: String,
        /// The runtime's version.
        version: String,
        /// What the runtime says.
        cause: String,
    },
}
