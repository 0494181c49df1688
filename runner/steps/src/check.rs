//! `--check`: a host that only plans. Scripts run as always; steps that are finished give their results, others stand-ins.

mod fork;
mod known;
mod plan;
mod sweep;
mod turns;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use dc0_backend::{Backend, Wish};
use dc0_core::event::{Observer, Silent};
use dc0_core::network::Evaluator;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::fake::Hashed;
use dc0_core::network::torch::{InspectParams, Precision};
use dc0_core::params::Value;
use dc0_core::trainer::threads_that_pay;
use dc0_runs::declared::Declaration;
use dc0_runs::sweep::events::Event;
use dc0_runs::sweep::params::SweepParams;
use dc0_runs::view::{self, FinishedSteps};
use dc0_runs::{Folder, ForkRecord, Manifest, Record};

use crate::estimate::{ASSUMPTIONS, Estimate, Work};
use crate::handles::Network;
use crate::host::{Asked, ForkParams, Forked, Host, HostError, OpenParams, RunInfo, SweepHost};
use crate::inspection;
use crate::runner::{Asking, cores, lanes_on};
use crate::speeds::Pace;
use crate::step::{Call, Made, StandIn, StepResult};
use crate::table::Table;
use known::{Known, Placed};
use plan::{Plan, Step};

/// Steps of a plan, those counted that are asked for again; more than a script that ends comes to.
const MAX_STEPS: usize = 100_000;

/// Plans what scripts ask for.
pub struct Planner {
    asking: Asking,
    declaration: Arc<Declaration>,
    script: String,
    /// Shared by the trials of a sweep.
    plan: Arc<Mutex<Plan>>,
    known: Mutex<Known>,
    /// Threads that play; the system is asked once, since each answer takes it a while.
    lanes: OnceLock<u32>,
    trial: Option<TrialOf>,
}

/// The sweep whose trial is planned.
struct TrialOf {
    sweep: String,
    /// The finished steps of the sweep's trials.
    finished: Arc<FinishedSteps>,
    /// Its number.
    trial: u32,
    /// libtorch threads of each trial, where trials share those of one machine.
    threads: Option<u32>,
}

impl TrialOf {
    /// The pace of a training with the threads of one trial; the speeds that were measured are those of all. As many threads as
    /// pay are taken to be as many times as fast. Lanes of players are counted in their pace.
    fn slowed(&self, work: &Work, pace: Pace) -> Pace {
        let Some(threads) = self.threads.filter(|_| work.updates > 0) else { return pace };
        let of_an_update = work.flops / work.updates as f64;
        let paid = |most: u32| f64::from(threads_that_pay(of_an_update, most));
        pace.slowed(paid(cores()) / paid(threads))
    }
}

impl Planner {
    /// For one script, named as the user named it.
    pub fn new(script: &str, asking: Asking, declaration: Arc<Declaration>) -> Self {
        let (plan, known, lanes) = <_>::default();
        Self { asking, declaration, script: script.to_owned(), plan, known, lanes, trial: None }
    }

    /// The plan as text.
    pub fn plan(&self) -> String {
        self.state().render(&self.script, &self.declaration.rows())
    }

    /// The plan for programs.
    pub fn plan_json(&self) -> serde_json::Value {
        self.state().to_json(&self.script, &self.declaration.rows())
    }

    /// The name of the script's file, without the folder.
    fn script_file(&self) -> String {
        let file = Path::new(&self.script).file_name();
        file.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    fn state(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a step to the plan.
    fn add(
        &self,
        kind: &'static str,
        placed: &Placed,
        call: &dyn Call,
        what: String,
        estimate: Estimate,
    ) -> Result<(), HostError> {
        let Estimate { work, pace } = estimate;
        let (what, of, pace) = match &self.trial {
            Some(trial) => {
                let of = Some((trial.sweep.clone(), trial.trial));
                (format!("sweep {}: {kind}", trial.sweep), of, trial.slowed(&work, pace))
            }
            None => (what, None, pace),
        };
        let is_done = placed.manifest.is_some();
        let step = Step { kind, what, of, work, pace, is_done, begun: placed.begun };
        let steps = self.state().add(&placed.identity, step, &call.params(), call.given());
        if steps > MAX_STEPS {
            return Err(HostError::Endless { steps, assumed: ASSUMPTIONS });
        }
        Ok(())
    }

    /// Threads that play.
    fn lanes(&self) -> Result<u32, HostError> {
        if let Some(lanes) = self.lanes.get() {
            return Ok(*lanes);
        }
        let devices = dc0_backend::devices(self.asking.device.as_deref().unwrap_or("auto"))?;
        let own = lanes_on(&devices);
        let asked = self.asking.lanes.unwrap_or(own);
        // More lanes than cores are no faster.
        let lanes = if devices == ["cpu"] { asked.min(own) } else { asked };
        Ok(*self.lanes.get_or_init(|| lanes))
    }

    /// Whether nets can play as asked.
    fn check_wish(&self, device: &str, backend: Backend, precision: Precision) -> Result<(), HostError> {
        let backend = self.asking.backend.unwrap_or(backend);
        Wish { backend, device, precision, onnxruntime: None }.settle(false)?;
        Ok(())
    }

    /// Every finished step that a run of this name can use, and its seed if it is there.
    fn finished(&self, name: &str, from: &[String]) -> Result<(Arc<FinishedSteps>, Option<u64>), HostError> {
        let folder = Folder::of_run(&self.asking.parent, name)?;
        let mut finished = self.trial.as_ref().map(|trial| (*trial.finished).clone()).unwrap_or_default();
        for name in from {
            view::collect(&Folder::of_existing(&self.asking.parent, name)?, &mut finished)?;
        }
        view::collect(&folder, &mut finished)?;
        view::collect_superseded(&folder, &mut finished)?;
        Ok((Arc::new(finished), view::seed_of(&folder)?))
    }
}

impl Host for Planner {
    fn open(&self, name: &str, asked: Asked<OpenParams>) -> Result<RunInfo, HostError> {
        let folder = Folder::of_run(&self.asking.parent, name)?;
        if let Some(found) = Record::read(&folder)? {
            ForkRecord::check(&folder, found.fork.as_ref(), None)?;
        }
        let (finished, seed) = self.finished(name, &asked.params.from)?;
        let device = self.asking.device.clone().unwrap_or_else(|| "auto".to_owned());
        self.check_wish(&device, asked.params.backend, asked.params.precision)?;
        let info = RunInfo {
            name: name.to_owned(),
            folder: folder.root().display().to_string(),
            seed: self.asking.seed.or(seed).unwrap_or(asked.params.seed),
            device,
        };
        *self.known() = Known::new(folder, &info.folder, info.seed, finished);
        if self.trial.is_none() {
            self.state().open(&info);
        }
        Ok(info)
    }

    fn fork(&self, from: &str, iteration: u32, asked: Asked<ForkParams>) -> Result<Forked, HostError> {
        fork::open(self, (from, iteration), &asked)
    }

    fn step(&self, call: &dyn Call) -> Result<StepResult, HostError> {
        let kind = call.kind();
        let number = self.known().next(kind.series());
        let what = call.planned(number)?;
        let placed = self.known().place(&call.step_call()?, |place| call.begun(place))?;
        let lanes = self.lanes()?;
        let done = placed.begun.map_or(0, |begun| begun.amount);
        let summary = placed.manifest.as_ref().map(|manifest| &manifest.summary);
        let estimate = call.estimate(done, summary, lanes);
        self.add(kind.name(), &placed, call, what, estimate)?;
        let StandIn { summary, files } = call.stand_in(number, lanes);
        let made = Made {
            run: Arc::clone(&placed.run),
            number,
            step: placed.identity.short().to_owned(),
            files: placed.files(&files),
            summary: placed.manifest.as_ref().map_or(summary, |manifest| manifest.summary.clone()),
        };
        Ok(call.result(made)?)
    }

    fn inspect(&self, network: &Network, params: &InspectParams) -> Result<Value, HostError> {
        Ok(inspection::assumed(&network.0.spec, params))
    }

    fn promote(&self, _: &Network, _: u32) -> Result<(), HostError> {
        Ok(())
    }

    fn note(&self, _: &str) -> Result<(), HostError> {
        Ok(())
    }

    fn steps(&self) -> Result<Vec<Option<Manifest>>, HostError> {
        Ok(self.known().steps()?)
    }

    fn summary(&self, _: &Table) -> Result<(), HostError> {
        Ok(())
    }

    fn evaluator(&self, net: &Checkpoint) -> Result<Box<dyn Evaluator>, HostError> {
        let made_up = Hashed::new(net.spec.input(), 1);
        let knows_plies = net.spec.moves_left_head.is_some();
        Ok(Box::new(if knows_plies { made_up.with_moves_left() } else { made_up }))
    }

    fn is_planning(&self) -> bool {
        true
    }

    fn observer(&self) -> Box<dyn Observer> {
        Box::new(Silent)
    }

    fn seconds(&self) -> f64 {
        0.0
    }

    fn close(&self) {}

    fn sweep(
        &self,
        asked: &Asked<SweepParams>,
        script: &str,
    ) -> Result<(Arc<dyn SweepHost>, Vec<Event>), HostError> {
        let (sweep, events) = sweep::open(self, asked, script)?;
        Ok((Arc::new(sweep), events))
    }
}

/// Whether a group has a value at a dotted path.
fn has(group: &Value, path: &str) -> bool {
    match path.split_once('.') {
        Some((name, rest)) => group.member(name).is_some_and(|member| has(member, rest)),
        None => group.member(path).is_some(),
    }
}
