//! The session of one script with a host: the runs that it opened, and their progress.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use dc0_analysis::Promotion;
use dc0_core::arena::rating::PairResult;
use dc0_core::durable;
use dc0_core::params::Value;
use dc0_core::poison::IgnorePoison as _;
use dc0_core::store::StoreError;
use rhai::EvalAltResult;

use super::own_runs::OwnRuns;
use super::pending::Pending;
use crate::call::{Answer, Call};
use crate::failure::Failure;
use crate::names::Names;
use crate::report;
use dc0_process::exit::Exit;
use dc0_runs::declared::Declaration;
use dc0_runs::sweep::events::Spent;

use dc0_steps::Summary;
use dc0_steps::handles::{Fields, Games, Made, MatchResult, Network};
use dc0_steps::host::{Host, PastEvent, RunInfo};
use dc0_steps::step::StepResult;
use dc0_steps::table::Table;

/// State shared by the functions of a script.
pub struct Session {
    pub(super) host: Arc<dyn Host>,
    pub(super) declaration: Arc<Declaration>,
    /// The runs that the script has opened, those of trials not among them.
    runs: Mutex<Vec<RunHandle>>,
    pub(super) own_runs: OwnRuns,
    /// Sweeps under way; one more within a trial of another.
    sweeps: AtomicU32,
    /// The names of the sweeps that the script has opened, those within trials not among them.
    sweep_names: Mutex<BTreeSet<String>>,
    names: OnceLock<Names>,
}

/// A run, as a script holds it.
#[derive(Clone)]
pub(super) struct RunHandle(pub(super) Arc<OpenRun>);

/// A run that a script has opened.
pub(super) struct OpenRun {
    pub(super) host: Arc<dyn Host>,
    pub(super) info: RunInfo,
    pub(super) own_runs: OwnRuns,
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
        let (runs, own_runs, sweeps, sweep_names, names) = <_>::default();
        Self { host, declaration, runs, own_runs, sweeps, sweep_names, names }
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

    fn runs(&self) -> Vec<RunHandle> {
        self.runs.lock().ignore_poison().clone()
    }

    /// Whether a step of any run that the script has opened is only planned.
    pub(super) fn has_planned_steps(&self) -> bool {
        let is_planned =
            |run: RunHandle| run.0.host.steps().is_ok_and(|steps| steps.iter().any(Option::is_none));
        self.host.is_planning() && self.runs().into_iter().any(is_planned)
    }

    /// Takes the name of a sweep that the script opens. Sweeps within trials may share a name with each other, and not with those of the
    /// script itself: the later one would add to the trials of the earlier one, or wait for it in vain.
    pub(super) fn name_sweep(&self, call: &Call<'_>, name: &str) -> Answer<()> {
        let is_nested = self.sweeps.load(Ordering::SeqCst) > 0;
        let mut names = self.sweep_names.lock().ignore_poison();
        let is_known = names.contains(name);
        if !is_nested {
            names.insert(name.to_owned());
        }
        if is_known {
            return Err(call.misuse(format!(
                "the script has opened the sweep \"{name}\" already; keep what the first call returned, or give this sweep another name"
            )));
        }
        Ok(())
    }

    /// Runs the trials of a sweep; until it ends, the script opens no run of its own.
    pub(super) fn in_sweep<T>(&self, sweep: impl FnOnce() -> T) -> T {
        self.sweeps.fetch_add(1, Ordering::SeqCst);
        let result = sweep();
        self.sweeps.fetch_sub(1, Ordering::SeqCst);
        result
    }

    /// The host of the run that the script opens now under this name. An error if it cannot open one here.
    pub(super) fn next_host(&self, call: &Call<'_>, name: &str) -> Answer<Arc<dyn Host>> {
        if self.sweeps.load(Ordering::SeqCst) > 0 {
            return Err(call.misuse("a trial of a sweep has a run of its own; use `trial.run` instead"));
        }
        self.check_declared(call)?;
        if self.has_run(name) {
            return Err(call.misuse(format!(
                "the script has opened the run \"{name}\" already; keep what the first call returned, or give this run another name"
            )));
        }
        if self.runs().is_empty() { Ok(Arc::clone(&self.host)) } else { call.run(self.host.another()) }
    }

    /// Whether the script has opened a run of this name.
    pub(super) fn has_run(&self, name: &str) -> bool {
        self.runs().iter().any(|run| run.0.info.name == name)
    }

    /// Adds a run that the script has opened.
    pub(super) fn add_run(&self, host: Arc<dyn Host>, info: RunInfo) -> RunHandle {
        self.own_runs.add(&info.folder);
        let handle = RunHandle::new(host, info, self.own_runs.clone());
        self.runs.lock().ignore_poison().push(handle.clone());
        handle
    }

    /// Whether a folder is that of a run that the script has opened.
    pub(super) fn is_own_folder(&self, folder: &Path) -> bool {
        let folder = folder.canonicalize().ok();
        let is_it = |run: RunHandle| Path::new(&run.0.info.folder).canonicalize().ok() == folder;
        folder.is_some() && self.runs().into_iter().any(is_it)
    }

    /// Fails if the folder of a run was removed or replaced while the script ran.
    pub fn check_folders(&self) -> Result<(), Failure> {
        let check = |run: RunHandle| run.0.host.check_folder().map_err(|error| Failure::from(&error));
        self.runs().into_iter().try_for_each(check)
    }

    /// Ends the runs of a script that has come to its end.
    pub fn complete(&self) -> Result<(), Failure> {
        let complete = |run: RunHandle| run.0.host.complete().map_err(|error| Failure::from(&error));
        self.runs().into_iter().try_for_each(complete)
    }

    /// Waits for what the script has started and not waited for, at its end.
    pub fn await_rest(&self) -> Result<(), Failure> {
        self.runs().into_iter().try_for_each(|run| run.0.await_rest())
    }

    /// Stops what the script has started and not waited for, after an error.
    pub fn stop(&self) {
        self.runs().into_iter().for_each(|run| run.0.host.close());
    }

    /// The tables of iterations that have anything that was not shown yet, with the names of their runs if there are several.
    pub fn unshown_tables(&self) -> Vec<(Option<String>, Table)> {
        let runs = self.runs();
        let is_one_of_several = runs.len() > 1;
        let table = |run: RunHandle| {
            let progress = run.0.progress();
            let table = (!progress.table.is_empty() && !progress.is_shown).then(|| progress.table.clone())?;
            Some((is_one_of_several.then(|| run.0.info.name.clone()), table))
        };
        runs.into_iter().filter_map(table).collect()
    }
}

impl Progress {
    fn add_promotion(&mut self, generation: u32, network: &Network) {
        let network = network.0.digest.clone();
        self.promotions.push(Promotion { generation, network, steps: Some(self.steps) });
    }
}

impl RunHandle {
    pub(super) fn new(host: Arc<dyn Host>, info: RunInfo, own_runs: OwnRuns) -> Self {
        let (progress, pending) = <_>::default();
        Self(Arc::new(OpenRun { host, info, own_runs, progress, pending }))
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
        self.progress.lock().ignore_poison()
    }

    pub(super) fn pending(&self) -> MutexGuard<'_, Option<Pending>> {
        self.pending.lock().ignore_poison()
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
                if games.0.made != Made::Imported {
                    self.update_table(|table| table.played(games));
                }
                self.progress().iterations.push(games.clone());
            }
            StepResult::Match(verdict) => {
                self.update_table(|table| table.matched(verdict));
                self.progress().matches.push(verdict.clone());
            }
            StepResult::Analysis(_) | StepResult::Puzzles(_) | StepResult::Validation(_) => {}
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
        self.update_table(|table| table.promoted(network, generation));
    }

    /// The nets of the generations before the current one, the oldest first, and the number of the next drawing of a league. A net that
    /// was promoted again counts by its last generation, and the current one is none of them.
    pub(super) fn next_drawing(&self) -> (Vec<Network>, u64) {
        let mut progress = self.progress();
        progress.drawings += 1;
        let mut known = BTreeSet::new();
        let mut nets = progress.generations.clone();
        nets.reverse();
        nets.retain(|net| known.insert(net.0.digest.clone()));
        let mut earlier = nets.split_off(nets.len().min(1));
        earlier.reverse();
        (earlier, progress.drawings)
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

    fn summary(&self) -> Option<&Summary> {
        None
    }
}
