//! The [`Host`] of scripts, which does the work or only plans it, and the parameters of its functions.

use dc0_core::event::Observer;
use dc0_core::network::Evaluator;
use dc0_core::network::checkpoint::{Checkpoint, CheckpointError};
use dc0_core::network::torch::{InspectParams, Precision};
use dc0_core::params::Value;
use dc0_core::{param_enum, params};
use thiserror::Error;

use dc0_backend::{Backend, BackendError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::assumed_tables::AssumedTables;
use crate::error::StepError;
use crate::handles::{Games, GamesFields, Network, Window};
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

params! {
    /// A window that grows with the run, but more slowly: with `N` positions so far it holds
    /// `first · (1 + slope · ((N / first)^exponent − 1) / exponent)` of them, or all up to `first` (Wu 2020, appendix C, whose values the
    /// defaults are).
    pub struct GrowingWindow {
        /// Positions up to which the window holds everything.
        first: u32 = 250_000, in 1..=1_000_000_000;
        /// How the window's growth falls behind the run's; 1 grows in proportion.
        exponent: f64 = 0.75, in 0.01..=1.0;
        /// How fast the window grows at `first`, in positions for each position played.
        slope: f64 = 0.4, in 0.0..=1.0;
    }
}

param_enum! {
    /// Whether copies of games, with targets of later searches, are in a window.
    pub enum CopiesInWindow {
        /// The window has games as they were played or imported.
        None = "none",
        /// Copies count like the games that they were made of, which they double.
        Also = "also",
        /// The window has copies alone.
        Only = "only",
    }
}

params! {
    /// Which games to train on: whole iterations, the latest ones. Iterations are games that were played or imported.
    pub struct WindowParams {
        /// Number of iterations; fewer if the run has fewer.
        iterations: u32 = 4, in 1..=1_000_000;
        /// Instead of `iterations`: as many as have at least this many games together.
        games: Option<u32> = None, in 1..=1_000_000_000;
        /// Instead of `iterations`: as many as have at least this many positions together.
        positions: Option<u32> = None, in 1..=1_000_000_000;
        /// Instead of `iterations`: as many as have at least the positions of a window that grows with the run.
        growing: Option<GrowingWindow> = None;
        /// The last iteration that counts, by its number, which must be one of those there; () for the latest.
        last: Option<u32> = None;
        /// Only iterations that this net played count, by its number; () for those of every net, and imported ones.
        network: Option<u32> = None;
        /// Whether the copies of games that `reanalyze` made count as iterations too.
        copies: CopiesInWindow = CopiesInWindow::None;
    }
    check |params| {
        let set = [params.games.is_some(), params.positions.is_some(), params.growing.is_some()];
        let is_ambiguous = set.iter().filter(|is_set| **is_set).count() > 1;
        let message = "give only one of games, positions and growing".to_owned();
        is_ambiguous.then_some(("games", message)).into_iter().collect()
    };
    unused |params| {
        let instead = [
            ("games", params.games.is_some()),
            ("positions", params.positions.is_some()),
            ("growing", params.growing.is_some()),
        ];
        let given = instead.into_iter().find(|(_, is_given)| *is_given);
        let message = |name| format!("has no effect beside {name}, which decides alone; leave one of them out");
        given.map(|(name, _)| ("iterations", message(name))).into_iter().collect()
    };
}

impl GrowingWindow {
    /// The positions of the window when the run has this many.
    fn positions(&self, played: f64) -> f64 {
        let first = f64::from(self.first);
        let growth = ((played / first).max(1.0).powf(self.exponent) - 1.0) / self.exponent;
        first * (1.0 + self.slope * growth)
    }
}

impl WindowParams {
    /// The window of a run or dataset that has these games, the oldest first. The error says why it would be empty.
    pub fn of<'a>(&self, all: impl Iterator<Item = &'a Games>) -> Result<Window, String> {
        let counts = |games: &&Games| {
            let Games(games) = games;
            let is_early = self.last.is_none_or(|last| games.iteration <= last);
            let is_of_network = self.network.is_none_or(|network| games.network == Some(network));
            let is_of_kind = match self.copies {
                CopiesInWindow::None => !games.is_copy,
                CopiesInWindow::Also => true,
                CopiesInWindow::Only => games.is_copy,
            };
            is_early && is_of_network && is_of_kind
        };
        let all: Vec<&Games> = all.collect();
        let newest = all.iter().map(|games| games.0.iteration).max();
        if let Some((last, _)) = self.last.zip(newest).filter(|(last, newest)| last > newest) {
            return Err(format!("last: there is no iteration {last}; there are {}", listed(&all)));
        }
        let counted: Vec<&Games> = all.iter().copied().filter(counts).collect();
        if counted.is_empty() {
            return Err(format!("no iteration fits last, network and copies; there are {}", listed(&all)));
        }
        let figure =
            |games: &Games, name| games.0.summary.member(name).and_then(Value::as_f64).unwrap_or(0.0);
        let latest_first = counted.iter().rev();
        let reach =
            self.reach(latest_first.map(|games| (figure(games, "games"), figure(games, "positions"))));
        Ok(counted[counted.len() - reach..].iter().copied().cloned().collect())
    }

    /// How many of the iterations the window has, the latest; `figures` gives each iteration's games and positions, the latest first,
    /// and is read as far as it matters.
    fn reach(&self, figures: impl ExactSizeIterator<Item = (f64, f64)> + Clone) -> usize {
        match (self.games, self.positions, &self.growing) {
            (Some(games), ..) => until(figures.map(|(games, _)| games), games.into()),
            (_, Some(most), _) => until(figures.map(|(_, positions)| positions), most.into()),
            (.., Some(growing)) => {
                let positions = figures.map(|(_, positions)| positions);
                let played = positions.clone().sum();
                until(positions, growing.positions(played))
            }
            _ => figures.len().min(self.iterations as usize),
        }
    }
}

/// The most iterations that an error lists.
const LISTED: usize = 8;

/// The latest iterations and who made them, for an error.
fn listed(all: &[&Games]) -> String {
    let text = |games: &&&Games| {
        let GamesFields { iteration, network, is_copy, .. } = &*games.0;
        let made = match (network, is_copy) {
            (None, _) => "imported".to_owned(),
            (Some(network), false) => format!("played by net {network}"),
            (Some(network), true) => format!("copied by net {network}"),
        };
        format!("{iteration} {made}")
    };
    let mut latest: Vec<String> = all.iter().rev().take(LISTED).map(|games| text(&games)).collect();
    latest.reverse();
    let before = if all.len() > LISTED { "…, " } else { "" };
    format!("{before}{}", latest.join(", "))
}

/// How many of these amounts together reach `needed`; all of them if they do not.
fn until(amounts: impl Iterator<Item = f64>, needed: f64) -> usize {
    let mut held = 0.0;
    let is_short = |amount: &f64| {
        let goes_on = held < needed;
        held += amount;
        goes_on
    };
    amounts.take_while(is_short).count()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dc0_core::params::Value;

    use super::{CopiesInWindow, GrowingWindow, WindowParams};
    use crate::handles::{Games, GamesFields};

    /// Five iterations of 10 games and 1,000 positions.
    const FIGURES: [(f64, f64); 5] = [(10.0, 1000.0); 5];

    fn reach(params: &WindowParams) -> usize {
        params.reach(FIGURES.into_iter())
    }

    /// Games of 1,000 positions: imported, played by two nets, and copied.
    fn run() -> Vec<Games> {
        let games = |(iteration, (network, is_copy))| {
            let figures = [("games", Value::Int(10)), ("positions", Value::Int(1000))];
            let summary = Value::Group(figures.map(|(name, value)| (name.to_owned(), value)).into());
            Games(Arc::new(GamesFields {
                run: "run".into(),
                is_loaded: false,
                iteration,
                network,
                is_copy,
                step: String::new(),
                files: Vec::new(),
                summary: summary.into(),
            }))
        };
        let made = [(None, false), (Some(0), false), (Some(1), false), (Some(1), true), (Some(1), false)];
        (0..).zip(made).map(games).collect()
    }

    /// The iterations of a window, by their numbers.
    fn of(params: &WindowParams) -> Result<Vec<u32>, String> {
        params.of(run().iter()).map(|window| window.games().map(|games| games.0.iteration).collect())
    }

    #[test]
    fn copies_are_in_a_window_only_if_it_asks_for_them() {
        let base = WindowParams::default;
        let growing = GrowingWindow { first: 1000, exponent: 0.5, slope: 0.5 };
        assert_eq!(of(&base()).unwrap(), [0, 1, 2, 4]);
        assert_eq!(of(&WindowParams { iterations: 2, ..base() }).unwrap(), [2, 4]);
        assert_eq!(of(&WindowParams { positions: Some(1500), ..base() }).unwrap(), [2, 4]);
        // 2,000 of 4,000 positions; copies would make it 2,236 of 5,000, and three iterations.
        assert_eq!(of(&WindowParams { growing: Some(growing), ..base() }).unwrap(), [2, 4]);
        let copies = |copies| WindowParams { copies, iterations: 3, ..base() };
        assert_eq!(of(&copies(CopiesInWindow::Also)).unwrap(), [2, 3, 4]);
        assert_eq!(of(&copies(CopiesInWindow::Only)).unwrap(), [3]);
    }

    #[test]
    fn a_window_can_end_early_and_be_of_one_net() {
        let base = WindowParams::default;
        assert_eq!(of(&WindowParams { last: Some(2), ..base() }).unwrap(), [0, 1, 2]);
        assert_eq!(of(&WindowParams { network: Some(1), ..base() }).unwrap(), [2, 4]);
        assert_eq!(of(&WindowParams { network: Some(1), last: Some(2), ..base() }).unwrap(), [2]);
        assert_eq!(of(&WindowParams { last: Some(4), iterations: 1, ..base() }).unwrap(), [4]);
        let problem = of(&WindowParams { last: Some(5), ..base() }).unwrap_err();
        assert!(problem.starts_with("last: there is no iteration 5; there are 0 imported, 1 "), "{problem}");
        let problem = of(&WindowParams { network: Some(7), ..base() }).unwrap_err();
        assert_eq!(
            problem,
            "no iteration fits last, network and copies; there are 0 imported, 1 played by net 0, 2 played by net 1, 3 copied by net 1, \
             4 played by net 1"
        );
    }

    #[test]
    fn a_window_reaches_back_until_it_has_enough() {
        let base = WindowParams::default;
        assert_eq!(reach(&base()), 4);
        assert_eq!(reach(&WindowParams { iterations: 9, ..base() }), 5);
        assert_eq!(reach(&WindowParams { games: Some(20), ..base() }), 2);
        assert_eq!(reach(&WindowParams { games: Some(21), ..base() }), 3);
        assert_eq!(reach(&WindowParams { positions: Some(1), ..base() }), 1);
        assert_eq!(reach(&WindowParams { positions: Some(9000), ..base() }), 5);
        assert_eq!(base().reach([].into_iter()), 0);
    }

    #[test]
    fn a_growing_window_is_that_of_the_paper() {
        let growing = GrowingWindow::default();
        // All positions up to 250,000; then with N = 4 million, 250,000 · (1 + 0.4 · (16^0.75 − 1) / 0.75).
        assert_eq!(growing.positions(1000.0), 250_000.0);
        assert_eq!(growing.positions(250_000.0), 250_000.0);
        assert!((growing.positions(4e6) - 250_000.0 * (1.0 + 0.4 * 7.0 / 0.75)).abs() < 1.0);
        let slow = GrowingWindow { first: 1000, exponent: 0.5, slope: 0.5 };
        // 1,000 · (1 + 0.5 · (√5 − 1) / 0.5) = 2,236 of 5,000.
        assert_eq!(reach(&WindowParams { growing: Some(slow), ..WindowParams::default() }), 3);
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
    /// There is no such dataset.
    #[error(
        "\"{name}\" is neither a dataset nor a run, nor the name of one in {}; `dc0-run import pgn FILE --out DATASET` makes a dataset",
        parent.display()
    )]
    NoDataset {
        /// The name as given.
        name: String,
        /// The folder that holds runs.
        parent: PathBuf,
    },
    /// A dataset or run has no games.
    #[error("{} has no finished games; if its import was stopped, give its command again", folder.display())]
    NoGames {
        /// Its folder.
        folder: PathBuf,
    },
    /// A run is redone whose script opens several.
    #[error(
        "the script opens several runs, and only scripts of one run can be repeated; run it again into another folder with \
         `dc0-run SCRIPT --out DIR`, and compare the runs with `dc0-run diff`"
    )]
    SeveralRuns,
    /// A value of a closed run was used.
    #[error("the run of this trial has ended; nothing more can be done in it")]
    Closed,
    /// A step is waited for that was not begun.
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
            Self::Checkpoint(_) => Exit::Storage,
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
