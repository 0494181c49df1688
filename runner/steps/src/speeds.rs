//! How fast this machine plays and trains: measured once by `dc0-run bench calibrate`, for the times that `--check` tells.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use dc0_core::durable;

/// Seconds by what is done.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Speeds {
    /// Of the process, before its first step and after its last.
    pub start: f64,
    /// Of a step that has next to nothing to do, by its kind: finding what it needs, setting up, writing files that last.
    pub step: BTreeMap<String, f64>,
    /// What the first step of a kind takes longer than later ones in the same process: libraries set themselves up.
    pub first: BTreeMap<String, f64>,
    /// Of each further shard that a lane plays.
    pub shard: f64,
    /// Of a position that a training reads from tables.
    pub read: f64,
    /// Of one lane that plays.
    pub playing: Costs,
    /// Of training, with all its threads.
    pub training: Costs,
}

/// Seconds of what a net does.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Costs {
    /// Of a batch or an update, however large.
    pub batch: f64,
    /// Of an evaluation or of a sample of an update, whatever the net: the search, the samples.
    pub item: f64,
    /// Of a floating-point operation; a sample has three times an evaluation's.
    pub flop: f64,
}

/// What of a step one thing has to follow another, where most of it does: on the busiest lane.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Pace {
    /// Shards that one lane plays one after the other.
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

impl Pace {
    /// The same where batches, items and operations take so many times longer.
    pub fn slowed(self, times: f64) -> Self {
        let Self { batches, items, flops, .. } = self;
        Self { batches: times * batches, items: times * items, flops: times * flops, ..self }
    }
}

/// What was measured with a net: seconds of one evaluation or one sample of an update.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// Floating-point operations of each.
    pub flops: f64,
    /// How many a batch has.
    pub rows: f64,
    /// Seconds of each.
    pub seconds: f64,
}

impl Costs {
    /// Of one net in large batches, the same in small ones, and a larger net in large batches. Noise in a measurement must not
    /// make work free, so nothing is below 0.
    pub fn of([large, small, larger_net]: [Measured; 3]) -> Self {
        let by_row = (small.seconds - large.seconds).max(0.0) / (1.0 / small.rows - 1.0 / large.rows);
        let batch = by_row.min(large.seconds * large.rows);
        let within = |net: Measured| (net.seconds - batch / net.rows).max(0.0);
        let (one, other) = (within(large), within(larger_net));
        let flop = ((other - one) / (larger_net.flops - large.flops)).max(0.0);
        let item = one - flop * large.flops;
        if item >= 0.0 {
            Self { batch, item, flop }
        } else {
            Self { batch, item: 0.0, flop: other / larger_net.flops }
        }
    }

    /// Of one evaluation or sample in batches of so many.
    pub fn of_one(&self, rows: f64, flops: f64) -> f64 {
        self.batch / rows + self.item + self.flop * flops
    }

    fn seconds(&self, pace: &Pace) -> f64 {
        pace.batches * self.batch + pace.items * self.item + pace.flops * self.flop
    }
}

impl Speeds {
    /// Seconds of a step of this kind.
    pub fn seconds(&self, kind: &str, pace: &Pace) -> f64 {
        let costs = if kind == "train" { &self.training } else { &self.playing };
        let further = f64::from(pace.shards.saturating_sub(1)) * self.shard;
        self.step.get(kind).copied().unwrap_or(0.0) + further + pace.read * self.read + costs.seconds(pace)
    }

    /// What the first step of this kind takes longer.
    pub fn first(&self, kind: &str) -> f64 {
        self.first.get(kind).copied().unwrap_or(0.0)
    }

    /// What was measured on this machine before, if anything.
    pub fn stored() -> Option<Self> {
        serde_json::from_str(&fs::read_to_string(store()?).ok()?).ok()
    }

    /// Keeps the measurement; gives the file.
    pub fn keep(&self) -> std::io::Result<PathBuf> {
        let file = store().ok_or_else(|| std::io::Error::other("the system has no folder for caches"))?;
        fs::create_dir_all(file.parent().unwrap_or(Path::new("")))?;
        let text = serde_json::to_string_pretty(self).expect("numbers by text");
        durable::write(&file, text.as_bytes())?;
        Ok(file)
    }
}

/// Where the measurement is kept, if the system has a place for that.
fn store() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")))?;
    Some(folder.join("dc0/speeds.json"))
}

#[cfg(test)]
mod tests {
    use super::{Costs, Measured, Pace, Speeds};

    /// What would be measured where these are the costs.
    fn measured(costs: Costs, flops: f64, rows: f64) -> Measured {
        Measured { flops, rows, seconds: costs.batch / rows + costs.item + costs.flop * flops }
    }

    #[test]
    fn three_measurements_give_their_costs_back() {
        let costs = Costs { batch: 2e-4, item: 1e-5, flop: 1e-11 };
        let found = Costs::of([(1e6, 32.0), (1e6, 2.0), (1e7, 32.0)].map(|(f, r)| measured(costs, f, r)));
        for (found, expected) in
            [(found.batch, costs.batch), (found.item, costs.item), (found.flop, costs.flop)]
        {
            assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
        }
    }

    #[test]
    fn noise_makes_nothing_free() {
        let point = |flops, rows, seconds| Measured { flops, rows, seconds };
        // The line of both nets would cross zero, so it goes through the origin and the larger net.
        let steep = Costs::of([point(3e6, 32.0, 1e-4), point(3e6, 2.0, 1e-4), point(3e7, 32.0, 2e-3)]);
        assert_eq!((steep.batch, steep.item), (0.0, 0.0));
        assert!((steep.flop * 3e7 - 2e-3).abs() < 1e-12);
        // Small batches that seem faster cost nothing more; a larger net that seems faster, too.
        let flat = Costs::of([point(1e6, 32.0, 1e-4), point(1e6, 2.0, 5e-5), point(1e7, 32.0, 9e-5)]);
        assert_eq!((flat.batch, flat.flop), (0.0, 0.0));
        assert!((flat.item - 1e-4).abs() < 1e-12);
    }

    #[test]
    fn a_step_has_its_fixed_time_and_that_of_its_work() {
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
        let pace = Pace { shards: 3, batches: 10.0, items: 100.0, flops: 1e8, read: 0.0 };
        // 0.2 of the step, two further shards, 0.1 of batches, 0.1 of evaluations, 0.1 of arithmetic.
        assert!((speeds.seconds("self_play", &pace) - 0.6).abs() < 1e-9);
        let training = Pace { shards: 0, read: 1000.0, ..pace };
        assert!((speeds.seconds("train", &training) - 1.3).abs() < 1e-9);
        assert_eq!((speeds.first("train"), speeds.first("arena")), (0.3, 0.0));
    }
}
