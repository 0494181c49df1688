//! A sweep's folder: the sweep's record, the journal of its trials, and their runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use dc0_core::poison::IgnorePoison as _;
use dc0_core::{params, regular};

use super::events::{Ending, Event, Replicate};
use super::observation::Direction;
use super::params::SweepParams;
use super::trials::Trials;
use crate::chain::{Appender, Lines};
use crate::document;
use crate::error::{Remedy, RunError};
use crate::files::names_if_there;
use crate::folder::Folder;
use crate::lock::Lock;
use crate::record::read_versioned;
use crate::view::trial_names;

/// The format version of a sweep's own files.
const VERSION: u32 = 2;

/// `sweep.json`: the record of a sweep. Written when it is created, and never changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SweepRecord {
    /// The format version of the sweep's own files.
    pub version: u32,
    /// Its name.
    pub name: String,
    /// The file of the script that created it, without the folder.
    pub script: String,
    /// Whether larger or smaller values are better.
    pub direction: String,
    /// The seed of the sampler and of replicate 0.
    pub seed: u64,
    /// libtorch threads of training in each trial.
    pub threads: u32,
}

/// A sweep that this process writes.
#[derive(Debug)]
pub struct SweepFolder {
    folder: Folder,
    record: SweepRecord,
    journal: Mutex<Appender>,
    lock: Lock,
}

impl SweepRecord {
    /// The record of a new sweep.
    pub fn new(name: &str, script: &str, direction: Direction, seed: u64, threads: u32) -> Self {
        let direction = direction.name().to_owned();
        Self { version: VERSION, name: name.to_owned(), script: script.to_owned(), direction, seed, threads }
    }

    /// Writes the record, sealed with its digest; from then on the sweep exists.
    pub fn write(&self, folder: &Folder) -> Result<(), RunError> {
        document::write_sealed(&folder.sweep_record(), self)
    }
}

impl SweepFolder {
    /// Opens or creates a sweep, and returns it with all its events so far. `requested`: whether the user gave the seed, and the
    /// threads.
    pub fn open(
        parent: &Path,
        now: &SweepRecord,
        requested: (bool, bool),
    ) -> Result<(Self, Vec<Event>), RunError> {
        let folder = Folder::of_run(parent, &now.name)?;
        // Before there is a folder, which a refusal would leave behind.
        find(&folder, now, requested)?;
        fs::create_dir_all(folder.root()).map_err(RunError::io("create", folder.root()))?;
        let lock = take(&folder)?;
        Self::open_locked(folder, lock, now, requested)
    }

    /// Opens a sweep whose lock this process has. Another one may have created it since its record was looked for.
    fn open_locked(
        folder: Folder,
        lock: Lock,
        now: &SweepRecord,
        requested: (bool, bool),
    ) -> Result<(Self, Vec<Event>), RunError> {
        let found = find(&folder, now, requested)?;
        if found.is_none() {
            now.write(&folder)?;
        }
        let record = found.unwrap_or_else(|| now.clone());
        let has_journal = folder.sweep_journal().exists();
        let (journal, events) = Appender::open(&folder.sweep_journal(), Remedy::Trials)?;
        if !has_journal && !names_if_there(&folder.trials())?.is_empty() {
            log::warn!(
                "{} is missing; its trials are done again, with what their runs have finished",
                folder.sweep_journal().display()
            );
        }
        for lost in lost_runs(&folder, &Trials::from_events(&events)) {
            log::warn!(
                "{} is missing, though its trial is complete: its result stands in trials.jsonl, and its tables are lost",
                lost.display()
            );
        }
        Ok((Self { folder, record, journal: Mutex::new(journal), lock }, events))
    }

    /// The record of the sweep in a folder, if there is one.
    pub fn record_in(folder: &Folder) -> Result<Option<SweepRecord>, RunError> {
        read_record(folder, &folder.sweep_record())
    }

    /// Like [`open`](Self::open), but read-only: the sweep's record, if it exists yet, and its events.
    pub fn peek(
        parent: &Path,
        now: &SweepRecord,
        requested: (bool, bool),
    ) -> Result<(Option<SweepRecord>, Vec<Event>), RunError> {
        let folder = Folder::of_run(parent, &now.name)?;
        let record = find(&folder, now, requested)?;
        Ok((record, Lines::read(&folder.sweep_journal(), Remedy::Trials)?.entries))
    }

    /// The runs that a name refers to: one run, or the trials of a sweep.
    pub fn runs_named(parent: &Path, name: &str) -> Result<Vec<Folder>, RunError> {
        if Folder::at(&parent.join(name)).trials().is_dir() {
            return Self::runs(parent, name);
        }
        Ok(vec![Folder::of_existing(parent, name)?])
    }

    /// Reads a sweep's parameters as last opened, and its trials. A last line that a kill cut short, or that is still being
    /// written, is skipped.
    pub fn read(root: &Path) -> Result<(SweepParams, Trials), RunError> {
        let path = Folder::at(root).sweep_journal();
        let content = regular::read(&path).map_err(RunError::io("read", &path))?;
        Self::read_content(&content, &path)
    }

    /// Like [`read`](Self::read), from the content of a sweep's journal; errors name its file.
    pub fn read_content(content: &[u8], path: &Path) -> Result<(SweepParams, Trials), RunError> {
        let lines: Lines<Event> =
            Lines::parse(content).map_err(|cause| Remedy::Trials.damaged(path, cause))?;
        let events = lines.entries;
        let opened = events.iter().rev().find_map(|event| match event {
            Event::Opened { params, .. } => Some(params),
            _ => None,
        });
        let params = opened.ok_or_else(|| RunError::damaged(path, "the sweep was never opened"))?;
        let params = params::read("sweep", params).map_err(|error| RunError::damaged(path, error))?;
        Ok((params, Trials::from_events(&events)))
    }

    /// The sweep's record.
    pub fn record(&self) -> &SweepRecord {
        &self.record
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        self.folder.root()
    }

    /// The runs in a sweep's folder of trials.
    pub fn runs(parent: &Path, name: &str) -> Result<Vec<Folder>, RunError> {
        let sweep = Folder::of_run(parent, name)?;
        let runs = trial_names(&sweep)?.into_iter().map(|name| Folder::of_run(&sweep.trials(), &name));
        Ok(runs.flatten().filter(Folder::is_run).collect())
    }

    /// The journal of a trial that runs by itself.
    pub(super) fn lone_journal(&self, trial: u32) -> PathBuf {
        self.folder.lone_trial(trial).lone_journal()
    }

    /// Appends an event to the journal; it is on disk when this returns.
    pub fn note(&self, event: &Event) -> Result<(), RunError> {
        self.lock.check(&self.folder)?;
        self.journal.lock().ignore_poison().append(event, true)
    }

    /// Appends events to the journal; all of them are on disk when this returns.
    pub fn note_all(&self, events: &[Event]) -> Result<(), RunError> {
        self.lock.check(&self.folder)?;
        let mut journal = self.journal.lock().ignore_poison();
        let last = events.len().saturating_sub(1);
        events.iter().enumerate().try_for_each(|(index, event)| journal.append(event, index == last))
    }
}

/// The folders of complete replicates that hold no run.
pub fn lost_runs(sweep: &Folder, trials: &Trials) -> Vec<PathBuf> {
    let complete = trials.iter().flat_map(|(trial, state)| {
        let ended = state.replicates.iter().filter(|(_, progress)| progress.ending == Some(Ending::Complete));
        ended.map(move |(replicate, _)| Replicate { trial, replicate: *replicate })
    });
    let folders = complete.map(|replicate| sweep.trials().join(replicate.name()));
    folders.filter(|folder| !Folder::at(folder).is_run()).collect()
}

/// Takes the lock of a whole sweep.
fn take(folder: &Folder) -> Result<Lock, RunError> {
    let taken = Lock::take(folder);
    // Its lock names the process that had the whole sweep last.
    if matches!(taken, Err(RunError::Locked { .. })) && matches!(Lock::hold(folder), Ok(Some(_))) {
        return Err(RunError::TrialsRunning { folder: folder.root().to_owned() });
    }
    taken
}

/// The record of a sweep, if there is one, which must allow to open the sweep this way.
fn find(
    folder: &Folder,
    now: &SweepRecord,
    requested: (bool, bool),
) -> Result<Option<SweepRecord>, RunError> {
    let found = SweepFolder::record_in(folder)?;
    if let Some(found) = &found {
        check(folder, found, now, requested)?;
    }
    Ok(found)
}

fn read_record(folder: &Folder, path: &Path) -> Result<Option<SweepRecord>, RunError> {
    let record = read_versioned(folder, path, VERSION)?;
    if record.is_none() && folder.sweep_journal().exists() {
        let (file, journal) = ("sweep.json", "trials.jsonl");
        return Err(RunError::RecordLost { folder: folder.root().to_owned(), file, journal });
    }
    if record.is_none() && !is_free(folder.root()) {
        return Err(RunError::NoSweep { folder: folder.root().to_owned() });
    }
    Ok(record)
}

/// Whether a folder is empty but for files that opening a sweep creates before its record.
fn is_free(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return true };
    entries.flatten().all(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        name == "run.lock" || name.starts_with("sweep.json.")
    })
}

fn check(
    folder: &Folder,
    found: &SweepRecord,
    now: &SweepRecord,
    requested: (bool, bool),
) -> Result<(), RunError> {
    let root = || folder.root().to_owned();
    if found.script != now.script {
        let (made_by, script) = (found.script.clone(), now.script.clone());
        return Err(RunError::OtherScript { folder: root(), made_by, script });
    }
    let fixed = [
        ("direction", found.direction.clone(), Some(now.direction.clone())),
        ("seed", found.seed.to_string(), requested.0.then(|| now.seed.to_string())),
        ("threads", found.threads.to_string(), requested.1.then(|| now.threads.to_string())),
    ];
    for (what, fixed, requested) in fixed {
        if let Some(requested) = requested.filter(|requested| *requested != fixed) {
            return Err(RunError::Fixed { folder: root(), what, fixed, requested });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{SweepFolder, SweepRecord, take};
    use crate::error::RunError;
    use crate::folder::Folder;
    use crate::sweep::observation::Direction;

    #[test]
    fn a_sweep_that_another_process_creates_meanwhile_keeps_its_record() {
        let parent = tempfile::tempdir().expect("a folder");
        let record = |seed| SweepRecord::new("s", "x.rhai", Direction::Maximize, seed, 1);
        drop(SweepFolder::open(parent.path(), &record(1), (true, false)).expect("a new sweep"));
        let open = |seed| {
            let folder = Folder::of_run(parent.path(), "s").expect("a name");
            let lock = take(&folder).expect("a free lock");
            SweepFolder::open_locked(folder, lock, &record(seed), (true, false))
        };
        assert!(matches!(open(7), Err(RunError::Fixed { what: "seed", .. })));
        assert_eq!(open(1).expect("the sweep").0.record(), &record(1));
    }
}
