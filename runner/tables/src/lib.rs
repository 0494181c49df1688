//! Runs as the analysis sees them: their folders, and what their bookkeeping says, as plain data. Only reads.

mod nearest;

use std::path::{Path, PathBuf};
use std::{fs, io};

use dc0_analysis::{AnalysisError, Files, RunRow, RunSource, StepRow, SweepSource, Trial};
use thiserror::Error;

use dc0_process::exit::Exit;
use dc0_process::fault::Fault;
use dc0_runs::{Folder, Journal, Manifest, Record, RunError, Slot};

/// Runs and sweeps to ask.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The runs; a sweep's are those of its trials.
    pub runs: Vec<RunSource>,
    /// The sweeps.
    pub sweeps: Vec<SweepSource>,
    /// Files of finished steps that are not there any more.
    pub lost: Vec<PathBuf>,
}

/// A run that cannot be asked.
#[derive(Debug, Error)]
pub enum SourcesError {
    /// There is neither a run nor a sweep of this name.
    #[error("\"{name}\" is no run and no sweep: there is neither run.json nor sweep.json in {} nor in {}{hint}", places[0].display(), places[1].display())]
    Unknown {
        /// As given.
        name: String,
        /// Where it was looked for.
        places: [PathBuf; 2],
        /// Which there are.
        hint: String,
    },
    /// Its bookkeeping cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl Fault for SourcesError {
    fn exit(&self) -> Exit {
        match self {
            Self::Unknown { .. } => Exit::BadInput,
            Self::Run(error) => error.exit(),
        }
    }
}

/// A question to tables that has no answer.
#[derive(Debug, Error)]
#[error(transparent)]
pub struct QueryError(#[from] AnalysisError);

impl Fault for QueryError {
    fn exit(&self) -> Exit {
        exit_of(&self.0)
    }
}

/// How the program ends because of a question without an answer.
pub fn exit_of(error: &AnalysisError) -> Exit {
    match error {
        AnalysisError::Failed { .. } => Exit::Failed,
        error if error.is_bad_input() => Exit::BadInput,
        _ => Exit::Storage,
    }
}

impl Sources {
    /// What names stand for: folders of runs or sweeps, or names below `parent`.
    pub fn named(parent: &Path, names: &[String]) -> Result<Self, SourcesError> {
        let mut sources = Self::default();
        for name in names {
            sources.add(parent, name)?;
        }
        Ok(sources)
    }

    fn add(&mut self, parent: &Path, name: &str) -> Result<(), SourcesError> {
        let places = [PathBuf::from(name), parent.join(name)];
        let has = |file: &str| places.iter().find(|root| root.join(file).is_file());
        if let Some(root) = has("sweep.json") {
            return if self.is_known(root) { Ok(()) } else { self.add_sweep(root) };
        }
        let Some(root) = has("run.json") else {
            let hint = nearest::hint(parent, name);
            return Err(SourcesError::Unknown { name: name.to_owned(), places, hint });
        };
        if !self.is_known(root) {
            self.add_run(root, self.free_name(root), None)?;
        }
        Ok(())
    }

    /// Whether a folder was named before, in whatever words: its rows must not count twice.
    fn is_known(&self, root: &Path) -> bool {
        let folders = self.runs.iter().filter(|run| run.trial.is_none()).map(|run| &run.folder);
        let mut folders = folders.chain(self.sweeps.iter().map(|sweep| &sweep.folder));
        folders.any(|known| whole(known) == whole(root))
    }

    /// A folder's own name; where another run has that, its path, and where another has that, too, with a number.
    fn free_name(&self, root: &Path) -> String {
        let path = || root.display().to_string();
        let numbered = (2..).map(|number| format!("{} ({number})", root.display()));
        let mut names = [last_name(root), path()].into_iter().chain(numbered);
        let is_free = |name: &String| {
            self.runs.iter().all(|run| run.name != *name)
                && self.sweeps.iter().all(|sweep| sweep.name != *name)
        };
        names.find(is_free).unwrap_or_else(path)
    }

    fn add_sweep(&mut self, root: &Path) -> Result<(), SourcesError> {
        let name = self.free_name(root);
        for (folder, trial) in trials(&root.join("trials"))? {
            self.add_run(&folder, name.clone(), Some(trial))?;
        }
        self.sweeps.push(SweepSource { name, folder: root.to_owned() });
        Ok(())
    }
}

impl Sources {
    fn add_run(&mut self, root: &Path, name: String, trial: Option<Trial>) -> Result<(), RunError> {
        let folder = Folder::at(root);
        let manifests = manifests_of(&folder)?;
        let files = manifests.iter().flat_map(|(_, manifest)| &manifest.files);
        let lost = files.map(|entry| folder.path(&entry.path)).filter(|path| !path.exists());
        self.lost.extend(lost);
        self.runs.push(run(&folder, name, trial, &manifests)?);
        Ok(())
    }

    /// What to say of files that are gone, if any are: questions are answered without them.
    pub fn warning(&self) -> Option<String> {
        let first = self.lost.first()?.display();
        let others = match self.lost.len() - 1 {
            0 => String::new(),
            1 => " and another file".to_owned(),
            more => format!(" and {more} more files"),
        };
        Some(format!("warn: {first}{others} of finished steps are gone; what follows is without them"))
    }
}

fn whole(root: &Path) -> PathBuf {
    root.canonicalize().unwrap_or_else(|_| root.to_owned())
}

/// A folder's own name, also of `.` and `x/..`.
fn last_name(root: &Path) -> String {
    whole(root).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The runs of a sweep's trials in their order: folders such as `0007-1`.
fn trials(folder: &Path) -> Result<Vec<(PathBuf, Trial)>, RunError> {
    let mut found = Vec::new();
    for name in names_in(folder)? {
        let numbers = name
            .split_once('-')
            .and_then(|(trial, replicate)| Some((trial.parse().ok()?, replicate.parse().ok()?)));
        if let Some((trial, replicate)) = numbers
            && folder.join(&name).join("run.json").is_file()
        {
            found.push((folder.join(&name), Trial { trial, replicate }));
        }
    }
    found.sort_by_key(|(_, trial)| (trial.trial, trial.replicate));
    Ok(found)
}

/// The names in a folder, sorted; none where there is no folder.
fn names_in(folder: &Path) -> Result<Vec<String>, RunError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(cause) => return Err(RunError::io("list", folder)(cause)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(RunError::io("list", folder))?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    names.sort_unstable();
    Ok(names)
}

/// A run that is there, with all its files and finished steps.
fn run(
    folder: &Folder,
    name: String,
    trial: Option<Trial>,
    manifests: &[(u32, Manifest)],
) -> Result<RunSource, RunError> {
    let record = Record::read(folder)?;
    let seconds = Journal::ledger(folder)?.seconds();
    let took = |manifest: &Manifest| seconds.get(manifest.identity().short()).copied();
    Ok(RunSource {
        name,
        folder: folder.root().to_owned(),
        trial,
        files: Files::All,
        steps: manifests.iter().map(|(order, manifest)| step(*order, manifest, took(manifest))).collect(),
        about: record.as_ref().map(about),
    })
}

/// What a run's record says of it.
pub fn about(record: &Record) -> RunRow {
    let made = &record.environment;
    RunRow {
        script: record.script.file.clone(),
        seed: record.seed as i64,
        backend: made.backend.clone(),
        device: made.device.clone(),
        precision: made.precision.clone(),
        threads: made.threads,
        dc0: made.dc0.clone(),
        params: record.params.clone(),
    }
}

/// The manifests of a run's finished steps with their places in the script.
fn manifests_of(folder: &Folder) -> Result<Vec<(u32, Manifest)>, RunError> {
    let mut found = Vec::new();
    for (order, name) in manifests(names_in(&folder.steps())?) {
        let manifest = match Manifest::read(&folder.steps().join(&name)) {
            // A run that is at work moves the manifests of steps that its script no longer asks for.
            Err(RunError::Io { cause, .. }) if cause.kind() == io::ErrorKind::NotFound => continue,
            other => other?,
        };
        found.push((order, manifest));
    }
    Ok(found)
}

/// The files of manifests in the order of their steps, which is not that of their names from the ten thousandth step on.
fn manifests(names: Vec<String>) -> Vec<(u32, String)> {
    let is_manifest = |name: &String| Path::new(name).extension().is_some_and(|kind| kind == "json");
    let order = |name: &str| name.split('-').next().and_then(|order| order.parse().ok()).unwrap_or_default();
    let mut found: Vec<(u32, String)> =
        names.into_iter().filter(is_manifest).map(|name| (order(&name), name)).collect();
    found.sort();
    found
}

/// A finished step as a row.
pub fn step(order: u32, manifest: &Manifest, seconds: Option<f64>) -> StepRow {
    let slot = manifest.files.iter().find_map(|entry| Slot::of(&entry.path)).map(|(slot, _, _)| slot);
    StepRow {
        step: order,
        kind: manifest.kind.clone(),
        number: slot.map(|slot| slot.number),
        identity: manifest.identity().short().to_owned(),
        network: network(manifest),
        seconds,
        bytes: manifest.files.iter().map(|entry| entry.bytes as i64).sum(),
        summary: manifest.summary.clone(),
        params: manifest.params.clone(),
    }
}

/// The net that a step made, or that it played or searched with.
fn network(manifest: &Manifest) -> Option<String> {
    let input = |wanted: &str| {
        manifest.inputs.iter().find(|input| input.name == wanted).map(|input| input.digest.clone())
    };
    match manifest.kind.as_str() {
        "network" | "grow" | "train" => manifest.files.first().map(|weights| weights.blake3.clone()),
        "arena" => input("first"),
        _ => input("network"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Sources, manifests};

    #[test]
    fn steps_beyond_ten_thousand_come_after_those_before() {
        let names = ["0002-b.json", "10000-c.json", "9999-a.json", "notes.txt"].map(str::to_owned).to_vec();
        let orders: Vec<u32> = manifests(names).into_iter().map(|(order, _)| order).collect();
        assert_eq!(orders, [2, 9999, 10_000]);
    }

    #[test]
    fn a_sweep_named_twice_is_there_once() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["a", "b/a"] {
            std::fs::create_dir_all(folder.path().join(name)).expect("a folder");
            std::fs::write(folder.path().join(name).join("sweep.json"), "{}").expect("a file");
        }
        let names = ["a", "./a", "b/a", "b/../b/a"].map(str::to_owned);
        let sources = Sources::named(folder.path(), &names).expect("sweeps");
        let names: Vec<&str> = sources.sweeps.iter().map(|sweep| sweep.name.as_str()).collect();
        assert_eq!(names[0], "a");
        assert!(names.len() == 2 && names[1].ends_with("b/a"), "{names:?}");
    }
}
