//! What scripts can ask for: the [`Host`] that does the work or only plans it, and what it is given.

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
        /// Seed of all randomness, where the command line gives none.
        seed: u64 = 1, in 0_i64..=9_007_199_254_740_991;
        /// What runs nets while they play; the command line's `--backend` comes before it. Training always uses libtorch.
        backend: Backend = Backend::Auto;
        /// The numbers nets play with. bf16 is faster where the device knows it; training always uses 32-bit floats.
        precision: Precision = Precision::Auto;
        /// Runs beside this one (`"first"`, `"sweep/trials/0003-0"`) whose finished steps are taken over where they are the same
        /// (kind, parameters, inputs, seed), instead of being done again.
        from: Vec<String> = Vec::new();
    }
}

params! {
    /// How a run begins with the steps of another one.
    pub struct ForkParams {
        /// The fork's own name, and that of its folder.
        name: String = String::new();
        /// Seed of what the fork does itself, where the command line gives none; () for that of the run it begins with.
        seed: Option<u64> = None, in 0_i64..=9_007_199_254_740_991;
        /// What runs nets while they play; the command line's `--backend` comes before it. `auto` in all that decides how nets
        /// play (`--device`, too) is what the run that it begins with has.
        backend: Backend = Backend::Auto;
        /// The numbers nets play with.
        precision: Precision = Precision::Auto;
        /// Runs beside this one whose finished steps are taken over where they are the same, as in `open_run`.
        from: Vec<String> = Vec::new();
    }
    check |params| {
        let missing = || ("name", "is missing; give the fork a name, which is also its folder's".to_owned());
        params.name.is_empty().then(missing).into_iter().collect()
    };
}

impl ForkParams {
    /// The folder of the fork, among those in `parent`.
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
        /// The latest iterations whose games are used; fewer while there are fewer.
        iterations: u32 = 4, in 1..=1_000_000;
    }
}

/// Parameters of a call, as checked and as the script gave them.
#[derive(Debug, Clone)]
pub struct Asked<P> {
    /// All parameters.
    pub params: P,
    /// What the script gave.
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
    /// What happened in it before.
    pub past: Vec<Past>,
}

/// Something that happened in a run.
#[derive(Debug, Clone)]
pub enum Past {
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

/// Does what scripts ask for.
pub trait Host: Send + Sync {
    /// Opens the run; called once, before everything else.
    fn open(&self, name: &str, params: Asked<OpenParams>) -> Result<RunInfo, HostError>;

    /// Opens a run that begins with another one up to the end of one of its iterations; called instead of `open`.
    fn fork(&self, from: &str, iteration: u32, params: Asked<ForkParams>) -> Result<Forked, HostError>;

    /// Does a step, or takes over what it came to before.
    fn step(&self, call: &dyn Call) -> Result<StepResult, HostError>;

    /// What a net's layers and heads put out.
    fn inspect(&self, network: &Network, params: &InspectParams) -> Result<Value, HostError>;

    /// Makes a net the next generation.
    fn promote(&self, network: &Network, generation: u32) -> Result<(), HostError>;

    /// Keeps a remark of the script with the run.
    fn note(&self, text: &str) -> Result<(), HostError>;

    /// The steps that the script has called so far, in order; `None` stands for one that is planned and not done.
    fn steps(&self) -> Result<Vec<Option<Manifest>>, HostError>;

    /// Shows the table of iterations.
    fn summary(&self, table: &Table) -> Result<(), HostError>;

    /// Makes what plays a net outside of runs.
    fn evaluator(&self, net: &Checkpoint) -> Result<Box<dyn Evaluator>, HostError>;

    /// Whether evaluators are stand-ins, so that little work is enough.
    fn is_planning(&self) -> bool;

    /// Hears whether the user asked to stop.
    fn observer(&self) -> Box<dyn Observer>;

    /// Seconds that the steps of the open run took.
    fn seconds(&self) -> f64;

    /// Closes the run; nothing can be done in it any more.
    fn close(&self);

    /// Opens a sweep, with everything that happened in it before; `script` is a digest of everything that decides what its
    /// trials do.
    fn sweep(
        &self,
        asked: &Asked<SweepParams>,
        script: &str,
    ) -> Result<(Arc<dyn SweepHost>, Vec<Event>), HostError>;
}

/// Keeps a sweep, and opens the runs of its trials.
pub trait SweepHost: Send + Sync {
    /// The sweep's folder.
    fn folder(&self) -> String;

    /// The seed of the sampler and of replicate 0.
    fn seed(&self) -> u64;

    /// Writes down what happened, so that a kill does not undo it.
    fn note(&self, event: &Event) -> Result<(), HostError>;

    /// What does the work of a replicate, in a run of its own.
    fn replicate(&self, of: Replicate, point: &Point) -> Result<Arc<dyn Host>, HostError>;

    /// Tells how a trial went.
    fn tell(&self, line: &str);

    /// Brings the sweep's tables up to date.
    fn update(&self, board: &Board) -> Result<(), HostError>;

    /// Shows how all trials went.
    fn finish(&self, board: &Board) -> Result<(), HostError>;
}

/// A host function could not do what it was asked for.
#[derive(Debug, Error)]
pub enum HostError {
    /// The run cannot be used.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A step could not be done.
    #[error(transparent)]
    Step(#[from] StepError),
    /// Nets cannot play as asked.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// A net that a script names cannot be read.
    #[error(transparent)]
    Net(#[from] NetError),
    /// The net in the program.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A value of a run that was closed is used.
    #[error("the run of this trial has ended; nothing more can be done in it")]
    Closed,
    /// A check came to more steps than any script has.
    #[error(
        "the plan has {steps} steps and no end; does the script wait for a result that stand-ins never give? {assumed}"
    )]
    Endless {
        /// Steps so far.
        steps: usize,
        /// What the stand-ins assume.
        assumed: &'static str,
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
