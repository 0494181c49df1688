//! Nets: their architecture ([`NetworkSpec`]), evaluation ([`Evaluator`]) and storage.
//!
//! Only `network::torch` (and `trainer::torch`) use libtorch, and only `network::onnx` uses ONNX Runtime. The [`fake`]
//! evaluators are pure functions of the position, so that whole searches and games can be compared with golden files.

mod batch;
mod cache;
pub mod checkpoint;
mod divided;
mod exponential;
pub mod fake;
mod fixed_size;
pub mod fold;
pub mod graph;
mod grow;
pub mod king_buckets;
mod layout;
mod moves_left;
pub mod nnue;
#[cfg(feature = "onnx")]
pub mod onnx;
mod outputs;
mod precision;
mod presets;
#[cfg(test)]
pub(crate) mod samples;
mod spec;
mod tensor;
pub mod threats;
#[cfg(feature = "torch")]
pub mod torch;
mod value_calibration;
mod weights;

pub use batch::{
    Batch, Evaluations, Evaluator, EvaluatorError, PositionValue, Quiescence, RowEvaluation, Wdl,
};
pub use cache::Cached;
pub use divided::Divided;
pub(crate) use exponential::power;
pub use exponential::softmax;
pub use fixed_size::FixedSize;
pub use grow::{GrowError, GrowParams, grow};
pub use layout::{hidden_weights, initial_weights, layout, parameter_count};
pub use moves_left::{MOVES_LEFT_SCALE, moves_left};
pub use outputs::{expected_result, value_width};
pub use precision::Precision;
pub use presets::{Preset, preset, presets};
pub use spec::{
    Accumulator, Activation, AuxiliaryHeadsSpec, MovesLeftHeadSpec, NetworkSpec, NnueInputs, NormKind,
    PolicyHead, PolicyHeadSpec, Tower, TowerSpec, ValueHead, ValueHeadSpec,
};
pub use tensor::{Init, TensorRole, TensorSpec};
pub use value_calibration::{CalibrationSample, LEELA_SCALE, ValueCalibration, centipawns};
pub use weights::{TensorProblem, TensorProblems, WeightTensor, Weights, check_against};

#[cfg(test)]
mod tests;
