//! The session of one script with a host: the run that it opened, and its progress.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use dc0_analysis::Promotion;
use dc0_core::arena::rating::PairResult;
use dc0_core::durable;
use dc0_core::params::Value;
use dc0_core::store::StoreError;
use rhai::EvalAltResult;

use super::pending::Pending;
use crate::call::{Answer, Call};
use crate::failure::Failure;
use crate::names::Names;
use crate::report;
use dc0_process::exit::Exit;
use dc0_runs::declared::Declaration;
use dc0_runs::sweep::events::Spent;

use dc0_steps::handles::{Fields, Games, MatchResult, Network};
use dc0_steps::host::{Host, PastEvent, RunInfo};
use dc0_steps::step::StepResult;
use dc0_steps::table::Table;

/// State shared by the functions of a script.
pub struct Session {
    pub(super) host: Arc<dyn Host>,
    pub(super) declaration: Arc<Declaration>,
    run: Mutex<Option<RunHandle>>,
    /// Sweeps under way; one more within a trial of another.
    sweeps: AtomicU32,
    names: OnceLock<Names>,
}

/// The run, as a script holds it.
#[derive(Clone)]
pub(super) struct RunHandle(pub(super) Arc<OpenRun>);

/// A run that a script has opened.
pub(super) struct OpenRun {
    pub(super) host: Arc<dyn Host>,
    pub(super) info: RunInfo,
    progress: Mutex<Progress>,
    /// Games that are played while the script goes on.
    pending: Mutex<Option<Pending>>,
}

/// What a script has done so far.
#[derive(Default)]
pub(super) struct Progress {
    /// All iterations, the oldest first.
    pub(super) iterations: Vec<Games>,
    /// All nets, indexed by number.
    pub(super) networks: Vec<Network>,
    /// The net that was promoted last, or else the first one.
    pub(super) best: Option<Network>,
    /// The number of promotions.
    pub(super) generation: u32,
    /// All generations, the first net among them.
    generations: Vec<Network>,
    /// The nets that became generations, and after how many steps.
    pub(super) promotions: Vec<Promotion>,
    /// The number of steps.
    steps: u32,
    /// All matches.
    matches: Vec<MatchResult>,
    /// Leagues that were drawn.
    drawings: u64,
    pub(super) table: Table,
    /// The cost so far, without the time.
    spent: Spent,
    /// Whether the table has been shown since it last changed.
    pub(super) is_shown: bool,
}

impl Session {
    /// A script's session with a host.
    pub fn new(host: Arc<dyn Host>, declaration: Arc<Declaration>) -> Self {
        Self { host, declaration, run: Mutex::new(None), sweeps: AtomicU32::new(0), names: OnceLock::new() }
    }

    /// Sets the names of functions, for messages about errors within other calls.
    pub fn set_names(&self, names: Names) -> &Names {
        self.names.get_or_init(|| names)
    }

    /// An error in a script function that the host called, as a failure for the user.
    pub(super) fn describe(&self, error: &EvalAltResult, source: &str) -> Failure {
        match self.names.get() {
            Some(names) => report::from_rhai(error, source, names),
            None => Failure::new(Exit::Failed, error.to_string()),
        }
    }

    /// A digest of the script, its imports, and the parameters that it declares.
    pub(super) fn script_digest(&self) -> String {
        let texts = self.names.get().map(Names::texts_digest).unwrap_or_default();
        let declared = self.declaration.rows().into_iter().map(|row| (row.path, row.value));
        let declared = Value::Group(declared.collect()).canonical();
        durable::digest(format!("{texts}{declared}").as_bytes())
    }

    /// Ends the time for declaring parameters. An error if `--set` names some that the script has not declared.
    pub(super) fn check_declared(&self, call: &Call<'_>) -> Answer<()> {
        self.declaration.close();
        let Some(unused) = self.declaration.unused() else { return Ok(()) };
        Err(call.misuse(format!("{unused}, but the script has not called params(#{{…}}) before")))
    }

    fn run(&self) -> MutexGuard<'_, Option<RunHandle>> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs the trials of a sweep; until it ends, the script opens no run of its own.
    pub(super) fn in_sweep<T>(&self, sweep: impl FnOnce() -> T) -> T {
        self.sweeps.fetch_add(1, Ordering::SeqCst);
        let result = sweep();
        self.sweeps.fetch_sub(1, Ordering::SeqCst);
        result
    }

    /// An error if the script already has a run, or cannot open one here.
    pub(super) fn check_openable(&self, call: &Call<'_>) -> Answer<()> {
        if self.sweeps.load(Ordering::SeqCst) > 0 {
            return Err(call.misuse("a trial of a sweep has a run of its own; use `trial.run` instead"));
        }
        if self.run().is_some() {
            return Err(call.misuse("a script opens one run; a trial of a sweep has its own, `trial.run`; start others from scripts of their own"));
        }
        self.check_declared(call)
    }

    /// Makes this run the one of the script.
    pub(super) fn set_run(&self, info: RunInfo) -> RunHandle {
        let handle = RunHandle::new(Arc::clone(&self.host), info);
        *self.run() = Some(handle.clone());
        handle
    }

    /// Whether a folder is that of the script's run.
    pub(super) fn is_own_folder(&self, folder: &Path) -> bool {
        let run = self.run().clone();
        run.is_some_and(|run| {
            let [own, other] = [Path::new(&run.0.info.folder), folder].map(|path| path.canonicalize().ok());
            own.is_some() && own == other
        })
    }

    /// Fails if the folder of the script's run was removed or replaced while the script ran.
    pub fn check_folder(&self) -> Result<(), Failure> {
        self.host.check_folder().map_err(|error| Failure::from(&error))
    }

    /// Waits for what the script has started and not waited for, at its end.
    pub fn await_rest(&self) -> Result<(), Failure> {
        let run = self.run().clone();
        run.map_or(Ok(()), |run| run.0.await_rest())
    }

    /// Stops what the script has started and not waited for, after an error.
    pub fn stop(&self) {
        self.host.close();
    }

    /// The table of iterations, if it has anything that was not shown yet.
    pub fn unshown_table(&self) -> Option<Table> {
        let run = self.run().clone()?;
        let progress = run.0.progress();
        (!progress.table.is_empty() && !progress.is_shown).then(|| progress.table.clone())
    }
}

impl Progress {
    fn add_promotion(&mut self, generation: u32, network: &Network) {
        let network = network.0.digest.clone();
        self.promotions.push(Promotion { generation, network, steps: Some(self.steps) });
    }
}

impl RunHandle {
    pub(super) fn new(host: Arc<dyn Host>, info: RunInfo) -> Self {
        Self(Arc::new(OpenRun { host, info, progress: Mutex::default(), pending: Mutex::default() }))
    }
}

impl OpenRun {
    /// Adds the cost of a step.
    pub(super) fn add_spent(&self, spent: Spent) {
        self.progress().spent += spent;
    }

    /// The cost of the run so far.
    pub(super) fn spent(&self) -> Spent {
        Spent { seconds: self.host.seconds(), ..self.progress().spent }
    }

    pub(super) fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn pending(&self) -> MutexGuard<'_, Option<Pending>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the table of iterations.
    pub(super) fn update_table(&self, change: impl FnOnce(&mut Table)) {
        let mut progress = self.progress();
        change(&mut progress.table);
        progress.is_shown = false;
    }

    pub(super) fn promote(&self, network: &Network) -> Result<(), dc0_steps::host::HostError> {
        let generation = self.progress().generation + 1;
        self.host.promote(network, generation)?;
        self.record_promotion(network, generation);
        Ok(())
    }

    /// Records the result of a step.
    pub(super) fn record(&self, result: &StepResult) {
        self.progress().steps += 1;
        match result {
            StepResult::Network(network) => {
                if network.0.summary.member("loss").is_some() {
                    self.update_table(|table| table.trained(network));
                }
                let mut progress = self.progress();
                progress.networks.push(network.clone());
                if progress.best.is_none() {
                    progress.best = Some(network.clone());
                    progress.generations.push(network.clone());
                    progress.add_promotion(0, network);
                }
            }
            StepResult::Games(games) => {
                // Imported games are no iteration of the loop that the table shows.
                if games.0.network.is_some() {
                    self.update_table(|table| table.played(games));
                }
                self.progress().iterations.push(games.clone());
            }
            StepResult::Match(verdict) => {
                self.update_table(|table| table.matched(verdict));
                self.progress().matches.push(verdict.clone());
            }
            StepResult::Analysis(_) | StepResult::Puzzles(_) => {}
        }
    }

    /// Records a promotion.
    fn record_promotion(&self, network: &Network, generation: u32) {
        let mut progress = self.progress();
        progress.generation = generation;
        progress.best = Some(network.clone());
        progress.generations.push(network.clone());
        progress.add_promotion(generation, network);
        drop(progress);
        self.update_table(|table| table.promoted(generation));
    }

    /// The generations before the current one, the oldest first, and the number of the next drawing of a league.
    pub(super) fn next_drawing(&self) -> (Vec<Network>, u64) {
        let mut progress = self.progress();
        progress.drawings += 1;
        let earlier = progress.generations.len().saturating_sub(1);
        (progress.generations[..earlier].to_vec(), progress.drawings)
    }

    /// The games of all matches so far, by the players' names.
    pub(super) fn results(&self) -> Result<Vec<PairResult<String>>, StoreError> {
        let matches = self.progress().matches.clone();
        let mut results = Vec::new();
        for verdict in &matches {
            results.extend(verdict.pairs()?);
        }
        Ok(results)
    }

    /// Records an event from before the run was opened.
    pub(super) fn replay(&self, event: PastEvent) {
        match event {
            PastEvent::Step(result) => self.record(&result),
            // Generation 0 is the first net, which needs no promotion.
            PastEvent::Promoted { generation: 0, .. } => {}
            PastEvent::Promoted { network, generation } => self.record_promotion(&network, generation),
        }
    }
}

impl Fields for RunHandle {
    const KIND: &'static str = "Run";

    fn fields(&self) -> Vec<(String, Value)> {
        let info = &self.0.info;
        let progress = self.0.progress();
        let fields = [
            ("name", Value::Text(info.name.clone())),
            ("folder", Value::Text(info.folder.clone())),
            ("seed", Value::Int(info.seed as i64)),
            ("device", Value::Text(info.device.clone())),
            ("generation", Value::Int(progress.generation.into())),
            ("iterations", Value::Int(progress.iterations.len() as i64)),
            ("networks", Value::Int(progress.networks.len() as i64)),
        ];
        fields.map(|(name, value)| (name.to_owned(), value)).into()
    }
}
