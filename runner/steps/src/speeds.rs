//! How fast this machine plays and trains: measured once by `dc0-run bench calibrate`, for the times that `--check` estimates.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use dc0_core::durable;
use dc0_process::folders::cache_folder;
use dc0_runs::StepKind;

/// Seconds of each part of the work.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Speeds {
    /// Start and end of the process: before its first step and after its last.
    pub start: f64,
    /// Fixed cost of a step, by kind: finding its inputs, setting up, writing files durably.
    pub step: BTreeMap<String, f64>,
    /// Additional cost of the first step of a kind in a process, when libraries initialise themselves.
    pub first: BTreeMap<String, f64>,
    /// Each further shard that a lane plays.
    pub shard: f64,
    /// A position that training reads from tables.
    pub read: f64,
    /// Evaluations in one lane of play.
    pub playing: Costs,
    /// Updates of training, with all its threads.
    pub training: Costs,
}

/// Seconds of a net's work.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Costs {
    /// Fixed cost of a batch or an update.
    pub batch: f64,
    /// An evaluation or a sample of an update, whatever the net: the search, making samples.
    pub item: f64,
    /// A floating-point operation; a sample has three times as many as an evaluation.
    pub flop: f64,
}

/// The critical path of a step: its work on the busiest lane.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ShardCost {
    /// Shards that the lane plays in sequence.
    pub shards: u32,
    /// Batches or updates.
    pub batches: f64,
    /// Evaluations, or samples of updates.
    pub items: f64,
    /// Floating-point operations of these.
    pub flops: f64,
    /// Positions that are read from tables.
    pub read: f64,
}

impl ShardCost {
    /// The same with batches, items and operations that take `times` as long.
    pub fn slowed(self, times: f64) -> Self {
        let Self { batches, items, flops, .. } = self;
        Self { batches: times * batches, items: times * items, flops: times * flops, ..self }
    }
}

/// A measurement with a net: seconds per evaluation or per sample of an update.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// Floating-point operations per evaluation or sample.
    pub flops: f64,
    /// Rows per batch.
    pub rows: f64,
    /// Seconds per evaluation or sample.
    pub seconds: f64,
}

impl Costs {
    /// Costs from three measurements: a net in large batches, the same net in small batches, and a larger net in large batches. No
    /// cost is below 0, and noise in a measurement does not make work free.
    pub fn of([large, small, larger_net]: [Measured; 3]) -> Self {
        let batch_estimate = (small.seconds - large.seconds).max(0.0) / (1.0 / small.rows - 1.0 / large.rows);
        let batch = batch_estimate.min(large.seconds * large.rows);
        let without_batch = |net: Measured| (net.seconds - batch / net.rows).max(0.0);
        let (smaller, larger) = (without_batch(large), without_batch(larger_net));
        let flop = ((larger - smaller) / (larger_net.flops - large.flops)).max(0.0);
        let item = smaller - flop * large.flops;
        if item >= 0.0 {
            Self { batch, item, flop }
        } else {
            Self { batch, item: 0.0, flop: larger / larger_net.flops }
        }
    }

    /// Seconds of one evaluation or sample in batches of `rows`.
    pub fn of_one(&self, rows: f64, flops: f64) -> f64 {
        self.batch / rows + self.item + self.flop * flops
    }

    fn seconds(&self, pace: &ShardCost) -> f64 {
        pace.batches * self.batch + pace.items * self.item + pace.flops * self.flop
    }
}

impl Speeds {
    /// Speeds for plans of machines that were not measured: those of two cores of a Xeon (27 November 2026), rounded.
    pub fn typical() -> Self {
        Self {
            start: 0.3,
            step: BTreeMap::new(),
            first: BTreeMap::new(),
            shard: 0.006,
            read: 1e-6,
            playing: Costs { batch: 5e-4, item: 1e-5, flop: 1.2e-12 },
            training: Costs { batch: 5e-3, item: 1e-4, flop: 2e-12 },
        }
    }

    /// Seconds of a step of this kind.
    pub fn seconds(&self, kind: &str, pace: &ShardCost) -> f64 {
        let costs = if kind == StepKind::TRAIN.name { &self.training } else { &self.playing };
        let further = f64::from(pace.shards.saturating_sub(1)) * self.shard;
        self.step.get(kind).copied().unwrap_or(0.0) + further + pace.read * self.read + costs.seconds(pace)
    }

    /// Additional seconds of the first step of this kind.
    pub fn first(&self, kind: &str) -> f64 {
        self.first.get(kind).copied().unwrap_or(0.0)
    }

    /// The stored measurement of this machine, if any.
    pub fn stored() -> Option<Self> {
        serde_json::from_str(&fs::read_to_string(store()?).ok()?).ok()
    }

    /// Stores the measurement; returns the file.
    pub fn keep(&self) -> std::io::Result<PathBuf> {
        let file = store().ok_or_else(|| std::io::Error::other("the system has no folder for caches"))?;
        fs::create_dir_all(file.parent().unwrap_or(Path::new("")))?;
        let text = serde_json::to_string_pretty(self).expect("numbers by text");
        durable::write(&file, text.as_bytes())?;
        Ok(file)
    }
}

/// The file of the measurement, if the system has a folder for caches.
fn store() -> Option<PathBuf> {
    Some(cache_folder()?.join("speeds.json"))
}

#[cfg(test)]
mod tests {
    use super::{Costs, Measured, ShardCost, Speeds};

    /// The measurement for given costs.
    fn measured(costs: Costs, flops: f64, rows: f64) -> Measured {
        Measured { flops, rows, seconds: costs.batch / rows + costs.item + costs.flop * flops }
    }

    #[test]
    fn costs_are_recovered_from_three_measurements() {
        let costs = Costs { batch: 2e-4, item: 1e-5, flop: 1e-11 };
        let found = Costs::of([(1e6, 32.0), (1e6, 2.0), (1e7, 32.0)].map(|(f, r)| measured(costs, f, r)));
        for (found, expected) in
            [(found.batch, costs.batch), (found.item, costs.item), (found.flop, costs.flop)]
        {
            assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
        }
    }

    #[test]
    fn noise_never_makes_work_free() {
        let point = |flops, rows, seconds| Measured { flops, rows, seconds };
        // The line of both nets would cross zero, so it goes through the origin and the larger net.
        let steep = Costs::of([point(3e6, 32.0, 1e-4), point(3e6, 2.0, 1e-4), point(3e7, 32.0, 2e-3)]);
        assert_eq!((steep.batch, steep.item), (0.0, 0.0));
        assert!((steep.flop * 3e7 - 2e-3).abs() < 1e-12);
        // If small batches seem faster, batches cost nothing; if a larger net seems faster, operations cost nothing.
        let flat = Costs::of([point(1e6, 32.0, 1e-4), point(1e6, 2.0, 5e-5), point(1e7, 32.0, 9e-5)]);
        assert_eq!((flat.batch, flat.flop), (0.0, 0.0));
        assert!((flat.item - 1e-4).abs() < 1e-12);
    }

    #[test]
    fn a_step_takes_its_fixed_time_and_the_time_of_its_work() {
        let costs = Costs { batch: 0.01, item: 0.001, flop: 1e-9 };
        let speeds = Speeds {
            step: [("self_play".to_owned(), 0.2)].into(),
            first: [("train".to_owned(), 0.3)].into(),
            shard: 0.05,
            read: 1e-4,
            playing: costs,
            training: Costs { batch: 0.1, ..costs },
            ..Speeds::default()
        };
        let pace = ShardCost { shards: 3, batches: 10.0, items: 100.0, flops: 1e8, read: 0.0 };
        // 0.2 of the step, two further shards, 0.1 of batches, 0.1 of evaluations, 0.1 of arithmetic.
        assert!((speeds.seconds("self_play", &pace) - 0.6).abs() < 1e-9);
        let training = ShardCost { shards: 0, read: 1000.0, ..pace };
        assert!((speeds.seconds("train", &training) - 1.3).abs() < 1e-9);
        assert_eq!((speeds.first("train"), speeds.first("arena")), (0.3, 0.0));
    }
}
