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

    /// As [`at`](Self::at), with links and relative parts resolved.
    pub fn canonical(path: &Path) -> Result<Self, RunError> {
        Ok(Self { root: path.canonicalize().map_err(RunError::io("inspect", path))? })
    }

    /// A folder with any path and name, for reading only: somebody may have renamed it.
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

    /// The folder of a sweep's trial that runs by itself: its lock, its journal and its log.
    pub fn lone_trial(&self, trial: u32) -> Self {
        Self { root: self.array().join(format!("{trial:04}")) }
    }

    /// A later version of the run's script, or a file it imports, by digest.
    pub fn script(&self, digest: &str) -> PathBuf {
        self.scripts().join(format!("{}.rhai", &digest[..8]))
    }

    /// The working folder of an unfinished step, from which it resumes.
    pub fn work(&self, identity: &Identity) -> PathBuf {
        self.all_work().join(identity.short())
    }

    /// The working folders of unfinished steps, each named by the step's short identity.
    pub fn all_work(&self) -> PathBuf {
        self.steps().join("work")
    }

    /// The files of one superseded step, laid out like a run's folder.
    pub fn superseded_step(&self, identity: &Identity) -> Self {
        Self { root: self.superseded().join(identity.short()) }
    }
}

/// Declares the files and folders of runs and sweeps, each by its path below the folder.
macro_rules! paths {
    ($( $(#[doc = $doc:literal])+ $name:ident: $path:literal ),+ $(,)?) => {
        impl Folder {
            $(
                $(#[doc = $doc])+
                pub fn $name(&self) -> PathBuf {
                    self.root.join($path)
                }
            )+
        }
    };
}

paths! {
    /// The file of the run's record: script, parameters, seed, versions.
    record: "run.json",
    /// The file of the sweep's record: script, seed, threads.
    sweep_record: "sweep.json",
    /// The sweep's journal.
    sweep_journal: "trials.jsonl",
    /// The folder of the runs of the sweep's trials.
    trials: "trials",
    /// The folder of what belongs to jobs that run trials by themselves.
    array: "array",
    /// The journal of a trial that runs by itself.
    lone_journal: "events.jsonl",
    /// The run's journal.
    journal: "journal.jsonl",
    /// The lock file, held by the process that writes the run.
    lock: "run.lock",
    /// The log file.
    log: "run.log",
    /// The list of promoted nets in order.
    generations: "generations.json",
    /// The folder of later versions of the script, and of the files it imports.
    scripts: "scripts",
    /// The folder of the manifests of finished steps.
    steps: "steps",
    /// The folder of superseded steps, whose slots other steps have taken.
    superseded: "superseded",
}
