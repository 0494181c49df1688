//! A read-only view of a run's folder, used by everything that reads runs.
//!
//! Files are read only on demand, so a damaged file does not affect queries about others. Nothing is written or locked, so the
//! run may be in progress.

mod games;
mod steps;
mod trials;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::de::IgnoredAny;

use dc0_core::store::FileEntry;

use super::error::RunError;
use super::files::{below, names_if_there};
use super::folder::Folder;
use super::generations::{Generation, Generations};
use super::history::{History, RecordedManifests};
use super::identity::Identity;
use super::manifest::Manifest;
use super::record::Record;
use super::slot::{Series, Slot};
use super::workspace::{Claim, ShardNote, UnfinishedWork};

pub use games::GameFiles;
pub(crate) use steps::twice;
pub use steps::{FinishedStep, manifest_files};
pub use trials::{TrialRun, trial_names, trials};

/// A read-only run.
#[derive(Debug, Clone)]
pub struct RunView {
    folder: Folder,
}

impl RunView {
    /// The view of the run in a folder.
    pub fn new(folder: Folder) -> Self {
        Self { folder }
    }

    /// The view of the run at a path.
    pub fn at(root: &Path) -> Self {
        Self::new(Folder::at(root))
    }

    /// The run's folder.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Its record, as its journal knows it; `None` if the folder is empty or missing.
    pub fn record(&self) -> Result<Option<Record>, RunError> {
        let Some(record) = Record::read(&self.folder)? else { return Ok(None) };
        record.check(&self.folder, &History::read(&self.folder)?)?;
        Ok(Some(record))
    }

    /// Its journal; an error if it is gone.
    pub fn history(&self) -> Result<History, RunError> {
        History::read_whole(&self.folder)
    }

    /// Its promoted nets in order, as its journal has recorded them.
    pub fn generations(&self) -> Result<Vec<Generation>, RunError> {
        let history = self.history()?;
        let generations = Generations::open(&self.folder)?;
        generations.check(&history)?;
        Ok(generations.into_all())
    }

    /// The digests of the files of finished shards of unfinished steps, whose tables are read as those of finished steps are.
    pub fn unfinished_files(&self) -> Result<Vec<FileEntry>, RunError> {
        let mut files = Vec::new();
        for work in UnfinishedWork::all(&self.folder)? {
            let Some(slot) = work.slot()? else {
                self.check_claim(&work)?;
                continue;
            };
            for note in work.notes()? {
                let Some(note) = ShardNote::<IgnoredAny>::read(&note)? else { continue };
                let adopted = |entry: FileEntry| FileEntry { path: slot.adopt(&entry.path), ..entry };
                files.extend(note.files.into_iter().map(adopted));
            }
        }
        Ok(files)
    }

    /// Fails if a step that has finished shards has lost its claim. One that ends or is superseded just now has not.
    fn check_claim(&self, work: &UnfinishedWork) -> Result<(), RunError> {
        let step = work.step();
        if work.notes()?.is_empty() || self.folder.superseded().join(&step).exists() {
            return Ok(());
        }
        let is_own = |path: &PathBuf| path.to_string_lossy().contains(&step);
        if manifest_files(&self.folder)?.iter().any(is_own) { Ok(()) } else { Err(work.claim_lost()) }
    }

    /// Its finished steps in the order of its script, as its journal has recorded them.
    pub fn steps(&self) -> Result<Vec<FinishedStep>, RunError> {
        // The journal is read first: a step that is finished meanwhile has its manifest before its entry.
        let recorded = self.history()?.manifests();
        let steps = self.single_steps(&recorded)?;
        let is_stored = |step: &str| steps.iter().any(|stored| stored.manifest.identity().short() == step);
        for step in recorded.current().filter(|step| !is_stored(step)) {
            if !self.has_moved(step)? {
                return Err(RunError::ManifestLost { folder: self.folder.steps(), step: step.to_owned() });
            }
        }
        Ok(steps)
    }

    /// The finished steps that have a manifest, each as recorded.
    pub(crate) fn stored_steps(&self, recorded: &RecordedManifests) -> Result<Vec<FinishedStep>, RunError> {
        let read = manifest_files(&self.folder)?.into_iter().map(FinishedStep::read);
        let steps: Vec<FinishedStep> = read.filter_map(Result::transpose).collect::<Result<_, _>>()?;
        steps.iter().try_for_each(|step| step.check(recorded))?;
        Ok(steps)
    }

    /// As [`stored_steps`](Self::stored_steps); a step with two manifests is an error.
    fn single_steps(&self, recorded: &RecordedManifests) -> Result<Vec<FinishedStep>, RunError> {
        let steps = self.stored_steps(recorded)?;
        match twice(&steps).first() {
            Some(step) => Err(step.repeated()),
            None => Ok(steps),
        }
    }

    /// Whether a step that had no manifest is being done again, has been superseded or, by now, has its manifest. A run in progress
    /// moves manifests.
    pub(crate) fn has_moved(&self, step: &str) -> Result<bool, RunError> {
        let ending = format!("-{step}.json");
        let is_named = |path: &PathBuf| path.to_string_lossy().ends_with(&ending);
        let is_elsewhere =
            self.folder.all_work().join(step).exists() || self.folder.superseded().join(step).exists();
        Ok(is_elsewhere || manifest_files(&self.folder)?.iter().any(is_named))
    }

    /// A finished step by its identity.
    pub fn step(&self, identity: &Identity) -> Result<Option<Manifest>, RunError> {
        let ending = format!("-{}.json", identity.short());
        let is_named = |path: &PathBuf| path.to_string_lossy().ends_with(&ending);
        let read = manifest_files(&self.folder)?.into_iter().filter(is_named).map(FinishedStep::read);
        let matches = |read: &Result<FinishedStep, RunError>| {
            read.as_ref().map_or(true, |step| step.manifest.identity() == *identity)
        };
        let Some(step) = read.filter_map(Result::transpose).find(matches).transpose()? else {
            return Ok(None);
        };
        step.check(&self.history()?.manifests())?;
        Ok(Some(step.manifest))
    }

    /// The files in the folders of steps that belong to no step: a copy of a table there would count twice. A file that a step has just
    /// written, or that is on its way to or from the superseded ones, is none.
    pub fn strays(&self) -> Result<Vec<PathBuf>, RunError> {
        // Listed first: by the time the claims and manifests are read, they know every file that is listed.
        let mut listed = Vec::new();
        for folder in Series::ALL.iter().flat_map(|series| series.folders()) {
            listed.extend(below(self.folder.root(), folder)?);
        }
        let (mut claimed, mut known, mut moving) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        let mut manifests = Vec::new();
        let works = UnfinishedWork::all(&self.folder)?;
        for work in &works {
            claimed.extend(work.slot()?);
            manifests.extend(work.finished_before().map(|path| (self.folder.clone(), path)));
        }
        manifests.extend(manifest_files(&self.folder)?.into_iter().map(|path| (self.folder.clone(), path)));
        let superseded = names_if_there(&self.folder.superseded())?;
        for root in superseded.iter().map(|name| Folder::at(&self.folder.superseded().join(name))) {
            manifests.extend(manifest_files(&root)?.into_iter().map(|path| (root.clone(), path)));
        }
        for (root, path) in manifests {
            let Some(step) = FinishedStep::read_any(path)? else { continue };
            for FileEntry { path, .. } in step.manifest.files {
                // Files move to another number, or to or from the superseded ones, before their manifest says so.
                if !root.path(&path).exists() {
                    moving.insert(Slot::without_number(&path));
                }
                if root.root() == self.folder.root() {
                    known.insert(path);
                }
            }
        }
        // Parts have the names of their steps, whose claim may be lost.
        let named: Vec<String> = works.iter().map(UnfinishedWork::step).chain(superseded).collect();
        let is_data =
            |path: &String| [".parquet", ".safetensors", ".json"].iter().any(|kind| path.ends_with(kind));
        let is_of_step = |path: &String| {
            if path.contains("/part-") {
                named.iter().any(|step| path.contains(&format!("/part-{step}-")))
            } else {
                claimed.iter().any(|slot| slot.holds(path))
            }
        };
        let is_stray = |path: &String| {
            is_data(path)
                && !known.contains(path)
                && !moving.contains(&Slot::without_number(path))
                && !is_of_step(path)
        };
        let strays = listed.into_iter().filter(is_stray).map(|path| self.folder.path(&path));
        Ok(strays.filter(|path| path.exists()).collect())
    }

    /// The kinds of its unfinished steps.
    pub fn unfinished_kinds(&self) -> Result<Vec<String>, RunError> {
        Claim::kinds(&self.folder)
    }
}

/// Finished steps by identity.
pub type FinishedSteps = BTreeMap<Identity, Manifest>;

/// The finished steps of a run whose files all exist.
pub fn finished_steps(folder: &Folder) -> Result<FinishedSteps, RunError> {
    let mut finished = FinishedSteps::new();
    collect(folder, &mut finished)?;
    Ok(finished)
}

/// Adds the finished steps of a run whose files all exist. A run that does not exist has none.
pub fn collect(folder: &Folder, finished: &mut FinishedSteps) -> Result<(), RunError> {
    let recorded = History::read(folder)?.manifests();
    for FinishedStep { manifest, .. } in RunView::new(folder.clone()).stored_steps(&recorded)? {
        if manifest.missing_file(folder)?.is_none() {
            finished.insert(manifest.identity(), manifest);
        }
    }
    Ok(())
}

/// Adds the superseded steps of a run, which it restores if the script calls them again.
pub fn collect_superseded(folder: &Folder, finished: &mut FinishedSteps) -> Result<(), RunError> {
    let superseded = folder.superseded();
    names_if_there(&superseded)?
        .iter()
        .try_for_each(|name| collect(&Folder::of_run(&superseded, name)?, finished))
}

/// The seed that a run was created with; `None` if there is no run.
pub fn seed_of(folder: &Folder) -> Result<Option<u64>, RunError> {
    Ok(Record::read(folder)?.map(|record| record.seed))
}
