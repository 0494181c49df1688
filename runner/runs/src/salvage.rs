//! Reads what is whole of a damaged run, so that it can be shown with what is not.

use std::path::{Path, PathBuf};

use dc0_core::store::{FileEntry, verify_file};

use super::error::{Remedy, RunError};
use super::folder::Folder;
use super::generations::{Generation, Generations};
use super::history::History;
use super::manifest::size;
use super::record::Record;
use super::script_snapshot::stored_faults;
use super::view::{FinishedStep, RunView, manifest_files, twice};

/// What is whole of a run's bookkeeping, and what is not.
#[derive(Debug, Default)]
pub struct Salvage {
    /// Its record.
    pub record: Option<Record>,
    /// The whole lines of its journal.
    pub history: History,
    /// Its finished steps, in the order of its script.
    pub steps: Vec<FinishedStep>,
    /// Its promoted nets in order.
    pub generations: Vec<Generation>,
    /// The files of finished shards of unfinished steps.
    pub unfinished_files: Vec<FileEntry>,
    /// Whether these files and those of the steps are all: without a manifest, nothing distinguishes the files of its step from others.
    pub are_listed: bool,
    /// Everything that is missing or damaged, files of finished steps of another size included. Their content is not read.
    pub faults: Vec<Damage>,
}

/// A file of a run that is missing or damaged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The file, or the folder that lacks one.
    pub path: PathBuf,
    /// What was expected, what was found, and what heals it.
    pub message: String,
}

impl Damage {
    fn new(path: &Path, error: &RunError) -> Self {
        let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
        Self { path: path.to_owned(), message: format!("{error}{cause}") }
    }
}

impl Salvage {
    /// Reads a run that must be whole, except for the content of its files.
    pub fn of_whole(folder: &Folder) -> Result<Self, RunError> {
        let run = RunView::new(folder.clone());
        // Shards first: a step that is finished meanwhile keeps their files.
        let unfinished_files = run.unfinished_files()?;
        let steps = run.steps()?;
        if let Some(path) = run.strays()?.into_iter().next() {
            return Err(RunError::Stray { path });
        }
        // A promotion is in this file before the journal has it.
        let (record, history, generations) = (run.record()?, run.history()?, run.generations()?);
        Ok(Self {
            record,
            history,
            steps,
            generations,
            unfinished_files,
            are_listed: true,
            faults: Vec::new(),
        })
    }

    /// Reads a run, which may be in progress.
    pub fn of_run(folder: &Folder) -> Self {
        let mut salvage = Self::default();
        let record = salvage.read(&folder.record(), Record::read(folder)).flatten();
        let history = History::read_whole(folder);
        // Manifests are compared with what the journal says of them, as far as it can be read.
        let history = salvage.read(&folder.journal(), history);
        salvage.history = history.unwrap_or_else(|| History::salvage(folder));
        let is_own = |record: &Record| record.check(folder, &salvage.history);
        let checked = record.as_ref().map_or(Ok(()), is_own);
        salvage.record = salvage.read(&folder.record(), checked).and(record);
        let unfinished = RunView::new(folder.clone()).unfinished_files();
        salvage.unfinished_files = salvage.read(&folder.all_work(), unfinished).unwrap_or_default();
        for (path, error) in stored_faults(folder, salvage.record.as_ref(), &salvage.history) {
            salvage.faults.push(Damage::new(&path, &error));
        }
        salvage.read_steps(folder);
        salvage.find_strays(folder);
        salvage.check_files(folder);
        let generations = Generations::open(folder).and_then(|generations| {
            generations.check(&salvage.history)?;
            Ok(generations.into_all())
        });
        salvage.generations = salvage.read(&folder.generations(), generations).unwrap_or_default();
        salvage
    }

    /// The value, or `None` with a fault.
    fn read<T>(&mut self, path: &Path, read: Result<T, RunError>) -> Option<T> {
        read.map_err(|error| self.faults.push(Damage::new(path, &error))).ok()
    }

    fn read_steps(&mut self, folder: &Folder) {
        let recorded = self.history.manifests();
        for path in self.read(&folder.steps(), manifest_files(folder)).unwrap_or_default() {
            let step = FinishedStep::read(path.clone())
                .and_then(|step| step.map(|step| step.check(&recorded).map(|()| step)).transpose());
            let step = self.read(&path, step).flatten();
            self.steps.extend(step);
        }
        let repeated = twice(&self.steps).into_iter().map(|step| Damage::new(&step.path, &step.repeated()));
        self.faults.extend(repeated.collect::<Vec<_>>());
        let run = RunView::new(folder.clone());
        let lost = recorded.current().filter(|step| {
            // A damaged manifest has its step's name, and is reported already.
            run.has_moved(step).is_ok_and(|has_moved| !has_moved)
        });
        let lost: Vec<String> = lost.map(ToOwned::to_owned).collect();
        for step in lost {
            let error = RunError::ManifestLost { folder: folder.steps(), step };
            self.faults.push(Damage::new(&folder.steps(), &error));
        }
    }

    /// Files of a step whose manifest cannot be read belong to that step.
    fn find_strays(&mut self, folder: &Folder) {
        let is_known = !self.faults.iter().any(|fault| fault.path.starts_with(folder.steps()));
        let strays = RunView::new(folder.clone()).strays().ok().filter(|_| is_known);
        self.are_listed = strays.is_some();
        for path in strays.into_iter().flatten() {
            let error = RunError::Stray { path: path.clone() };
            self.faults.push(Damage::new(&path, &error));
        }
    }

    fn check_files(&mut self, folder: &Folder) {
        let mut faults = Vec::new();
        for entry in &self.unfinished_files {
            let is_whole = size(&folder.path(&entry.path)).is_ok_and(|found| found == Some(entry.bytes));
            if !is_whole && let Err(error) = verify_file(folder.root(), entry) {
                faults.push(Damage::new(&folder.path(&entry.path), &error.into()));
            }
        }
        for entry in self.steps.iter().flat_map(|step| &step.manifest.files) {
            let path = folder.path(&entry.path);
            let error = match size(&path) {
                Ok(None) => Some(RunError::Lost { path: path.clone() }),
                Ok(Some(found)) if found != entry.bytes => {
                    Some(RunError::Changed { path: path.clone(), expected: entry.bytes, found })
                }
                Ok(Some(_)) => None,
                Err(error) => Some(error),
            };
            faults.extend(error.map(|error| Damage::new(&path, &error)));
        }
        // A kill can keep the first table of costs from being written.
        let costs = folder.path(Folder::COSTS);
        if self.steps.len() > 1 && !costs.exists() {
            let error = Remedy::Rewrite.damaged(&costs, "it is missing, though steps are finished");
            faults.push(Damage::new(&costs, &error));
        }
        self.faults.extend(faults);
    }
}
