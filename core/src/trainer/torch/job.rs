//! What to train and from what, and what comes of it.

use std::path::Path;

use tch::Device;

use super::error::TrainError;
use super::report::{TrainSummary, TrainingRow, ValidationRow};
use crate::network::Weights;
use crate::network::checkpoint::Checkpoint;
use crate::network::graph::Graph;
use crate::params::Param;
use crate::rng::Seed;
use crate::trainer::TrainParams;
use crate::trainer::samples::{Samples, hash_numbers};

/// What to train, from what, and where the state between updates lies.
#[derive(Debug, Clone, Copy)]
pub struct TrainJob<'a> {
    /// The parameters, checked.
    pub params: &'a TrainParams,
    /// The net before training.
    pub start: &'a Checkpoint,
    /// Samples in the encoding of `start`, made with `params`.
    pub samples: &'a Samples,
    /// Decides which samples each update sees.
    pub seed: Seed,
    /// The most libtorch threads, at least 1. Their number changes rounding, so it belongs to the run.
    pub threads: u32,
    /// Where the net runs.
    pub device: Device,
    /// A file for the state between updates; the caller removes it when the result is stored.
    pub state_path: &'a Path,
}

/// The result of training.
#[derive(Debug, Clone, PartialEq)]
pub struct Trained {
    /// The new weights, batch norm's running statistics included.
    pub weights: Weights,
    /// One row for every `log_every` updates, and one for the last.
    pub curve: Vec<TrainingRow>,
    /// Before the first update, at every `checkpoint_every` updates and after the last; empty without held-out games.
    pub validation: Vec<ValidationRow>,
    /// The step in a few numbers.
    pub summary: TrainSummary,
}

/// Floating-point operations of an update that pay for one more thread.
///
/// Threads meet some hundred times in an update, whatever its size: on two cores an update of a 2×32 net takes 5 to 7 ms with one
/// thread as with two at 8 samples (0.15 GFLOP), and 33 and 20 ms at 128 (2.3 GFLOP). See `docs/performance.md`.
const FLOPS_OF_A_THREAD: f64 = 5e8;

/// Threads of an update of so many floating-point operations: as many as they pay for, and no more than `most`.
pub fn threads_that_pay(flops: f64, most: u32) -> u32 {
    ((flops / FLOPS_OF_A_THREAD) as u32).clamp(1, most.max(1))
}

/// The libtorch threads of the job's updates.
pub(super) fn threads_of(job: &TrainJob<'_>) -> u32 {
    // An update goes once forward and, at twice the cost, once backward.
    let flops = 3.0 * 2.0 * Graph::new(&job.start.spec).multiply_adds() as f64 * f64::from(job.params.batch);
    threads_that_pay(flops, job.threads)
}

/// Refuses samples that are none, or were made for other parameters or another net.
pub(super) fn check(job: &TrainJob<'_>) -> Result<(), TrainError> {
    let games = job.samples.games();
    if job.samples.training_count() == 0 {
        let all = games.training + games.validation;
        return Err(TrainError::NoSamples { games: all, held_out: games.validation });
    }
    if !job.samples.are_made_with(job.params) {
        return Err(TrainError::OtherTargets);
    }
    let net = job.start.spec.input();
    if net != *job.samples.encoding() {
        return Err(TrainError::Encoding {
            net: net.to_string(),
            samples: job.samples.encoding().to_string(),
        });
    }
    Ok(())
}

/// A digest of everything that decides the result, so that a state is never resumed by another training.
pub(super) fn identity(job: &TrainJob<'_>) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("dc0 training state 1");
    let Seed { run, step } = job.seed;
    // Any of several devices of one kind may go on.
    let device = if job.device.is_cuda() { Device::Cuda(0) } else { job.device };
    let rest = format!("{run} {step} {} {device:?}", threads_of(job));
    let texts = [
        job.params.to_value().canonical(),
        job.start.spec.to_value().canonical(),
        job.samples.digest(),
        rest,
    ];
    for text in texts {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    for (name, tensor) in &job.start.weights {
        hasher.update(name.as_bytes());
        hash_numbers(&mut hasher, &tensor.data, |value| value.to_le_bytes());
    }
    hasher.finalize().to_hex().to_string()
}
