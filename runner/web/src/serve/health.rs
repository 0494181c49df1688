//! Whether runs and sweeps are damaged: seals, chains, and the digest of each file once as long as its size and modification time
//! stay. Pages show the last result; a thread of its own checks what they show, so that no request waits for a file.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use dc0_core::poison::IgnorePoison as _;
use dc0_core::store::{Provenance, StoreError, verify_files, verify_wide};
use dc0_core::trainer::check_state;
use dc0_runs::sweep::folder::SweepFolder;
use dc0_runs::sweep::table::of_sweep;
use dc0_runs::view::trials;
use dc0_runs::{Folder, FolderKind, Record, RunError, Salvage};

use super::cache::{Stamp, stamp};
use dc0_process::clock::Stopwatch;
use dc0_process::fault::chain;
use dc0_steps::kinds::TRAINING_STATE;

/// The least time between two checks of a run. Chosen.
const INTERVAL: Duration = Duration::from_secs(20);

/// The pause after a check, in multiples of the time that it took, so that runs keep nine tenths of a core. Chosen.
const PAUSE: u32 = 9;

/// A run in progress moves files; what is damaged is so after this time, too. Chosen.
const SETTLED: Duration = Duration::from_millis(300);

/// Files whose digests are kept.
const MAX_FILES: usize = 200_000;

/// What is known about the runs that pages show.
#[derive(Debug)]
pub(super) struct Health {
    known: Arc<Mutex<BTreeMap<PathBuf, Known>>>,
    queue: Sender<(PathBuf, FolderKind)>,
}

/// The last check of a run.
#[derive(Debug, Default)]
struct Known {
    /// What is wrong, if anything.
    damage: Option<String>,
    /// When it ended; `None` while one is waited for.
    checked: Option<Stopwatch>,
}

impl Health {
    /// Starts the thread, which ends with the value. `is_inside` says whether nothing in a folder leads out of the folder of runs.
    pub(super) fn start(is_inside: impl Fn(&Path) -> bool + Send + 'static) -> Self {
        let known = Arc::default();
        let (queue, requests) = channel();
        let health = Self { known: Arc::clone(&known), queue };
        let checker = Checker { known, digests: BTreeMap::new() };
        let started = thread::Builder::new()
            .name("health".to_owned())
            .spawn(move || checker.work(&requests, &is_inside));
        if let Err(cause) = started {
            log::warn!("damaged runs are not shown as such: {cause}");
        }
        health
    }

    /// What is wrong with a run or sweep, as far as it is known; asks for a check if the last one is long ago.
    pub(super) fn damage(&self, root: &Path, kind: FolderKind) -> Option<String> {
        let mut known = self.known.lock().ignore_poison();
        let found = known.get(root);
        let is_due =
            found.is_none_or(|found| found.checked.is_some_and(|checked| checked.elapsed() > INTERVAL));
        let damage = found.and_then(|found| found.damage.clone());
        if is_due {
            known.insert(root.to_owned(), Known { damage: damage.clone(), checked: None });
            // Without the thread, nothing is known.
            let _ = self.queue.send((root.to_owned(), kind));
        }
        damage
    }
}

/// The thread's own state.
struct Checker {
    known: Arc<Mutex<BTreeMap<PathBuf, Known>>>,
    /// Files with what they were when their digest was computed, and what was wrong.
    digests: BTreeMap<PathBuf, (Stamp, Option<String>)>,
}

impl Checker {
    fn work(mut self, requests: &Receiver<(PathBuf, FolderKind)>, is_inside: &dyn Fn(&Path) -> bool) {
        while let Ok((root, kind)) = requests.recv() {
            let watch = Stopwatch::start();
            let damage = if is_inside(&root) { self.damage(&root, kind) } else { None };
            if let Some(damage) = &damage {
                log::info!("{}: {damage}", root.display());
            }
            self.known
                .lock()
                .ignore_poison()
                .insert(root, Known { damage, checked: Some(Stopwatch::start()) });
            thread::sleep(watch.elapsed() * PAUSE);
        }
    }

    /// What is wrong with a run or sweep, in one text.
    fn damage(&mut self, root: &Path, kind: FolderKind) -> Option<String> {
        let first = self.problems(root, kind);
        if first.is_empty() {
            return None;
        }
        thread::sleep(SETTLED);
        let again = self.problems(root, kind);
        let mut lasting: Vec<&String> = first.iter().filter(|problem| again.contains(problem)).collect();
        let more = lasting.split_off(lasting.len().min(3)).len();
        let folder = format!("{}/", root.display());
        let lines = lasting.into_iter().map(|problem| problem.replace(&folder, ""));
        let text = lines.collect::<Vec<_>>().join("; ");
        let more =
            if more > 0 { format!("; and {more} more: dc0-run verify lists them") } else { String::new() };
        (!text.is_empty()).then(|| format!("{text}{more}"))
    }

    fn problems(&mut self, root: &Path, kind: FolderKind) -> Vec<String> {
        let folder = Folder::at(root);
        match kind {
            FolderKind::Run => self.run(&folder),
            FolderKind::Sweep => self.sweep(&folder),
        }
    }

    fn run(&mut self, folder: &Folder) -> Vec<String> {
        // A run of another version is not damaged.
        if let Err(RunError::Newer { .. } | RunError::Older { .. }) = Record::read(folder) {
            return Vec::new();
        }
        let Salvage { record, steps, unfinished_files, faults, .. } = Salvage::of_run(folder);
        let mut problems: Vec<String> = faults.into_iter().map(|fault| fault.message).collect();
        let entries = steps.iter().flat_map(|step| &step.manifest.files).chain(&unfinished_files);
        for entry in entries {
            // A file that is missing or of another size is among the faults.
            let path = folder.path(&entry.path);
            if stamp(&path).is_some_and(|(bytes, _)| bytes == entry.bytes) {
                problems.extend(self.digest(&path, || {
                    verify_files(folder.root(), std::slice::from_ref(entry)).err().map(explained)
                }));
            }
        }
        let provenance = record.map(|record| record.of_costs()).unwrap_or_default();
        problems.extend(self.wide(&folder.path(Folder::COSTS), "costs", &provenance));
        problems.extend(self.states(folder));
        problems
    }

    fn sweep(&mut self, folder: &Folder) -> Vec<String> {
        let mut problems = Vec::new();
        let record = SweepFolder::record_in(folder);
        if let Err(RunError::Newer { .. } | RunError::Older { .. }) = record {
            return problems;
        }
        problems.extend(record.as_ref().err().map(ToString::to_string));
        if folder.sweep_journal().exists() {
            problems.extend(SweepFolder::read(folder.root()).err().map(|error| error.to_string()));
        }
        let provenance = record.ok().flatten().map(|record| of_sweep(&record.name)).unwrap_or_default();
        problems.extend(self.wide(&folder.path("trials.parquet"), "trials", &provenance));
        for trial in trials(folder).unwrap_or_default() {
            problems.extend(self.run(&trial.folder));
        }
        problems
    }

    fn wide(&mut self, path: &Path, table: &'static str, provenance: &Provenance) -> Option<String> {
        if !path.exists() {
            return None;
        }
        self.digest(path, || verify_wide(path, table, provenance).err().map(explained))
    }

    /// The states from which trainings resume.
    fn states(&mut self, folder: &Folder) -> Vec<String> {
        let work = fs::read_dir(folder.all_work()).into_iter().flatten().flatten();
        let states: Vec<PathBuf> =
            work.map(|step| step.path().join(TRAINING_STATE)).filter(|path| path.exists()).collect();
        let state =
            |path: PathBuf| self.digest(&path, || check_state(&path).err().map(|error| chain(&error)));
        states.into_iter().filter_map(state).collect()
    }

    /// What is wrong with a file, which is read only if it is not the one that was read before.
    fn digest(&mut self, path: &Path, fault: impl FnOnce() -> Option<String>) -> Option<String> {
        let now = stamp(path)?;
        if let Some((_, problem)) = self.digests.get(path).filter(|(known, _)| *known == now) {
            return problem.clone();
        }
        let problem = fault();
        if self.digests.len() >= MAX_FILES {
            self.digests.clear();
        }
        self.digests.insert(path.to_owned(), (now, problem.clone()));
        problem
    }
}

fn explained(error: StoreError) -> String {
    match error {
        StoreError::Changed { faults } if faults.len() == 1 => faults[0].to_string(),
        error => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;
    use std::time::{Duration, SystemTime};

    use super::{BTreeMap, Checker};

    #[test]
    fn a_file_is_read_once_as_long_as_its_size_and_time_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        fs::write(&path, "one").expect("writes");
        let mut checker = Checker { known: Arc::default(), digests: BTreeMap::new() };
        assert_eq!(checker.digest(&path, || None), None);
        assert_eq!(checker.digest(&path, || panic!("read again")), None);
        let file = fs::File::options().write(true).open(&path).expect("opens");
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(5)).expect("sets the time");
        let damaged = Some("damaged".to_owned());
        assert_eq!(checker.digest(&path, || damaged.clone()), damaged);
        assert_eq!(checker.digest(&path, || panic!("read again")), damaged);
        fs::remove_file(&path).expect("removes");
        assert_eq!(checker.digest(&path, || panic!("is gone")), None);
    }
}
