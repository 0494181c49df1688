//! Which samples each update sees.

use rand::seq::SliceRandom;

use crate::rng::{Purpose, Seed};

/// Draws batches without replacement: every epoch is a shuffled pass over all samples, and batches follow each other
/// through the epochs without a gap. What an update sees depends on its number only, so training can go on anywhere.
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
    /// For `count` samples, at least one, in batches of `batch`; `count` fits 32 bits.
    pub fn new(seed: Seed, count: usize, batch: u32) -> Self {
        Self { seed, count: count as u64, batch: batch.into(), epoch: None, order: Vec::new() }
    }

    /// The places of an update's samples, each below the count; updates are counted from 0.
    pub fn batch(&mut self, update: u32) -> Vec<usize> {
        let first = u64::from(update) * self.batch;
        (first..first + self.batch).map(|drawn| self.place(drawn)).collect()
    }

    fn place(&mut self, drawn: u64) -> usize {
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
