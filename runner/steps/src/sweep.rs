//! [`SweepHost`] for real sweeps: the sweep's folder, and a run for every replicate of a trial.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::StepError;
use super::runner::{RunOptions, Runner, TrialContext};
use crate::host::{CallParams, Host, HostError, LoneTurn, OpenSweep, SweepHost};
use dc0_backend::{BackendError, cores};
use dc0_core::event::Cancelled;
use dc0_core::store::verify_wide;
use dc0_process::console::Console;
use dc0_process::format::counted;
use dc0_runs::sweep::alone::{self, Chosen, LoneTrial, SweepPart};
use dc0_runs::sweep::board::Board;
use dc0_runs::sweep::devices::Devices;
use dc0_runs::sweep::events::{Event, Replicate};
use dc0_runs::sweep::folder::{SweepFolder, SweepRecord};
use dc0_runs::sweep::params::SweepParams;
use dc0_runs::sweep::space::Point;
use dc0_runs::sweep::trials::Trials;
use dc0_runs::sweep::{opening, table};
use dc0_runs::{Folder, ReuseSources, RunError};

/// How long a trial waits before it tries again to open a sweep that another one has opened.
const WAIT: Duration = Duration::from_millis(20);

/// How often a trial looks who has locked a sweep before it takes the answer for another process.
const MOST_UNKNOWN: u32 = 25;

/// An open sweep.
struct Sweep {
    folder: SweepFolder,
    runs: TrialRuns,
}

/// A trial that runs by itself.
struct LoneSweep {
    trial: LoneTrial,
    runs: Arc<TrialRuns>,
}

/// Opens the runs of trials.
struct TrialRuns {
    /// Runs whose finished steps are shared: those of this sweep, and those that it names in `from`.
    reuse_sources: Arc<ReuseSources>,
    /// Makes the hosts of trials.
    base: Runner,
    options: RunOptions,
    console: Arc<Console>,
}

/// Opens the part of a sweep that this process does, or creates it; `script` is a digest of everything that determines what its
/// trials do.
pub(super) fn open(
    runner: &Runner,
    call_params: &CallParams<SweepParams>,
    script: &str,
) -> Result<OpenSweep, HostError> {
    let (params, options) = (&call_params.params, &runner.options);
    let (now, is_given) = record(options, &runner.script.file, call_params);
    if let SweepPart::Trials(trials) = &options.part {
        alone::check_pruner(params)?;
        let sweep = Folder::of_run(&options.parent, &params.name)?;
        let runs = Arc::new(TrialRuns::new(runner, params, &sweep, 1)?);
        let opened = alone::opened(params, script);
        let open = |trial| {
            let (runs, opened, sweep) = (Arc::clone(&runs), opened.clone(), sweep.clone());
            let (parent, now, log_file) = (options.parent.clone(), now.clone(), runner.log_file.clone());
            let open = move || {
                let (record, events) = SweepFolder::peek(&parent, &now, is_given)?;
                let no_points = || RunError::NoPoints { folder: sweep.root().to_owned(), trial };
                let record = record.ok_or_else(no_points)?;
                let (trial, events) = LoneTrial::take(&sweep, record, events, &opened, trial)?;
                let log = trial.log();
                log_file.attach(&log).map_err(RunError::io("open", &log))?;
                let host: Arc<dyn SweepHost> = Arc::new(LoneSweep { trial, runs });
                Ok((host, events))
            };
            LoneTurn { trial, open: Box::new(open) }
        };
        return Ok(OpenSweep::Trials(trials.iter().copied().map(open).collect()));
    }
    let (folder, mut events) = open_folder(runner, &now, is_given)?;
    let fault = table_fault(&folder, &events);
    let begun = trials_begun(&events);
    let collected = alone::collect(&folder, &mut events)?;
    for event in opening::new_events(params, script, &events) {
        folder.note(&event)?;
        events.push(event);
    }
    let log = folder.root().join("run.log");
    runner.log_file.attach(&log).map_err(RunError::io("open", &log))?;
    if let Some(fault) = &fault {
        log::warn!("{fault}; it is written again from trials.jsonl");
    }
    let ran = match collected {
        0 => String::new(),
        trials => format!(", {} run by themselves since", counted(trials, "trial")),
    };
    let root = folder.root().display();
    runner.console.note(&format!(
        "sweep {root}: {} of {}, {begun} begun before{ran}",
        counted(params.trials as usize, "trial"),
        counted(params.replicates as usize, "run")
    ));
    if let SweepPart::Points { chosen, .. } = &options.part {
        let mut trials = Trials::from_events(&events);
        let suggested = alone::points(params, folder.record().seed, &trials, || check_interrupt(runner))?;
        folder.note_all(&suggested)?;
        for event in &suggested {
            trials.apply(event);
        }
        if collected > 0 || fault.is_some() {
            table::write(folder.root(), &Board::new(params, &trials)).map_err(StepError::from)?;
        }
        let (folder, name) = (folder.root().to_owned(), params.name.clone());
        let left = alone::left(params, &trials);
        chosen.get_or_init(|| Chosen { folder, name, left, all: trials.len() });
        return Ok(OpenSweep::Chosen);
    }
    let runs = TrialRuns::new(runner, params, &Folder::at(folder.root()), params.parallel)?;
    Ok(OpenSweep::Whole((Arc::new(Sweep { folder, runs }), events)))
}

/// The number of trials that have begun; a point may be chosen long before its trial begins.
fn trials_begun(events: &[Event]) -> usize {
    let begun = events.iter().filter_map(|event| match event {
        Event::Started { replicate } => Some(replicate.trial),
        _ => None,
    });
    begun.collect::<BTreeSet<_>>().len()
}

/// Opens a sweep's folder, once another trial of this process has ended a sweep of this name.
fn open_folder(
    runner: &Runner,
    now: &SweepRecord,
    is_given: (bool, bool),
) -> Result<(SweepFolder, Vec<Event>), HostError> {
    let mut unknown = 0;
    loop {
        let opened = SweepFolder::open(&runner.options.parent, now, is_given);
        // A lock that was just taken or given back does not say whose it is for a moment.
        let is_unknown =
            matches!(opened, Err(RunError::Locked { pid: None, .. } | RunError::TrialsRunning { .. }));
        unknown = if is_unknown { unknown + 1 } else { 0 };
        match opened {
            Err(RunError::Locked { pid, .. })
                if pid == Some(std::process::id()) || is_unknown && unknown < MOST_UNKNOWN =>
            {
                wait(runner)?;
            }
            Err(RunError::TrialsRunning { .. }) if unknown < MOST_UNKNOWN => wait(runner)?,
            opened => return Ok(opened?),
        }
    }
}

/// Lets another trial go on. An error if the user asked to stop.
fn wait(runner: &Runner) -> Result<(), HostError> {
    check_interrupt(runner)?;
    std::thread::sleep(WAIT);
    Ok(())
}

/// An error if the user asked to stop.
fn check_interrupt(runner: &Runner) -> Result<(), HostError> {
    if runner.interrupt.is_requested() { Err(StepError::from(Cancelled).into()) } else { Ok(()) }
}

impl TrialRuns {
    /// For trials of which so many run in this process at a time.
    fn new(runner: &Runner, params: &SweepParams, sweep: &Folder, parallel: u32) -> Result<Self, HostError> {
        let options = &runner.options;
        let devices = devices(options, parallel)?;
        let reuse_sources = Arc::new(ReuseSources::default());
        for name in &params.from {
            SweepFolder::runs_named(&options.parent, name)?
                .into_iter()
                .for_each(|run| reuse_sources.add(run));
        }
        if sweep.trials().is_dir() {
            SweepFolder::runs(&options.parent, &params.name)?
                .into_iter()
                .for_each(|run| reuse_sources.add(run));
        }
        let options = RunOptions {
            parent: sweep.trials(),
            seed: None,
            lanes: options.lanes.or_else(|| is_on_cpu(options).then(|| share_of_cores(parallel))),
            part: SweepPart::Whole,
            ..options.clone()
        };
        let trial = TrialContext { label: String::new(), point: Point::new(), devices };
        let base = runner.for_trial(options.clone(), &reuse_sources, trial);
        Ok(Self { reuse_sources, base, options, console: Arc::clone(&runner.console) })
    }

    /// The host of a replicate of a sweep.
    fn replicate(
        &self,
        sweep: &Folder,
        record: &SweepRecord,
        id: Replicate,
        point: &Point,
    ) -> Result<Arc<dyn Host>, HostError> {
        self.reuse_sources.add(Folder::of_run(&sweep.trials(), &id.name())?);
        let (label, point) = (format!("{}  ", id.name()), point.clone());
        let trial = TrialContext { label, point, devices: self.base.devices() };
        let options = RunOptions { threads: Some(record.threads), ..self.options.clone() };
        Ok(Arc::new(self.base.for_trial(options, &self.reuse_sources, trial)))
    }

    fn print(&self, line: &str) {
        self.console.note(line);
        log::info!("{line}");
    }
}

/// What is wrong with the table of trials, which the sweep writes again. It is written when the first trial has ended.
fn table_fault(folder: &SweepFolder, events: &[Event]) -> Option<String> {
    let path = folder.root().join("trials.parquet");
    if path.exists() {
        return verify_wide(&path, "trials", &table::of_sweep(&folder.record().name))
            .err()
            .map(|fault| fault.to_string());
    }
    let ended = events.iter().filter(|event| matches!(event, Event::Ended { .. })).count();
    (ended > 1).then(|| format!("{} is missing", path.display()))
}

/// Cores for each of the trials that run in parallel.
pub(crate) fn share_of_cores(parallel: u32) -> u32 {
    (cores() / parallel).max(1)
}

fn is_on_cpu(options: &RunOptions) -> bool {
    dc0_backend::devices(options.device.as_deref().unwrap_or("auto")).is_ok_and(|devices| devices == ["cpu"])
}

/// The devices that trials share if the user names any; else each run has the one that it was created with.
fn devices(options: &RunOptions, parallel: u32) -> Result<Option<Arc<Devices>>, BackendError> {
    let Some(named) = options.device.as_deref().filter(|device| *device != "auto") else { return Ok(None) };
    Ok(Some(Arc::new(Devices::new(&dc0_backend::devices(named)?, parallel))))
}

/// The record of a sweep that is created now, and whether the user sets the seed and the threads.
pub(crate) fn record(
    options: &RunOptions,
    script: &str,
    call_params: &CallParams<SweepParams>,
) -> (SweepRecord, (bool, bool)) {
    let params = &call_params.params;
    let threads = options.threads.unwrap_or_else(|| match options.part {
        SweepPart::Points { threads, .. } => threads,
        SweepPart::Whole | SweepPart::Trials(_) => share_of_cores(params.parallel),
    });
    let seed = options.seed.unwrap_or(params.seed);
    let now = SweepRecord::new(&params.name, script, params.direction, seed, threads);
    let gives_seed = options.seed.is_some() || call_params.given.member("seed").is_some();
    (now, (gives_seed, options.threads.is_some()))
}

impl SweepHost for Sweep {
    fn folder(&self) -> String {
        self.folder.root().display().to_string()
    }

    fn seed(&self) -> u64 {
        self.folder.record().seed
    }

    fn note(&self, event: &Event) -> Result<(), HostError> {
        Ok(self.folder.note(event)?)
    }

    fn replicate(&self, id: Replicate, point: &Point) -> Result<Arc<dyn Host>, HostError> {
        self.runs.replicate(&Folder::at(self.folder.root()), self.folder.record(), id, point)
    }

    fn print(&self, line: &str) {
        self.runs.print(line);
    }

    fn update(&self, board: &Board) -> Result<(), HostError> {
        table::write(self.folder.root(), board).map_err(StepError::from)?;
        Ok(())
    }

    fn finish(&self, board: &Board) -> Result<(), HostError> {
        self.update(board)?;
        self.runs.console.result(&board.to_string());
        Ok(())
    }
}

/// The tables of the sweep are left to the process that has all of it.
impl SweepHost for LoneSweep {
    fn folder(&self) -> String {
        self.trial.sweep().root().display().to_string()
    }

    fn seed(&self) -> u64 {
        self.trial.record().seed
    }

    fn note(&self, event: &Event) -> Result<(), HostError> {
        Ok(self.trial.note(event)?)
    }

    fn replicate(&self, id: Replicate, point: &Point) -> Result<Arc<dyn Host>, HostError> {
        self.runs.replicate(self.trial.sweep(), self.trial.record(), id, point)
    }

    fn print(&self, line: &str) {
        self.runs.print(line);
    }

    fn update(&self, _: &Board) -> Result<(), HostError> {
        Ok(())
    }

    fn finish(&self, _: &Board) -> Result<(), HostError> {
        Ok(())
    }
}
