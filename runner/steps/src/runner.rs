//! What does the work that scripts ask for, and opens the run that it is done in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use dc0_core::network::torch::{Precision, runtime};
use dc0_core::params::Value;

use super::context::StepContext;
use super::open::Open;
use crate::host::{HostError, OpenParams, RunInfo};
use crate::lines;
use dc0_backend::{Backend, Choice, Evaluators, Wish};
use dc0_process::console::Console;
use dc0_process::interrupt::Interrupt;
use dc0_process::logging::LogFile;
use dc0_runs::declared::Declaration;
use dc0_runs::sources::Sources;
use dc0_runs::sweep::devices::{Devices, Lease};
use dc0_runs::sweep::space::Point;
use dc0_runs::{
    Donors, Environment, FORMAT_VERSION, Folder, Generations, Numbers, Opening, Prefix, Record, Run,
    RunError, ScriptRecord,
};

/// What the command line asks for; what is `None` is chosen, or kept as an existing run has it.
#[derive(Debug, Clone, Default)]
pub struct Asking {
    /// The folder that holds runs.
    pub parent: PathBuf,
    /// The seed.
    pub seed: Option<u64>,
    /// What plays nets.
    pub backend: Option<Backend>,
    /// Where ONNX Runtime's library is.
    pub onnxruntime: Option<PathBuf>,
    /// The device.
    pub device: Option<String>,
    /// libtorch threads of training.
    pub threads: Option<u32>,
    /// Threads that play.
    pub lanes: Option<u32>,
}

impl Asking {
    /// With everything chosen but the folder that holds runs.
    pub fn below(parent: impl Into<PathBuf>) -> Self {
        Self { parent: parent.into(), ..Self::default() }
    }
}

/// Does what scripts ask for.
pub struct Runner {
    pub(super) asking: Asking,
    pub(super) script: ScriptRecord,
    declaration: Arc<Declaration>,
    pub(super) console: Arc<Console>,
    pub(super) interrupt: Interrupt,
    imports: Imports,
    /// Where the run is done again, and how many steps there are to do.
    again: Option<usize>,
    pub(super) log_file: LogFile,
    donors: Arc<Donors>,
    /// The trial that the run belongs to.
    trial: Option<TrialOf>,
    pub(super) open: Mutex<Option<Open>>,
}

/// Where the texts are that the script imports, and the script's name among them.
type Imports = Option<(Arc<Sources>, PathBuf)>;

/// The trial of a sweep that a run belongs to.
#[derive(Debug, Clone)]
pub(super) struct TrialOf {
    /// What the lines of the run begin with.
    pub(super) label: String,
    /// The trial's point.
    pub(super) point: Point,
    /// What its nets run on, where the user names it; else the run's own device.
    pub(super) devices: Option<Arc<Devices>>,
}

impl Runner {
    /// For one script.
    pub fn new(
        asking: Asking,
        script: ScriptRecord,
        declaration: Arc<Declaration>,
        (console, interrupt, log_file): (Arc<Console>, Interrupt, LogFile),
    ) -> Self {
        let (donors, open) = (Arc::default(), Mutex::new(None));
        let (imports, again, trial) = (None, None, None);
        Self {
            asking,
            script,
            declaration,
            console,
            interrupt,
            imports,
            again,
            log_file,
            donors,
            trial,
            open,
        }
    }

    /// With the texts that are kept with the run: what the script `name` has imported.
    pub fn importing(self, sources: &Arc<Sources>, name: &Path) -> Self {
        Self { imports: Some((Arc::clone(sources), name.to_owned())), ..self }
    }

    /// Does a run anew that exists elsewhere: takes no steps over, and stops at the step behind as many as there are.
    pub fn again(self, steps: usize) -> Self {
        Self { again: Some(steps), ..self }
    }

    /// The texts that the script has imported so far.
    fn imported(&self) -> BTreeMap<String, String> {
        self.imports.as_ref().map(|(sources, name)| sources.imported_by(name)).unwrap_or_default()
    }

    /// For a trial of the same script, which shares its finished steps with others.
    pub(super) fn for_trial(&self, asking: Asking, donors: &Arc<Donors>, trial: TrialOf) -> Self {
        Self {
            asking,
            script: self.script.clone(),
            declaration: Arc::clone(&self.declaration),
            console: Arc::clone(&self.console),
            interrupt: self.interrupt.clone(),
            imports: self.imports.clone(),
            again: None,
            log_file: self.log_file.clone(),
            donors: Arc::clone(donors),
            trial: Some(trial),
            open: Mutex::new(None),
        }
    }

    /// The devices that trials share.
    pub(super) fn devices(&self) -> Option<Arc<Devices>> {
        self.trial.as_ref().and_then(|trial| trial.devices.clone())
    }

    pub(super) fn with_open<T>(
        &self,
        act: impl FnOnce(&mut Open) -> Result<T, HostError>,
    ) -> Result<T, HostError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let open = open.as_mut().ok_or(HostError::Closed)?;
        open.keep_modules(self.imported())?;
        act(open)
    }

    /// The record that the run gets if it is new. A fork for which nothing else is asked plays as the run does that it begins
    /// with.
    fn record(
        &self,
        name: &str,
        params: &OpenParams,
        device: Option<&str>,
        prefix: Option<Prefix>,
    ) -> Result<Record, HostError> {
        let is_new = !Folder::of_run(&self.asking.parent, name)?.record().exists();
        let wish = Wish {
            backend: self.asking.backend.unwrap_or(params.backend),
            device: device.unwrap_or("auto"),
            precision: params.precision,
            onnxruntime: self.asking.onnxruntime.as_deref(),
        };
        let is_open =
            wish.backend == Backend::Auto && wish.device == "auto" && wish.precision == Precision::Auto;
        let (inherited, fork) = prefix.map(|prefix| (prefix.record.environment, prefix.fork)).unzip();
        let choice = match inherited.as_ref().filter(|_| is_open) {
            Some(environment) => {
                let path = Folder::of_run(&self.asking.parent, name)?.record();
                Choice::of(environment).map_err(|cause| RunError::Damaged { path, cause })?
            }
            None => wish.settle(is_new)?,
        };
        let threads = self.asking.threads.or(inherited.map(|environment| environment.threads));
        let environment = Environment {
            backend: choice.backend.word().to_owned(),
            device: choice.device.clone(),
            precision: choice.precision.word().to_owned(),
            pad_to: choice.pad_to,
            threads: threads.unwrap_or_else(cores),
            dc0: env!("CARGO_PKG_VERSION").to_owned(),
            libraries: choice.libraries(wish.onnxruntime)?,
        };
        let declared = self.declaration.rows().into_iter().map(|row| (row.path, row.value));
        let trial = self.trial.as_ref().map(|trial| ("trial".to_owned(), Value::Group(trial.point.clone())));
        Ok(Record {
            version: FORMAT_VERSION,
            name: name.to_owned(),
            script: self.script.clone(),
            modules: self.imported(),
            params: Value::Group(declared.chain(trial).collect()),
            given: Some(self.declaration.given()),
            seed: self.asking.seed.unwrap_or(params.seed),
            environment,
            fork,
        })
    }

    /// Opens a run, or creates it; `fork` is what a fork begins with, read where it is new.
    pub(super) fn open_as(
        &self,
        name: &str,
        params: &OpenParams,
        gives_seed: bool,
        fork: Option<((&str, u32), Option<Prefix>)>,
    ) -> Result<RunInfo, HostError> {
        let (fork, prefix) = fork.unzip();
        let lease = self.devices().map(|devices| devices.lease());
        let device = lease.as_ref().map_or(self.asking.device.as_deref(), |lease| Some(lease.names()));
        let record = self.record(name, params, device, prefix.flatten())?;
        let device = device.filter(|device| *device != "auto").map(|_| record.environment.device.clone());
        for name in params.from.iter().filter(|_| self.again.is_none()) {
            self.donors.add(Folder::of_existing(&self.asking.parent, name)?);
        }
        let backend = self.asking.backend.unwrap_or(params.backend);
        let opening = Opening {
            parent: &self.asking.parent,
            seed: self.asking.seed.or_else(|| gives_seed.then_some(record.seed)),
            backend: (backend != Backend::Auto).then(|| backend.word().to_owned()),
            device: device.clone(),
            precision: (params.precision != Precision::Auto).then(|| params.precision.word().to_owned()),
            threads: self.asking.threads,
            reuse_sources: Arc::clone(&self.donors),
            fork,
            record,
        };
        let run = Run::open(&opening)?;
        if self.trial.is_none() {
            let path = run.folder().log();
            self.log_file.attach(&path).map_err(RunError::io("open", &path))?;
        }
        log::info!("dc0 {}, {}", env!("CARGO_PKG_VERSION"), runtime::versions());
        let open = self.open_with(run, device.as_deref(), lease)?;
        let (record, folder) = (open.run.record().clone(), open.name.to_string());
        open.say(&lines::opened(&folder, &record, &open.context, open.run.finished_steps()));
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = Some(open);
        Ok(RunInfo { name: name.to_owned(), folder, seed: record.seed, device: record.environment.device })
    }

    /// `device` is the one that was asked for, of the same kind as the run's own.
    fn open_with(&self, run: Run, device: Option<&str>, lease: Option<Lease>) -> Result<Open, HostError> {
        let environment = &run.record().environment;
        let damaged = |cause| RunError::Damaged { path: run.folder().record(), cause };
        let mut choice = Choice::of(environment).map_err(damaged)?;
        if let Some(device) = device {
            device.clone_into(&mut choice.device);
        }
        let evaluators = Evaluators::new(&choice, self.asking.onnxruntime.as_deref())?;
        log::info!("nets play on {}", evaluators.describe());
        let (then, now) = (&environment.libraries, choice.libraries(self.asking.onnxruntime.as_deref())?);
        if *then != now {
            log::warn!("the run was created on {then}; on {now} the same steps may round otherwise");
        }
        let context = StepContext {
            console: Arc::clone(&self.console),
            interrupt: self.interrupt.clone(),
            threads: environment.threads,
            lanes: self.asking.lanes.unwrap_or_else(|| lanes_on(&evaluators.device_names())),
            evaluators,
            closing: Mutex::default(),
        };
        let generations = Generations::open(run.folder())?;
        let label = self.trial.as_ref().map(|trial| trial.label.clone()).unwrap_or_default();
        let (seconds, done, modules) = (0.0, 0, self.imported().into_keys().collect());
        let name = run.folder().root().display().to_string().into();
        let (numbers, most) = (Numbers::default(), self.again);
        Ok(Open {
            run,
            name,
            context,
            generations,
            label,
            seconds,
            steps: Vec::new(),
            done,
            most,
            modules,
            numbers,
            _lease: lease,
        })
    }
}

/// Threads that play on devices with these names. Two lanes keep a device busy: while one waits, the other's batch is in the
/// queue. On a CPU each core has one.
pub fn lanes_on(devices: &[String]) -> u32 {
    if devices == ["cpu"] { cores() } else { 2 * devices.len() as u32 }
}

/// The processor cores that this process may use.
pub fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32)
}
