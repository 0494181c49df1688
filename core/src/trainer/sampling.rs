//! Chooses the samples of each update.

use rand::RngExt;
use rand::seq::SliceRandom;

use super::params::Mirroring;
use crate::rng::{Purpose, Seed};

/// A sample of an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drawn {
    /// Its index among the samples.
    pub index: usize,
    /// Whether its mirror image is trained on, if it has one.
    pub is_mirrored: bool,
}

/// Draws batches without replacement: every epoch is a shuffled pass over all samples, and batches run on from one epoch
/// into the next. A batch depends only on the update's number, so training can resume at any update.
#[derive(Debug)]
pub struct Sampler {
    seed: Seed,
    mirroring: Mirroring,
    /// Samples of an epoch.
    length: u64,
    batch: u64,
    /// The epoch that `order` belongs to.
    epoch: Option<u64>,
    /// The samples in the order in which they are drawn; with [`Mirroring::Both`] twice their index, and one more for the image.
    order: Vec<u32>,
    /// Which of `order` are mirrored; empty if that is not random.
    is_mirrored: Vec<bool>,
}

impl Sampler {
    /// A sampler over `count` samples, at least one and fewer than 2³¹, in batches of `batch`.
    pub fn new(seed: Seed, count: usize, batch: u32, mirroring: Mirroring) -> Self {
        let length = count as u64 * mirroring.images();
        let (order, is_mirrored) = (Vec::new(), Vec::new());
        Self { seed, mirroring, length, batch: batch.into(), epoch: None, order, is_mirrored }
    }

    /// The samples of an update, with indices below the count; updates are counted from 0.
    pub fn batch(&mut self, update: u32) -> Vec<Drawn> {
        let first = u64::from(update) * self.batch;
        (first..first + self.batch).map(|drawn| self.draw(drawn)).collect()
    }

    fn draw(&mut self, drawn: u64) -> Drawn {
        let epoch = drawn / self.length;
        if self.epoch != Some(epoch) {
            self.shuffle(epoch);
            self.epoch = Some(epoch);
        }
        let at = (drawn % self.length) as usize;
        let number = self.order[at] as usize;
        match self.mirroring {
            Mirroring::None => Drawn { index: number, is_mirrored: false },
            Mirroring::Random => Drawn { index: number, is_mirrored: self.is_mirrored[at] },
            Mirroring::Both => Drawn { index: number / 2, is_mirrored: number % 2 == 1 },
        }
    }

    /// Mirroring has a stream of its own, so that the order of samples is the same with it and without.
    fn shuffle(&mut self, epoch: u64) {
        self.order.clear();
        self.order.extend(0..self.length as u32);
        self.order.shuffle(&mut self.seed.stream(epoch, Purpose::Sampling));
        if self.mirroring == Mirroring::Random {
            let mut stream = self.seed.stream(epoch, Purpose::Mirroring);
            self.is_mirrored.clear();
            self.is_mirrored.extend((0..self.length).map(|_| stream.random_bool(0.5)));
        }
    }
}
