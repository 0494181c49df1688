//! What a script would do: its steps, each counted once, with the work that they are.

mod render;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use dc0_core::params::Value;

use super::has;
use super::turns::{TurnStep, makespan};
use crate::estimate::Work;
use crate::host::RunInfo;
use crate::speeds::{Pace, Speeds};
use dc0_runs::sweep::events::Replicate;
use dc0_runs::sweep::params::SweepParams;
use dc0_runs::{Begun, Identity};

/// A step of a plan.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Step {
    pub(super) kind: &'static str,
    pub(super) what: String,
    /// The sweep and the trial that it belongs to.
    pub(super) of: Option<(String, u32)>,
    /// What is left of it to do; all of it, if it is finished.
    pub(super) work: Work,
    pub(super) pace: Pace,
    /// Whether it is finished already.
    pub(super) is_done: bool,
    /// What a kill left of it.
    pub(super) begun: Option<Begun>,
}

/// Steps that are told of together: those of a sweep's trials, else one.
#[derive(Debug, Clone, Default, PartialEq)]
struct Told {
    kind: &'static str,
    what: String,
    count: u32,
    done: u32,
    /// Those that a kill interrupted, and what it left of the last.
    begun: u32,
    parts: Option<Begun>,
    /// Of all, and of those that are left to do.
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

/// A sweep of the script.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sweeping {
    name: String,
    trials: u32,
    replicates: u32,
    sampler: &'static str,
    pruner: &'static str,
    begun: BTreeSet<Replicate>,
    /// The sweeps whose steps it takes over.
    from: Vec<String>,
    /// Trials that are at work at the same time.
    workers: u32,
    /// The steps of each trial in order, those that others have, too, among them.
    turns: BTreeMap<u32, Vec<TurnStep>>,
}

/// Everything planned so far.
#[derive(Debug)]
pub(super) struct Plan {
    run: Option<RunInfo>,
    sweeps: Vec<Sweeping>,
    told: Vec<Told>,
    calls: Vec<Calls>,
    /// Each with the sweep it belongs to, or none: sweeps share steps only where one asks for the other's.
    seen: BTreeSet<(String, Identity)>,
    /// Steps that were asked for, the equal ones counted each time.
    asked: usize,
    speeds: Option<Speeds>,
    /// Kinds of steps that are still to be done, whose first one takes longer.
    to_do: BTreeSet<&'static str>,
}

impl Default for Plan {
    fn default() -> Self {
        let (run, sweeps, told, calls, seen, to_do) = <_>::default();
        Self { run, sweeps, told, calls, seen, asked: 0, speeds: Speeds::stored(), to_do }
    }
}

impl Sweeping {
    pub(super) fn new(params: &SweepParams, workers: u32) -> Self {
        Self {
            name: params.name.clone(),
            trials: params.trials,
            replicates: params.replicates,
            sampler: params.sampler.kind.word(),
            pruner: params.pruner.kind.word(),
            begun: BTreeSet::new(),
            from: params.from.clone(),
            workers,
            turns: BTreeMap::new(),
        }
    }

    /// Seconds in which workers wait for a step that another does, or have no trial left.
    fn waiting(&self) -> f64 {
        let mut seen = BTreeSet::new();
        let steps = self.turns.values().flatten().filter(|(identity, _)| seen.insert(identity));
        let work: f64 = steps.map(|(_, seconds)| seconds).sum();
        let all = makespan(&self.turns.values().map(Vec::as_slice).collect::<Vec<_>>(), self.workers);
        (all - work / f64::from(self.workers)).max(0.0)
    }
}

impl Plan {
    pub(super) fn open(&mut self, info: &RunInfo) {
        self.run = Some(info.clone());
    }

    pub(super) fn sweep(&mut self, sweep: Sweeping) {
        self.sweeps.push(sweep);
    }

    /// A replicate of a trial begins or goes on.
    pub(super) fn begin(&mut self, name: &str, of: Replicate) {
        if let Some(sweep) = self.sweeps.iter_mut().rfind(|sweep| sweep.name == name) {
            sweep.begun.insert(of);
        }
    }

    /// Adds a step, unless it is there, and gives how many were asked for.
    pub(super) fn add(&mut self, identity: &Identity, step: Step, params: &Value, given: &Value) -> usize {
        self.asked += 1;
        let (is_new, is_taken_over) = self.see(identity, &step);
        self.take_turn(identity, &step, is_taken_over);
        if !is_new {
            return self.asked;
        }
        let mut settings = Vec::new();
        list(params, "", given, &mut settings);
        let kind = step.kind;
        match self.calls.iter_mut().find(|calls| calls.kind == kind && calls.settings == settings) {
            Some(calls) => calls.count += 1,
            None => self.calls.push(Calls { kind, settings, count: 1 }),
        }
        self.tell(step);
        self.asked
    }

    /// Whether a step was not asked for before, and whether another sweep does it from which this one takes steps over.
    fn see(&mut self, identity: &Identity, step: &Step) -> (bool, bool) {
        let scope = step.of.as_ref().map(|(name, _)| name.clone()).unwrap_or_default();
        let donors = self.sweep_of(step).map(|sweep| sweep.from.as_slice()).unwrap_or_default();
        let is_taken_over = donors.iter().any(|from| self.seen.contains(&(from.clone(), identity.clone())));
        (!is_taken_over && self.seen.insert((scope, identity.clone())), is_taken_over)
    }

    fn sweep_of(&self, step: &Step) -> Option<&Sweeping> {
        let (name, _) = step.of.as_ref()?;
        self.sweeps.iter().rfind(|sweep| sweep.name == *name)
    }

    fn tell(&mut self, step: Step) {
        let seconds = self.seconds(&step);
        let Step { kind, what, work, is_done, begun, .. } = step;
        let is_of_sweep = what.starts_with("sweep ");
        let known = self.told.iter().position(|told| is_of_sweep && told.what == what);
        let told = known.unwrap_or_else(|| {
            self.told.push(Told { kind, what, ..Told::default() });
            self.told.len() - 1
        });
        let told = &mut self.told[told];
        told.count += 1;
        told.done += u32::from(is_done);
        told.begun += u32::from(begun.is_some());
        told.parts = begun.or(told.parts);
        told.work.add(work);
        told.left.add(if is_done { Work::default() } else { work });
        told.left_seconds += seconds;
    }

    /// Seconds of a step that is not finished; a share of them where other trials are at work at the same time.
    fn seconds(&mut self, step: &Step) -> f64 {
        let Some(speeds) = self.speeds.as_ref().filter(|_| !step.is_done) else { return 0.0 };
        let first = if self.to_do.insert(step.kind) { speeds.first(step.kind) } else { 0.0 };
        first + self.own_seconds(step) / self.sweep_of(step).map_or(1.0, |sweep| f64::from(sweep.workers))
    }

    /// Seconds of a step on its own share of the machine, without what the first of its kind takes longer.
    fn own_seconds(&self, step: &Step) -> f64 {
        let speeds = self.speeds.as_ref().filter(|_| !step.is_done);
        speeds.map_or(0.0, |speeds| speeds.seconds(step.kind, &step.pace))
    }

    fn take_turn(&mut self, identity: &Identity, step: &Step, is_taken_over: bool) {
        let Some((name, trial)) = &step.of else { return };
        let turn = (identity.clone(), if is_taken_over { 0.0 } else { self.own_seconds(step) });
        if let Some(sweep) = self.sweeps.iter_mut().rfind(|sweep| sweep.name == *name) {
            sweep.turns.entry(*trial).or_default().push(turn);
        }
    }
}

/// Every leaf of a group of parameters; a table of samples counts as one.
fn list(params: &Value, path: &str, given: &Value, settings: &mut Vec<Setting>) {
    if let Value::Group(members) = params {
        for (name, member) in members {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            list(member, &path, given, settings);
        }
        return;
    }
    settings.push(Setting { path: path.to_owned(), value: params.clone(), is_given: has(given, path) });
}
