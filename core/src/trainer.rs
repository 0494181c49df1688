//! Training: from games and positions to the next weights.
//!
//! [`samples`] replays games into compact training samples, and [`train`] makes updates from them. The result depends on
//! the start, the samples, the parameters, the seed and the number of libtorch threads, and on nothing else: a run that is
//! stopped and resumed gives the same bytes (on a CPU; GPUs add in no fixed order).
//!
//! The loss of one update is (AlphaZero 2018, equation 1, with win-draw-loss instead of a squared error, and with the
//! weight decay in the optimiser):
//!
//! ```text
//! policy_weight · mean CE(visit shares, policy over the legal moves) + value_weight · mean CE(target wdl, wdl)
//! ```
//!
//! The policy's support is *all legal moves*: the softmax runs over them only, so illegal moves have no probability and
//! no gradient, and a legal move without a visit has the target 0.

mod batch;
mod error;
mod job;
mod loss;
mod optimizer;
mod params;
mod report;
mod run;
pub mod samples;
mod sampling;
mod state;
mod update;

pub use error::TrainError;
pub use job::{TrainJob, Trained, threads_that_pay, train};
pub use params::{OptimizerKind, OptimizerParams, TrainParams, TrainPrecision};
pub use report::{TrainSummary, TrainingRow, ValidationRow};
pub use state::updates_done;

#[cfg(test)]
mod tests;
