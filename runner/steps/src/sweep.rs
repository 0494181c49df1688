//! The sweep that does the work: its folder, and a run for every replicate of a trial.

use std::sync::Arc;

use super::runner::{Asking, Runner, TrialOf};
use super::{StepError, cores};
use crate::host::{Asked, Host, HostError, SweepHost};
use dc0_backend::BackendError;
use dc0_process::console::Console;
use dc0_runs::sweep::board::Board;
use dc0_runs::sweep::devices::Devices;
use dc0_runs::sweep::events::{Event, Replicate};
use dc0_runs::sweep::folder::{SweepFolder, SweepRecord};
use dc0_runs::sweep::params::SweepParams;
use dc0_runs::sweep::space::Point;
use dc0_runs::sweep::{opening, table};
use dc0_runs::{Donors, RunError};

/// A sweep that is being worked on.
pub(super) struct Sweep {
    folder: SweepFolder,
    /// Runs that share their finished steps: those of the sweep, and of others that it names.
    donors: Arc<Donors>,
    /// What makes the hosts of trials.
    base: Runner,
    asking: Asking,
    console: Arc<Console>,
}

/// Opens a sweep, or creates it; `script` is a digest of everything that decides what its trials do.
pub(super) fn open(
    runner: &Runner,
    asked: &Asked<SweepParams>,
    script: &str,
) -> Result<(Sweep, Vec<Event>), HostError> {
    let (params, asking) = (&asked.params, &runner.asking);
    let devices = devices(asking, params.parallel)?;
    let (now, is_asked) = record(asking, &runner.script.file, asked);
    let (folder, mut events) = SweepFolder::open(&asking.parent, &now, is_asked)?;
    for event in opening::new_events(params, script, &events) {
        folder.note(&event)?;
        events.push(event);
    }
    let log = folder.root().join("run.log");
    runner.log_file.attach(&log).map_err(RunError::io("open", &log))?;
    let donors = Arc::new(Donors::default());
    for name in &params.from {
        SweepFolder::runs_named(&asking.parent, name)?.into_iter().for_each(|run| donors.add(run));
    }
    if folder.trials().is_dir() {
        SweepFolder::runs(&asking.parent, &params.name)?.into_iter().for_each(|run| donors.add(run));
    }
    let console = Arc::clone(&runner.console);
    let begun = events.iter().filter(|event| matches!(event, Event::Suggested { .. })).count();
    let root = folder.root().display();
    console.note(&format!(
        "sweep {root}: {} trials of {}, {begun} begun before",
        params.trials, params.replicates
    ));
    let asking = Asking {
        parent: folder.trials(),
        seed: None,
        threads: Some(folder.record().threads),
        lanes: asking.lanes.or_else(|| is_on_cpu(asking).then(|| share_of_cores(params.parallel))),
        ..asking.clone()
    };
    let trial = TrialOf { label: String::new(), point: Point::new(), devices };
    let base = runner.for_trial(asking.clone(), &donors, trial);
    Ok((Sweep { folder, donors, base, asking, console }, events))
}

/// Cores for each of the trials that are at work at the same time.
pub(crate) fn share_of_cores(parallel: u32) -> u32 {
    (cores() / parallel).max(1)
}

fn is_on_cpu(asking: &Asking) -> bool {
    dc0_backend::devices(asking.device.as_deref().unwrap_or("auto")).is_ok_and(|devices| devices == ["cpu"])
}

/// The devices that trials share, where the user names some; else each run has the one that it was created with.
fn devices(asking: &Asking, parallel: u32) -> Result<Option<Arc<Devices>>, BackendError> {
    let Some(named) = asking.device.as_deref().filter(|device| *device != "auto") else { return Ok(None) };
    Ok(Some(Arc::new(Devices::new(&dc0_backend::devices(named)?, parallel))))
}

/// What a sweep is if it is created now, and whether the user asks for the seed and for the threads.
pub(crate) fn record(
    asking: &Asking,
    script: &str,
    asked: &Asked<SweepParams>,
) -> (SweepRecord, (bool, bool)) {
    let params = &asked.params;
    let threads = asking.threads.unwrap_or_else(|| share_of_cores(params.parallel));
    let seed = asking.seed.unwrap_or(params.seed);
    let now = SweepRecord::new(&params.name, script, params.direction, (seed, threads));
    let gives_seed = asking.seed.is_some() || asked.given.member("seed").is_some();
    (now, (gives_seed, asking.threads.is_some()))
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

    fn replicate(&self, of: Replicate, point: &Point) -> Result<Arc<dyn Host>, HostError> {
        self.donors.add(self.folder.run_of(of)?);
        let (label, point) = (format!("{}  ", of.name()), point.clone());
        let trial = TrialOf { label, point, devices: self.base.devices() };
        Ok(Arc::new(self.base.for_trial(self.asking.clone(), &self.donors, trial)))
    }

    fn tell(&self, line: &str) {
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
