//! The [`Host`] of scripts, which does the work or only plans it, and the parameters of its functions.

use dc0_core::event::Observer;
use dc0_core::network::Evaluator;
use dc0_core::network::checkpoint::{Checkpoint, CheckpointError};
use dc0_core::network::torch::{InspectParams, Precision};
use dc0_core::params;
use dc0_core::params::Value;
use thiserror::Error;

use dc0_backend::{Backend, BackendError};
use std::path::Path;
use std::sync::Arc;

use crate::error::StepError;
use crate::handles::Network;
use crate::step::{Call, StepResult};
use crate::table::Table;
use dc0_process::exit::Exit;
use dc0_process::fault::Fault;
use dc0_runs::net::NetError;
use dc0_runs::sweep::board::Board;
use dc0_runs::sweep::events::{Event, Replicate};
use dc0_runs::sweep::params::SweepParams;
use dc0_runs::sweep::space::Point;
use dc0_runs::{Folder, Manifest, RunError};

params! {
    /// How a run is opened.
    pub struct OpenParams {
        /// Seed of all randomness, unless the command line sets one.
        seed: u64 = 1, in 0_i64..=9_007_199_254_740_991;
        /// The backend that evaluates nets; the command line's `--backend` overrides it. Training always uses libtorch.
        backend: Backend = Backend::Auto;
        /// The precision in which nets are evaluated. bf16 is faster where the device supports it; training always uses 32-bit
        /// floats.
        precision: Precision = Precision::Auto;
        /// Runs in the same folder (`"first"`, `"sweep/trials/0003-0"`) whose finished steps are taken over instead of being done
        /// again, where kind, parameters, inputs and seed are the same.
        from: Vec<String> = Vec::new();
    }
}

params! {
    /// How a run begins with the steps of another one.
    pub struct ForkParams {
        /// The name of the fork and its folder.
        name: String = String::new();
        /// Seed of the fork's own steps, unless the command line sets one; () for the seed of the run that it begins with.
        seed: Option<u64> = None, in 0_i64..=9_007_199_254_740_991;
        /// The backend that evaluates nets; the command line's `--backend` overrides it. If backend, device and precision are all
        /// `auto`, the fork has those of the run that it begins with.
        backend: Backend = Backend::Auto;
        /// The precision in which nets are evaluated.
        precision: Precision = Precision::Auto;
        /// Runs in the same folder whose finished steps are taken over, as in `open_run`.
        from: Vec<String> = Vec::new();
    }
    check |params| {
        let missing = || ("name", "is missing; give the fork a name, which is also its folder's".to_owned());
        params.name.is_empty().then(missing).into_iter().collect()
    };
}

impl ForkParams {
    /// The folder of the fork in `parent`.
    pub fn folder(&self, parent: &Path, from: &str) -> Result<Folder, RunError> {
        if self.name == from {
            return Err(RunError::ForkSelf { name: self.name.clone() });
        }
        Folder::of_run(parent, &self.name)
    }
}

params! {
    /// Which games to train on.
    pub struct WindowParams {
        /// Number of latest iterations whose games are used; fewer if the run has fewer.
        iterations: u32 = 4, in 1..=1_000_000;
    }
}

/// Parameters of a call: checked, and as the script gave them.
#[derive(Debug, Clone)]
pub struct CallParams<P> {
    /// All parameters.
    pub params: P,
    /// The values that the script gave.
    pub given: Value,
}

/// A run as the host knows it.
#[derive(Debug, Clone)]
pub struct RunInfo {
    /// The run's name.
    pub name: String,
    /// Its folder.
    pub folder: String,
    /// Its seed.
    pub seed: u64,
    /// Where its nets run.
    pub device: String,
}

/// A run that begins with the steps of another one.
#[derive(Debug, Clone)]
pub struct Forked {
    /// The run.
    pub info: RunInfo,
    /// The events that it begins with.
    pub past: Vec<PastEvent>,
}

/// A past event of a run.
#[derive(Debug, Clone)]
pub enum PastEvent {
    /// A step was done.
    Step(StepResult),
    /// A net became the next generation.
    Promoted {
        /// The net.
        network: Network,
        /// The number of the generation.
        generation: u32,
    },
}

/// The host of a script: does what the script calls, or plans it.
pub trait Host: Send + Sync {
    /// Opens the run; called once, before everything else.
    fn open(&self, name: &str, call_params: CallParams<OpenParams>) -> Result<RunInfo, HostError>;

    /// Opens a run that begins with another one up to the end of one of its iterations; called instead of `open`.
    fn fork(
        &self,
        from: &str,
        iteration: u32,
        call_params: CallParams<ForkParams>,
    ) -> Result<Forked, HostError>;

    /// Does a step, or takes over its earlier result.
    fn step(&self, call: &dyn Call) -> Result<StepResult, HostError>;

    /// Statistics of the outputs of a net's layers and heads.
    fn inspect(&self, network: &Network, params: &InspectParams) -> Result<Value, HostError>;

    /// Makes a net the next generation.
    fn promote(&self, network: &Network, generation: u32) -> Result<(), HostError>;

    /// Writes a remark of the script to the run's journal.
    fn note(&self, text: &str) -> Result<(), HostError>;

    /// The steps that the script has called so far, in order; `None` for one that is only planned.
    fn steps(&self) -> Result<Vec<Option<Manifest>>, HostError>;

    /// Shows the table of iterations.
    fn summary(&self, table: &Table) -> Result<(), HostError>;

    /// Makes an evaluator of a net outside of runs.
    fn evaluator(&self, net: &Checkpoint) -> Result<Box<dyn Evaluator>, HostError>;

    /// Whether this is a dry run, whose evaluators are mocks.
    fn is_planning(&self) -> bool;

    /// Whether programs that are to play are started at once, to learn their names and to check their options.
    fn starts_programs(&self) -> bool;

    /// An observer that reports whether the user asked to stop.
    fn observer(&self) -> Box<dyn Observer>;

    /// Seconds that the steps of the open run have taken.
    fn seconds(&self) -> f64;

    /// Fails if the folder of the open run was removed or replaced since it was opened.
    fn check_folder(&self) -> Result<(), HostError>;

    /// Closes the run; later calls fail.
    fn close(&self);

    /// Opens a sweep and returns its past events; `script` is a digest of everything that determines what its trials do.
    fn sweep(
        &self,
        call_params: &CallParams<SweepParams>,
        script: &str,
    ) -> Result<(Arc<dyn SweepHost>, Vec<Event>), HostError>;
}

/// Stores a sweep, and opens the runs of its trials.
pub trait SweepHost: Send + Sync {
    /// The sweep's folder.
    fn folder(&self) -> String;

    /// The seed of the sampler and of replicate 0.
    fn seed(&self) -> u64;

    /// Stores an event, so that it survives a kill.
    fn note(&self, event: &Event) -> Result<(), HostError>;

    /// The host of a replicate, with a run of its own.
    fn replicate(&self, id: Replicate, point: &Point) -> Result<Arc<dyn Host>, HostError>;

    /// Prints the outcome of a trial.
    fn print(&self, line: &str);

    /// Updates the sweep's tables.
    fn update(&self, board: &Board) -> Result<(), HostError>;

    /// Shows the outcome of all trials.
    fn finish(&self, board: &Board) -> Result<(), HostError>;
}

/// A host function failed.
#[derive(Debug, Error)]
pub enum HostError {
    /// The run cannot be used.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A step could not be done.
    #[error(transparent)]
    Step(#[from] StepError),
    /// The backend, device or precision asked for cannot be used.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// A net that a script names cannot be read.
    #[error(transparent)]
    Net(#[from] NetError),
    /// The net built into the program cannot be read.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A value of a closed run was used.
    #[error("the run of this trial has ended; nothing more can be done in it")]
    Closed,
    /// A check has come to more steps than any script that ends.
    #[error("the plan has {steps} steps and no end; {hint}")]
    Endless {
        /// Steps so far.
        steps: usize,
        /// What the script may wait for.
        hint: String,
    },
}

impl Fault for HostError {
    fn exit(&self) -> Exit {
        match self {
            Self::Run(error) => error.exit(),
            Self::Step(error) => error.exit(),
            Self::Net(error) => error.exit(),
            Self::Checkpoint(_) => Exit::Storage,
            Self::Backend(_) | Self::Endless { .. } | Self::Closed => Exit::BadInput,
        }
    }
}
