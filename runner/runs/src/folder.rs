//! The layout of a run's folder.

use std::path::{Path, PathBuf};

use super::error::RunError;
use super::identity::Identity;

/// What a folder holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderKind {
    /// A run.
    Run,
    /// A sweep, whose trials are runs.
    Sweep,
}

/// The folder of one run or sweep.
#[derive(Debug, Clone)]
pub struct Folder {
    root: PathBuf,
}

fn is_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    // A command line would take a name such as `-x` for an option.
    !name.is_empty() && name.len() <= 100 && !name.starts_with(['.', '-']) && name.chars().all(allowed)
}

impl Folder {
    /// The table of the costs of finished steps, relative to the run.
    pub const COSTS: &'static str = "costs.parquet";

    /// The folder of the run `name` among the runs in `parent`.
    pub fn of_run(parent: &Path, name: &str) -> Result<Self, RunError> {
        if is_name(name) {
            Ok(Self { root: parent.join(name) })
        } else {
            Err(RunError::Name { name: name.to_owned() })
        }
    }

    /// The folder of an existing run, by its path below `parent`, such as `sweep/trials/0003-0`.
    pub fn of_existing(parent: &Path, path: &str) -> Result<Self, RunError> {
        if !path.split('/').all(is_name) {
            return Err(RunError::Name { name: path.to_owned() });
        }
        let folder = path.split('/').fold(parent.to_owned(), |folder, part| folder.join(part));
        let found = Self { root: folder };
        if found.is_run() { Ok(found) } else { Err(RunError::Absent { folder: found.root }) }
    }

    /// The folder of an existing run or sweep as a command line names it: by its path, or by its name in `parent`.
    pub fn named(parent: &Path, name: &Path, kinds: &[FolderKind]) -> Option<(PathBuf, FolderKind)> {
        let candidates = [name.to_owned(), parent.join(name)];
        candidates.into_iter().find_map(|path| {
            let kind = Self::at(&path).kind().filter(|kind| kinds.contains(kind))?;
            Some((path, kind))
        })
    }

    /// The folder at a path, whose links and relative parts are resolved; its name must be valid for a run.
    pub fn canonical(path: &Path) -> Result<Self, RunError> {
        let path = path.canonicalize().map_err(RunError::io("inspect", path))?;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Self::of_run(path.parent().unwrap_or(&path), &name)
    }

    /// A folder with any path and name, for reading only.
    pub fn at(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The full path of a file, from its path relative to the run with `/` on every system.
    pub fn path(&self, relative: &str) -> PathBuf {
        relative.split('/').fold(self.root.clone(), |path, part| path.join(part))
    }

    /// Whether the folder holds a run or a sweep; `None` if neither. The journal of one whose record is gone shows what it was, so that
    /// reading the record can fail with a message about it.
    pub fn kind(&self) -> Option<FolderKind> {
        let kinds = [
            (self.record(), FolderKind::Run),
            (self.sweep_record(), FolderKind::Sweep),
            (self.journal(), FolderKind::Run),
            (self.sweep_journal(), FolderKind::Sweep),
        ];
        kinds.into_iter().find(|(file, _)| file.is_file()).map(|(_, kind)| kind)
    }

    /// Whether the folder holds a run.
    pub fn is_run(&self) -> bool {
        self.kind() == Some(FolderKind::Run)
    }

    /// The file of the run's record: script, parameters, seed, versions.
    pub fn record(&self) -> PathBuf {
        self.root.join("run.json")
    }

    /// The file of the sweep's record: script, seed, threads.
    pub fn sweep_record(&self) -> PathBuf {
        self.root.join("sweep.json")
    }

    /// The sweep's journal.
    pub fn sweep_journal(&self) -> PathBuf {
        self.root.join("trials.jsonl")
    }

    /// The folder of the runs of the sweep's trials.
    pub fn trials(&self) -> PathBuf {
        self.root.join("trials")
    }

    /// The folder of what belongs to jobs that run trials by themselves.
    pub fn array(&self) -> PathBuf {
        self.root.join("array")
    }

    /// The folder of a sweep's trial that runs by itself: its lock, its journal and its log.
    pub fn lone_trial(&self, trial: u32) -> Self {
        Self { root: self.array().join(format!("{trial:04}")) }
    }

    /// The journal of a trial that runs by itself.
    pub fn lone_journal(&self) -> PathBuf {
        self.root.join("events.jsonl")
    }

    /// The run's journal.
    pub fn journal(&self) -> PathBuf {
        self.root.join("journal.jsonl")
    }

    /// The lock file, held by the process that writes the run.
    pub fn lock(&self) -> PathBuf {
        self.root.join("run.lock")
    }

    /// The log file.
    pub fn log(&self) -> PathBuf {
        self.root.join("run.log")
    }

    /// The list of promoted nets in order.
    pub fn generations(&self) -> PathBuf {
        self.root.join("generations.json")
    }

    /// A later version of the run's script, or a file it imports, by digest.
    pub fn script(&self, digest: &str) -> PathBuf {
        self.scripts().join(format!("{}.rhai", &digest[..8]))
    }

    /// The folder of later versions of the script, and of the files it imports.
    pub fn scripts(&self) -> PathBuf {
        self.root.join("scripts")
    }

    /// The folder of the manifests of finished steps.
    pub fn steps(&self) -> PathBuf {
        self.root.join("steps")
    }

    /// The working folder of an unfinished step, from which it resumes.
    pub fn work(&self, identity: &Identity) -> PathBuf {
        self.all_work().join(identity.short())
    }

    /// The working folders of unfinished steps, each named by the step's short identity.
    pub fn all_work(&self) -> PathBuf {
        self.steps().join("work")
    }

    /// The folder of superseded steps, whose slots other steps have taken.
    pub fn superseded(&self) -> PathBuf {
        self.root.join("superseded")
    }

    /// The files of one superseded step, laid out like a run's folder.
    pub fn superseded_step(&self, identity: &Identity) -> Self {
        Self { root: self.superseded().join(identity.short()) }
    }
}
