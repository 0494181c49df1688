//! How fast this machine plays and trains: measured once by `dc0-run bench calibrate`, for the times that `--check` tells.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use dc0_core::durable;

/// Seconds by what a step does, as straight lines through two measured nets.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Speeds {
    /// Of one evaluation, whatever the net: the search, and what a batch costs besides its arithmetic.
    pub evaluation: f64,
    /// Of one floating-point operation of an evaluation.
    pub evaluation_flop: f64,
    /// Of one sample of an update, whatever the net.
    pub sample: f64,
    /// Of one floating-point operation of an update; a sample has three times an evaluation's.
    pub sample_flop: f64,
}

/// What was measured of a net: the work of a second's unit and its seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// Floating-point operations of one evaluation, or of one sample of an update.
    pub flops: f64,
    /// Seconds of it.
    pub seconds: f64,
}

impl Speeds {
    /// From a smaller and a larger net, each playing and training.
    pub fn of(playing: [Measured; 2], training: [Measured; 2]) -> Self {
        let ((evaluation, evaluation_flop), (sample, sample_flop)) = (line(playing), line(training));
        Self { evaluation, evaluation_flop, sample, sample_flop }
    }

    /// Seconds of a step of this kind.
    pub fn seconds(&self, kind: &str, evaluations: u64, samples: u64, flops: f64) -> f64 {
        let (of_each, of_flop) = if kind == "train" {
            (self.sample, self.sample_flop)
        } else {
            (self.evaluation, self.evaluation_flop)
        };
        let count = if kind == "train" { samples } else { evaluations };
        count as f64 * of_each + flops * of_flop
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

/// Intercept and slope, neither below 0: noise in a measurement must not make large work free.
fn line([small, large]: [Measured; 2]) -> (f64, f64) {
    let slope = ((large.seconds - small.seconds) / (large.flops - small.flops)).max(0.0);
    let rest = small.seconds - slope * small.flops;
    if rest >= 0.0 { (rest, slope) } else { (0.0, large.seconds / large.flops) }
}

/// Where the measurement is kept, if the system has a place for that.
fn store() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")))?;
    Some(folder.join("dc0/speeds.json"))
}

#[cfg(test)]
mod tests {
    use super::{Measured, Speeds};

    #[test]
    fn a_line_through_two_nets_gives_their_own_times_back() {
        let playing = [Measured { flops: 1e6, seconds: 3e-5 }, Measured { flops: 1e7, seconds: 1.2e-4 }];
        let training = [Measured { flops: 3e6, seconds: 1e-4 }, Measured { flops: 3e7, seconds: 2e-3 }];
        let speeds = Speeds::of(playing, training);
        assert!((speeds.seconds("self_play", 1000, 0, 1e10) - 0.12).abs() < 1e-9);
        assert!((speeds.seconds("arena", 10, 0, 1e7) - 3e-4).abs() < 1e-12);
        // The line of the training would cross zero, so it goes through the origin and the larger net.
        assert!((speeds.seconds("train", 9, 100, 3e9) - 0.2).abs() < 1e-9 && speeds.sample == 0.0);
    }
}
