//! The folder that a run is done again in: its script with all that it imports, and a run that begins as the original did.

use std::fs;
use std::path::{Component, Path, PathBuf};

use dc0_core::durable;

use super::{ReproduceArgs, ReproduceError};
use crate::diff::Loaded;
use dc0_backend::Choice;
use dc0_runs::{Environment, Folder, Record, RunError};

/// Where the script lies; no run can have this name.
const SCRIPT: &str = ".script";

/// A folder that is ready for the run.
pub(super) struct Stage {
    /// The folder that holds the run and the script.
    pub(super) parent: PathBuf,
    /// The run.
    pub(super) folder: Folder,
    /// The script.
    pub(super) script: PathBuf,
    /// What the run is done with.
    pub(super) environment: Environment,
}

impl Stage {
    /// Makes the folder ready, or finds it so after a kill.
    pub(super) fn set(args: &ReproduceArgs, original: &Loaded) -> Result<Self, ReproduceError> {
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

    /// Removes what was made.
    pub(super) fn remove(&self) -> Result<(), RunError> {
        fs::remove_dir_all(&self.parent).map_err(RunError::io("remove", &self.parent))
    }
}

/// The original must stay as it is.
fn check_apart(parent: &Path, folder: &Folder, original: &Loaded) -> Result<(), ReproduceError> {
    // What is not there yet is no part of the original unless the folder around it is.
    let real = |path: &Path| path.ancestors().find_map(|path| path.canonicalize().ok());
    let own = original.folder.root();
    if [parent, folder.root()].into_iter().filter_map(real).any(|path| path.starts_with(own)) {
        return Err(ReproduceError::Itself { folder: folder.root().to_owned() });
    }
    Ok(())
}

/// A run is opened with what its record fixes, so the record is written first.
fn begin(folder: &Folder, original: &Loaded, environment: &Environment) -> Result<(), ReproduceError> {
    let edition = &original.edition;
    let record = Record {
        script: edition.script.clone(),
        modules: edition.modules.clone(),
        params: edition.params.clone(),
        given: edition.given.clone(),
        environment: environment.clone(),
        ..original.record.clone()
    };
    let told = |record: &Record| {
        format!("{}, seed {}, {}", record.script.file, record.seed, record.environment.rounding())
    };
    match Record::read(folder)? {
        None => Ok(record.write(folder)?),
        Some(found) if told(&found) == told(&record) => Ok(()),
        Some(found) => Err(ReproduceError::Occupied {
            folder: folder.root().to_owned(),
            found: told(&found),
            expected: told(&record),
        }),
    }
}

/// Writes the script and what it imports. Returns the script's path.
fn write_scripts(folder: &Path, original: &Loaded) -> Result<PathBuf, RunError> {
    let edition = &original.edition;
    let script = (&edition.script.file, &edition.script.text);
    for (path, text) in edition.modules.iter().chain([script]) {
        let is_inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        if !is_inside || path.is_empty() {
            let cause = format!("\"{path}\" is no path of a script below its folder");
            return Err(RunError::damaged(&original.folder.record(), cause));
        }
        let path = folder.join(path);
        durable::write(&path, text.as_bytes()).map_err(RunError::io("write", &path))?;
    }
    Ok(folder.join(script.0))
}
