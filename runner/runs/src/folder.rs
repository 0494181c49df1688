//! Where the parts of a run lie.

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
    !name.is_empty() && name.len() <= 100 && !name.starts_with('.') && name.chars().all(allowed)
}

impl Folder {
    /// The table of what finished steps took, relative to the run.
    pub const COSTS: &'static str = "costs.parquet";

    /// The folder of the run `name` among the runs in `parent`.
    pub fn of_run(parent: &Path, name: &str) -> Result<Self, RunError> {
        if is_name(name) {
            Ok(Self { root: parent.join(name) })
        } else {
            Err(RunError::Name { name: name.to_owned() })
        }
    }

    /// The folder of a run that is there, by its path below `parent`, such as `sweep/trials/0003-0`.
    pub fn of_existing(parent: &Path, path: &str) -> Result<Self, RunError> {
        if !path.split('/').all(is_name) {
            return Err(RunError::Name { name: path.to_owned() });
        }
        let folder = path.split('/').fold(parent.to_owned(), |folder, part| folder.join(part));
        let found = Self { root: folder };
        if found.is_run() { Ok(found) } else { Err(RunError::Absent { folder: found.root }) }
    }

    /// The folder of a run or sweep that is there, as a command line names it: by its path, or by its name in `parent`.
    pub fn named(parent: &Path, name: &Path, kinds: &[FolderKind]) -> Option<(PathBuf, FolderKind)> {
        let places = [name.to_owned(), parent.join(name)];
        places.into_iter().find_map(|place| {
            let kind = Self::at(&place).kind().filter(|kind| kinds.contains(kind))?;
            Some((place, kind))
        })
    }

    /// The folder at a path, by its own name in the folder above.
    pub fn canonical(path: &Path) -> Result<Self, RunError> {
        let path = path.canonicalize().map_err(RunError::io("look at", path))?;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Self::of_run(path.parent().unwrap_or(&path), &name)
    }

    /// A folder wherever it is and whatever its name, to be read only.
    pub fn at(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The full path of a file that is named relative to the run, with `/` on every system.
    pub fn path(&self, relative: &str) -> PathBuf {
        relative.split('/').fold(self.root.clone(), |path, part| path.join(part))
    }

    /// What the folder holds; `None` where there is neither a run nor a sweep.
    pub fn kind(&self) -> Option<FolderKind> {
        if self.record().is_file() {
            Some(FolderKind::Run)
        } else {
            self.sweep_record().is_file().then_some(FolderKind::Sweep)
        }
    }

    /// Whether the folder holds a run.
    pub fn is_run(&self) -> bool {
        self.kind() == Some(FolderKind::Run)
    }

    /// What the run is: script, parameters, seed, versions.
    pub fn record(&self) -> PathBuf {
        self.root.join("run.json")
    }

    /// What the sweep is: script, seed, threads.
    pub fn sweep_record(&self) -> PathBuf {
        self.root.join("sweep.json")
    }

    /// What happened in the sweep.
    pub fn sweep_journal(&self) -> PathBuf {
        self.root.join("trials.jsonl")
    }

    /// The runs of the sweep's trials.
    pub fn trials(&self) -> PathBuf {
        self.root.join("trials")
    }

    /// What was done when.
    pub fn journal(&self) -> PathBuf {
        self.root.join("journal.jsonl")
    }

    /// Held by the process that writes the run.
    pub fn lock(&self) -> PathBuf {
        self.root.join("run.lock")
    }

    /// Log messages.
    pub fn log(&self) -> PathBuf {
        self.root.join("run.log")
    }

    /// The promoted nets in order.
    pub fn generations(&self) -> PathBuf {
        self.root.join("generations.json")
    }

    /// A later version of the run's script.
    pub fn script(&self, digest: &str) -> PathBuf {
        self.root.join("scripts").join(format!("{}.rhai", &digest[..8]))
    }

    /// Manifests of finished steps.
    pub fn steps(&self) -> PathBuf {
        self.root.join("steps")
    }

    /// What an unfinished step needs to go on.
    pub fn work(&self, identity: &Identity) -> PathBuf {
        self.all_work().join(identity.short())
    }

    /// What unfinished steps need to go on: a folder for each, named with its short identity.
    pub fn all_work(&self) -> PathBuf {
        self.steps().join("work")
    }

    /// Steps whose place other steps have taken.
    pub fn superseded(&self) -> PathBuf {
        self.root.join("superseded")
    }

    /// What a step had to leave to others, laid out as the run itself.
    pub fn aside(&self, identity: &Identity) -> Self {
        Self { root: self.superseded().join(identity.short()) }
    }
}
