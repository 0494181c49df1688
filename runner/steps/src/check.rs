//! `--check`: a host that only plans. Scripts run as usual; finished steps return their results, other steps mock results.

mod alternatives;
mod fork;
mod makespan;
mod plan;
mod planned_run;
mod sweep;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use dc0_backend::{Backend, BackendRequest, cores, lanes_on};
use dc0_core::event::{Observer, Silent};
use dc0_core::network::Evaluator;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::fake::Hashed;
use dc0_core::network::torch::{InspectParams, Precision};
use dc0_core::params::Value;
use dc0_core::poison::IgnorePoison as _;
use dc0_core::trainer::useful_threads;
use dc0_process::resources::available_memory;
use dc0_runs::declared::Declaration;
use dc0_runs::sweep::params::SweepParams;
use dc0_runs::view::{self, FinishedSteps};
use dc0_runs::{Folder, ForkRecord, Manifest, Record, Requested};

use crate::assumed_tables::AssumedTables;
use crate::assumption::Assumption;
use crate::datasets;
use crate::error::StepError;
use crate::estimate::{Estimate, Work};
use crate::handles::{Network, Window};
use crate::host::{CallParams, ForkParams, Forked, Host, HostError, OpenParams, OpenSweep, RunInfo};
use crate::inspection;
use crate::memory::Machine;
use crate::runner::RunOptions;
use crate::speeds::ShardCost;
use crate::step::{Call, MockResult, StepOutput, StepResult};
use crate::summary::Summary;
use crate::table::Table;
use crate::trace::{Recorder, Trace};
pub use alternatives::{Alternative, PlannedEnd};
use plan::{Plan, Step, StepOf};
use planned_run::{PlannedRun, PlannedStep};

/// Most steps of a plan, repeated ones included; more than any script that ends.
pub const MAX_STEPS: usize = 100_000;

/// Steps that a query of a table counts as, which takes 2 ms instead of 0.1. Measured. One whose rows are not read counts only until the
/// next step, so that loops of queries alone have an end.
const STEPS_OF_QUERY: usize = 20;

/// The host of a dry run, which plans the steps that scripts call.
pub struct Planner {
    options: RunOptions,
    declaration: Arc<Declaration>,
    script: String,
    assumption: Assumption,
    most_steps: usize,
    /// Shared by the trials of a sweep.
    plan: Arc<Mutex<Plan>>,
    recorder: Recorder,
    run: Mutex<PlannedRun>,
    /// The step that is begun and not waited for, with the number of steps that were called before it.
    beside: Mutex<Option<(Arc<dyn Call>, usize)>>,
    /// Threads that play; determined once, since asking the system takes a while.
    lanes: OnceLock<u32>,
    devices: OnceLock<Vec<String>>,
    /// Bytes of memory that are available, where the system reports them.
    available_memory: OnceLock<Option<u64>>,
    trial: Option<PlannedTrial>,
}

/// The trial of a sweep that is planned.
struct PlannedTrial {
    sweep: String,
    /// The finished steps of the sweep's trials.
    finished: Arc<FinishedSteps>,
    /// The trial's number.
    trial: u32,
    /// libtorch threads of each trial, if trials share the cores of one machine.
    threads: Option<u32>,
}

impl PlannedTrial {
    /// The pace of training with the threads of one trial, since speeds were measured with all threads. The speed is assumed to be
    /// proportional to the number of threads that pay. For other steps the pace already counts lanes.
    fn slowed(&self, work: &Work, pace: ShardCost) -> ShardCost {
        let Some(threads) = self.threads.filter(|_| work.updates > 0) else { return pace };
        let flops_per_update = work.flops / work.updates as f64;
        let speed = |threads: u32| f64::from(useful_threads(flops_per_update, threads));
        pace.slowed(speed(cores()) / speed(threads))
    }
}

impl Planner {
    /// A planner for one script, with the name that the user gave it, and for one assumption about its results.
    pub fn new(
        script: &str,
        options: RunOptions,
        declaration: Arc<Declaration>,
        assumption: Assumption,
    ) -> Self {
        let (plan, recorder, run, beside, lanes, devices, available_memory, trial) = <_>::default();
        let script = script.to_owned();
        Self {
            options,
            declaration,
            script,
            assumption,
            most_steps: MAX_STEPS,
            plan,
            recorder,
            run,
            beside,
            lanes,
            devices,
            available_memory,
            trial,
        }
    }

    /// Gives up after this many steps.
    #[must_use]
    pub fn with_most_steps(self, most_steps: usize) -> Self {
        Self { most_steps, ..self }
    }

    /// The plan as text, followed by what the script does under every assumption.
    pub fn plan(&self, alternatives: &[Alternative]) -> String {
        self.state().render(&self.script, &self.declaration.rows(), (self.assumption, alternatives))
    }

    /// The plan for programs.
    pub fn plan_json(&self, alternatives: &[Alternative]) -> serde_json::Value {
        self.state().to_json(&self.script, &self.declaration.rows(), (self.assumption, alternatives))
    }

    /// The number of trials that would fail, of all sweeps.
    pub fn failing_trials(&self) -> usize {
        self.state().failing_trials()
    }

    /// The assumption of the plan.
    pub fn assumption(&self) -> Assumption {
        self.assumption
    }

    /// What the script has done.
    pub fn trace(&self) -> Trace {
        self.recorder.trace()
    }

    /// How the plan ends; `error` is the script's own, as it ended with one.
    pub fn end(&self, error: Option<String>) -> PlannedEnd {
        let plan = self.state();
        let (steps, seconds) = plan.size();
        match (plan.endless_after, error) {
            (Some((steps, queries)), _) => PlannedEnd::Endless { steps: steps.min(self.most_steps), queries },
            (None, Some(error)) => PlannedEnd::Fails(error),
            (None, None) => PlannedEnd::Ends { steps, seconds },
        }
    }

    /// The name of the script's file, without the folder.
    fn script_file(&self) -> String {
        let file = Path::new(&self.script).file_name();
        file.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    fn state(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().ignore_poison()
    }

    fn run(&self) -> MutexGuard<'_, PlannedRun> {
        self.run.lock().ignore_poison()
    }

    /// Adds a step to the plan.
    fn add(
        &self,
        kind: &'static str,
        planned: &PlannedStep,
        call: &dyn Call,
        description: String,
        estimate: Estimate,
    ) -> Result<(), HostError> {
        let Estimate { work, pace } = estimate;
        let (description, of, pace) = match &self.trial {
            Some(trial) => {
                let of = StepOf::Trial { sweep: trial.sweep.clone(), trial: trial.trial };
                (format!("sweep {}: {kind}", trial.sweep), of, trial.slowed(&work, pace))
            }
            None => (description, StepOf::Run(planned.run.to_string()), pace),
        };
        let is_done = planned.manifest.is_some();
        let step = Step { kind, description, of, work, pace, is_done, begun: planned.begun };
        let mut plan = self.state();
        self.run().seconds += plan.assumed_seconds(&step);
        let steps = plan.add(&planned.identity, step, &call.params(), call.given());
        drop(plan);
        self.recorder.did_step(planned.identity.digits().to_owned());
        self.check_end(steps)
    }

    /// An error if these steps and the queries of tables so far are more than those of a script that ends.
    fn check_end(&self, steps: usize) -> Result<(), HostError> {
        let (read, unread) = self.recorder.table_queries();
        let planned = steps + STEPS_OF_QUERY * (read + unread);
        if planned <= self.most_steps {
            return Ok(());
        }
        // Steps alone, if they are as many as that.
        let queries = if steps > self.most_steps { 0 } else { read + unread };
        Err(endless(&self.plan, &self.recorder, self.assumption, (steps, queries)))
    }

    /// Threads that play.
    fn lanes(&self) -> Result<u32, HostError> {
        if let Some(lanes) = self.lanes.get() {
            return Ok(*lanes);
        }
        let devices = self.devices()?;
        let default = lanes_on(devices);
        let requested = self.options.lanes.unwrap_or(default);
        // More lanes than cores are no faster.
        let lanes = if devices == ["cpu"] { requested.min(default) } else { requested };
        Ok(*self.lanes.get_or_init(|| lanes))
    }

    /// The names of the devices that lanes use; determined once, as the lanes are.
    fn devices(&self) -> Result<&[String], HostError> {
        if let Some(devices) = self.devices.get() {
            return Ok(devices);
        }
        let devices = dc0_backend::devices(self.options.device.as_deref().unwrap_or("auto"))?;
        Ok(self.devices.get_or_init(|| devices))
    }

    /// An error if nets cannot be evaluated with this backend, device and precision.
    fn check_backend(&self, device: &str, backend: Backend, precision: Precision) -> Result<(), HostError> {
        let backend = self.options.backend.unwrap_or(backend);
        let onnxruntime = self.options.onnxruntime.as_deref();
        BackendRequest { backend, device, precision, onnxruntime }.resolve(None)?;
        Ok(())
    }

    /// An error if a run that exists cannot be opened as a script asks. Trials are opened as their sweep is.
    fn check_record(
        &self,
        folder: &Folder,
        found: &Record,
        requested: Requested<'_>,
    ) -> Result<(), HostError> {
        if self.trial.is_some() {
            return Ok(ForkRecord::check(folder, found.fork.as_ref(), requested.fork)?);
        }
        Ok(requested.check(folder, found, &self.script_file())?)
    }

    /// What is requested of a run that exists.
    fn requested<'a>(
        &'a self,
        seed: Option<u64>,
        backend: Backend,
        precision: Precision,
        fork: Option<(&'a str, u32)>,
    ) -> Requested<'a> {
        let backend = self.options.backend.unwrap_or(backend);
        Requested {
            seed: self.options.seed.or(seed),
            backend: (backend != Backend::Auto).then(|| backend.name()),
            device: self.options.device.as_deref().filter(|device| *device != "auto"),
            precision: (precision != Precision::Auto).then(|| precision.name()),
            threads: self.options.threads,
            fork,
        }
    }

    fn beside(&self) -> MutexGuard<'_, Option<(Arc<dyn Call>, usize)>> {
        self.beside.lock().ignore_poison()
    }

    /// An error if a step takes more memory than there is, with the one that is done beside it.
    fn check_memory(&self, call: &dyn Call, beside: Option<&dyn Call>) -> Result<(), HostError> {
        let machine = Machine { lanes: self.lanes()?, is_on_cpu: self.devices()? == ["cpu"] };
        let available = *self.available_memory.get_or_init(available_memory);
        let memory = call.memory(machine).and(beside.map(|other| other.memory(machine)).unwrap_or_default());
        Ok(memory.check(call.kind().name(), available).map_err(StepError::from)?)
    }

    /// Plans a step; `beside` is one that is done beside it, and `steps` the number of those that it is done beside itself.
    fn plan_step(
        &self,
        call: &dyn Call,
        beside: Option<&dyn Call>,
        steps: Option<usize>,
    ) -> Result<StepResult, HostError> {
        let kind = call.kind();
        let number = self.run().next(kind.series());
        let planned = self.run().plan_step(&call.step_call()?, |workspace| call.begun(workspace))?;
        let lanes = self.lanes()?;
        if planned.manifest.is_none() {
            call.check_new()?;
            self.check_memory(call, beside)?;
        }
        let mut description = call.planned(number)?;
        match steps {
            None | Some(0) => {}
            Some(1) => description += ", beside the step before it",
            Some(steps) => description = format!("{description}, beside the {steps} steps before it"),
        }
        let done = planned.begun.map_or(0, |begun| begun.amount);
        let summary = planned.manifest.as_ref().map(|manifest| &manifest.summary);
        let estimate = call.estimate(done, summary, lanes);
        self.add(kind.name(), &planned, call, description, estimate)?;
        let mock = |assumption| call.mock_result(number, lanes, assumption);
        let MockResult { summary, files } = mock(self.assumption);
        let summary = if let Some(manifest) = &planned.manifest {
            manifest.summary.clone().into()
        } else {
            let others = Assumption::ALL.map(|assumption| mock(assumption).summary);
            Summary::assumed(summary, &others, self.recorder.clone())
        };
        let output = StepOutput {
            run: Arc::clone(&planned.run),
            number,
            step: planned.identity.short().to_owned(),
            files: planned.files(&files),
            summary,
        };
        Ok(call.result(output)?)
    }

    /// Every finished step that a run of this name can use, and the run's seed if the run exists.
    fn finished(&self, name: &str, from: &[String]) -> Result<(Arc<FinishedSteps>, Option<u64>), HostError> {
        let folder = Folder::of_run(&self.options.parent, name)?;
        let mut finished = self.trial.as_ref().map(|trial| (*trial.finished).clone()).unwrap_or_default();
        for name in from {
            match Folder::of_existing(&self.options.parent, name) {
                Ok(run) => view::collect(&run, &mut finished)?,
                // A run that the script opens itself.
                Err(_) if self.state().has_run(name) => {}
                Err(error) => return Err(error.into()),
            }
        }
        view::collect(&folder, &mut finished)?;
        view::collect_superseded(&folder, &mut finished)?;
        Ok((Arc::new(finished), view::seed_of(&folder)?))
    }
}

impl Host for Planner {
    fn another(&self) -> Result<Arc<dyn Host>, HostError> {
        let Self { options, declaration, script, assumption, most_steps, plan, recorder, .. } = self;
        let planner = Self::new(script, options.clone(), Arc::clone(declaration), *assumption);
        let (plan, recorder) = (Arc::clone(plan), recorder.clone());
        Ok(Arc::new(Self { most_steps: *most_steps, plan, recorder, ..planner }))
    }

    fn open(&self, name: &str, call_params: CallParams<OpenParams>) -> Result<RunInfo, HostError> {
        let folder = Folder::of_run(&self.options.parent, name)?;
        if let Some(found) = Record::read(&folder)? {
            let OpenParams { seed, backend, precision, .. } = call_params.params;
            let seed = call_params.given.member("seed").is_some().then_some(seed);
            self.check_record(&folder, &found, self.requested(seed, backend, precision, None))?;
        }
        let (finished, seed) = self.finished(name, &call_params.params.from)?;
        let device = self.options.device.clone().unwrap_or_else(|| "auto".to_owned());
        self.check_backend(&device, call_params.params.backend, call_params.params.precision)?;
        let info = RunInfo {
            name: name.to_owned(),
            folder: folder.root().display().to_string(),
            seed: self.options.seed.or(seed).unwrap_or(call_params.params.seed),
            device,
        };
        *self.run() = PlannedRun::new(folder, &info.folder, info.seed, finished);
        if self.trial.is_none() {
            self.state().open(&info, &call_params.params.from);
        }
        Ok(info)
    }

    fn fork(
        &self,
        from: &str,
        iteration: u32,
        call_params: CallParams<ForkParams>,
    ) -> Result<Forked, HostError> {
        fork::open(self, (from, iteration), &call_params)
    }

    fn runs(&self) -> &Path {
        &self.options.parent
    }

    fn dataset(&self, name: &str) -> Result<Window, HostError> {
        datasets::games(&self.options.parent, name)
    }

    fn step(&self, call: &dyn Call) -> Result<StepResult, HostError> {
        let beside = self.beside().as_ref().map(|(other, _)| Arc::clone(other));
        self.plan_step(call, beside.as_deref(), None)
    }

    fn start(&self, call: Arc<dyn Call>) -> Result<(), HostError> {
        self.check_memory(&*call, None)?;
        let before = self.run().len();
        *self.beside() = Some((call, before));
        Ok(())
    }

    fn wait(&self) -> Result<StepResult, HostError> {
        let (call, before) = self.beside().take().ok_or(HostError::NothingBegun)?;
        let steps = self.run().len() - before;
        self.plan_step(&*call, None, Some(steps))
    }

    fn inspect(&self, network: &Network, params: &InspectParams) -> Result<Value, HostError> {
        Ok(inspection::assumed(&network.0.spec, params))
    }

    fn promote(&self, network: &Network, generation: u32) -> Result<(), HostError> {
        self.recorder.did(format!("generation {generation}: {}", network.0.digest));
        Ok(())
    }

    fn note(&self, _: &str) -> Result<(), HostError> {
        Ok(())
    }

    fn steps(&self) -> Result<Vec<Option<Manifest>>, HostError> {
        Ok(self.run().steps()?)
    }

    fn summary(&self, _: &Table) -> Result<(), HostError> {
        Ok(())
    }

    fn evaluator(&self, net: &Checkpoint) -> Result<Box<dyn Evaluator>, HostError> {
        let mock = Hashed::new(net.spec.input(), 1);
        let has_moves_left = net.spec.moves_left_head.is_some();
        Ok(Box::new(if has_moves_left { mock.with_moves_left() } else { mock }))
    }

    fn is_planning(&self) -> bool {
        true
    }

    fn assumed_tables(&self) -> Result<Option<AssumedTables>, HostError> {
        let assumed = AssumedTables::new(self.assumption, self.recorder.clone());
        let steps = self.state().requested;
        self.check_end(steps)?;
        Ok(Some(assumed))
    }

    fn starts_programs(&self) -> bool {
        self.options.starts_programs
    }

    fn observer(&self) -> Box<dyn Observer> {
        Box::new(Silent)
    }

    fn seconds(&self) -> f64 {
        self.run().seconds
    }

    fn check_folder(&self) -> Result<(), HostError> {
        Ok(())
    }

    fn complete(&self) -> Result<(), HostError> {
        Ok(())
    }

    fn close(&self) {}

    fn sweep(&self, call_params: &CallParams<SweepParams>, script: &str) -> Result<OpenSweep, HostError> {
        self.recorder.begin_sweep();
        let (sweep, events) = sweep::open(self, call_params, script)?;
        Ok(OpenSweep::Whole((Arc::new(sweep), events)))
    }
}

/// The error of a plan without an end, which the plan caches.
fn endless(
    plan: &Mutex<Plan>,
    recorder: &Recorder,
    assumption: Assumption,
    (steps, queries): (usize, usize),
) -> HostError {
    plan.lock().ignore_poison().endless_after = Some((steps, queries));
    let (read, unread) = recorder.table_queries();
    let hint = match recorder.trace().last() {
        _ if queries > 0 && unread > read => "does a loop of the script only query tables?".to_owned(),
        Some(reading) => format!("does the script wait for another value at {reading}?"),
        None => format!("does a loop of the script never end? {}", assumption.whole()),
    };
    // Another plan may have the same steps, and an end.
    recorder.did("no end".to_owned());
    HostError::Endless { after: alternatives::size(steps, queries), hint }
}

/// Whether a group has a value at a dotted path.
fn has(group: &Value, path: &str) -> bool {
    match path.split_once('.') {
        Some((name, rest)) => group.member(name).is_some_and(|member| has(member, rest)),
        None => group.member(path).is_some(),
    }
}
