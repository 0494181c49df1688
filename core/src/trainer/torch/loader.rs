//! Batches of samples, in the order of the updates.

use tch::{Device, TchError};

use super::batch::{BatchSetup, NnueSetup, Row, TrainingBatch};
use crate::network::NetworkSpec;
use crate::network::torch::Expansion;
use crate::rng::Seed;
use crate::trainer::samples::Samples;
use crate::trainer::{Drawn, Sampler, TrainParams};

/// Draws samples and packs them into batches for a net on a device.
#[derive(Debug)]
pub struct Loader<'a> {
    samples: &'a Samples,
    sampler: Sampler,
    nnue: Option<NnueSetup>,
    has_reply_head: bool,
    expansion: Option<Expansion>,
    device: Device,
}

impl<'a> Loader<'a> {
    /// Batches of `samples`, of which there is at least one to train on, for a net of this spec.
    pub fn new(
        samples: &'a Samples,
        spec: &NetworkSpec,
        params: &TrainParams,
        seed: Seed,
        device: Device,
    ) -> Result<Self, TchError> {
        let has_reply_head = spec.auxiliary_heads.as_ref().is_some_and(|heads| heads.reply);
        let expansion = (device != Device::Cpu).then(|| Expansion::new(samples.encoding(), device));
        Ok(Self {
            samples,
            sampler: Sampler::new(seed, samples.training_count(), params.batch, params.mirror),
            nnue: NnueSetup::new(spec),
            has_reply_head,
            expansion: expansion.transpose()?,
            device,
        })
    }

    fn setup(&self) -> BatchSetup<'_> {
        BatchSetup {
            encoding: self.samples.encoding(),
            nnue: self.nnue.as_ref(),
            has_reply_head: self.has_reply_head,
            expansion: self.expansion.as_ref(),
            device: self.device,
        }
    }

    /// The batch of an update, counted from 0.
    pub fn batch(&mut self, update: u32) -> Result<TrainingBatch, TchError> {
        let row = |drawn: Drawn| match self.samples.training_row(drawn.index) {
            sample if drawn.is_mirrored => Row::mirrored(sample, self.samples.encoding()),
            sample => Row::played(sample),
        };
        let rows: Vec<Row<'_>> = self.sampler.batch(update).into_iter().map(row).collect();
        TrainingBatch::new(&rows, self.setup())
    }

    /// Held-out samples by their indices, as they were played.
    pub(super) fn held_out(&self, indices: &[usize]) -> Result<TrainingBatch, TchError> {
        let sample = |&index: &usize| Row::played(self.samples.validation_row(index));
        let rows: Vec<Row<'_>> = indices.iter().map(sample).collect();
        TrainingBatch::new(&rows, self.setup())
    }
}
