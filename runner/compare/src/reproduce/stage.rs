//! The folder of a reproduction: the script with its imports, and a new run with the original's record.

use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use dc0_core::durable;

use super::{ReproduceArgs, ReproduceError};
use crate::diff::Loaded;
use dc0_backend::Choice;
use dc0_runs::{Environment, Folder, Record, RunError};

/// The folder of the script; no run can have this name.
const SCRIPT: &str = ".script";

/// A folder prepared for the reproduction.
pub(super) struct Stage {
    /// The folder of the run and the script, which may hold other files.
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
        let damaged = |cause| RunError::damaged(&original.folder.record(), cause);
        let choice = Choice::of(&original.record.environment).map_err(damaged)?;
        let environment = Environment {
            dc0: env!("CARGO_PKG_VERSION").to_owned(),
            libraries: choice.libraries(args.onnxruntime.as_deref())?,
            ..original.record.environment.clone()
        };
        let stage = Self {
            script: parent.join(SCRIPT).join(&original.snapshot.script.file),
            parent,
            folder,
            environment,
        };
        stage.claim()?;
        begin(&stage.folder, &record(original, &stage.environment))?;
        write_scripts(&stage.parent.join(SCRIPT), original)?;
        Ok(stage)
    }

    /// The file beside the run's folder that is there until the reproduction ends; no run can have this name.
    fn unfinished(&self) -> PathBuf {
        let name = self.folder.root().file_name().unwrap_or_default().to_string_lossy();
        self.parent.join(format!(".{name}.unfinished"))
    }

    /// Creates the run's folder. One that is there must be of a reproduction that has not ended: in another one nothing would be repeated.
    fn claim(&self) -> Result<(), ReproduceError> {
        let (root, unfinished) = (self.folder.root(), self.unfinished());
        if root.exists() && !unfinished.exists() {
            return Err(ReproduceError::Present { folder: root.to_owned() });
        }
        durable::write(&unfinished, &[]).map_err(RunError::io("write", &unfinished))?;
        Ok(fs::create_dir_all(root).map_err(RunError::io("create", root))?)
    }

    /// Marks the reproduction as ended.
    pub(super) fn finish(&self) -> Result<(), RunError> {
        let unfinished = self.unfinished();
        fs::remove_file(&unfinished).map_err(RunError::io("remove", &unfinished))
    }

    /// Removes what was made, and the folder if nothing else is in it.
    pub(super) fn remove(&self) -> Result<(), RunError> {
        for folder in [self.folder.root(), &self.parent.join(SCRIPT)] {
            fs::remove_dir_all(folder).map_err(RunError::io("remove", folder))?;
        }
        self.finish()?;
        match fs::remove_dir(&self.parent) {
            Err(cause) if cause.kind() != io::ErrorKind::DirectoryNotEmpty => {
                Err(RunError::io("remove", &self.parent)(cause))
            }
            _ => Ok(()),
        }
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

/// The record of a reproduction.
fn record(original: &Loaded, environment: &Environment) -> Record {
    let snapshot = &original.snapshot;
    Record {
        script: snapshot.script.clone(),
        modules: snapshot.modules.clone(),
        params: snapshot.params.clone(),
        given: snapshot.given.clone(),
        environment: environment.clone(),
        ..original.record.clone()
    }
}

/// Writes the run's record first, since opening a run uses what its record fixes.
fn begin(folder: &Folder, record: &Record) -> Result<(), ReproduceError> {
    let summary = |record: &Record| {
        let Environment { dc0, libraries, .. } = &record.environment;
        let rounding = record.environment.rounding();
        format!("{}, seed {}, {rounding}, by dc0 {dc0} with {libraries}", record.script.file, record.seed)
    };
    match Record::read(folder)? {
        None => Ok(record.write(folder)?),
        Some(found) if summary(&found) == summary(record) => Ok(()),
        Some(found) => Err(ReproduceError::Occupied {
            folder: folder.root().to_owned(),
            found: summary(&found),
            expected: summary(record),
        }),
    }
}

/// Writes the script and what it imports.
fn write_scripts(folder: &Path, original: &Loaded) -> Result<(), RunError> {
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
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::Path;

    use dc0_core::params::Value;
    use dc0_runs::{Environment, FORMAT_VERSION, Folder, Record, ScriptRecord};

    use super::{SCRIPT, Stage, begin};
    use crate::reproduce::ReproduceError;

    fn environment(dc0: &str, libraries: &str) -> Environment {
        Environment {
            backend: "torch".to_owned(),
            device: "cpu".to_owned(),
            precision: "f32".to_owned(),
            pad_to: 1,
            threads: 1,
            dc0: dc0.to_owned(),
            libraries: libraries.to_owned(),
        }
    }

    fn stage(parent: &Path) -> Stage {
        Stage {
            parent: parent.to_owned(),
            folder: Folder::of_run(parent, "a").expect("a name"),
            script: parent.join(SCRIPT).join("x.rhai"),
            environment: environment("0.1.0", "libtorch 2"),
        }
    }

    #[test]
    fn a_reproduction_goes_on_until_it_has_ended() {
        let folder = tempfile::tempdir().expect("a folder");
        let stage = stage(&folder.path().join("a.reproduced"));
        stage.claim().expect("a new folder");
        stage.claim().expect("one that was interrupted");
        stage.finish().expect("ends");
        assert!(
            matches!(stage.claim(), Err(ReproduceError::Present { folder }) if folder == stage.folder.root())
        );
    }

    #[test]
    fn only_what_a_reproduction_made_is_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let parent = folder.path().join("a.reproduced");
        let stage = stage(&parent);
        let make = || {
            stage.claim().expect("a new folder");
            fs::create_dir(parent.join(SCRIPT)).expect("a folder");
        };
        make();
        let notes = parent.join("notes.txt");
        fs::write(&notes, "a note").expect("writes");
        stage.remove().expect("removes");
        assert_eq!(fs::read_dir(&parent).expect("lists").count(), 1);
        fs::remove_file(&notes).expect("the note is still there");
        make();
        stage.remove().expect("removes");
        assert!(!parent.exists());
    }

    #[test]
    fn a_reproduction_by_another_dc0_or_library_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = Folder::of_run(folder.path(), "a").expect("a name");
        let record = |dc0: &str, libraries: &str| Record {
            version: FORMAT_VERSION,
            name: "a".to_owned(),
            script: ScriptRecord { file: "x.rhai".to_owned(), blake3: String::new(), text: String::new() },
            modules: BTreeMap::new(),
            params: Value::group(),
            given: None,
            seed: 1,
            environment: environment(dc0, libraries),
            fork: None,
        };
        for _ in 0..2 {
            begin(&folder, &record("0.1.0", "libtorch 2")).expect("the same");
        }
        for (dc0, libraries) in [("0.2.0", "libtorch 2"), ("0.1.0", "libtorch 3")] {
            let refused = begin(&folder, &record(dc0, libraries));
            assert!(matches!(refused, Err(ReproduceError::Occupied { .. })), "{dc0} with {libraries}");
        }
    }
}
