//! A sweep that is only planned: its trials share the plan, in which equal steps count once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use super::plan::{Plan, Sweeping};
use super::{MAX_STEPS, Planner, TrialOf};
use crate::estimate::ASSUMPTIONS;
use crate::host::{Asked, Host, HostError, SweepHost};
use crate::runner::{Asking, cores};
use crate::sweep::{record as sweep_record, share_of_cores};
use dc0_runs::Folder;
use dc0_runs::declared::Declaration;
use dc0_runs::sweep::board::Board;
use dc0_runs::sweep::events::{Event, Replicate};
use dc0_runs::sweep::folder::SweepFolder;
use dc0_runs::sweep::opening;
use dc0_runs::sweep::params::SweepParams;
use dc0_runs::sweep::space::Point;
use dc0_runs::view::{self, FinishedSteps};

/// A sweep without a folder of its own.
pub(super) struct PlannedSweep {
    name: String,
    root: String,
    seed: u64,
    script: String,
    asking: Asking,
    declaration: Arc<Declaration>,
    plan: Arc<Mutex<Plan>>,
    finished: Arc<FinishedSteps>,
    /// libtorch threads of each trial, where trials share those of one machine.
    threads: Option<u32>,
    turns: AtomicUsize,
}

/// What is known of a sweep before it runs, with everything that happened in it so far.
pub(super) fn open(
    planner: &Planner,
    asked: &Asked<SweepParams>,
    script: &str,
) -> Result<(PlannedSweep, Vec<Event>), HostError> {
    let (params, parent) = (&asked.params, &planner.asking.parent);
    let devices = dc0_backend::devices(planner.asking.device.as_deref().unwrap_or("auto"))?;
    let is_cpu = devices == ["cpu"];
    // Trials share cores; of other devices each has its own.
    let workers = params.parallel.min(if is_cpu { cores() } else { devices.len() as u32 });
    let (now, is_asked) = sweep_record(&planner.asking, &planner.script_file(), asked);
    let (record, mut events) = SweepFolder::peek(parent, &now, is_asked)?;
    events.extend(opening::new_events(params, script, &events));
    let folder = Folder::of_run(parent, &params.name)?;
    let mut finished = FinishedSteps::new();
    for name in params.from.iter().chain([&params.name]) {
        let is_new = *name == params.name && !folder.root().join("trials").is_dir();
        if !is_new {
            SweepFolder::runs_named(parent, name)?
                .iter()
                .try_for_each(|run| view::collect(run, &mut finished))?;
        }
    }
    let (seed, threads) = record.map_or((now.seed, now.threads), |record| (record.seed, record.threads));
    planner.state().sweep(Sweeping::new(params, workers));
    let sweep = PlannedSweep {
        name: params.name.clone(),
        root: folder.root().display().to_string(),
        seed,
        script: planner.script.clone(),
        asking: Asking {
            parent: folder.root().join("trials"),
            seed: None,
            lanes: planner.asking.lanes.or_else(|| is_cpu.then(|| share_of_cores(params.parallel))),
            ..planner.asking.clone()
        },
        declaration: Arc::clone(&planner.declaration),
        plan: Arc::clone(&planner.plan),
        finished: Arc::new(finished),
        threads: is_cpu.then_some(threads),
        turns: AtomicUsize::new(0),
    };
    Ok((sweep, events))
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
            return Err(HostError::Endless { steps: turns, assumed: ASSUMPTIONS });
        }
        let mut plan = self.plan.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        plan.begin(&self.name, of);
        Ok(Arc::new(Planner {
            asking: self.asking.clone(),
            declaration: Arc::clone(&self.declaration),
            script: self.script.clone(),
            plan: Arc::clone(&self.plan),
            known: Mutex::default(),
            lanes: OnceLock::new(),
            trial: Some(TrialOf {
                sweep: self.name.clone(),
                finished: Arc::clone(&self.finished),
                trial: of.trial,
                threads: self.threads,
            }),
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
