//! Nets on libtorch: for training ([`Net`]), as an inference copy ([`TorchEvaluator`]), and the library's settings.

mod evaluator;
mod forward_pass;
mod fused;
mod inference;
mod input;
mod inspect;
mod layers;
mod matrix_product;
mod model;
pub mod runtime;
mod transfer;

use dc0_libtorch::LoadError;
pub use evaluator::{TorchEvaluator, TorchOptions};
pub use forward_pass::{ForwardPass, LayerOutput, forward_pass};
pub use input::Expansion;
pub use inspect::{InspectParams, Inspection, LayerStatistics, inspect};
pub use matrix_product::MatrixProduct;
pub use model::{BatchNorm, Heads, Net, NetInput, Pieces};
pub use tch::Device;
use thiserror::Error;
pub use transfer::{download, send, upload};

pub use super::Precision;
use super::TensorProblems;

/// A net could not be put on a device.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum TorchError {
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error("cannot build the net: {0}")]
    Weights(#[from] TensorProblems),
    /// It plays in integers, and only its training is on libtorch.
    #[error(
        "expected a net of another kind than nnue, which plays in integers on the CPU; leave out its precision and device"
    )]
    Nnue,
    #[error(
        "the net's outputs are not finite, from the layer {layer} on; its weights are too large, as after a training that diverged, or \
         damaged; go back to an earlier checkpoint"
    )]
    NotFinite {
        /// The first with such an output.
        layer: String,
    },
    /// libtorch failed, for instance because it ran out of memory.
    #[error("libtorch failed while {doing}: {source}")]
    Library { doing: &'static str, source: tch::TchError },
}

#[cfg(test)]
pub(super) mod tests;
