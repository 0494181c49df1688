//! A short measurement of the backends, cached for the next run on the same machine.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dc0_core::board::random_games;
use dc0_core::durable;
use dc0_core::encoding::Encoding;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::torch::{Precision, runtime};
use dc0_core::network::{
    Batch, Evaluations, EvaluatorError, NetworkSpec, initial_weights, parameter_count, preset,
};
use dc0_core::params::Value;
use dc0_core::rng::Seed;
use serde::{Deserialize, Serialize};

use super::{Backend, Choice, Evaluators};
use crate::onnxruntime::{self, OnnxRuntimeError};
use dc0_process::clock::Stopwatch;
use dc0_process::folders::cache_folder;

/// ONNX Runtime must be this much faster to be chosen, so that noise alone does not change a machine's backend. Chosen.
const MARGIN: f64 = 1.1;
/// The net and the batch size of self-play that are measured, a common case on a CPU.
const SELF_PLAY: (&str, u32) = ("dc0-4x64", 64);

/// How long the measurement takes. Chosen.
const TIME: Duration = Duration::from_millis(300);

/// Evaluations per second in one thread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Speeds {
    torch: f64,
    onnx: f64,
}

impl Speeds {
    fn faster(self) -> Backend {
        if self.onnx > MARGIN * self.torch { Backend::Onnx } else { Backend::Torch }
    }
}

/// What one thread evaluates: a net, whatever its weights, and the rows of a batch.
#[derive(Debug, Clone)]
pub struct Workload {
    /// The net.
    pub spec: NetworkSpec,
    /// The rows of a batch, at least 1.
    pub rows: u32,
}

impl Workload {
    /// A lane of self-play.
    pub fn self_play() -> Self {
        let (name, rows) = SELF_PLAY;
        Self { spec: preset(name).expect("a preset of this name").spec, rows }
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} parameters, {} rows", parameter_count(&self.spec), self.rows)
    }
}

/// The backend that is faster at this work on one thread of this machine's CPU; libtorch if ONNX Runtime is not available or fails.
/// A library that the user names must be usable.
pub(super) fn faster(
    work: &Workload,
    precision: Precision,
    onnxruntime: Option<&Path>,
) -> Result<Backend, OnnxRuntimeError> {
    let library = match onnxruntime::load(onnxruntime) {
        Ok(library) => library,
        Err(cause @ OnnxRuntimeError::Nowhere { .. }) => {
            log::info!("using libtorch, since ONNX Runtime is not available: {cause}");
            return Ok(Backend::Torch);
        }
        Err(cause) => return Err(cause),
    };
    let torch = match runtime::versions() {
        Ok(versions) => versions,
        Err(cause) => {
            log::warn!("using ONNX Runtime: {cause}");
            return Ok(Backend::Onnx);
        }
    };
    let onnx = format!("ONNX Runtime {}", library.version());
    let key = format!("{}; {torch}; {}; {onnx}; {work}", processor(), precision.name());
    let file = cache_file();
    let mut known = file.as_deref().map(read).unwrap_or_default();
    if let Some(speeds) = known.get(&key) {
        return Ok(speeds.faster());
    }
    Ok(match measure(work, precision, onnxruntime) {
        Ok(speeds) => {
            log::info!("libtorch {:.0}/s, {onnx} {:.0}/s at {work}", speeds.torch, speeds.onnx);
            known.insert(key, speeds);
            if let Some(file) = file {
                write(&file, &known);
            }
            speeds.faster()
        }
        Err(cause) => {
            log::warn!("using libtorch, since the backends could not be measured: {cause}");
            Backend::Torch
        }
    })
}

fn measure(
    work: &Workload,
    precision: Precision,
    onnxruntime: Option<&Path>,
) -> Result<Speeds, EvaluatorError> {
    let seed = Seed { run: 0, step: 0 };
    let spec = work.spec.clone();
    let net = Checkpoint { weights: initial_weights(&spec, seed), spec, provenance: Value::None };
    let batch = positions(&net.spec.input(), work.rows, seed);
    let make = |backend, precision| {
        let choice = Choice { backend, device: "cpu".to_owned(), precision, pad_to: 1 };
        let failed = |cause: super::BackendError| EvaluatorError::Make { cause: cause.to_string() };
        Evaluators::new(&choice, onnxruntime).map_err(failed)?.make(&net)
    };
    let mut both = [make(Backend::Torch, precision)?, make(Backend::Onnx, Precision::F32)?];
    let (mut best, mut out) = ([Duration::MAX; 2], Evaluations::default());
    let watch = Stopwatch::start();
    // Alternating, and by the fastest batch of each, so that other load on the machine affects neither.
    while watch.elapsed() < TIME {
        for (evaluator, best) in both.iter_mut().zip(&mut best) {
            let watch = Stopwatch::start();
            evaluator.evaluate(&batch, &mut out)?;
            *best = watch.elapsed().min(*best);
        }
    }
    let [torch, onnx] = best.map(|best| f64::from(work.rows) / best.as_secs_f64());
    Ok(Speeds { torch, onnx })
}

/// Ends of random games of 0 to 79 plies.
fn positions(encoding: &Encoding, rows: u32, seed: Seed) -> Batch {
    let mut batch = Batch::default();
    for game in random_games(seed, 80).take(rows as usize) {
        batch.push(encoding, &game);
    }
    batch
}

/// The processor's name, as far as the system reports it.
fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let value = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        line.split_once(':').map(|(_, value)| value.trim().to_owned())
    };
    let parts = ["model name", "cpu family", "model\t"].map(|name| value(name).unwrap_or_default());
    format!("{} {}", std::env::consts::ARCH, parts.join(" ")).trim_end().to_owned()
}

/// The cache file of measurements, if the environment names a cache folder.
fn cache_file() -> Option<PathBuf> {
    Some(cache_folder()?.join("calibration.json"))
}

/// Earlier measurements; empty if the file is missing or damaged, since they can be repeated.
fn read(file: &Path) -> BTreeMap<String, Speeds> {
    let text = fs::read_to_string(file).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

fn write(file: &Path, known: &BTreeMap<String, Speeds>) {
    let text = serde_json::to_string_pretty(known).expect("numbers by text");
    let folder = file.parent().unwrap_or(Path::new(""));
    let written = fs::create_dir_all(folder).and_then(|()| durable::write(file, text.as_bytes()));
    if let Err(cause) = written {
        log::warn!("cannot store the measurement of the backends in {}: {cause}", file.display());
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{
        Backend, OnnxRuntimeError, Precision, Seed, Speeds, Workload, faster, positions, read, write,
    };

    #[test]
    fn the_faster_backend_must_be_clearly_faster() {
        assert_eq!(Speeds { torch: 1000.0, onnx: 1090.0 }.faster(), Backend::Torch);
        assert_eq!(Speeds { torch: 1000.0, onnx: 1110.0 }.faster(), Backend::Onnx);
    }

    #[test]
    fn rows_beyond_the_longest_game_are_positions_of_games() {
        let spec = Workload::self_play().spec;
        let batch = positions(&spec.input(), 600, Seed { run: 0, step: 0 });
        assert_eq!(batch.len(), 600);
        let starts = batch.keys.iter().filter(|key| **key == batch.keys[0]).count();
        assert!((8..16).contains(&starts), "{starts}");
    }

    #[test]
    fn a_given_library_that_is_wrong_is_an_error_and_libtorch_is_not_taken() {
        let found = faster(&Workload::self_play(), Precision::F32, Some(Path::new("/nowhere/lib.so")));
        assert!(matches!(found, Err(OnnxRuntimeError::Given { .. })), "{found:?}");
    }

    #[test]
    fn measurements_are_cached_and_a_damaged_file_is_ignored() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let file = folder.path().join("dc0/calibration.json");
        assert!(read(&file).is_empty());
        let known = [("a machine".to_owned(), Speeds { torch: 1.5, onnx: 2.5 })].into();
        write(&file, &known);
        assert_eq!(read(&file), known);
        std::fs::write(&file, "{").expect("writes");
        assert!(read(&file).is_empty());
    }
}
