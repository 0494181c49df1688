//! The folder of a reproduction: the script with its imports, and a new run with the original's record.

use std::fs;
use std::path::{Component, Path, PathBuf};

use dc0_core::durable;

use super::{ReproduceArgs, ReproduceError};
use crate::diff::Loaded;
use dc0_backend::Choice;
use dc0_runs::{Environment, Folder, Record, RunError};

/// The folder of the script; no run can have this name.
const SCRIPT: &str = ".script";

/// A folder prepared for the reproduction.
pub(super) struct Stage {
    /// The folder of the run and the script.
    pub(super) parent: PathBuf,
    /// The run's folder.
    pub(super) folder: Folder,
    /// The path of the script.
    pub(super) script: PathBuf,
    /// The environment of the reproduction.
    pub(super) environment: Environment,
}

impl Stage {
    /// Prepares the folder, or finds it prepared if the program was killed.
    pub(super) fn prepare(args: &ReproduceArgs, original: &Loaded) -> Result<Self, ReproduceError> {
        let parent =
            args.out.clone().unwrap_or_else(|| original.folder.root().with_added_extension("reproduced"));
        let folder = Folder::of_run(&parent, &original.record.name)?;
        check_apart(&parent, &folder, original)?;
        fs::create_dir_all(folder.root()).map_err(RunError::io("create", folder.root()))?;
        let damaged = |cause| RunError::damaged(&original.folder.record(), cause);
        let choice = Choice::of(&original.record.environment).map_err(damaged)?;
        let environment = Environment {
            dc0: env!("CARGO_PKG_VERSION").to_owned(),
            libraries: choice.libraries(args.onnxruntime.as_deref())?,
            ..original.record.environment.clone()
        };
        begin(&folder, original, &environment)?;
        let script = write_scripts(&parent.join(SCRIPT), original)?;
        Ok(Self { parent, folder, script, environment })
    }

    /// Removes the folder.
    pub(super) fn remove(&self) -> Result<(), RunError> {
        fs::remove_dir_all(&self.parent).map_err(RunError::io("remove", &self.parent))
    }
}

/// Checks that the reproduction is outside the original, which must not change.
fn check_apart(parent: &Path, folder: &Folder, original: &Loaded) -> Result<(), ReproduceError> {
    // A path that does not exist yet is inside the original if its nearest existing parent is.
    let real = |path: &Path| path.ancestors().find_map(|path| path.canonicalize().ok());
    let own = original.folder.root();
    if [parent, folder.root()].into_iter().filter_map(real).any(|path| path.starts_with(own)) {
        return Err(ReproduceError::Itself { folder: folder.root().to_owned() });
    }
    Ok(())
}

/// Writes the run's record first, since opening a run uses what its record fixes.
fn begin(folder: &Folder, original: &Loaded, environment: &Environment) -> Result<(), ReproduceError> {
    let snapshot = &original.snapshot;
    let record = Record {
        script: snapshot.script.clone(),
        modules: snapshot.modules.clone(),
        params: snapshot.params.clone(),
        given: snapshot.given.clone(),
        environment: environment.clone(),
        ..original.record.clone()
    };
    let summary = |record: &Record| {
        format!("{}, seed {}, {}", record.script.file, record.seed, record.environment.rounding())
    };
    match Record::read(folder)? {
        None => Ok(record.write(folder)?),
        Some(found) if summary(&found) == summary(&record) => Ok(()),
        Some(found) => Err(ReproduceError::Occupied {
            folder: folder.root().to_owned(),
            found: summary(&found),
            expected: summary(&record),
        }),
    }
}

/// Writes the script and what it imports. Returns the script's path.
fn write_scripts(folder: &Path, original: &Loaded) -> Result<PathBuf, RunError> {
    let snapshot = &original.snapshot;
    let script = (&snapshot.script.file, &snapshot.script.text);
    for (path, text) in snapshot.modules.iter().chain([script]) {
        let is_inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        if !is_inside || path.is_empty() {
            let cause = format!("\"{path}\" is not a path below the script's folder");
            return Err(RunError::damaged(&original.folder.record(), cause));
        }
        let path = folder.join(path);
        durable::write(&path, text.as_bytes()).map_err(RunError::io("write", &path))?;
    }
    Ok(folder.join(script.0))
}
