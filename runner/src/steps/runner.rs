//! The host that does the work: scripts' calls become steps of a durable run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use dc0_core::arena::ArenaParams;
use dc0_core::event::Observer;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::torch::{InspectParams, Precision, runtime};
use dc0_core::network::{Evaluator, GrowParams, NetworkSpec};
use dc0_core::params::Value;
use dc0_core::search::AnalysisParams;
use dc0_core::selfplay::SelfPlayParams;
use dc0_core::trainer::TrainParams;

use super::{Shop, StepError, arena, network, past, search, self_play, sweep, train};
use crate::backend::{Backend, Choice, Evaluators, Wish};
use crate::host::{
    Analysis, AnalysisFields, Asked, ForkParams, Forked, Games, GamesFields, Host, HostError, Network,
    NetworkFields, OpenParams, Opponent, Past, RunInfo, SweepHost, Table, ToSearch, Verdict, VerdictFields,
    Window,
};
use crate::interrupt::Interrupt;
use crate::logging::LogFile;
use crate::progress::{Console, lines};
use crate::run::{
    Donors, Environment, FORMAT_VERSION, Finished, Folder, Generations, Manifest, Numbers, Opening, Prefix,
    Product, Record, Run, RunError, ScriptRecord, Series, Slot, StepCall, Workplace,
};
use crate::script::declared::Declaration;
use crate::script::sources::Sources;
use crate::sweep::devices::{Devices, Lease};
use crate::sweep::events::Event;
use crate::sweep::params::SweepParams;
use crate::sweep::space::Point;

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
    interrupt: Interrupt,
    imports: Imports,
    /// Where the run is done again, and how many steps there are to do.
    again: Option<usize>,
    pub(super) log_file: LogFile,
    donors: Arc<Donors>,
    /// The trial that the run belongs to.
    trial: Option<TrialOf>,
    open: Mutex<Option<Open>>,
}

/// Where the texts are that the script imports, and the script's name among them.
type Imports = Option<(Arc<Sources>, PathBuf)>;
/// Hears that the user asked to stop, and tells nothing.
struct Ears(Interrupt);

impl Observer for Ears {
    fn event(&self, _: dc0_core::event::Event<'_>) {}

    fn is_cancelled(&self) -> bool {
        self.0.is_asked()
    }
}

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

/// An open run.
struct Open {
    run: Run,
    /// Its folder, as scripts know it.
    name: Arc<str>,
    shop: Shop,
    generations: Generations,
    /// What each line begins with.
    label: String,
    /// Seconds of all steps so far.
    seconds: f64,
    /// All steps so far, those that a fork begins with among them.
    steps: Vec<Manifest>,
    /// Steps so far, and the most that are to be done.
    done: usize,
    most: Option<usize>,
    /// The imported files that the run has, by their paths.
    modules: BTreeSet<String>,
    numbers: Numbers,
    _lease: Option<Lease>,
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

    fn with_open<T>(&self, act: impl FnOnce(&mut Open) -> Result<T, HostError>) -> Result<T, HostError> {
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
    fn open_as(
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
            donors: Arc::clone(&self.donors),
            fork,
            record,
        };
        let run = Run::open(&opening)?;
        if self.trial.is_none() {
            self.log_file.attach(&run.folder().log())?;
        }
        log::info!("dc0 {}, {}", env!("CARGO_PKG_VERSION"), runtime::versions());
        let open = self.open_with(run, device.as_deref(), lease)?;
        let (record, folder) = (open.run.record().clone(), open.name.to_string());
        open.say(&lines::opened(&folder, &record, &open.shop, open.run.finished_steps()));
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
        let shop = Shop {
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
            shop,
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
pub(crate) fn lanes_on(devices: &[String]) -> u32 {
    if devices == ["cpu"] { cores() } else { 2 * devices.len() as u32 }
}

/// The processor cores that this process may use.
pub(crate) fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32)
}

/// The net that a step of a run made.
fn made(run: &Arc<str>, slot: Slot, spec: NetworkSpec, finished: &Finished) -> Network {
    let weights = finished.manifest.files.first().expect("the steps that make nets list the weights first");
    let fields = NetworkFields {
        run: Arc::clone(run),
        number: slot.number,
        digest: weights.blake3.clone(),
        spec,
        file: weights.path.clone(),
        summary: finished.manifest.summary.clone(),
    };
    Network(Arc::new(fields))
}

impl Open {
    /// Does a step, and tells how it went.
    fn step(
        &mut self,
        call: &StepCall,
        (slot, who): (Slot, &str),
        body: impl FnOnce(&Workplace, &Shop) -> Result<Product, StepError>,
    ) -> Result<Finished, HostError> {
        if self.most.is_some_and(|most| self.done >= most) {
            self.shop.interrupt.ask();
        }
        self.shop.check()?;
        let shop = &self.shop;
        let finished = self.run.step(call, slot, |place| body(place, shop))?;
        if let Some(again) = &finished.again {
            log::warn!("{again} was missing; the step that made it was done again");
        }
        self.seconds += finished.seconds;
        self.done += 1;
        self.steps.push(finished.manifest.clone());
        self.say(&lines::finished(slot, who, &finished, &self.shop.take_closing()));
        Ok(finished)
    }

    /// Keeps what the script has imported since the run was opened.
    fn keep_modules(&mut self, imported: BTreeMap<String, String>) -> Result<(), RunError> {
        for (path, text) in imported {
            if !self.modules.contains(&path) {
                self.run.keep_module(&path, &text)?;
                self.modules.insert(path);
            }
        }
        Ok(())
    }

    /// Does the steps that a fork begins with, and gives what they came to.
    fn begin(&mut self, parent: &Path) -> Result<Vec<Past>, HostError> {
        let begun = self.run.begin(parent)?;
        let promotions =
            self.run.record().fork.as_ref().map(|fork| fork.promotions.clone()).unwrap_or_default();
        let steps: Vec<_> = begun.iter().map(|(slot, finished)| (*slot, finished.manifest.clone())).collect();
        let past = past(&self.name, self.run.folder(), &steps, &promotions)?;
        let mut players = past.iter().filter_map(|happened| match happened {
            Past::Match(verdict) => Some(format!("{} vs {}", verdict.0.first, verdict.0.second)),
            _ => None,
        });
        for (slot, finished) in &begun {
            self.numbers.next(slot.series);
            self.seconds += finished.seconds;
            self.steps.push(finished.manifest.clone());
            let who = if slot.series == Series::Matches { players.next() } else { None };
            self.say(&lines::finished(*slot, &who.unwrap_or_default(), finished, ""));
        }
        let nets = past.iter().filter_map(|happened| match happened {
            Past::Promoted { network, .. } => Some(network),
            _ => None,
        });
        for (network, promoted) in nets.zip(&promotions) {
            self.generations.promote(network, promoted.generation, promoted.steps.unwrap_or_default())?;
        }
        Ok(past)
    }

    fn say(&self, line: &str) {
        let line = format!("{}{line}", self.label);
        self.shop.console.note(&line);
        log::info!("{line}");
    }
}

impl Host for Runner {
    fn open(&self, name: &str, asked: Asked<OpenParams>) -> Result<RunInfo, HostError> {
        let is_asked = |field: &str| crate::host::field(&asked.given, field).is_some();
        self.open_as(name, &asked.params, is_asked("seed"), None)
    }

    fn fork(&self, from: &str, iteration: u32, asked: Asked<ForkParams>) -> Result<Forked, HostError> {
        let (params, parent) = (asked.params, &self.asking.parent);
        let is_new = !params.folder(parent, from)?.record().is_file();
        let prefix = is_new.then(|| Prefix::read(&Folder::of_existing(parent, from)?, from, iteration));
        let prefix = prefix.transpose()?;
        let seed = params.seed.or(prefix.as_ref().map(|prefix| prefix.record.seed));
        let is_asked = params.seed.is_some();
        let ForkParams { name, backend, precision, from: donors, .. } = params;
        let seed = seed.unwrap_or_else(|| OpenParams::default().seed);
        let params = OpenParams { seed, backend, precision, from: donors };
        let info = self.open_as(&name, &params, is_asked, Some(((from, iteration), prefix)))?;
        let past = self.with_open(|open| open.begin(parent))?;
        Ok(Forked { info, past })
    }

    fn network(&self, asked: Asked<NetworkSpec>) -> Result<Network, HostError> {
        self.with_open(|open| {
            let (spec, slot) = (asked.params, open.numbers.next(Series::Networks));
            let finished =
                open.step(&network::call(&spec), (slot, ""), |place, _| network::body(place, &spec))?;
            let made = made(&open.name, slot, spec, &finished);
            open.generations.begin(&made, open.run.steps())?;
            Ok(made)
        })
    }

    fn grow(&self, start: &Network, asked: Asked<GrowParams>) -> Result<Network, HostError> {
        self.with_open(|open| {
            let params = asked.params;
            let spec = params.target(&start.0.spec).map_err(StepError::from)?;
            let slot = open.numbers.next(Series::Networks);
            let finished = open.step(&network::grow_call(start, &params), (slot, ""), |place, _| {
                network::grow_body(place, start, &params)
            })?;
            Ok(made(&open.name, slot, spec, &finished))
        })
    }

    fn inspect(&self, network: &Network, params: &InspectParams) -> Result<Value, HostError> {
        self.with_open(|open| {
            open.shop.check()?;
            Ok(network::inspected(open.run.folder(), network, params)?)
        })
    }

    fn self_play(&self, player: &Network, asked: Asked<SelfPlayParams>) -> Result<Games, HostError> {
        self.with_open(|open| {
            let (params, slot) = (asked.params, open.numbers.next(Series::Iterations));
            let call = self_play::call(player, &params)?;
            let finished =
                open.step(&call, (slot, ""), |place, shop| self_play::body(place, shop, player, &params))?;
            let fields = GamesFields {
                run: Arc::clone(&open.name),
                iteration: slot.number,
                network: player.0.number,
                step: finished.manifest.identity().short().to_owned(),
                files: finished.manifest.files,
                summary: finished.manifest.summary,
            };
            Ok(Games(Arc::new(fields)))
        })
    }

    fn train(
        &self,
        start: &Network,
        window: &Window,
        asked: Asked<TrainParams>,
    ) -> Result<Network, HostError> {
        self.with_open(|open| {
            let (params, slot) = (asked.params, open.numbers.next(Series::Networks));
            let call = train::call(start, window, &params)?;
            let finished = open
                .step(&call, (slot, ""), |place, shop| train::body(place, shop, (start, window), &params))?;
            Ok(made(&open.name, slot, start.0.spec.clone(), &finished))
        })
    }

    fn arena(
        &self,
        first: &Network,
        second: &Opponent,
        asked: Asked<ArenaParams>,
    ) -> Result<Verdict, HostError> {
        self.with_open(|open| {
            let (params, slot) = (asked.params, open.numbers.next(Series::Matches));
            let call = arena::call(first, second, &params)?;
            let who = format!("{} vs {}", first.name(), second.name());
            let finished = open.step(&call, (slot, &who), |place, shop| {
                arena::body(place, shop, (first, second), &params)
            })?;
            let summary = finished.manifest.summary;
            Ok(Verdict(Arc::new(VerdictFields { first: first.name(), second: second.name(), summary })))
        })
    }

    fn search(
        &self,
        network: &Network,
        what: &ToSearch,
        asked: Asked<AnalysisParams>,
    ) -> Result<Analysis, HostError> {
        self.with_open(|open| {
            let (params, slot) = (asked.params, open.numbers.next(Series::Searches));
            let call = search::call(network, what, &params)?;
            let finished = open.step(&call, (slot, &format!("by {}", network.name())), |place, shop| {
                search::body(place, shop, network, (what, &params))
            })?;
            let fields = AnalysisFields {
                run: Arc::clone(&open.name),
                number: slot.number,
                files: finished.manifest.files,
                can_go_on: params.tree && params.untried,
                summary: finished.manifest.summary,
            };
            Ok(Analysis(Arc::new(fields)))
        })
    }

    fn promote(&self, promoted: &Network, generation: u32) -> Result<(), HostError> {
        self.with_open(|open| {
            open.generations.promote(promoted, generation, open.run.steps())?;
            open.say(&lines::promoted(promoted, generation));
            Ok(())
        })
    }

    fn note(&self, text: &str) -> Result<(), HostError> {
        self.with_open(|open| Ok(open.run.journal().note("note", [("text", text.into())])?))
    }

    fn steps(&self) -> Result<Vec<Option<Manifest>>, HostError> {
        self.with_open(|open| Ok(open.steps.iter().cloned().map(Some).collect()))
    }

    fn summary(&self, table: &Table) -> Result<(), HostError> {
        self.console.result(&table.to_string());
        Ok(())
    }

    fn evaluator(&self, net: &Checkpoint) -> Result<Box<dyn Evaluator>, HostError> {
        let onnxruntime = self.asking.onnxruntime.as_deref();
        let wish = Wish {
            backend: self.asking.backend.unwrap_or(Backend::Torch),
            device: self.asking.device.as_deref().unwrap_or("auto"),
            precision: Precision::Auto,
            onnxruntime,
        };
        let evaluators = Evaluators::new(&wish.settle(true)?, onnxruntime)?;
        Ok(evaluators.make(net).map_err(StepError::from)?)
    }

    fn is_planning(&self) -> bool {
        false
    }

    fn observer(&self) -> Box<dyn Observer> {
        Box::new(Ears(self.interrupt.clone()))
    }

    fn seconds(&self) -> f64 {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.as_ref().map_or(0.0, |open| open.seconds)
    }

    fn close(&self) {
        drop(self.open.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    fn sweep(
        &self,
        asked: &Asked<SweepParams>,
        script: &str,
    ) -> Result<(Arc<dyn SweepHost>, Vec<Event>), HostError> {
        let (sweep, events) = sweep::open(self, asked, script)?;
        Ok((Arc::new(sweep), events))
    }
}
