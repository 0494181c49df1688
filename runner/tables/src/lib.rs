//! Runs as the analysis sees them: their folders, records and steps as plain data. Read-only.

mod nearest;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dc0_analysis::{
    AnalysisError, Damage, Files, Promotion, RunRow, RunSource, StepRow, SweepSource, Trial, stored_names,
};
use dc0_core::store::FileEntry;
use thiserror::Error;

use dc0_process::exit::Exit;
use dc0_process::fault::Fault;
use dc0_runs::sweep::folder::{SweepFolder, lost_runs};
use dc0_runs::sweep::table::of_sweep;
use dc0_runs::view::{FinishedStep, TrialRun, trials};
use dc0_runs::{Folder, FolderKind, Generation, Ledger, Manifest, Record, Remedy, RunError, Salvage};

/// Runs and sweeps to query.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The runs; a sweep's are those of its trials.
    pub runs: Vec<RunSource>,
    /// The sweeps.
    pub sweeps: Vec<SweepSource>,
    /// What is missing or damaged, if it is to be left out.
    pub faults: Vec<Damage>,
    /// How the runs are read.
    reading: Reading,
}

/// What becomes of missing and damaged bookkeeping.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Reading {
    /// It is an error.
    #[default]
    Whole,
    /// It is left out, and listed.
    Readable,
}

/// Why a run cannot be queried.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum SourcesError {
    #[error("\"{name}\" is neither a run nor a sweep: there is no run.json or sweep.json in {} or {}{hint}", searched[0].display(), searched[1].display())]
    Unknown {
        name: String,
        searched: [PathBuf; 2],
        /// Names of existing runs, as part of the message.
        hint: String,
    },
    /// Its record, journal or manifests cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The run of a complete trial is gone.
    #[error("{}", lost(folder))]
    Lost { folder: PathBuf },
}

/// What is wrong with a sweep that lacks the run of a complete trial.
fn lost(folder: &Path) -> String {
    format!(
        "{} is missing, though its trial is complete: its result stands in trials.jsonl, and its tables are lost; put it back from a copy, or \
         do the sweep under another name",
        folder.display()
    )
}

impl Fault for SourcesError {
    fn exit(&self) -> Exit {
        match self {
            Self::Unknown { .. } => Exit::BadInput,
            Self::Run(error) => error.exit(),
            Self::Lost { .. } => Exit::Storage,
        }
    }
}

/// A query that failed.
#[derive(Debug, Error)]
#[error(transparent)]
pub struct QueryError(#[from] AnalysisError);

impl Fault for QueryError {
    fn exit(&self) -> Exit {
        exit_of(&self.0)
    }
}

/// The exit code of a failed query.
pub fn exit_of(error: &AnalysisError) -> Exit {
    match error {
        AnalysisError::Failed { .. } | AnalysisError::Memory { .. } | AnalysisError::Library(_) => {
            Exit::Failed
        }
        error if error.is_bad_input() => Exit::BadInput,
        _ => Exit::Storage,
    }
}

impl Sources {
    /// The runs and sweeps of names: folders, or names below `parent`.
    pub fn named(parent: &Path, names: &[String]) -> Result<Self, SourcesError> {
        Self::read(parent, names, Reading::Whole)
    }

    /// As [`named`](Self::named), without what is missing or damaged; that is listed.
    pub fn readable(parent: &Path, names: &[String]) -> Result<Self, SourcesError> {
        Self::read(parent, names, Reading::Readable)
    }

    fn read(parent: &Path, names: &[String], reading: Reading) -> Result<Self, SourcesError> {
        let mut sources = Self { reading, ..Self::default() };
        for name in names {
            sources.add(parent, name)?;
        }
        Ok(sources)
    }

    fn add(&mut self, parent: &Path, name: &str) -> Result<(), SourcesError> {
        let named = |kind| Folder::named(parent, Path::new(name), &[kind]);
        if let Some((root, _)) = named(FolderKind::Sweep) {
            return if self.is_known(&root) { Ok(()) } else { self.add_sweep(&root) };
        }
        let Some((root, _)) = named(FolderKind::Run) else {
            let hint = nearest::hint(parent, name);
            let searched = [PathBuf::from(name), parent.join(name)];
            return Err(SourcesError::Unknown { name: name.to_owned(), searched, hint });
        };
        if !self.is_known(&root) {
            self.add_run(&Folder::at(&root), self.free_name(&root), None)?;
        }
        Ok(())
    }

    /// Whether a folder was already named, under any path: its rows must not count twice.
    fn is_known(&self, root: &Path) -> bool {
        let folders = self.runs.iter().filter(|run| run.trial.is_none()).map(|run| &run.folder);
        let mut folders = folders.chain(self.sweeps.iter().map(|sweep| &sweep.folder));
        folders.any(|known| canonical(known) == canonical(root))
    }

    /// A folder's own name; if that is taken, its path; if that is taken, too, its path with a number.
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
        for TrialRun { trial, replicate, folder } in trials(&Folder::at(root))? {
            self.add_run(&folder, name.clone(), Some(Trial { trial, replicate }))?;
        }
        let folder = Folder::at(root);
        let mut has_values = false;
        if let Ok((_, trials)) = SweepFolder::read(root) {
            for gone in lost_runs(&folder, &trials) {
                if self.reading == Reading::Whole {
                    return Err(SourcesError::Lost { folder: gone });
                }
                let affects = stored_names().chain(["steps", "staleness", "runs", "costs"]).collect();
                self.faults.push(Damage { run: name.clone(), affects, message: lost(&gone), path: gone });
            }
            has_values = trials.iter().any(|(_, trial)| trial.value().is_some());
            let table = folder.path("trials.parquet");
            if self.reading == Reading::Readable && has_values && !table.exists() {
                let error = Remedy::Missing.damaged(&table, "it is missing, though trials have values");
                let (affects, message) = (vec!["trials"], error.to_string());
                self.faults.push(Damage { run: name.clone(), affects, path: table, message });
            }
        }
        let record = SweepFolder::record_in(&folder).ok().flatten();
        let trials = record.map(|record| of_sweep(&record.name)).unwrap_or_default();
        self.sweeps.push(SweepSource { name, folder: root.to_owned(), trials, has_values });
        Ok(())
    }
}

impl Sources {
    fn add_run(&mut self, folder: &Folder, name: String, trial: Option<Trial>) -> Result<(), RunError> {
        let Salvage { record, history, steps, generations, unfinished_files, are_listed, faults } =
            match self.reading {
                Reading::Whole => Salvage::of_whole(folder)?,
                Reading::Readable => Salvage::of_run(folder),
            };
        self.faults.extend(faults.into_iter().map(|fault| affecting(fault, folder, &name)));
        let seconds = Ledger::from_history(&history).seconds();
        let mut digests = digests(steps.iter().map(|step| &step.manifest));
        digests.extend(unfinished_files.into_iter().map(|entry| (entry.path.clone(), entry)));
        let files = if are_listed { Files::Listed } else { Files::All };
        let row = |found: &FinishedStep| {
            let took = seconds.get(found.manifest.identity().short()).copied();
            step(found.order().unwrap_or_default(), &found.manifest, took)
        };
        self.runs.push(RunSource {
            name,
            folder: folder.root().to_owned(),
            trial,
            files,
            digests,
            costs: record.as_ref().map(Record::of_costs).unwrap_or_default(),
            steps: steps.iter().map(row).collect(),
            promotions: generations.into_iter().map(promotion).collect(),
            about: record.as_ref().map(about),
        });
        Ok(())
    }
}

/// A fault of a run, with the tables and facts that lack what it says.
fn affecting(fault: dc0_runs::Damage, folder: &Folder, run: &str) -> Damage {
    let relative = fault.path.strip_prefix(folder.root()).unwrap_or(&fault.path);
    let first = relative.iter().next().map(|part| part.to_string_lossy()).unwrap_or_default();
    let affects = match &*first {
        "run.json" => vec!["record", "runs"],
        "journal.jsonl" => vec!["journal"],
        "generations.json" => vec!["generations", "staleness"],
        "costs.parquet" => vec!["costs"],
        // Its tables are read without their digests.
        "steps" => vec!["steps", "staleness"],
        table => stored_names().filter(|stored| *stored == table).collect(),
    };
    Damage { run: run.to_owned(), affects, path: fault.path, message: fault.message }
}

/// The files of finished steps with their digests.
pub fn digests<'a>(manifests: impl Iterator<Item = &'a Manifest>) -> BTreeMap<String, FileEntry> {
    let entries = manifests.flat_map(|manifest| &manifest.files);
    entries.map(|entry| (entry.path.clone(), entry.clone())).collect()
}

fn canonical(root: &Path) -> PathBuf {
    root.canonicalize().unwrap_or_else(|_| root.to_owned())
}

/// A folder's own name, even for `.` and `x/..`.
fn last_name(root: &Path) -> String {
    canonical(root).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A run's record as a row.
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

/// A finished step as a row.
pub fn step(order: u32, manifest: &Manifest, seconds: Option<f64>) -> StepRow {
    StepRow {
        step: order,
        kind: manifest.kind.clone(),
        series: manifest.series().map(|series| series.noun().to_owned()),
        number: manifest.slot().map(|slot| slot.number),
        identity: manifest.identity().short().to_owned(),
        network: network(manifest),
        seconds,
        bytes: manifest.files.iter().map(|entry| entry.bytes as i64).sum(),
        summary: manifest.summary.clone(),
        params: manifest.params.clone(),
        inputs: manifest.inputs.iter().map(|input| (input.name.clone(), input.digest.clone())).collect(),
    }
}

fn promotion(generation: Generation) -> Promotion {
    let Generation { generation, blake3, steps, .. } = generation;
    Promotion { generation, network: blake3, steps }
}

/// The net that a step produced, or played or searched with; in a match, the first player's.
fn network(manifest: &Manifest) -> Option<String> {
    let made = manifest.weights().map(|weights| weights.blake3.as_str());
    made.or_else(|| manifest.input("network")).or_else(|| manifest.input("first")).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::{Sources, exit_of, step};
    use dc0_analysis::AnalysisError;
    use dc0_core::params::Value;
    use dc0_core::store::FileEntry;
    use dc0_process::exit::Exit;
    use dc0_runs::{Input, Manifest};

    fn manifest(kind: &str, file: &str, inputs: &[&str]) -> Manifest {
        let input = |name: &&str| Input { name: (*name).to_owned(), digest: format!("of {name}") };
        Manifest {
            version: 1,
            step: "ab".repeat(32),
            kind: kind.to_owned(),
            kind_version: 1,
            params: Value::group(),
            inputs: inputs.iter().map(input).collect(),
            seed: 1,
            files: vec![FileEntry { path: file.to_owned(), rows: 0, bytes: 1, blake3: "of file".to_owned() }],
            summary: Value::group(),
        }
    }

    #[test]
    fn a_step_has_the_series_of_its_number_and_the_net_that_it_is_about() {
        for (kind, file, inputs, series, number, network) in [
            ("train", "networks/0003.safetensors", &["start"][..], "network", 3, Some("of file")),
            ("self_play", "games/iteration=0001/x", &["network"], "iteration", 1, Some("of network")),
            ("import_pgn", "games/iteration=0002/x", &["source 0 a.pgn"], "iteration", 2, None),
            ("arena", "matches/0004-x", &["first", "second"], "match", 4, Some("of first")),
            ("search", "searches/analysis=0005/x", &["network"], "analysis", 5, Some("of network")),
            // As another version may have it.
            ("distill", "networks/0006.safetensors", &["network"], "network", 6, Some("of file")),
        ] {
            let row = step(0, &manifest(kind, file, inputs), None);
            let found = (row.series.as_deref(), row.number, row.network.as_deref());
            assert_eq!(found, (Some(series), Some(number), network), "{kind}");
        }
    }

    #[test]
    fn a_query_that_needs_too_much_memory_is_no_damaged_file() {
        let message = || "out of memory".to_owned();
        assert_eq!(exit_of(&AnalysisError::Memory { message: message() }), Exit::Failed);
        assert_eq!(exit_of(&AnalysisError::Failed { message: message() }), Exit::Failed);
        assert_eq!(exit_of(&AnalysisError::Syntax { message: message() }), Exit::BadInput);
    }

    #[test]
    fn a_sweep_named_twice_counts_once() {
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
