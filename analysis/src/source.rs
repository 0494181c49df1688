//! What the runner hands over: which runs there are, and what their bookkeeping says, as plain data.

use std::path::PathBuf;

use dc0_core::params::Value;

/// A run whose tables are asked.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSource {
    /// What the column `run` says.
    pub name: String,
    /// The run's folder.
    pub folder: PathBuf,
    /// The trial that the run belongs to.
    pub trial: Option<Trial>,
    /// Which of its files are looked at.
    pub files: Files,
    /// Its finished steps.
    pub steps: Vec<StepRow>,
    /// What the run is.
    pub about: Option<RunRow>,
}

impl RunSource {
    /// A run of which only the stored tables are known.
    pub fn of_folder(name: impl Into<String>, folder: impl Into<PathBuf>) -> Self {
        let (name, folder) = (name.into(), folder.into());
        Self { name, folder, trial: None, files: Files::All, steps: Vec::new(), about: None }
    }
}

/// A run's place in a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trial {
    /// The trial's number.
    pub trial: u32,
    /// Which of its repetitions this is.
    pub replicate: u32,
}

/// Which files of a run are looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Files {
    /// All that lie there, those of an unfinished step among them.
    All,
    /// These alone, relative to the run, with `/`.
    Only(Vec<String>),
}

/// A sweep, whose table of trials is asked. Its trials' runs are sources of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SweepSource {
    /// What the column `run` says in `trials`.
    pub name: String,
    /// The sweep's folder.
    pub folder: PathBuf,
}

/// A run in the table `runs`.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRow {
    /// The script's file.
    pub script: String,
    /// The seed of all randomness.
    pub seed: i64,
    /// What plays nets.
    pub backend: String,
    /// Where nets run.
    pub device: String,
    /// The numbers nets play with.
    pub precision: String,
    /// libtorch threads of training.
    pub threads: u32,
    /// The version of dc0 that made the run.
    pub dc0: String,
    /// The parameters that the script declared.
    pub params: Value,
}

/// A finished step in the table `steps`.
#[derive(Debug, Clone, PartialEq)]
pub struct StepRow {
    /// Its place in the script, from 0.
    pub step: u32,
    /// What was done, such as `self_play`.
    pub kind: String,
    /// The number of its iteration, net, match or analysis.
    pub number: Option<u32>,
    /// The first 8 digits of its identity.
    pub identity: String,
    /// blake3 of the net that it made, played with or searched with, 64 digits.
    pub network: Option<String>,
    /// How long it took, as far as the journal says; `None` where time must decide nothing.
    pub seconds: Option<f64>,
    /// The size of its files.
    pub bytes: i64,
    /// The result in a few numbers.
    pub summary: Value,
    /// All parameters.
    pub params: Value,
}
