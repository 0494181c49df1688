//! Training: turns games and positions into new weights.
//!
//! [`samples`] replays games into compact training samples, and `train` runs updates on them with libtorch. The result depends
//! only on the initial net, the samples, the parameters, the seed and the number of libtorch threads: a training that is stopped
//! and resumed gives the same bytes (on a CPU; GPUs add in no fixed order).
//!
//! The loss of one update is (AlphaZero 2018, equation 1, with win-draw-loss instead of a squared error, and with the
//! weight decay in the optimiser):
//!
//! ```text
//! policy_weight · mean CE(visit shares, policy over the legal moves) + value_weight · mean CE(target wdl, wdl)
//! ```
//!
//! and the losses of the heads that the net has besides, each with its weight.
//!
//! The policy's support is *all legal moves*: the softmax runs over them only, so illegal moves have no probability and
//! no gradient, and a legal move without a visit has the target 0.

mod calibration;
mod params;
pub mod samples;
mod sampling;
mod tensors;
#[cfg(feature = "torch")]
mod torch;
mod validation;

pub use params::{
    AverageKind, BatchNormMode, CappedGames, Mirroring, OptimizerKind, OptimizerParams, OptimizerStart,
    PolicyTarget, TrainParams, TrainPrecision, TrainedPositions, WeightAverage,
};
pub use sampling::{Drawn, Sampler};
pub use tensors::{TensorCounts, TensorError, TensorFile, TensorForm};
#[cfg(feature = "torch")]
pub use torch::{
    CarriedState, Loader, TrainError, TrainJob, TrainSummary, Trained, TrainingBatch, TrainingRow,
    ValidationRow, check_state, train, updates_done, useful_threads,
};
pub use validation::{
    PredictionSums, ValidateError, ValidateParams, Validated, ValidationGames, ValidationJob,
};

#[cfg(test)]
mod tests;
