//! The [`Host`] of scripts, which does the work or only plans it, and the parameters of its functions.

use dc0_core::event::Observer;
use dc0_core::network::Evaluator;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::torch::{InspectParams, Precision};
use dc0_core::params;
use dc0_core::params::Value;
use thiserror::Error;

use dc0_backend::{Backend, BackendError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::assumed_tables::AssumedTables;
use crate::error::StepError;
use crate::handles::{Network, Window};
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
        /// The precision in which nets are evaluated, and in which they are trained unless `precision` of `run.train` says otherwise.
        /// bf16 is faster where the device supports it.
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
    /// A host for one more run of the script, which shares nothing with this one but the options.
    fn another(&self) -> Result<Arc<dyn Host>, HostError>;

    /// Opens the run; called once, before everything else.
    fn open(&self, name: &str, call_params: CallParams<OpenParams>) -> Result<RunInfo, HostError>;

    /// Opens a run that begins with another one up to the end of one of its iterations; called instead of `open`.
    fn fork(
        &self,
        from: &str,
        iteration: u32,
        call_params: CallParams<ForkParams>,
    ) -> Result<Forked, HostError>;

    /// The folder in which the names of runs are looked up.
    fn runs(&self) -> &Path;

    /// The games of a dataset or of another run, by its folder or its name.
    fn dataset(&self, name: &str) -> Result<Window, HostError>;

    /// Does a step, or takes over its earlier result.
    fn step(&self, call: &dyn Call) -> Result<StepResult, HostError>;

    /// Begins a step that is done beside those that follow, until [`wait`](Self::wait). Meanwhile the script calls no step of its series.
    fn start(&self, call: Arc<dyn Call>) -> Result<(), HostError>;

    /// Waits for the step that was begun: its place among the steps is here.
    fn wait(&self) -> Result<StepResult, HostError>;

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

    /// What a dry run assumes of a table that the script queries over steps that are not finished; `None` in a real run. Fails if the
    /// script goes on for ever.
    fn assumed_tables(&self) -> Result<Option<AssumedTables>, HostError>;

    /// Whether programs that are to play are started at once, to learn their names and to check their options.
    fn starts_programs(&self) -> bool;

    /// An observer that reports whether the user asked to stop.
    fn observer(&self) -> Box<dyn Observer>;

    /// Seconds that the steps of the open run have taken.
    fn seconds(&self) -> f64;

    /// Fails if the folder of the open run was removed or replaced since it was opened.
    fn check_folder(&self) -> Result<(), HostError>;

    /// Ends a script that has come to its end: finished steps of the open run that it did not call are no longer part of it.
    fn complete(&self) -> Result<(), HostError>;

    /// Closes the run; later calls fail.
    fn close(&self);

    /// Opens a sweep; `script` is a digest of everything that determines what its trials do.
    fn sweep(&self, call_params: &CallParams<SweepParams>, script: &str) -> Result<OpenSweep, HostError>;
}

/// A sweep with its past events.
pub type SweepWithEvents = (Arc<dyn SweepHost>, Vec<Event>);

/// What a process does of a sweep.
pub enum OpenSweep {
    /// All of it.
    Whole(SweepWithEvents),
    /// Nothing more: its points are chosen.
    Chosen,
    /// Some trials, each by itself, opened when its turn comes.
    Trials(Vec<LoneTurn>),
}

/// A trial that runs by itself.
pub struct LoneTurn {
    /// Its number.
    pub trial: u32,
    /// Opens it, with the past events of the sweep and its own.
    pub open: Box<dyn FnOnce() -> Result<SweepWithEvents, HostError>>,
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
#[expect(missing_docs, reason = "the messages say it")]
pub enum HostError {
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Step(#[from] StepError),
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// A net that a script names cannot be read.
    #[error(transparent)]
    Net(#[from] NetError),
    #[error(
        "\"{name}\" is neither a dataset nor a run, nor the name of one in {}; `dc0-run import pgn FILE --out DATASET` makes a dataset",
        parent.display()
    )]
    NoDataset { name: String, parent: PathBuf },
    #[error("{} has no finished games; if its import was stopped, give its command again", folder.display())]
    NoGames { folder: PathBuf },
    #[error(
        "the script opens several runs, and only scripts of one run can be repeated; run it again into another folder with \
         `dc0-run SCRIPT --out DIR`, and compare the runs with `dc0-run diff`"
    )]
    SeveralRuns,
    /// A value of a closed run was used.
    #[error("the run of this trial has ended; nothing more can be done in it")]
    Closed,
    #[error("there is nothing to wait for: no step was started beside others")]
    NothingBegun,
    /// A check has come to more steps than any script that ends.
    #[error("the plan has no end after {after}; {hint}")]
    Endless {
        /// Steps, and queries of tables, so far.
        after: String,
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
            Self::Backend(_)
            | Self::Endless { .. }
            | Self::NoDataset { .. }
            | Self::NoGames { .. }
            | Self::NothingBegun
            | Self::SeveralRuns
            | Self::Closed => Exit::BadInput,
        }
    }

    fn is_final(&self) -> bool {
        matches!(self, Self::Endless { .. })
    }
}
