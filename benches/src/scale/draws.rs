//! Random numbers of the simulation.

use dc0_core::rng::{Purpose, Seed, Stream};
use rand::RngExt;

/// A stream of them.
pub(super) struct Draws(Stream);

impl Draws {
    pub(super) fn new(seed: u64, workers: u32) -> Self {
        Self(Seed { run: seed, step: 0 }.stream(workers.into(), Purpose::Trial))
    }

    /// A number from 0 to 1.
    pub(super) fn uniform(&mut self) -> f64 {
        self.0.random()
    }

    /// A normal number: the sum of twelve uniform ones is nearly that.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    /// A factor around one with this standard deviation, and at least a tenth.
    pub(super) fn factor(&mut self, deviation: f64) -> f64 {
        if deviation == 0.0 { 1.0 } else { (1.0 + deviation * self.normal()).max(0.1) }
    }

    /// Seconds to the next event of this many an hour; none if there are none.
    pub(super) fn until(&mut self, per_hour: f64) -> Option<f64> {
        (per_hour > 0.0).then(|| -(1.0 - self.uniform()).ln() * 3600.0 / per_hour)
    }
}
