//! What an attempt at a step has cost.

use serde::{Deserialize, Serialize};

/// Measurements of one attempt at a step, or of several together.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Figures {
    /// CPU seconds of the process.
    pub cpu_secs: f64,
    /// Threads that played.
    pub lanes: u32,
    /// Evaluations that searches requested.
    pub evaluations: u64,
    /// What nets did of these.
    #[serde(flatten)]
    pub nets: NetFigures,
    /// Seconds that lanes had a net.
    pub lane_secs: f64,
    /// Samples that were trained on.
    pub samples: u64,
    /// Peak memory of the process, in bytes.
    pub peak_memory: u64,
}

impl Figures {
    pub(super) fn plus(self, later: Self) -> Self {
        Self {
            cpu_secs: self.cpu_secs + later.cpu_secs,
            lanes: later.lanes,
            evaluations: self.evaluations + later.evaluations,
            nets: self.nets.plus(later.nets),
            lane_secs: self.lane_secs + later.lane_secs,
            samples: self.samples + later.samples,
            peak_memory: self.peak_memory.max(later.peak_memory),
        }
    }
}

/// What nets did while they played.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NetFigures {
    /// Rows that they evaluated; the other evaluations came from the cache.
    pub rows: u64,
    /// Batches that they evaluated.
    pub batches: u64,
    /// Rows of the largest batch.
    pub largest_batch: u64,
    /// Seconds that lanes waited for them.
    pub net_secs: f64,
    /// Floating-point operations.
    pub flops: f64,
}

impl NetFigures {
    /// Both together. Those of workers may be anything, so sums stay in their range.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            rows: self.rows.saturating_add(other.rows),
            batches: self.batches.saturating_add(other.batches),
            largest_batch: self.largest_batch.max(other.largest_batch),
            net_secs: self.net_secs + other.net_secs,
            flops: self.flops + other.flops,
        }
    }
}
