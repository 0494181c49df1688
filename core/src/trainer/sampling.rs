//! Chooses the samples of each update.

use rand::seq::SliceRandom;

use crate::rng::{Purpose, Seed};

/// Draws batches without replacement: every epoch is a shuffled pass over all samples, and batches run on from one epoch
/// into the next. A batch depends only on the update's number, so training can resume at any update.
#[derive(Debug)]
pub struct Sampler {
    seed: Seed,
    count: u64,
    batch: u64,
    /// The epoch that `order` belongs to.
    epoch: Option<u64>,
    order: Vec<u32>,
}

impl Sampler {
    /// A sampler over `count` samples, at least one and fewer than 2³², in batches of `batch`.
    pub fn new(seed: Seed, count: usize, batch: u32) -> Self {
        Self { seed, count: count as u64, batch: batch.into(), epoch: None, order: Vec::new() }
    }

    /// The indices of an update's samples, each below the count; updates are counted from 0.
    pub fn batch(&mut self, update: u32) -> Vec<usize> {
        let first = u64::from(update) * self.batch;
        (first..first + self.batch).map(|drawn| self.index(drawn)).collect()
    }

    fn index(&mut self, drawn: u64) -> usize {
        let epoch = drawn / self.count;
        if self.epoch != Some(epoch) {
            self.order.clear();
            self.order.extend(0..self.count as u32);
            self.order.shuffle(&mut self.seed.stream(epoch, Purpose::Sampling));
            self.epoch = Some(epoch);
        }
        self.order[(drawn % self.count) as usize] as usize
    }
}
