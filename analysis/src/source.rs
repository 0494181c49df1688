//! The runner's input: the runs to query and their bookkeeping, as plain data.

use std::collections::BTreeMap;
use std::path::PathBuf;

use dc0_core::params::Value;
use dc0_core::store::{FileEntry, Provenance};

/// A run whose tables are queried.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSource {
    /// Its name in the column `run`.
    pub name: String,
    /// The run's folder.
    pub folder: PathBuf,
    /// The trial that the run belongs to, if any.
    pub trial: Option<Trial>,
    /// Which of its files are read.
    pub files: Files,
    /// Files with their digests, by their paths relative to the run, with `/`. Each is compared with its digest before it is read.
    pub digests: BTreeMap<String, FileEntry>,
    /// What its table of costs says where it comes from: a table with other values is another run's.
    pub costs: Provenance,
    /// Its finished steps.
    pub steps: Vec<StepRow>,
    /// Its promoted nets, the oldest first.
    pub promotions: Vec<Promotion>,
    /// Its row in the table `runs`.
    pub about: Option<RunRow>,
}

/// A net that became a generation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Promotion {
    /// The generation.
    pub generation: u32,
    /// The blake3 digest of its weights' file, 64 hex digits.
    pub network: String,
    /// The steps that the script had called by then; `None` in runs made before this was recorded.
    pub steps: Option<u32>,
}

impl RunSource {
    /// A run of which only the stored tables are known, not its steps.
    pub fn from_folder(name: impl Into<String>, folder: impl Into<PathBuf>) -> Self {
        let (name, folder) = (name.into(), folder.into());
        let (steps, digests, costs) = (Vec::new(), BTreeMap::new(), Provenance::new());
        let (trial, promotions, about) = (None, Vec::new(), None);
        Self { name, folder, trial, files: Files::All, digests, costs, steps, promotions, about }
    }
}

/// Data of a run or sweep that are missing or damaged, so that a report leaves them out.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Damage {
    /// The run or sweep.
    pub run: String,
    /// What lacks these data: tables by name, and facts besides: `record`, `journal`, `generations`, `sweep`.
    pub affects: Vec<&'static str>,
    /// The file, or the folder that lacks one.
    pub path: PathBuf,
    /// What was expected there, what was found, and what heals it.
    pub message: String,
}

/// The trial of a sweep that a run belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trial {
    /// The trial's number.
    pub trial: u32,
    /// The replicate's number.
    pub replicate: u32,
}

/// Which files of a run are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Files {
    /// All files in its folder, including those of an unfinished step.
    All,
    /// Those whose digests are known, and the table of costs.
    Listed,
    /// Only these, as paths relative to the run, with `/`.
    Only(Vec<String>),
}

/// A sweep whose table of trials is queried. The runs of its trials are separate sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SweepSource {
    /// Its name in the column `run` of `trials`.
    pub name: String,
    /// The sweep's folder.
    pub folder: PathBuf,
    /// What its table of trials says where it comes from.
    pub trials: Provenance,
    /// Whether trials have values, so that the table must be there.
    pub has_values: bool,
}

/// A run in the table `runs`.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRow {
    /// The script's file.
    pub script: String,
    /// The seed of all randomness.
    pub seed: i64,
    /// The backend that evaluates nets.
    pub backend: String,
    /// The device that nets run on.
    pub device: String,
    /// The precision that nets are evaluated with.
    pub precision: String,
    /// libtorch's threads in training.
    pub threads: u32,
    /// The version of dc0 that made the run.
    pub dc0: String,
    /// The parameters that the script declares.
    pub params: Value,
}

/// A finished step in the table `steps`.
#[derive(Debug, Clone, PartialEq)]
pub struct StepRow {
    /// Its index in the run, from 0.
    pub step: u32,
    /// Its kind, such as `self_play`.
    pub kind: String,
    /// The series in which it is numbered: `iteration`, `network`, `match`, `analysis`, `suite` or `validation`.
    pub series: Option<String>,
    /// Its number in the series.
    pub number: Option<u32>,
    /// The first 8 digits of its identity.
    pub identity: String,
    /// The blake3 digest of the net that it made, played with or searched with, 64 hex digits.
    pub network: Option<String>,
    /// Its duration by the journal; `None` where results must not depend on time.
    pub seconds: Option<f64>,
    /// The size of its files.
    pub bytes: i64,
    /// The figures of its result.
    pub summary: Value,
    /// All parameters.
    pub params: Value,
    /// Everything that it read: names and blake3 digests.
    pub inputs: Vec<(String, String)>,
}

/// The series of steps that make nets.
pub(crate) const NETWORKS: &str = "network";

/// The series of steps that play, import or copy games to train on.
pub(crate) const ITERATIONS: &str = "iteration";

impl StepRow {
    /// Whether it makes a net.
    pub(crate) fn makes_net(&self) -> bool {
        self.series.as_deref() == Some(NETWORKS)
    }

    /// The digest of an input, by its name.
    pub(crate) fn input(&self, name: &str) -> Option<&str> {
        self.inputs.iter().find(|(known, _)| known == name).map(|(_, digest)| digest.as_str())
    }
}
