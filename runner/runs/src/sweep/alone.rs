//! Trials that processes of their own run, on this machine or on others, and how their outcomes come into the sweep.
//!
//! The points of all trials are chosen first, so that each trial's is in the sweep's journal. A process then runs its trials by
//! themselves: it holds the sweep's lock together with others, reads the sweep's journal, and writes one for each of its trials. The
//! next process that opens the whole sweep, alone, adds these journals to the sweep's own.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use dc0_core::params::Param;
use dc0_core::poison::IgnorePoison as _;

use super::events::{Ending, Event, Replicate};
use super::folder::{SweepFolder, SweepRecord};
use super::observation::TrialState;
use super::params::SweepParams;
use super::pruner::PrunerKind;
use super::sampler::{Sampler, SamplerKind};
use super::space::canonical;
use super::trials::{Progress, Trials};
use crate::chain::{Appender, Lines};
use crate::error::{Remedy, RunError};
use crate::folder::Folder;
use crate::lock::Lock;

/// The part of a sweep that a process does.
#[derive(Debug, Clone, Default)]
pub enum SweepPart {
    /// All of it.
    #[default]
    Whole,
    /// The points of its trials, which other processes are to run.
    Points {
        /// libtorch threads of training in each trial, if the sweep is new and the user gives no number.
        threads: u32,
        /// What was chosen.
        chosen: Arc<OnceLock<Chosen>>,
    },
    /// Some trials, whose points are chosen.
    Trials(Vec<u32>),
}

/// A sweep whose points are all chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// Its folder.
    pub folder: PathBuf,
    /// Its name.
    pub name: String,
    /// Trials that are not finished.
    pub left: Vec<u32>,
    /// All its trials.
    pub all: usize,
}

impl SweepPart {
    /// Whether a process does the whole sweep, and whatever else its script does.
    pub fn is_whole(&self) -> bool {
        matches!(self, Self::Whole)
    }
}

/// An error if trials cannot run by themselves because a pruner compares them.
pub fn check_pruner(params: &SweepParams) -> Result<(), RunError> {
    if params.pruner.kind == PrunerKind::None {
        return Ok(());
    }
    let name = params.pruner.kind.name();
    let what = format!(
        "its pruner \"{name}\" compares trials while they run; leave out the pruner, or run the sweep in one process"
    );
    Err(RunError::Dependent { sweep: params.name.clone(), what })
}

/// The events that choose the points of all trials still missing, each after a call of `check`; an error if one depends on the values
/// of others.
pub fn points<E: From<RunError>>(
    params: &SweepParams,
    seed: u64,
    trials: &Trials,
    mut check: impl FnMut() -> Result<(), E>,
) -> Result<Vec<Event>, E> {
    check_pruner(params)?;
    let SweepParams { space, sampler, direction, .. } = params;
    let tried = trials.iter().map(|(_, trial)| canonical(&trial.point)).collect();
    let next = trials.next_number();
    let mut points = Sampler { space, params: sampler, direction: *direction, seed }.points(next, tried);
    let mut events = Vec::new();
    for trial in next..params.trials {
        check()?;
        // The first trials see no values.
        if sampler.kind == SamplerKind::Tpe && trial >= sampler.startup.max(params.parallel) {
            let what = format!(
                "its sampler \"tpe\" chooses trial {trial} by the values of others; use \"grid\", \"random\" or \"sobol\", or at most {} \
                 trials, or run the sweep in one process",
                sampler.startup
            );
            return Err(RunError::Dependent { sweep: params.name.clone(), what }.into());
        }
        let Some(point) = points.next() else { break };
        events.push(Event::Suggested { trial, point });
    }
    Ok(events)
}

/// The trials that are to be run or continued.
pub fn left(params: &SweepParams, trials: &Trials) -> Vec<u32> {
    let is_left = |state| matches!(state, TrialState::Killed);
    let all = trials.iter().filter(|(_, trial)| is_left(trial.state(&params.space, params.replicates)));
    all.map(|(number, _)| number).collect()
}

/// The event of the last opening.
fn last_opened(events: &[Event]) -> Option<&Event> {
    events.iter().rfind(|event| matches!(event, Event::Opened { .. }))
}

/// A trial's own journal and lock.
#[derive(Debug)]
pub struct LoneTrial {
    sweep: Folder,
    record: SweepRecord,
    /// Held together with other processes, while none has the whole sweep.
    shared: Lock,
    folder: Folder,
    lock: Lock,
    journal: Mutex<Appender>,
}

impl LoneTrial {
    /// Takes a trial of a sweep that `now` describes, and returns it with the past events of the sweep and of the trial. `opened` is
    /// the event that opens the sweep with the present script and parameters.
    pub fn take(
        sweep: &Folder,
        record: SweepRecord,
        events: Vec<Event>,
        opened: &Event,
        trial: u32,
    ) -> Result<(Self, Vec<Event>), RunError> {
        let root = || sweep.root().to_owned();
        let no_points = || RunError::NoPoints { folder: root(), trial };
        let shared = Lock::hold(sweep)?.ok_or_else(no_points)?;
        if Trials::from_events(&events).get(trial).is_none() {
            return Err(no_points());
        }
        if last_opened(&events) != Some(opened) {
            return Err(RunError::PointsChanged { folder: root() });
        }
        let folder = sweep.lone_trial(trial);
        fs::create_dir_all(folder.root()).map_err(RunError::io("create", folder.root()))?;
        let lock = Lock::take(&folder)?;
        let (mut journal, own) = Appender::open::<Event>(&folder.lone_journal(), Remedy::Trials)?;
        let mut all = events;
        if last_opened(&own) == Some(opened) {
            all.extend(since_opened(own));
        } else {
            journal.append(opened, true)?;
        }
        let journal = Mutex::new(journal);
        Ok((Self { sweep: sweep.clone(), record, shared, folder, lock, journal }, all))
    }

    /// The sweep's record.
    pub fn record(&self) -> &SweepRecord {
        &self.record
    }

    /// The sweep's folder.
    pub fn sweep(&self) -> &Folder {
        &self.sweep
    }

    /// The log of the trial's own processes.
    pub fn log(&self) -> PathBuf {
        self.folder.log()
    }

    /// Appends an event to the trial's journal; it is on disk when this returns.
    pub fn note(&self, event: &Event) -> Result<(), RunError> {
        self.shared.check(&self.sweep)?;
        self.lock.check(&self.folder)?;
        self.journal.lock().ignore_poison().append(event, true)
    }
}

/// The events after the last opening.
fn since_opened(events: Vec<Event>) -> impl Iterator<Item = Event> {
    let start = events.iter().rposition(|event| matches!(event, Event::Opened { .. }));
    events.into_iter().skip(start.map_or(0, |start| start + 1))
}

/// Adds the outcomes of trials that ran by themselves to the journal of a sweep whose past events these are. Outcomes of another
/// script than the one that the sweep was opened with last are left where they are.
pub fn collect(sweep: &SweepFolder, events: &mut Vec<Event>) -> Result<usize, RunError> {
    let opened = last_opened(events).cloned();
    let numbers: Vec<u32> = Trials::from_events(events).iter().map(|(number, _)| number).collect();
    let mut collected = 0;
    for number in numbers {
        let path = sweep.lone_journal(number);
        if !path.exists() {
            continue;
        }
        let own: Vec<Event> = Lines::read(&path, Remedy::Trials)?.entries;
        let is_current = match (last_opened(&own), &opened) {
            (Some(Event::Opened { script: found, .. }), Some(Event::Opened { script, .. })) => {
                found == script
            }
            _ => false,
        };
        if !is_current {
            log::warn!("{} is of another version of the script; it is left out", path.display());
            continue;
        }
        let new = outcomes(&Trials::from_events(events), number, since_opened(own));
        collected += usize::from(!new.is_empty());
        for event in new {
            sweep.note(&event)?;
            events.push(event);
        }
        // What it says is in the sweep's journal now.
        fs::remove_file(&path).map_err(RunError::io("remove", &path))?;
    }
    Ok(collected)
}

/// The events of the replicates of a trial that have ended, and had not before, or had failed.
fn outcomes(trials: &Trials, trial: u32, own: impl Iterator<Item = Event>) -> Vec<Event> {
    let mut ended = Trials::default();
    let Some(known) = trials.get(trial) else { return Vec::new() };
    ended.apply(&Event::Suggested { trial, point: known.point.clone() });
    own.for_each(|event| ended.apply(&event));
    let is_new = |replicate: u32| {
        let ending = known.replicates.get(&replicate).and_then(|progress: &Progress| progress.ending);
        ending.is_none_or(|ending| ending == Ending::Failed)
    };
    let replicates = ended.get(trial).into_iter().flat_map(|trial| &trial.replicates);
    let mut events = Vec::new();
    for (number, progress) in replicates.filter(|(number, _)| is_new(**number)) {
        let Some(ending @ (Ending::Complete | Ending::Failed)) = progress.ending else { continue };
        let replicate = Replicate { trial, replicate: *number };
        events.push(Event::Started { replicate });
        events.extend(progress.reports.iter().map(|report| Event::Reported { replicate, report: *report }));
        let (result, because, spent) = (progress.result, progress.because.clone(), progress.spent);
        events.push(Event::Ended { replicate, ending, result, because, spent });
    }
    events
}

/// The event that opens a sweep.
pub fn opened(params: &SweepParams, script: &str) -> Event {
    Event::Opened { params: params.to_value(), script: script.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{LoneTrial, collect, left, opened};
    use crate::error::RunError;
    use crate::sweep::events::{Ending, Event};
    use crate::sweep::fixtures::{ended, params, started, suggested_at};
    use crate::sweep::folder::{SweepFolder, SweepRecord};
    use crate::sweep::observation::Direction;
    use crate::sweep::params::SweepParams;
    use crate::sweep::trials::Trials;

    fn points(params: &SweepParams, seed: u64, trials: &Trials) -> Result<Vec<Event>, RunError> {
        super::points(params, seed, trials, || Ok(()))
    }

    #[test]
    fn choosing_points_ends_when_the_user_asks_for_it() {
        let mut calls = 0;
        let stopped = super::points(&params(r#", "sampler": "random""#), 1, &Trials::default(), || {
            calls += 1;
            if calls < 3 { Ok(()) } else { Err(RunError::NoPoints { folder: "s".into(), trial: 2 }) }
        });
        assert!(matches!(stopped, Err(RunError::NoPoints { trial: 2, .. })), "{stopped:?}");
    }

    #[test]
    fn points_are_those_of_a_sweep_in_one_process() {
        for sampler in ["random", "sobol", "tpe"] {
            let space = r#"{"x": {"kind": "choice", "values": [0, 1, 2, 3]}, "y": {"kind": "uniform", "low": 0.0, "high": 1.0}}"#;
            let params = params(&format!(r#", "space": {space}, "sampler": "{sampler}""#));
            let all = points(&params, 3, &Trials::default()).expect("independent");
            // One process asks for the next point after the trial before it has ended.
            let mut trials = Trials::default();
            for event in &all {
                let none = std::collections::BTreeSet::new();
                let schedule = crate::sweep::schedule::Schedule {
                    params: &params,
                    seed: 3,
                    trials: &trials,
                    busy: &none,
                };
                let crate::sweep::schedule::Job::Start { trial, point, .. } = schedule.next() else {
                    panic!("a trial")
                };
                assert_eq!(*event, Event::Suggested { trial, point }, "{sampler}");
                trials.apply(event);
                trials.apply(&ended((trial, 0), Ending::Complete, f64::from(trial)));
            }
            assert_eq!((all.len(), left(&params, &trials)), (5, Vec::new()), "{sampler}");
        }
        let two = params(r#", "space": {"x": {"kind": "choice", "values": [0, 1]}}, "sampler": "grid""#);
        assert_eq!(points(&two, 3, &Trials::default()).expect("independent").len(), 2);
        // A small space is used up, from wherever the trials before have left it.
        for sampler in ["grid", "random", "sobol"] {
            let small = r#", "space": {"x": {"kind": "int", "low": 1, "high": 5}}"#;
            let params = params(&format!(r#"{small}, "sampler": "{sampler}""#));
            let third = suggested_at(0, 3);
            let rest = points(&params, 3, &Trials::from_events(&[third])).expect("independent");
            let mut chosen: Vec<i64> = rest
                .iter()
                .map(|event| match event {
                    Event::Suggested { point, .. } => point["x"].as_f64().expect("a number") as i64,
                    other => panic!("{other:?}"),
                })
                .collect();
            chosen.sort_unstable();
            assert_eq!(chosen, [1, 2, 4, 5], "{sampler}");
        }
    }

    #[test]
    fn sweeps_whose_trials_depend_on_each_other_are_refused() {
        let refused = |more: &str| match points(&params(more), 1, &Trials::default()) {
            Err(RunError::Dependent { what, .. }) => what,
            other => panic!("{other:?}"),
        };
        assert!(refused(r#", "pruner": "asha", "sampler": "random""#).contains("\"asha\""));
        let tpe = refused(r#", "sampler": {"kind": "tpe", "startup": 3}"#);
        assert!(tpe.contains("chooses trial 3") && tpe.contains("at most 3 trials"), "{tpe}");
        let at_once = params(r#", "sampler": {"kind": "tpe", "startup": 3}, "parallel": 5"#);
        assert_eq!(points(&at_once, 1, &Trials::default()).expect("none sees a value").len(), 5);
    }

    fn open(parent: &Path) -> Result<(SweepFolder, Vec<Event>), RunError> {
        let now = SweepRecord::new("s", "x.rhai", Direction::Maximize, 1, 1);
        SweepFolder::open(parent, &now, (false, false))
    }

    fn take(parent: &Path, opened: &Event, trial: u32) -> Result<LoneTrial, RunError> {
        let now = SweepRecord::new("s", "x.rhai", Direction::Maximize, 1, 1);
        let (record, events) = SweepFolder::peek(parent, &now, (false, false))?;
        let sweep = crate::Folder::of_run(parent, "s")?;
        let taken = LoneTrial::take(&sweep, record.expect("a record"), events, opened, trial);
        taken.map(|(trial, _)| trial)
    }

    /// A new sweep whose points are all chosen.
    fn begin(parent: &Path, params: &SweepParams, start: &Event) -> SweepFolder {
        let (sweep, _) = open(parent).expect("a new sweep");
        sweep.note(start).expect("writes");
        sweep.note_all(&points(params, 1, &Trials::default()).expect("independent")).expect("writes");
        sweep
    }

    #[test]
    fn lone_trials_keep_others_from_the_whole_sweep_and_are_collected_once() {
        let parent = tempfile::tempdir().expect("a folder");
        let params = params(r#", "sampler": "random""#);
        let start = opened(&params, "a");
        {
            let _sweep = begin(parent.path(), &params, &start);
            assert!(matches!(take(parent.path(), &start, 1), Err(RunError::Locked { .. })));
        }
        {
            let second = take(parent.path(), &start, 2).expect("a trial");
            let first = take(parent.path(), &start, 1).expect("another one beside it");
            assert!(matches!(take(parent.path(), &start, 1), Err(RunError::Locked { .. })));
            assert!(matches!(take(parent.path(), &start, 9), Err(RunError::NoPoints { trial: 9, .. })));
            let other = opened(&params, "b");
            assert!(matches!(take(parent.path(), &other, 3), Err(RunError::PointsChanged { .. })));
            assert!(matches!(open(parent.path()), Err(RunError::TrialsRunning { .. })));
            first.note(&started((1, 0))).expect("writes");
            first.note(&ended((1, 0), Ending::Complete, 0.5)).expect("writes");
            second.note(&started((2, 0))).expect("writes");
        }
        let value = |events: &[Event], trial| {
            Trials::from_events(events).get(trial).and_then(crate::sweep::trials::Trial::value)
        };
        for expected in [1, 0] {
            let (sweep, mut events) = open(parent.path()).expect("the sweep");
            assert_eq!(collect(&sweep, &mut events).expect("collects"), expected);
            assert_eq!((value(&events, 1), value(&events, 2)), (Some(0.5), None));
            assert_eq!(left(&params, &Trials::from_events(&events)), [0, 2, 3, 4]);
        }
    }

    #[test]
    fn a_failed_trial_that_is_run_again_counts_as_it_ended_then() {
        let parent = tempfile::tempdir().expect("a folder");
        let params = params(r#", "sampler": "random""#);
        let start = opened(&params, "a");
        drop(begin(parent.path(), &params, &start));
        let endings = [(Ending::Failed, 0.1, 1), (Ending::Complete, 0.5, 1), (Ending::Complete, 0.9, 0)];
        for (ending, value, collected) in endings {
            let trial = take(parent.path(), &start, 1).expect("a trial");
            trial.note(&started((1, 0))).expect("writes");
            trial.note(&ended((1, 0), ending, value)).expect("writes");
            drop(trial);
            let (sweep, mut events) = open(parent.path()).expect("the sweep");
            assert_eq!(collect(&sweep, &mut events).expect("collects"), collected, "{ending:?} {value}");
        }
        let (_, events) = open(parent.path()).expect("the sweep");
        let trials = Trials::from_events(&events);
        assert_eq!(trials.get(1).expect("known").value(), Some(0.5), "complete once");
    }

    #[test]
    fn trials_that_a_pruner_compares_do_not_run_by_themselves() {
        let halving = params(r#", "pruner": "asha""#);
        assert!(matches!(super::check_pruner(&halving), Err(RunError::Dependent { .. })));
        assert!(super::check_pruner(&params("")).is_ok());
    }
}
