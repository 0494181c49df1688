//! A sweep that is only planned: its trials share the plan, in which equal steps count once.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::known::{self, Finished};
use super::plan::{Plan, Sweeping};
use super::{MAX_STEPS, Planner, TrialOf, standins};
use crate::host::{Asked, Host, HostError, SweepHost};
use crate::run::{Folder, RunError};
use crate::script::declared::Declaration;
use crate::steps::Asking;
use crate::sweep::board::Board;
use crate::sweep::events::{Event, Replicate};
use crate::sweep::folder::{SweepFolder, SweepRecord};
use crate::sweep::params::SweepParams;
use crate::sweep::space::Point;

/// A sweep without a folder of its own.
pub(super) struct PlannedSweep {
    name: String,
    root: String,
    seed: u64,
    script: String,
    asking: Asking,
    declaration: Arc<Declaration>,
    plan: Arc<Mutex<Plan>>,
    finished: Arc<Finished>,
    turns: AtomicUsize,
}

/// What is known of a sweep before it runs, with everything that happened in it so far.
pub(super) fn open(
    planner: &Planner,
    asked: &Asked<SweepParams>,
) -> Result<(PlannedSweep, Vec<Event>), HostError> {
    let (params, parent) = (&asked.params, &planner.asking.parent);
    let folder = Folder::of_run(parent, &params.name)?;
    let mut finished = Finished::new();
    for name in params.from.iter().chain([&params.name]) {
        let is_new = *name == params.name && !folder.root().join("trials").is_dir();
        if !is_new {
            runs(parent, name)?.iter().try_for_each(|run| known::collect(run, &mut finished))?;
        }
    }
    let record = fs::read_to_string(folder.root().join("sweep.json")).ok();
    let record: Option<SweepRecord> = record.and_then(|text| serde_json::from_str(&text).ok());
    let seed = planner.asking.seed.or(record.map(|record| record.seed)).unwrap_or(params.seed);
    let events = events(folder.root())?;
    planner.state().sweep(Sweeping::new(params));
    let sweep = PlannedSweep {
        name: params.name.clone(),
        root: folder.root().display().to_string(),
        seed,
        script: planner.script.clone(),
        asking: Asking { parent: folder.root().join("trials"), seed: None, ..planner.asking.clone() },
        declaration: Arc::clone(&planner.declaration),
        plan: Arc::clone(&planner.plan),
        finished: Arc::new(finished),
        turns: AtomicUsize::new(0),
    };
    Ok((sweep, events))
}

/// The runs that a name stands for: one run, or all trials of a sweep.
fn runs(parent: &Path, name: &str) -> Result<Vec<Folder>, RunError> {
    if parent.join(name).join("trials").is_dir() {
        return SweepFolder::runs(parent, name);
    }
    Ok(vec![Folder::of_existing(parent, name)?])
}

/// What happened in a sweep so far; a line that is being written just now is left out.
fn events(root: &Path) -> Result<Vec<Event>, RunError> {
    let path = root.join("trials.jsonl");
    let text = fs::read_to_string(&path).unwrap_or_default();
    let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
    let damaged =
        |cause: serde_json::Error| RunError::Damaged { path: path.clone(), cause: cause.to_string() };
    whole.lines().map(|line| serde_json::from_str(line).map_err(damaged)).collect()
}

impl SweepHost for PlannedSweep {
    fn folder(&self) -> String {
        self.root.clone()
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn note(&self, _: &Event) -> Result<(), HostError> {
        Ok(())
    }

    fn replicate(&self, of: Replicate, _: &Point) -> Result<Arc<dyn Host>, HostError> {
        let turns = self.turns.fetch_add(1, Ordering::Relaxed);
        if turns > MAX_STEPS {
            return Err(HostError::Endless { steps: turns, assumed: standins::ASSUMPTIONS });
        }
        let mut plan = self.plan.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        plan.begin(&self.name, of);
        Ok(Arc::new(Planner {
            asking: self.asking.clone(),
            declaration: Arc::clone(&self.declaration),
            script: self.script.clone(),
            plan: Arc::clone(&self.plan),
            known: Mutex::default(),
            trial: Some(TrialOf { sweep: self.name.clone(), finished: Arc::clone(&self.finished) }),
        }))
    }

    fn tell(&self, _: &str) {}

    fn update(&self, _: &Board) -> Result<(), HostError> {
        Ok(())
    }

    fn finish(&self, _: &Board) -> Result<(), HostError> {
        Ok(())
    }
}
