//! The runs and sweeps below a folder. Everything that is read is below it: links that lead out of it are not followed.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use serde_json::Value;

use super::cache::Stamped;
use super::health::Health;
use super::request::is_plain;
use dc0_runs::sweep::board::Board;
use dc0_runs::sweep::folder::SweepFolder;
use dc0_runs::{Folder, Generation, Generations, History, Ledger, Progress, RecordHead};

pub(super) use dc0_runs::FolderKind as Kind;

/// Journal events that are shown.
const SHOWN: usize = 12;

/// A journal, as far as it is shown.
#[derive(Debug, Default)]
pub(super) struct Journal {
    pub(super) progress: Progress,
    /// Finished steps, without superseded ones.
    pub(super) steps: usize,
    /// Seconds that the script waited for them, in all attempts.
    pub(super) seconds: f64,
    /// The last events.
    pub(super) recent: Vec<Value>,
}

impl Journal {
    pub(super) fn of(text: &str) -> Self {
        let history = History::parse(text);
        let last = history.entries().iter().rev().take(SHOWN);
        let (manifests, ledger) = (history.manifests(), Ledger::from_history(&history));
        let waited = manifests.current().filter_map(|step| Some(ledger.cost(step)?.waited));
        Self {
            progress: Progress::from_history(&history),
            steps: manifests.current().count(),
            seconds: waited.sum(),
            recent: last.map(|entry| entry.json().clone()).collect(),
        }
    }
}

/// The folder that holds runs.
#[derive(Debug)]
pub(super) struct Library {
    /// Canonical: without links.
    root: PathBuf,
    records: Stamped<RecordHead>,
    journals: Stamped<Journal>,
    generations: Stamped<Vec<Generation>>,
    boards: Stamped<Result<Board, String>>,
    health: Health,
}

/// A run or a sweep.
#[derive(Debug, Clone)]
pub(super) struct Found {
    /// Its path below the folder of runs, with `/`: `az_small`, or `net_size/trials/0003-0`.
    pub(super) path: String,
    pub(super) kind: Kind,
    pub(super) folder: Folder,
}

impl Found {
    /// Its own name.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// The number of the trial whose run it is, with which the run's name begins.
    pub(super) fn trial(&self) -> Option<u32> {
        self.name().split('-').next()?.parse().ok()
    }
}

impl Library {
    /// Opens an existing folder.
    pub(super) fn open(root: &Path) -> io::Result<Self> {
        let root = root.canonicalize()?;
        fs::read_dir(&root)?;
        let own = root.clone();
        Ok(Self {
            health: Health::start(move |folder| stray_below(&own, folder).is_none()),
            root,
            records: Stamped::default(),
            journals: Stamped::default(),
            generations: Stamped::default(),
            boards: Stamped::default(),
        })
    }

    /// The parent folder, if this one is itself a run or sweep.
    pub(super) fn parent_of_run(&self) -> Option<&Path> {
        self.root.parent().filter(|_| Folder::at(&self.root).kind().is_some())
    }

    /// All runs and sweeps, by name; the runs of trials belong to their sweeps.
    pub(super) fn all(&self) -> Vec<Found> {
        self.names("").iter().filter_map(|name| self.find(std::slice::from_ref(name))).collect()
    }

    /// The runs of a sweep's trials, by name.
    pub(super) fn trials(&self, sweep: &Found) -> Vec<Found> {
        let find = |name: &String| self.find(&[sweep.path.clone(), "trials".to_owned(), name.clone()]);
        self.names(&format!("{}/trials", sweep.path)).iter().filter_map(find).collect()
    }

    /// The run or sweep at a path. `None` for names that no address can hold, and for links out of the folder.
    pub(super) fn find(&self, parts: &[String]) -> Option<Found> {
        let has_valid_depth = matches!(parts, [_]) || matches!(parts, [_, trials, _] if trials == "trials");
        if !has_valid_depth || !parts.iter().all(|part| is_addressable(part)) {
            return None;
        }
        let folder = Folder::at(&parts.iter().fold(self.root.clone(), |folder, part| folder.join(part)));
        if !self.holds(folder.root()) {
            return None;
        }
        Some(Found { path: parts.join("/"), kind: folder.kind()?, folder })
    }

    /// Names of runs and sweeps that cannot be shown, because no address can hold them; escaped, sorted.
    pub(super) fn unaddressable(&self) -> Vec<String> {
        let is_shown = |path: &Path| path.file_name().and_then(OsStr::to_str).is_some_and(is_addressable);
        let entries = fs::read_dir(&self.root).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        let unshown = paths.filter(|path| !is_shown(path) && Folder::at(path).kind().is_some());
        let name = |path: PathBuf| Some(path.file_name()?.to_string_lossy().escape_debug().to_string());
        let mut names: Vec<String> = unshown.filter_map(name).collect();
        names.sort_unstable();
        names
    }

    /// A file of a run, if it is there and below the folder of runs.
    pub(super) fn file(&self, found: &Found, relative: &str) -> Option<PathBuf> {
        self.own(found.folder.path(relative))
    }

    /// A path, if it is there and below the folder of runs.
    pub(super) fn own(&self, path: PathBuf) -> Option<PathBuf> {
        self.holds(&path).then_some(path)
    }

    /// The value of a file, read again once it has changed; the default where there is no such file.
    fn cached<T: Default>(&self, cache: &Stamped<T>, path: PathBuf, read: impl FnOnce(&[u8]) -> T) -> Arc<T> {
        self.own(path).and_then(|path| cache.get(&path, read)).unwrap_or_default()
    }

    /// A run's record, as far as it can be read.
    pub(super) fn record(&self, run: &Found) -> Arc<RecordHead> {
        self.cached(&self.records, run.folder.record(), RecordHead::parse)
    }

    /// The journal of a run.
    pub(super) fn journal(&self, run: &Found) -> Arc<Journal> {
        let read = |bytes: &[u8]| Journal::of(&String::from_utf8_lossy(bytes));
        self.cached(&self.journals, run.folder.journal(), read)
    }

    /// The nets that a run has promoted.
    pub(super) fn generations(&self, run: &Found) -> Arc<Vec<Generation>> {
        self.cached(&self.generations, run.folder.generations(), Generations::parse)
    }

    /// The leaderboard of a sweep, or why its journal cannot be read; `None` where there is no journal.
    pub(super) fn board(&self, sweep: &Found) -> Option<Arc<Result<Board, String>>> {
        let path = self.own(sweep.folder.sweep_journal())?;
        // One process writes the journal; it is read again once it has grown.
        self.boards.get(&path, |bytes| board(&path, bytes))
    }

    /// The names in a folder of a run, sorted; none where there is no such folder.
    pub(super) fn files(&self, found: &Found, relative: &str) -> Vec<String> {
        self.names(&format!("{}/{relative}", found.path))
    }

    fn names(&self, relative: &str) -> Vec<String> {
        let path = relative
            .split('/')
            .filter(|part| !part.is_empty())
            .fold(self.root.clone(), |path, part| path.join(part));
        let entries = if self.holds(&path) { fs::read_dir(&path).ok() } else { None };
        let entries = entries.into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort_unstable();
        names
    }

    /// A link in a run or sweep that leads out of the folder of runs, if there is one. Folders that cannot be listed are skipped.
    pub(super) fn stray(&self, found: &Found) -> Option<PathBuf> {
        stray_below(&self.root, found.folder.root())
    }

    /// What is wrong with a run or sweep, as far as it is known.
    pub(super) fn damage(&self, found: &Found) -> Option<String> {
        self.health.damage(found.folder.root(), found.kind)
    }

    fn holds(&self, path: &Path) -> bool {
        is_below(&self.root, path)
    }
}

/// Whether a folder's name can be part of an address. Folders that somebody renamed need not have the names that dc0 gives.
fn is_addressable(name: &str) -> bool {
    !name.starts_with('.') && is_plain(name)
}

fn board(path: &Path, journal: &[u8]) -> Result<Board, String> {
    let (params, trials) = SweepFolder::read_content(journal, path).map_err(|error| error.to_string())?;
    Ok(Board::new(&params, &trials))
}

fn is_below(root: &Path, path: &Path) -> bool {
    path.canonicalize().is_ok_and(|path| path.starts_with(root))
}

/// A link below `folder` that leads out of `root`.
fn stray_below(root: &Path, folder: &Path) -> Option<PathBuf> {
    fs::read_dir(folder).ok()?.flatten().find_map(|entry| {
        let (path, kind) = (entry.path(), entry.file_type().ok()?);
        if kind.is_dir() {
            stray_below(root, &path)
        } else {
            (kind.is_symlink() && !is_below(root, &path)).then_some(path)
        }
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Journal, Kind, Library};

    #[test]
    fn superseded_steps_count_neither_as_steps_nor_in_the_time() {
        let ended = |event: &str, step: &str, seconds: f64| {
            format!(r#"{{"event":"{event}","secs":{seconds},"step":"{step}","manifest":"{step}"}}"#) + "\n"
        };
        let shown = |text: &str| {
            let journal = Journal::of(text);
            (journal.steps, journal.seconds)
        };
        let two =
            [ended("ended early", "aa", 1.0), ended("finished", "aa", 2.5), ended("finished", "bb", 4.0)]
                .concat();
        assert_eq!(shown(&two), (2, 7.5));
        let superseded = two + "{\"event\":\"superseded\",\"by\":\"cc\",\"step\":\"aa\"}\n";
        assert_eq!(shown(&superseded), (1, 4.0));
        let returned = superseded + "{\"event\":\"recorded\",\"step\":\"aa\",\"manifest\":\"aa\"}\n";
        assert_eq!(shown(&returned), (2, 7.5));
    }

    fn parts(path: &str) -> Vec<String> {
        path.split('/').map(ToOwned::to_owned).collect()
    }

    #[test]
    fn runs_sweeps_and_trials_are_found() {
        let folder = tempfile::tempdir().expect("a folder");
        for (path, file) in
            [("b", "run.json"), ("a", "sweep.json"), ("a/trials/0000-0", "run.json"), ("c", "other")]
        {
            fs::create_dir_all(folder.path().join(path)).expect("a folder");
            fs::write(folder.path().join(path).join(file), "{}").expect("a file");
        }
        let library = Library::open(folder.path()).expect("a folder");
        let all = library.all();
        let all: Vec<(&str, Kind)> = all.iter().map(|found| (found.path.as_str(), found.kind)).collect();
        assert_eq!(all, [("a", Kind::Sweep), ("b", Kind::Run)]);
        let sweep = library.find(&parts("a")).expect("a sweep");
        assert_eq!(library.trials(&sweep)[0].path, "a/trials/0000-0");
        assert_eq!(library.trials(&sweep)[0].name(), "0000-0");
        for path in
            ["c", "d", "a/trials", "a/trials/0001-0", "a/other/0000-0", "", ".", "..", "b/..", "b/trials/.."]
        {
            assert!(library.find(&parts(path)).is_none(), "{path}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn runs_with_any_name_are_found_and_those_that_no_address_can_hold_are_named() {
        use std::os::unix::ffi::OsStrExt as _;

        let folder = tempfile::tempdir().expect("a folder");
        let add = |name: &std::ffi::OsStr| {
            fs::create_dir(folder.path().join(name)).expect("a folder");
            fs::write(folder.path().join(name).join("run.json"), "{}").expect("a file");
        };
        let shown = ["a,b", "t\u{e4} st"];
        let unshown = [".hidden", "a\\b", "new\nline"];
        shown.iter().chain(&unshown).for_each(|name| add(name.as_ref()));
        let latin_1 = std::ffi::OsStr::from_bytes(b"t\xe4st");
        add(latin_1);
        let library = Library::open(folder.path()).expect("a folder");
        let all: Vec<String> = library.all().into_iter().map(|found| found.path).collect();
        assert_eq!(all, shown);
        assert_eq!(library.unaddressable(), [".hidden", "a\\\\b", "new\\nline", "t\u{fffd}st"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_out_of_the_folder_are_not_followed() {
        let (folder, outside) =
            (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        fs::write(outside.path().join("run.json"), "{}").expect("a file");
        std::os::unix::fs::symlink(outside.path(), folder.path().join("out")).expect("a link");
        let library = Library::open(folder.path()).expect("a folder");
        assert!(library.find(&parts("out")).is_none() && library.all().is_empty());
        fs::create_dir(folder.path().join("run")).expect("a folder");
        fs::write(folder.path().join("run/run.json"), "{}").expect("a file");
        std::os::unix::fs::symlink(outside.path().join("run.json"), folder.path().join("run/run.log"))
            .expect("a link");
        let run = library.find(&parts("run")).expect("a run");
        assert!(library.file(&run, "run.json").is_some() && library.file(&run, "run.log").is_none());
        assert_eq!(library.stray(&run), Some(run.folder.path("run.log")));
        fs::remove_file(run.folder.path("run.log")).expect("removes");
        assert_eq!(library.stray(&run), None);
    }
}
