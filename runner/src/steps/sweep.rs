//! The sweep that does the work: its folder, and a run for every replicate of a trial.

use std::sync::Arc;

use dc0_core::params::Param;

use super::runner::{Asking, Runner, TrialOf};
use super::{StepError, cores};
use crate::host::{Asked, Host, HostError, SweepHost, field};
use crate::progress::Console;
use crate::run::{Donors, RunError};
use crate::sweep::board::Board;
use crate::sweep::events::{Event, Replicate};
use crate::sweep::folder::{SweepFolder, SweepRecord};
use crate::sweep::params::SweepParams;
use crate::sweep::space::Point;
use crate::sweep::table;
use crate::sweep::told::TrialState;
use crate::sweep::trials::Trials;

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

/// Opens a sweep, or creates it.
pub(super) fn open(runner: &Runner, asked: &Asked<SweepParams>) -> Result<(Sweep, Vec<Event>), HostError> {
    let (params, asking) = (&asked.params, &runner.asking);
    let threads = asking.threads.unwrap_or_else(|| (cores() / params.parallel).max(1));
    let seed = asking.seed.unwrap_or(params.seed);
    let now = SweepRecord::new(&params.name, &runner.script.file, params.direction, (seed, threads));
    let is_asked = asking.seed.is_some() || field(&asked.given, "seed").is_some();
    let (folder, mut events) = SweepFolder::open(&asking.parent, &now, (is_asked, asking.threads.is_some()))?;
    let opened = Event::Opened { params: params.to_value(), script: runner.script_digest() };
    note_opening(params, &folder, opened, &mut events)?;
    runner.log_file.attach(&folder.root().join("run.log"))?;
    let donors = Arc::new(Donors::default());
    for name in &params.from {
        SweepFolder::sharing(&asking.parent, name)?.into_iter().for_each(|run| donors.add(run));
    }
    if folder.trials().is_dir() {
        SweepFolder::runs(&asking.parent, &params.name)?.into_iter().for_each(|run| donors.add(run));
    }
    let lanes = asking.lanes.unwrap_or_else(|| (cores() / params.parallel).max(1));
    let asking = Asking {
        parent: folder.trials(),
        seed: None,
        threads: Some(folder.record().threads),
        lanes: Some(lanes),
        ..asking.clone()
    };
    if params.retry_failed {
        retry(params, &folder, &mut events)?;
    }
    let console = Arc::clone(&runner.console);
    let begun = events.iter().filter(|event| matches!(event, Event::Asked { .. })).count();
    let root = folder.root().display();
    console.note(&format!(
        "sweep {root}: {} trials of {}, {begun} begun before",
        params.trials, params.replicates
    ));
    let trial = TrialOf { label: String::new(), point: Point::new() };
    let base = runner.for_trial(asking.clone(), &donors, trial);
    Ok((Sweep { folder, donors, base, asking, console }, events))
}

/// Writes down what differs from the last time. If that is the script or what it declares, all trials that have ended are walked
/// through again, so that their values are those of the script as it is.
fn note_opening(
    params: &SweepParams,
    folder: &SweepFolder,
    opened: Event,
    events: &mut Vec<Event>,
) -> Result<(), RunError> {
    let script_of = |event: &Event| match event {
        Event::Opened { script, .. } => Some(script.clone()),
        _ => None,
    };
    let last = events.iter().rfind(|event| matches!(event, Event::Opened { .. }));
    let mut news = Vec::new();
    if last.and_then(script_of) != script_of(&opened) {
        let trials = Trials::of(events);
        let ended = |state| matches!(state, TrialState::Complete | TrialState::Pruned | TrialState::Paused);
        let ended = trials.iter().filter(|(_, trial)| ended(trial.state(&params.space, params.replicates)));
        news.extend(ended.map(|(trial, _)| Event::Revisited { trial }));
    }
    if last != Some(&opened) {
        news.push(opened);
    }
    for event in news {
        folder.note(&event)?;
        events.push(event);
    }
    Ok(())
}

/// Writes down that failed trials are to be tried again.
fn retry(params: &SweepParams, folder: &SweepFolder, events: &mut Vec<Event>) -> Result<(), RunError> {
    let trials = Trials::of(events);
    let failed = trials
        .iter()
        .filter(|(_, trial)| trial.state(&params.space, params.replicates) == TrialState::Failed);
    for (trial, _) in failed {
        let event = Event::Retried { trial };
        folder.note(&event)?;
        events.push(event);
    }
    Ok(())
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
        let trial = TrialOf { label: format!("{}  ", of.name()), point: point.clone() };
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
