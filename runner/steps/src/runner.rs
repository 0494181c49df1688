//! The host that does the work of scripts, and opens their runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use dc0_core::network::torch::Precision;
use dc0_core::params::Value;
use dc0_core::poison::IgnorePoison as _;

use super::context::StepContext;
use super::open::{Label, Open};
use crate::executor::Fleet;
use crate::host::{HostError, OpenParams, RunInfo};
use crate::lines;
use dc0_backend::{Backend, BackendRequest, Choice, Evaluators, Workload, cores, lanes_on};
use dc0_process::console::Console;
use dc0_process::interrupt::Interrupt;
use dc0_process::logging::LogFile;
use dc0_runs::declared::Declaration;
use dc0_runs::sources::Sources;
use dc0_runs::sweep::alone::SweepPart;
use dc0_runs::sweep::devices::{DeviceLease, Devices};
use dc0_runs::sweep::space::Point;
use dc0_runs::{
    Environment, FORMAT_VERSION, Folder, Numbers, Opening, Prefix, Record, Requested, ReuseSources, Run,
    RunError, ScriptRecord,
};

/// Options of the command line; `None` means the default, or the value of an existing run.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// The folder that holds runs.
    pub parent: PathBuf,
    /// The seed.
    pub seed: Option<u64>,
    /// The backend that evaluates nets.
    pub backend: Option<Backend>,
    /// The path of ONNX Runtime's library.
    pub onnxruntime: Option<PathBuf>,
    /// The device.
    pub device: Option<String>,
    /// libtorch threads for training.
    pub threads: Option<u32>,
    /// Threads that play games or search.
    pub lanes: Option<u32>,
    /// The workers that do shards; `None` to do them in this process.
    pub fleet: Option<Arc<dyn Fleet>>,
    /// The part of a sweep that this process does.
    pub part: SweepPart,
    /// Whether a plan starts the programs that are to play, to learn their names and to check their options. Editors plan at every
    /// change, so theirs do not.
    pub starts_programs: bool,
}

impl RunOptions {
    /// Defaults for everything but the folder that holds runs.
    pub fn below(parent: impl Into<PathBuf>) -> Self {
        Self { parent: parent.into(), ..Self::default() }
    }
}

/// The host that does the work of scripts.
pub struct Runner {
    pub(super) options: RunOptions,
    pub(super) script: ScriptRecord,
    declaration: Arc<Declaration>,
    pub(super) console: Arc<Console>,
    pub(super) interrupt: Interrupt,
    imports: Imports,
    pub(super) redo: Option<Redo>,
    pub(super) log_file: LogFile,
    /// Runs whose finished steps are reused.
    reuse_sources: Arc<ReuseSources>,
    /// The trial that the run belongs to.
    trial: Option<TrialContext>,
    /// The number of runs that the script has opened, those of trials not among them.
    opened: Arc<AtomicUsize>,
    pub(super) open: Mutex<Option<Open>>,
    /// Whether the script has called `sweep`.
    pub(super) has_swept: AtomicBool,
}

/// How an existing run is redone elsewhere.
pub(super) struct Redo {
    /// The number of steps to do.
    steps: usize,
    /// The existing run, from which the first steps of a fork are taken over.
    pub(super) original: Folder,
}

/// The texts of the script's imports, and the script's own name among them.
type Imports = Option<(Arc<Sources>, PathBuf)>;

/// The trial of a sweep that a run belongs to.
#[derive(Debug, Clone)]
pub(super) struct TrialContext {
    /// The prefix of the run's printed lines.
    pub(super) label: String,
    /// The trial's point.
    pub(super) point: Point,
    /// The devices that the user named for all trials; `None` for the run's own device.
    pub(super) devices: Option<Arc<Devices>>,
}

impl Runner {
    /// A host for one script.
    pub fn new(
        options: RunOptions,
        script: ScriptRecord,
        declaration: Arc<Declaration>,
        console: Arc<Console>,
        interrupt: Interrupt,
        log_file: LogFile,
    ) -> Self {
        let (reuse_sources, open) = (Arc::default(), Mutex::new(None));
        let (imports, redo, trial) = (None, None, None);
        Self {
            options,
            script,
            declaration,
            console,
            interrupt,
            imports,
            redo,
            log_file,
            reuse_sources,
            trial,
            opened: Arc::default(),
            open,
            has_swept: AtomicBool::new(false),
        }
    }

    /// An error if this process was to do a part of a sweep, and the script has none.
    pub fn check_part(&self) -> Result<(), RunError> {
        let is_missing = !self.options.part.is_whole() && !self.has_swept.load(Ordering::Relaxed);
        if is_missing { Err(RunError::WithoutSweep) } else { Ok(()) }
    }

    /// Sets the sources from which the imports of the script `name` are stored with the run.
    pub fn with_imports(self, sources: &Arc<Sources>, name: &Path) -> Self {
        Self { imports: Some((Arc::clone(sources), name.to_owned())), ..self }
    }

    /// For redoing an existing run elsewhere: takes over no steps but those that a fork begins with, and stops after `steps` more.
    pub fn redoing(self, original: Folder, steps: usize) -> Self {
        Self { redo: Some(Redo { steps, original }), ..self }
    }

    /// The texts that the script has imported so far.
    fn imported(&self) -> BTreeMap<String, String> {
        self.imports.as_ref().map(|(sources, name)| sources.imported_by(name)).unwrap_or_default()
    }

    /// The host of a trial of the same script, which shares its finished steps with other trials.
    pub(super) fn for_trial(
        &self,
        options: RunOptions,
        reuse_sources: &Arc<ReuseSources>,
        trial: TrialContext,
    ) -> Self {
        let trial = Some(trial);
        Self { options, reuse_sources: Arc::clone(reuse_sources), trial, ..self.for_another() }
    }

    /// The host of one more run of the same script.
    pub(super) fn for_another(&self) -> Self {
        Self {
            options: self.options.clone(),
            script: self.script.clone(),
            declaration: Arc::clone(&self.declaration),
            console: Arc::clone(&self.console),
            interrupt: self.interrupt.clone(),
            imports: self.imports.clone(),
            redo: None,
            log_file: self.log_file.clone(),
            reuse_sources: Arc::default(),
            trial: None,
            opened: Arc::clone(&self.opened),
            open: Mutex::new(None),
            has_swept: AtomicBool::new(false),
        }
    }

    /// The devices that trials share.
    pub(super) fn devices(&self) -> Option<Arc<Devices>> {
        self.trial.as_ref().and_then(|trial| trial.devices.clone())
    }

    pub(super) fn with_open<T>(
        &self,
        action: impl FnOnce(&mut Open) -> Result<T, HostError>,
    ) -> Result<T, HostError> {
        let mut open = self.open.lock().ignore_poison();
        let open = open.as_mut().ok_or(HostError::Closed)?;
        open.keep_modules(self.imported())?;
        action(open)
    }

    /// The record of the run if it is new. A fork inherits backend, device and precision from the run that it begins with, unless
    /// one of them is set.
    fn record(
        &self,
        name: &str,
        params: &OpenParams,
        device: Option<&str>,
        prefix: Option<Prefix>,
    ) -> Result<Record, HostError> {
        let is_new = !Folder::of_run(&self.options.parent, name)?.record().exists();
        let request = BackendRequest {
            backend: self.options.backend.unwrap_or(params.backend),
            device: device.unwrap_or("auto"),
            precision: params.precision,
            onnxruntime: self.options.onnxruntime.as_deref(),
        };
        let inherits = request.backend == Backend::Auto
            && request.device == "auto"
            && request.precision == Precision::Auto;
        let (inherited, fork) = prefix.map(|prefix| (prefix.record.environment, prefix.fork)).unzip();
        let choice = match inherited.as_ref().filter(|_| inherits) {
            Some(environment) => {
                let path = Folder::of_run(&self.options.parent, name)?.record();
                Choice::of(environment).map_err(|cause| RunError::damaged(&path, cause))?
            }
            None => request.resolve(is_new.then(Workload::self_play).as_ref())?,
        };
        let threads = self.options.threads.or(inherited.map(|environment| environment.threads));
        let environment = Environment {
            backend: choice.backend.name().to_owned(),
            device: choice.device.clone(),
            precision: choice.precision.name().to_owned(),
            pad_to: choice.pad_to,
            threads: threads.unwrap_or_else(cores),
            dc0: env!("CARGO_PKG_VERSION").to_owned(),
            libraries: choice.libraries(request.onnxruntime)?,
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
            seed: self.options.seed.unwrap_or(params.seed),
            environment,
            fork,
        })
    }

    /// Opens a run, or creates it; `fork` is the origin of a fork, with its first steps if the fork is new.
    pub(super) fn open_as(
        &self,
        name: &str,
        params: &OpenParams,
        gives_seed: bool,
        fork: Option<((&str, u32), Option<Prefix>)>,
    ) -> Result<RunInfo, HostError> {
        if self.trial.is_none() && !self.options.part.is_whole() {
            return Err(RunError::OnlySweeps.into());
        }
        // The run that is redone has its record already.
        if self.redo.is_some() && !Folder::of_run(&self.options.parent, name)?.record().exists() {
            return Err(HostError::SeveralRuns);
        }
        let (fork, prefix) = fork.unzip();
        let lease = self.devices().map(|devices| devices.lease());
        let device = lease.as_ref().map_or(self.options.device.as_deref(), |lease| Some(lease.names()));
        let record = self.record(name, params, device, prefix.flatten())?;
        let device = device.filter(|device| *device != "auto").map(|_| record.environment.device.clone());
        for name in params.from.iter().filter(|_| self.redo.is_none()) {
            self.reuse_sources.add(Folder::of_existing(&self.options.parent, name)?);
        }
        let backend = self.options.backend.unwrap_or(params.backend);
        let requested = Requested {
            seed: self.options.seed.or_else(|| gives_seed.then_some(record.seed)),
            backend: (backend != Backend::Auto).then(|| backend.name()),
            device: device.as_deref(),
            precision: (params.precision != Precision::Auto).then(|| params.precision.name()),
            threads: self.options.threads,
            fork,
        };
        let reuse_sources = Arc::clone(&self.reuse_sources);
        let opening = Opening { parent: &self.options.parent, record, requested, reuse_sources };
        let run = Run::open(&opening)?;
        if self.trial.is_none() {
            let (path, is_first) = (run.folder().log(), self.opened.fetch_add(1, Ordering::Relaxed) == 0);
            let log = &self.log_file;
            let attached = if is_first { log.attach(&path) } else { log.attach_also(&path) };
            attached.map_err(RunError::io("open", &path))?;
        }
        log::info!("dc0 {}, {}", env!("CARGO_PKG_VERSION"), run.record().environment.libraries);
        let open = self.open_with(run, device.as_deref(), lease)?;
        let (record, folder) = (open.run.record().clone(), open.name.to_string());
        open.print(&lines::opened(&folder, &record, &open.context, open.run.finished_steps()));
        // All trials of a sweep have one script, and the sweep says what became of it.
        if self.trial.is_none() && !open.run.changes().is_empty() {
            open.print(&lines::changed(open.run.changes()));
        }
        *self.open.lock().ignore_poison() = Some(open);
        Ok(RunInfo { name: name.to_owned(), folder, seed: record.seed, device: record.environment.device })
    }

    /// `device` is the one that the user asked for, of the same kind as the run's own.
    fn open_with(
        &self,
        run: Run,
        device: Option<&str>,
        lease: Option<DeviceLease>,
    ) -> Result<Open, HostError> {
        let environment = &run.record().environment;
        let damaged = |cause| RunError::damaged(&run.folder().record(), cause);
        let mut choice = Choice::of(environment).map_err(damaged)?;
        if let Some(device) = device {
            device.clone_into(&mut choice.device);
        }
        let evaluators = Arc::new(Evaluators::new(&choice, self.options.onnxruntime.as_deref())?);
        log::info!("nets play on {}", evaluators.describe());
        let (created_with, now) =
            (&environment.libraries, choice.libraries(self.options.onnxruntime.as_deref())?);
        if *created_with != now {
            log::warn!(
                "the run was created on {created_with}; on {now} the same steps may round differently"
            );
        }
        let context = StepContext {
            console: Arc::clone(&self.console),
            interrupt: self.interrupt.clone(),
            threads: environment.threads,
            lanes: self.options.lanes.unwrap_or_else(|| lanes_on(&evaluators.device_names())),
            evaluators,
            fleet: self.options.fleet.clone(),
            is_beside: false,
            closing: Mutex::default(),
        };
        let label = match &self.trial {
            Some(trial) => Label::Trial(trial.label.clone()),
            None => Label::Run { name: run.record().name.clone(), opened: Arc::clone(&self.opened) },
        };
        let (seconds, done, modules) = (0.0, 0, self.imported().into_keys().collect());
        let name = run.folder().root().display().to_string().into();
        let (numbers, max_steps) = (Numbers::default(), self.redo.as_ref().map(|redo| redo.steps));
        Ok(Open {
            run,
            name,
            context,
            label,
            seconds,
            steps: Vec::new(),
            done,
            max_steps,
            modules,
            numbers,
            beside: None,
            _lease: lease,
        })
    }
}
