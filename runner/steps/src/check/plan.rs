//! The plan of a script: its steps, each counted once, with their work.

mod render;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use dc0_core::params::Value;

use super::has;
use super::makespan::{TurnStep, makespan};
use crate::estimate::Work;
use crate::host::RunInfo;
use crate::speeds::{ShardCost, Speeds};
use dc0_runs::sweep::events::Replicate;
use dc0_runs::sweep::params::SweepParams;
use dc0_runs::{Identity, PartialProgress};

/// A step of a plan.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Step {
    pub(super) kind: &'static str,
    pub(super) description: String,
    pub(super) of: StepOf,
    /// The work that is left to do; all of it, if the step is finished.
    pub(super) work: Work,
    pub(super) pace: ShardCost,
    /// Whether it is finished.
    pub(super) is_done: bool,
    /// The parts of it that a killed process had done.
    pub(super) begun: Option<PartialProgress>,
}

/// What a step belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StepOf {
    /// The run in this folder.
    Run(String),
    /// A trial of a sweep.
    Trial { sweep: String, trial: u32 },
}

/// A row of the plan: the steps of one kind of a sweep's trials, or else a single step.
#[derive(Debug, Clone, Default, PartialEq)]
struct PlanRow {
    kind: &'static str,
    description: String,
    /// The name of its run; `None` for steps of a sweep.
    run: Option<String>,
    count: u32,
    done: u32,
    /// The number of steps that a kill interrupted, and the parts done of the last one.
    begun: u32,
    parts: Option<PartialProgress>,
    /// The work of all steps, and of those that are left to do.
    work: Work,
    left: Work,
    left_seconds: f64,
}

/// One parameter of a call.
#[derive(Debug, Clone, PartialEq)]
struct Setting {
    path: String,
    value: Value,
    is_given: bool,
}

/// Calls of one kind with the same parameters.
#[derive(Debug, Clone, PartialEq)]
struct Calls {
    kind: &'static str,
    settings: Vec<Setting>,
    count: u32,
}

/// The plan of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SweepPlan {
    name: String,
    trials: u32,
    replicates: u32,
    sampler: &'static str,
    pruner: &'static str,
    /// Whether its trials have budgets in seconds.
    has_seconds: bool,
    begun: BTreeSet<Replicate>,
    /// The sweeps from which it takes over steps.
    from: Vec<String>,
    /// Trials that run in parallel.
    workers: u32,
    /// The steps of each trial in order, including those shared with other trials.
    turns: BTreeMap<u32, Vec<TurnStep>>,
    /// Why trials fail even in the dry run.
    failed: BTreeMap<u32, String>,
}

/// A run of the script, those of trials not among them.
#[derive(Debug, Clone)]
struct OpenedRun {
    info: RunInfo,
    /// The runs from which it takes over steps.
    from: Vec<String>,
}

/// Everything planned so far.
#[derive(Debug)]
pub(super) struct Plan {
    runs: Vec<OpenedRun>,
    sweeps: Vec<SweepPlan>,
    rows: Vec<PlanRow>,
    calls: Vec<Calls>,
    /// Steps by the name of their run or sweep, which share steps only if one names the other in `from`.
    seen: BTreeSet<(String, Identity)>,
    /// The number of steps that were called, repeated ones included.
    pub(super) requested: usize,
    speeds: Option<Speeds>,
    /// Kinds of steps that are left to do, of which the first step takes longer.
    to_do: BTreeSet<&'static str>,
    /// After how many steps it was given up if it has no end, and how many queries of tables made up the rest.
    pub(super) endless_after: Option<(usize, usize)>,
}

impl Default for Plan {
    fn default() -> Self {
        let (runs, sweeps, rows, calls, seen, requested, to_do, endless_after) = <_>::default();
        Self { runs, sweeps, rows, calls, seen, requested, speeds: Speeds::stored(), to_do, endless_after }
    }
}

impl SweepPlan {
    pub(super) fn new(params: &SweepParams, workers: u32) -> Self {
        Self {
            name: params.name.clone(),
            trials: params.trials,
            replicates: params.replicates,
            sampler: params.sampler.kind.name(),
            pruner: params.pruner.kind.name(),
            has_seconds: params.budget.seconds.is_some(),
            begun: BTreeSet::new(),
            from: params.from.clone(),
            workers,
            turns: BTreeMap::new(),
            failed: BTreeMap::new(),
        }
    }

    /// Seconds per worker of waiting for another worker's step, or of having no trial left.
    fn waiting(&self) -> f64 {
        let mut seen = BTreeSet::new();
        let steps = self.turns.values().flatten().filter(|(identity, _)| seen.insert(identity));
        let work: f64 = steps.map(|(_, seconds)| seconds).sum();
        let all = makespan(&self.turns.values().map(Vec::as_slice).collect::<Vec<_>>(), self.workers);
        (all - work / f64::from(self.workers)).max(0.0)
    }
}

impl Plan {
    pub(super) fn open(&mut self, info: &RunInfo, from: &[String]) {
        self.runs.push(OpenedRun { info: info.clone(), from: from.to_vec() });
    }

    /// Whether the script has opened a run of this name.
    pub(super) fn has_run(&self, name: &str) -> bool {
        self.runs.iter().any(|run| run.info.name == name)
    }

    pub(super) fn sweep(&mut self, sweep: SweepPlan) {
        self.sweeps.push(sweep);
    }

    /// The number of distinct steps, and the time of what is left to do, if this machine was measured.
    pub(super) fn size(&self) -> (usize, Option<f64>) {
        let (_, seconds, _) = self.left();
        (self.seen.len(), self.speeds.as_ref().map(|_| seconds))
    }

    /// Records that a replicate of a trial begins or continues.
    pub(super) fn begin(&mut self, name: &str, id: Replicate) {
        if let Some(sweep) = self.sweeps.iter_mut().rfind(|sweep| sweep.name == name) {
            sweep.begun.insert(id);
        }
    }

    /// Records that a trial fails in the dry run.
    pub(super) fn fail(&mut self, name: &str, trial: u32, because: &str) {
        if let Some(sweep) = self.sweeps.iter_mut().rfind(|sweep| sweep.name == name) {
            sweep.failed.entry(trial).or_insert_with(|| because.to_owned());
        }
    }

    pub(super) fn failing_trials(&self) -> usize {
        self.sweeps.iter().map(|sweep| sweep.failed.len()).sum()
    }

    /// Adds a step unless the plan has it, and returns the number of steps called so far.
    pub(super) fn add(&mut self, identity: &Identity, step: Step, params: &Value, given: &Value) -> usize {
        self.requested += 1;
        let (is_new, is_taken_over) = self.mark_seen(identity, &step);
        self.take_turn(identity, &step, is_taken_over);
        if !is_new {
            return self.requested;
        }
        let mut settings = Vec::new();
        list_settings(params, "", given, &mut settings);
        let kind = step.kind;
        match self.calls.iter_mut().find(|calls| calls.kind == kind && calls.settings == settings) {
            Some(calls) => calls.count += 1,
            None => self.calls.push(Calls { kind, settings, count: 1 }),
        }
        self.add_row(step);
        self.requested
    }

    /// Marks a step as seen. Returns whether it is new, and whether its run or sweep takes it over from another one.
    fn mark_seen(&mut self, identity: &Identity, step: &Step) -> (bool, bool) {
        let (scope, reuse_sources) = match (self.run_of(step), self.sweep_of(step)) {
            (Some(run), _) => (run.info.name.clone(), run.from.as_slice()),
            (None, Some(sweep)) => (sweep.name.clone(), sweep.from.as_slice()),
            (None, None) => <_>::default(),
        };
        let is_taken_over =
            reuse_sources.iter().any(|from| self.seen.contains(&(from.clone(), identity.clone())));
        (!is_taken_over && self.seen.insert((scope, identity.clone())), is_taken_over)
    }

    fn run_of(&self, step: &Step) -> Option<&OpenedRun> {
        let StepOf::Run(folder) = &step.of else { return None };
        self.runs.iter().find(|run| run.info.folder == *folder)
    }

    fn sweep_of(&self, step: &Step) -> Option<&SweepPlan> {
        let StepOf::Trial { sweep: name, .. } = &step.of else { return None };
        self.sweeps.iter().rfind(|sweep| sweep.name == *name)
    }

    fn add_row(&mut self, step: Step) {
        let seconds = self.seconds(&step);
        let run = self.run_of(&step).map(|run| run.info.name.clone());
        let Step { kind, description, of, work, is_done, begun, .. } = step;
        let is_of_sweep = matches!(of, StepOf::Trial { .. });
        let known = self.rows.iter().position(|row| is_of_sweep && row.description == description);
        let index = known.unwrap_or_else(|| {
            self.rows.push(PlanRow { kind, description, run, ..PlanRow::default() });
            self.rows.len() - 1
        });
        let row = &mut self.rows[index];
        row.count += 1;
        row.done += u32::from(is_done);
        row.begun += u32::from(begun.is_some());
        row.parts = begun.or(row.parts);
        row.work.add(work);
        row.left.add(if is_done { Work::default() } else { work });
        row.left_seconds += seconds;
    }

    /// Seconds of an unfinished step, divided by the number of trials that run in parallel.
    fn seconds(&mut self, step: &Step) -> f64 {
        let Some(speeds) = self.speeds.as_ref().filter(|_| !step.is_done) else { return 0.0 };
        let first = if self.to_do.insert(step.kind) { speeds.first(step.kind) } else { 0.0 };
        first + self.own_seconds(step) / self.sweep_of(step).map_or(1.0, |sweep| f64::from(sweep.workers))
    }

    /// Seconds of a step, finished or not, by the speeds of a typical machine if this one was not measured.
    pub(super) fn assumed_seconds(&self, step: &Step) -> f64 {
        let seconds = |speeds: &Speeds| speeds.seconds(step.kind, &step.pace);
        self.speeds.as_ref().map_or_else(|| seconds(&Speeds::typical()), seconds)
    }

    /// Seconds of a step for one worker, without the additional time of the first step of its kind.
    fn own_seconds(&self, step: &Step) -> f64 {
        let speeds = self.speeds.as_ref().filter(|_| !step.is_done);
        speeds.map_or(0.0, |speeds| speeds.seconds(step.kind, &step.pace))
    }

    fn take_turn(&mut self, identity: &Identity, step: &Step, is_taken_over: bool) {
        let StepOf::Trial { sweep: name, trial } = &step.of else { return };
        let turn = (identity.clone(), if is_taken_over { 0.0 } else { self.own_seconds(step) });
        if let Some(sweep) = self.sweeps.iter_mut().rfind(|sweep| sweep.name == *name) {
            sweep.turns.entry(*trial).or_default().push(turn);
        }
    }
}

/// Lists every parameter of a group; a table of samples counts as one.
fn list_settings(params: &Value, path: &str, given: &Value, settings: &mut Vec<Setting>) {
    if let Value::Group(members) = params {
        for (name, member) in members {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            list_settings(member, &path, given, settings);
        }
        return;
    }
    settings.push(Setting { path: path.to_owned(), value: params.clone(), is_given: has(given, path) });
}
