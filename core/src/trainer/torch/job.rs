//! The input and the result of training.

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
use crate::trainer::samples::{GameCounts, Samples, hash_numbers};

/// What to train, on which samples, and where the training state is stored.
#[derive(Debug, Clone, Copy)]
pub struct TrainJob<'a> {
    /// The parameters, checked. `auto` of the precision is f32.
    pub params: &'a TrainParams,
    /// The net before training.
    pub start: &'a Checkpoint,
    /// Samples in the encoding of `start`, made with `params`.
    pub samples: &'a Samples,
    /// The seed of the batches.
    pub seed: Seed,
    /// The most libtorch threads, at least 1. Their number changes rounding, so it is part of the training's identity.
    pub threads: u32,
    /// The device that the net runs on.
    pub device: Device,
    /// The state that the training which made `start` left, to go on from as far as the parameters say.
    pub carried: Option<CarriedState<'a>>,
    /// The file of the training state; the caller keeps or removes it once the result is stored.
    pub state_path: &'a Path,
}

/// The file of a finished training's state.
#[derive(Debug, Clone, Copy)]
pub struct CarriedState<'a> {
    /// Where it is.
    pub path: &'a Path,
    /// Its digest.
    pub blake3: &'a str,
}

/// The result of training.
#[derive(Debug, Clone, PartialEq)]
pub struct Trained {
    /// The new weights, including batch norm's running statistics.
    pub weights: Weights,
    /// One row for every `log_every` updates, and one for the last.
    pub curve: Vec<TrainingRow>,
    /// Before the first update, at every `checkpoint_every` updates and after the last; empty without held-out games.
    pub validation: Vec<ValidationRow>,
    /// A summary of the step.
    pub summary: TrainSummary,
}

/// Floating-point operations of an update that make one more thread worthwhile.
///
/// Threads synchronise some hundred times in an update, whatever its size. On two cores an update of a 2×32 net takes 5 to 7 ms
/// with one thread or two at 8 samples (0.15 GFLOP), but 33 ms with one and 20 ms with two at 128 samples (2.3 GFLOP). See
/// `docs/performance.md`.
const FLOPS_PER_THREAD: f64 = 5e8;

/// The number of threads for an update of `flops` floating-point operations: as many as are worthwhile, at most `most`.
pub fn useful_threads(flops: f64, most: u32) -> u32 {
    ((flops / FLOPS_PER_THREAD) as u32).clamp(1, most.max(1))
}

/// An epoch numbers samples in 32 bits, and may have each of them twice.
const MOST_SAMPLES: usize = 1 << 30;

/// The libtorch threads of the job's updates.
pub(super) fn update_threads(job: &TrainJob<'_>) -> u32 {
    // An update is a forward pass and a backward pass of twice its cost.
    let flops =
        3.0 * 2.0 * Graph::of_training(&job.start.spec).multiply_adds() as f64 * f64::from(job.params.batch);
    useful_threads(flops, job.threads)
}

/// Rejects empty samples, and samples made for other parameters or another net.
pub(super) fn check(job: &TrainJob<'_>) -> Result<(), TrainError> {
    if job.samples.training_count() == 0 {
        let GameCounts { training, validation: held_out, unused } = job.samples.games();
        return Err(TrainError::NoSamples { games: training + held_out + unused, held_out, unused });
    }
    let count = job.samples.training_count();
    if count > MOST_SAMPLES {
        return Err(TrainError::TooManySamples { count, most: MOST_SAMPLES });
    }
    if !job.samples.were_made_with(job.params) {
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

/// A digest of everything that the result depends on, so that a state is never resumed by another training.
pub(super) fn identity(job: &TrainJob<'_>) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("dc0 training state 3");
    let Seed { run, step } = job.seed;
    // Any GPU may resume a GPU's training.
    let device = if job.device.is_cuda() { Device::Cuda(0) } else { job.device };
    let rest = format!("{run} {step} {} {device:?}", update_threads(job));
    let texts = [
        job.params.to_value().canonical(),
        job.start.spec.to_value().canonical(),
        job.samples.digest(),
        job.carried.map_or_else(String::new, |carried| carried.blake3.to_owned()),
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
