//! [`SweepHost`] for real sweeps: the sweep's folder, and a run for every replicate of a trial.

use std::sync::Arc;

use super::StepError;
use super::runner::{RunOptions, Runner, TrialContext};
use crate::host::{CallParams, Host, HostError, SweepHost};
use dc0_backend::{BackendError, cores};
use dc0_core::store::verify_wide;
use dc0_process::console::Console;
use dc0_process::format::counted;
use dc0_runs::sweep::board::Board;
use dc0_runs::sweep::devices::Devices;
use dc0_runs::sweep::events::{Event, Replicate};
use dc0_runs::sweep::folder::{SweepFolder, SweepRecord};
use dc0_runs::sweep::params::SweepParams;
use dc0_runs::sweep::space::Point;
use dc0_runs::sweep::{opening, table};
use dc0_runs::{ReuseSources, RunError};

/// An open sweep.
pub(super) struct Sweep {
    folder: SweepFolder,
    /// Runs whose finished steps are shared: those of this sweep, and those that it names in `from`.
    reuse_sources: Arc<ReuseSources>,
    /// Makes the hosts of trials.
    base: Runner,
    options: RunOptions,
    console: Arc<Console>,
}

/// Opens a sweep, or creates it; `script` is a digest of everything that determines what its trials do.
pub(super) fn open(
    runner: &Runner,
    call_params: &CallParams<SweepParams>,
    script: &str,
) -> Result<(Sweep, Vec<Event>), HostError> {
    let (params, options) = (&call_params.params, &runner.options);
    let devices = devices(options, params.parallel)?;
    let (now, is_given) = record(options, &runner.script.file, call_params);
    let (folder, mut events) = SweepFolder::open(&options.parent, &now, is_given)?;
    for event in opening::new_events(params, script, &events) {
        folder.note(&event)?;
        events.push(event);
    }
    let log = folder.root().join("run.log");
    runner.log_file.attach(&log).map_err(RunError::io("open", &log))?;
    let reuse_sources = Arc::new(ReuseSources::default());
    for name in &params.from {
        SweepFolder::runs_named(&options.parent, name)?.into_iter().for_each(|run| reuse_sources.add(run));
    }
    if folder.trials().is_dir() {
        SweepFolder::runs(&options.parent, &params.name)?.into_iter().for_each(|run| reuse_sources.add(run));
    }
    let console = Arc::clone(&runner.console);
    if let Some(fault) = table_fault(&folder, &events) {
        log::warn!("{fault}; it is written again from trials.jsonl");
    }
    let begun = events.iter().filter(|event| matches!(event, Event::Suggested { .. })).count();
    let root = folder.root().display();
    console.note(&format!(
        "sweep {root}: {} of {}, {begun} begun before",
        counted(params.trials as usize, "trial"),
        counted(params.replicates as usize, "run")
    ));
    let options = RunOptions {
        parent: folder.trials(),
        seed: None,
        threads: Some(folder.record().threads),
        lanes: options.lanes.or_else(|| is_on_cpu(options).then(|| share_of_cores(params.parallel))),
        ..options.clone()
    };
    let trial = TrialContext { label: String::new(), point: Point::new(), devices };
    let base = runner.for_trial(options.clone(), &reuse_sources, trial);
    Ok((Sweep { folder, reuse_sources, base, options, console }, events))
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
    let threads = options.threads.unwrap_or_else(|| share_of_cores(params.parallel));
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
        self.reuse_sources.add(self.folder.run_of(id)?);
        let (label, point) = (format!("{}  ", id.name()), point.clone());
        let trial = TrialContext { label, point, devices: self.base.devices() };
        Ok(Arc::new(self.base.for_trial(self.options.clone(), &self.reuse_sources, trial)))
    }

    fn print(&self, line: &str) {
        self.console.note(line);
        log::info!("{line}");
    }

    fn update(&self, board: &Board) -> Result<(), HostError> {
        table::write(self.folder.root(), board).map_err(StepError::from)?;
        Ok(())
    }

    fn finish(&self, board: &Board) -> Result<(), HostError> {
        self.update(board)?;
        self.console.result(&board.to_string());
        Ok(())
    }
}
