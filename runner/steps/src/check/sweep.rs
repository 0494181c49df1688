//! A planned sweep: its trials share one plan, in which equal steps count once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use dc0_core::poison::IgnorePoison as _;

use super::plan::{Plan, SweepPlan};
use super::{PlannedTrial, Planner, endless};
use crate::assumption::Assumption;
use crate::host::{CallParams, Host, HostError, SweepHost};
use crate::runner::RunOptions;
use crate::sweep::{record as sweep_record, share_of_cores};
use crate::trace::Recorder;
use dc0_backend::cores;
use dc0_runs::Folder;
use dc0_runs::declared::Declaration;
use dc0_runs::sweep::board::Board;
use dc0_runs::sweep::events::{Ending, Event, Replicate};
use dc0_runs::sweep::folder::SweepFolder;
use dc0_runs::sweep::opening;
use dc0_runs::sweep::params::SweepParams;
use dc0_runs::sweep::space::Point;
use dc0_runs::view::{self, FinishedSteps};

/// A sweep that is planned and writes nothing.
pub(super) struct PlannedSweep {
    name: String,
    root: String,
    seed: u64,
    script: String,
    options: RunOptions,
    declaration: Arc<Declaration>,
    assumption: Assumption,
    most_steps: usize,
    plan: Arc<Mutex<Plan>>,
    recorder: Recorder,
    finished: Arc<FinishedSteps>,
    /// libtorch threads of each trial, if trials share the cores of one machine.
    threads: Option<u32>,
    turns: AtomicUsize,
}

/// Opens a planned sweep, and returns its past events.
pub(super) fn open(
    planner: &Planner,
    call_params: &CallParams<SweepParams>,
    script: &str,
) -> Result<(PlannedSweep, Vec<Event>), HostError> {
    let (params, parent) = (&call_params.params, &planner.options.parent);
    let devices = dc0_backend::devices(planner.options.device.as_deref().unwrap_or("auto"))?;
    let is_cpu = devices == ["cpu"];
    // Trials share cores; each has a GPU of its own.
    let workers = params.parallel.min(if is_cpu { cores() } else { devices.len() as u32 });
    let (now, is_given) = sweep_record(&planner.options, &planner.script_file(), call_params);
    let (record, mut events) = SweepFolder::peek(parent, &now, is_given)?;
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
    planner.state().sweep(SweepPlan::new(params, workers));
    let sweep = PlannedSweep {
        name: params.name.clone(),
        root: folder.root().display().to_string(),
        seed,
        script: planner.script.clone(),
        options: RunOptions {
            parent: folder.root().join("trials"),
            seed: None,
            lanes: planner.options.lanes.or_else(|| is_cpu.then(|| share_of_cores(params.parallel))),
            ..planner.options.clone()
        },
        declaration: Arc::clone(&planner.declaration),
        assumption: planner.assumption,
        most_steps: planner.most_steps,
        plan: Arc::clone(&planner.plan),
        recorder: planner.recorder.clone(),
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

    fn note(&self, event: &Event) -> Result<(), HostError> {
        if let Event::Ended { replicate, ending: Ending::Failed, because, .. } = event {
            let mut plan = self.plan.lock().ignore_poison();
            plan.fail(&self.name, replicate.trial, because.as_deref().unwrap_or("no reason is known"));
        }
        Ok(())
    }

    fn replicate(&self, id: Replicate, _: &Point) -> Result<Arc<dyn Host>, HostError> {
        let turns = self.turns.fetch_add(1, Ordering::Relaxed);
        if turns > self.most_steps {
            return Err(endless(&self.plan, &self.recorder, self.assumption, (turns, 0)));
        }
        let mut plan = self.plan.lock().ignore_poison();
        plan.begin(&self.name, id);
        Ok(Arc::new(Planner {
            options: self.options.clone(),
            declaration: Arc::clone(&self.declaration),
            script: self.script.clone(),
            assumption: self.assumption,
            most_steps: self.most_steps,
            plan: Arc::clone(&self.plan),
            recorder: self.recorder.of_trial(id),
            run: Mutex::default(),
            beside: Mutex::default(),
            lanes: OnceLock::new(),
            devices: OnceLock::new(),
            available_memory: OnceLock::new(),
            trial: Some(PlannedTrial {
                sweep: self.name.clone(),
                finished: Arc::clone(&self.finished),
                trial: id.trial,
                threads: self.threads,
            }),
        }))
    }

    fn print(&self, _: &str) {}

    fn update(&self, _: &Board) -> Result<(), HostError> {
        Ok(())
    }

    fn finish(&self, _: &Board) -> Result<(), HostError> {
        Ok(())
    }
}
