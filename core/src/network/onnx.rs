//! Nets as ONNX files, written without external tools ([`OnnxModel`]) and run by ONNX Runtime ([`OnnxEvaluator`]), whose
//! library is loaded from a path on demand ([`OnnxLibrary`]).

mod error;
mod evaluator;
mod export;
mod layers;
mod library;
mod metadata;
mod model;
mod nnue;
mod nodes;
mod proto;
mod transformer;

pub use error::OnnxError;
pub use evaluator::{OnnxEvaluator, OnnxOptions};
pub use library::{OnnxLibrary, OnnxLibraryError};
pub use metadata::{InputForm, Tensor};
pub use model::OnnxModel;

/// Planes `[B, P, 8, 8]`, or the binary planes as bits `[B, binary planes]`.
const INPUT: &str = "input";
/// With packed bits: the values of the scalar planes `[B, scalar planes]`.
const SCALARS: &str = "scalars";
/// Logits `[B, 4672]`.
const POLICY: &str = "policy";
/// Probabilities of win, draw and loss for the side to move `[B, 3]`.
const WDL: &str = "wdl";
/// With a scalar value head: P(win) − P(loss) for the side to move `[B, 1]`.
const VALUE: &str = "value";
/// Expected plies to the game's end `[B, 1]`.
const MOVES_LEFT: &str = "moves_left";

#[cfg(test)]
mod tests;
