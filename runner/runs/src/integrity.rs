//! Checks everything in a run's folder that checks itself, at once: seals, the journal's chain, stored scripts, the digests of
//! manifests, and what unfinished steps resume from. Files that manifests list are left to the caller, who reads them as well.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::de::IgnoredAny;

use dc0_core::store::{FileEntry, verify_file};

use super::error::{Remedy, RunError};
use super::files::names_if_there;
use super::folder::Folder;
use super::generations::Generations;
use super::history::{History, RecordedManifests, entries_lost};
use super::manifest::Manifest;
use super::record::Record;
use super::script_snapshot::stored_faults;
use super::step_store::UNKNOWN;
use super::view::{FinishedStep, RunView, manifest_files, twice};
use super::workspace::{ShardNote, UnfinishedWork};

/// What can be read of a run's bookkeeping, and everything that is wrong with it.
#[derive(Debug, Default)]
pub struct Integrity {
    /// Everything that is wrong, each with its file and what heals it.
    pub problems: Vec<String>,
    /// The run's record, if it is whole.
    pub record: Option<Record>,
    /// The finished and superseded steps, each with the folder that its files are in.
    pub steps: Vec<(Folder, FinishedStep)>,
    /// The number of steps that are not finished.
    pub unfinished: usize,
    /// The number of finished shards of those steps.
    pub shards: usize,
    /// Files of the working folders that only the kind of step can check.
    pub work: Vec<PathBuf>,
}

impl Integrity {
    /// Checks a run, which no one may write meanwhile.
    pub fn of_run(folder: &Folder) -> Self {
        let mut integrity = Self::default();
        let record = integrity.read(Record::read(folder)).flatten();
        let history = integrity.history(folder);
        if let Some(record) = &record {
            integrity.read(record.check(folder, &history));
        }
        for (_, fault) in stored_faults(folder, record.as_ref(), &history) {
            integrity.add(&fault);
        }
        let recorded = history.manifests();
        integrity.steps(folder, &recorded);
        integrity.losses(folder, &recorded);
        let superseded = integrity.read(names_if_there(&folder.superseded())).unwrap_or_default();
        for root in superseded.iter().map(|name| Folder::at(&folder.superseded().join(name))) {
            integrity.steps(&root, &recorded);
            integrity.moves(&root, folder);
            integrity.unfinished(&root, folder);
            let name = root.root().file_name().unwrap_or_default();
            // The files of an unfinished step move first, and what belongs to no known step is kept under that name.
            if name != UNKNOWN && !folder.all_work().join(name).exists() {
                integrity.strays(&root);
            }
        }
        integrity.unfinished(folder, folder);
        integrity.strays(folder);
        integrity.generations(folder, &history);
        integrity.record = record;
        integrity
    }

    /// The value, or `None` with an error among the problems.
    fn read<T>(&mut self, read: Result<T, RunError>) -> Option<T> {
        read.map_err(|error| self.add(&error)).ok()
    }

    fn add(&mut self, error: &RunError) {
        let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
        self.problems.push(format!("{error}{cause}"));
    }

    fn history(&mut self, folder: &Folder) -> History {
        // A run that a kill ended as it began has neither.
        let has_steps = self.read(manifest_files(folder)).is_some_and(|manifests| !manifests.is_empty());
        if has_steps && !folder.journal().exists() {
            self.add(&RunError::JournalLost { folder: folder.root().to_owned() });
        }
        self.read(History::read(folder)).unwrap_or_default()
    }

    /// The manifests of a run or of its superseded steps.
    fn steps(&mut self, root: &Folder, recorded: &RecordedManifests) {
        let mut steps = Vec::new();
        for path in self.read(manifest_files(root)).unwrap_or_default() {
            let Some(Some(step)) = self.read(FinishedStep::read(path)) else { continue };
            self.read(step.check(recorded));
            steps.push(step);
        }
        for step in twice(&steps) {
            self.add(&step.repeated());
        }
        self.steps.extend(steps.into_iter().map(|step| (root.clone(), step)));
    }

    /// Leaves out superseded steps of which a kill kept files in their old places, where only digests are checked. The run moves them
    /// when it goes on.
    fn moves(&mut self, root: &Folder, run: &Folder) {
        let of_run = self.steps.iter().filter(|(folder, _)| folder.root() == run.root());
        let files = of_run.flat_map(|(_, step)| &step.manifest.files);
        let current: BTreeSet<String> = files.map(|entry| entry.path.clone()).collect();
        let is_left = |entry: &FileEntry| {
            !root.path(&entry.path).exists()
                && !current.contains(&entry.path)
                && run.path(&entry.path).exists()
        };
        let is_moving = |(folder, step): &mut (Folder, FinishedStep)| {
            folder.root() == root.root() && step.manifest.files.iter().any(is_left)
        };
        for (_, step) in self.steps.extract_if(.., is_moving).collect::<Vec<_>>() {
            for entry in &step.manifest.files {
                let folder = if is_left(entry) { run } else { root };
                self.read(verify_file(folder.root(), entry).map_err(RunError::from));
            }
        }
    }

    /// Manifests that the journal has and the run has not, and the other way round. A kill leaves one manifest without an entry.
    fn losses(&mut self, folder: &Folder, recorded: &RecordedManifests) {
        let run = RunView::new(folder.clone());
        let is_stored =
            |step: &str| self.steps.iter().any(|(_, stored)| stored.manifest.identity().short() == step);
        let missing: Vec<String> =
            recorded.current().filter(|step| !is_stored(step)).map(ToOwned::to_owned).collect();
        for step in missing {
            if self.read(run.has_moved(&step)) == Some(false) {
                self.add(&RunError::ManifestLost { folder: folder.steps(), step });
            }
        }
        let unrecorded: Vec<String> = self
            .steps
            .iter()
            .filter(|(_, step)| recorded.digest(step.manifest.identity().short()).is_none())
            .filter_map(|(_, step)| Some(step.path.file_name()?.to_string_lossy().into_owned()))
            .collect();
        if let Some(error) = entries_lost(folder, &unrecorded)
            && folder.journal().exists()
        {
            self.add(&error);
        }
    }

    /// Files that belong to no step. Where a manifest or claim is damaged, which is said already, nobody knows.
    fn strays(&mut self, root: &Folder) {
        let strays = RunView::new(root.clone()).strays().unwrap_or_default();
        for path in strays {
            self.add(&RunError::Stray { path });
        }
    }

    /// The working folders of unfinished steps, in the run or among its superseded steps.
    fn unfinished(&mut self, root: &Folder, run: &Folder) {
        for work in self.read(UnfinishedWork::all(root)).unwrap_or_default() {
            let step = work.step();
            // A kill can leave a part of the working folder of a finished step.
            let is_own = |(folder, finished): &(Folder, FinishedStep)| {
                folder.root() == root.root() && finished.manifest.identity().short() == step
            };
            if self.steps.iter().any(is_own) {
                continue;
            }
            self.unfinished += 1;
            let slot = self.read(work.slot());
            let notes = self.read(work.notes()).unwrap_or_default();
            let others = work.others();
            if slot == Some(None) && !(notes.is_empty() && others.is_empty()) {
                self.add(&work.claim_lost());
            }
            for path in notes {
                let Some(Some(mut note)) = self.read(ShardNote::<IgnoredAny>::read(&path)) else { continue };
                if let Some(slot) = slot.flatten() {
                    note.files.iter_mut().for_each(|entry| entry.path = slot.adopt(&entry.path));
                }
                self.shards += 1;
                // A kill can come when some files of a superseded step have moved, and its note has not.
                self.shard([root.root(), &run.superseded().join(&step)], &note.files);
            }
            if let Some(path) = work.finished_before() {
                self.read(Manifest::read(&path));
            }
            self.work.extend(others);
        }
    }

    /// The files of a finished shard, each in one of two folders. The shard is done again without one that is missing or cut off.
    fn shard(&mut self, [root, other]: [&Path; 2], files: &[FileEntry]) {
        for entry in files {
            let has_moved = !root.join(&entry.path).exists() && other.join(&entry.path).exists();
            let folder = if has_moved { other } else { root };
            self.read(verify_file(folder, entry).map_err(RunError::from));
        }
    }

    /// The promoted nets, which are those of finished steps.
    fn generations(&mut self, folder: &Folder, history: &History) {
        let Some(generations) = self.read(Generations::open(folder)) else { return };
        self.read(generations.check(history));
        let generations = generations.into_all();
        let made: BTreeSet<&str> = self
            .steps
            .iter()
            .flat_map(|(_, step)| step.manifest.files.iter().map(|entry| entry.blake3.as_str()))
            .collect();
        let unknown: Vec<u32> = generations
            .iter()
            .filter(|one| !made.contains(one.blake3.as_str()))
            .map(|one| one.generation)
            .collect();
        for generation in unknown {
            let cause = format!("no finished step has made the net of generation {generation}");
            self.add(&Remedy::Rewrite.damaged(&folder.generations(), cause));
        }
    }
}
