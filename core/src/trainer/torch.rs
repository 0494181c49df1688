//! Training on libtorch: losses, optimisers, updates and resumable state.

mod average;
mod batch;
mod error;
mod flat;
mod job;
mod loader;
mod loss;
mod optimizer;
mod report;
mod run;
mod state;
mod update;

pub use batch::TrainingBatch;
pub use error::TrainError;
pub use job::{CarriedState, TrainJob, Trained, useful_threads};
pub use loader::Loader;
pub use report::{TrainSummary, TrainingRow, ValidationRow};
pub use run::train;
pub use state::{check_state, updates_done};

#[cfg(test)]
mod tests;
