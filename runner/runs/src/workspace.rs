//! The workspace of a step in progress: its slot, its seed, and a folder with what it needs to resume after a kill.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use dc0_core::rng::Seed;
use dc0_core::store::{FileEntry, StoreError, TableRow, read_entry, verify_files};

use super::document;
use super::error::{Remedy, RunError};
use super::files::names_if_there;
use super::folder::Folder;
use super::identity::Identity;
use super::manifest::size;
use super::meter::Meter;
use super::slot::Slot;

/// Records that an unfinished step writes to a slot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Claim {
    step: String,
    kind: String,
    slot: String,
}

const CLAIM: &str = "claim.json";

/// The manifest of a finished step that is done again.
const FINISHED_BEFORE: &str = "finished-before.json";

/// The slot's path in its first folder, which identifies the slot.
fn slot_name(slot: Slot) -> String {
    slot.path(slot.series.folders()[0], "")
}

impl Claim {
    fn take(folder: &Folder, identity: &Identity, kind: &str, slot: Slot) -> Result<(), RunError> {
        let claim = Self { step: identity.digits().to_owned(), kind: kind.to_owned(), slot: slot_name(slot) };
        document::write_sealed(&folder.work(identity).join(CLAIM), &claim)
    }

    /// Removes the working folder of a finished step, and with it the claim.
    pub(super) fn release(folder: &Folder, identity: &Identity) -> Result<(), RunError> {
        let path = folder.work(identity);
        match fs::remove_dir_all(&path) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
                Err(RunError::io("remove", &path)(cause))
            }
            _ => Ok(()),
        }
    }

    /// Makes a finished step unfinished again by moving its manifest to its working folder, so that a kill cannot leave a step
    /// that looks finished but lacks files.
    pub(super) fn reopen(folder: &Folder, identity: &Identity, manifest: &Path) -> Result<(), RunError> {
        let work = folder.work(identity);
        fs::create_dir_all(&work).map_err(RunError::io("create", &work))?;
        fs::rename(manifest, work.join(FINISHED_BEFORE)).map_err(RunError::io("move", manifest))
    }

    /// The short identity of the unfinished step that writes to a slot.
    pub(super) fn holder(folder: &Folder, slot: Slot) -> Result<Option<String>, RunError> {
        let mut claims = Self::all(folder)?.into_iter();
        Ok(claims.find(|(_, claim)| claim.slot == slot_name(slot)).map(|(holder, _)| holder))
    }

    /// The kinds of a run's unfinished steps.
    pub(super) fn kinds(folder: &Folder) -> Result<Vec<String>, RunError> {
        Ok(Self::all(folder)?.into_iter().map(|(_, claim)| claim.kind).collect())
    }

    /// The claims of all unfinished steps, by their short identities.
    fn all(folder: &Folder) -> Result<Vec<(String, Self)>, RunError> {
        let work = folder.all_work();
        let read = |step: String| Ok(Self::read(&work.join(&step))?.map(|claim| (step, claim)));
        names_if_there(&work)?.into_iter().map(read).filter_map(Result::transpose).collect()
    }

    /// Whether a folder of superseded files belongs to this unfinished step.
    pub(super) fn belongs_to(superseded: &Path, identity: &Identity) -> Result<bool, RunError> {
        let claim = Self::read(&Folder::at(superseded).work(identity))?;
        Ok(claim.is_some_and(|claim| claim.step == identity.digits()))
    }

    /// The claim in a working folder, which has its step's name; `None` if the step has claimed nothing yet.
    fn read(work: &Path) -> Result<Option<Self>, RunError> {
        let path = work.join(CLAIM);
        let Some(claim) = document::read_sealed::<Self>(&path, Remedy::Repeat)? else { return Ok(None) };
        let owner = Identity::from_digits(&claim.step);
        if owner.is_none_or(|owner| *owner.short() != *name_of(work)) {
            let cause = format!("it is the claim of another step, {} {}", claim.kind, claim.step);
            return Err(Remedy::Repeat.damaged(&path, cause));
        }
        Ok(Some(claim))
    }
}

/// The progress of an interrupted step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartialProgress {
    /// Finished shards or updates.
    pub parts: u32,
    /// Shards or updates in total.
    pub total: u32,
    /// `shards` or `updates`.
    pub unit: &'static str,
    /// Finished games, positions or updates.
    pub amount: u64,
}

/// What the body of a step works with.
#[derive(Debug, Clone)]
pub struct StepWorkspace {
    /// The run's folder.
    pub folder: Folder,
    /// The step.
    pub identity: Identity,
    /// The slot of its files.
    pub slot: Slot,
    /// The seed of its random streams.
    pub seed: Seed,
    /// Measures this attempt.
    pub meter: Arc<Meter>,
}

/// A finished shard of an unfinished step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShardNote<T> {
    /// The shard's files, relative to the run, as of writing; the slot's number may have changed since.
    pub files: Vec<FileEntry>,
    /// The shard's part of the step's summary.
    pub part: T,
}

impl<T: Serialize> ShardNote<T> {
    /// Writes the note, sealed with its digest. If a power cut undoes it, its shard is done again.
    pub fn write(&self, path: &Path) -> Result<(), RunError> {
        document::write_sealed_part(path, self)
    }
}

impl<T: DeserializeOwned> ShardNote<T> {
    /// Reads a note; `None` if there is none. A shard's files are named after its step and its number, as the note's folder and the note
    /// are: the note of another shard would put its files into the step twice.
    pub(super) fn read(path: &Path) -> Result<Option<Self>, RunError> {
        let Some(note) = document::read_sealed::<Self>(path, Remedy::Repeat)? else { return Ok(None) };
        let step = path.parent().map(name_of).unwrap_or_default();
        let shard = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let ending = format!("{}.parquet", shard.trim_start_matches("shard"));
        let is_own = |entry: &FileEntry| entry.path.contains(&step) && entry.path.ends_with(&ending);
        match note.files.iter().find(|entry| !is_own(entry)) {
            None => Ok(Some(note)),
            Some(other) => {
                let cause = format!("it lists {}, which is no file of this shard", other.path);
                Err(Remedy::Repeat.damaged(path, cause))
            }
        }
    }
}

/// The working folder of an unfinished step.
#[derive(Debug)]
pub(super) struct UnfinishedWork {
    path: PathBuf,
}

impl UnfinishedWork {
    /// The working folders of a run, or of superseded files.
    pub(super) fn all(root: &Folder) -> Result<Vec<Self>, RunError> {
        let work = root.all_work();
        Ok(names_if_there(&work)?.into_iter().map(|step| Self { path: work.join(step) }).collect())
    }

    /// The slot that the step claims; `None` if it has claimed none yet.
    pub(super) fn slot(&self) -> Result<Option<Slot>, RunError> {
        let claim = Claim::read(&self.path)?;
        Ok(claim.and_then(|claim| Slot::parse(&claim.slot).map(|(slot, _, _)| slot)))
    }

    /// The short identity of the step.
    pub(super) fn step(&self) -> String {
        name_of(&self.path)
    }

    /// The file with which the step claims its slot.
    pub(super) fn claim(&self) -> PathBuf {
        self.path.join(CLAIM)
    }

    /// The error of a claim that is gone while its step is under way.
    pub(super) fn claim_lost(&self) -> RunError {
        Remedy::Rewrite.damaged(&self.claim(), "it is missing, though its step is under way")
    }

    /// The notes of finished shards.
    pub(super) fn notes(&self) -> Result<Vec<PathBuf>, RunError> {
        let names = names_if_there(&self.path)?.into_iter().filter(|name| is_note(name));
        Ok(names.map(|name| self.path.join(name)).collect())
    }

    /// The manifest of the step, if it was finished before.
    pub(super) fn finished_before(&self) -> Option<PathBuf> {
        Some(self.path.join(FINISHED_BEFORE)).filter(|path| path.is_file())
    }

    /// All other files.
    pub(super) fn others(&self) -> Vec<PathBuf> {
        let names = names_if_there(&self.path).unwrap_or_default().into_iter();
        let is_other = |name: &String| name != CLAIM && name != FINISHED_BEFORE && !is_note(name);
        names.filter(is_other).map(|name| self.path.join(name)).collect()
    }
}

/// A folder's own name.
fn name_of(folder: &Path) -> String {
    folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn is_note(name: &str) -> bool {
    name.strip_prefix("shard-").is_some_and(|rest| rest.strip_suffix(".json").is_some())
}

impl<T> ShardNote<T> {
    /// The rows of the shard's files, which are all of one table, in the folder of the run.
    pub fn rows<R: TableRow>(&self, root: &Path) -> Result<Vec<R>, StoreError> {
        let mut rows = Vec::new();
        for entry in &self.files {
            rows.extend(read_entry(root, entry)?);
        }
        Ok(rows)
    }
}

impl ShardNote<IgnoredAny> {
    /// The files listed in a shard's note; empty if it cannot be read at the moment.
    pub fn files(note: &Path) -> Vec<FileEntry> {
        Self::read(note).ok().flatten().map_or_else(Vec::new, |note| note.files)
    }
}

/// The paths of the notes of all finished shards of a run's unfinished steps. Folders that cannot be listed are left out.
pub fn shard_notes(folder: &Folder) -> Vec<PathBuf> {
    let work = folder.all_work();
    let notes = |step: String| {
        let own = work.join(step);
        let names = names_if_there(&own).unwrap_or_default().into_iter().filter(|name| is_note(name));
        names.map(|name| own.join(name)).collect::<Vec<_>>()
    };
    names_if_there(&work).unwrap_or_default().into_iter().flat_map(notes).collect()
}

impl StepWorkspace {
    /// The workspace of an interrupted step, here or among the superseded ones; `None` if there is none.
    pub fn of_unfinished(
        folder: &Folder,
        identity: &Identity,
        run_seed: u64,
    ) -> Result<Option<Self>, RunError> {
        for root in [folder.clone(), folder.superseded_step(identity)] {
            let claim = Claim::read(&root.work(identity))?.filter(|claim| claim.step == identity.digits());
            if let Some((slot, _, _)) = claim.as_ref().and_then(|claim| Slot::parse(&claim.slot)) {
                let (identity, seed) = (identity.clone(), identity.seed(run_seed));
                let meter = Arc::new(Meter::unrecorded(identity.short()));
                return Ok(Some(Self { folder: root, identity, slot, seed, meter }));
            }
        }
        Ok(None)
    }

    pub(super) fn claim(&self, kind: &str) -> Result<(), RunError> {
        Claim::take(&self.folder, &self.identity, kind, self.slot)
    }

    /// The work of a step beside others has ended, even if the script does not wait for it yet.
    pub fn end_work(&self) {
        self.meter.end();
        self.meter.note();
    }

    /// The path of a temporary file, which is removed once the step is finished.
    pub fn scratch(&self, name: &str) -> PathBuf {
        self.folder.work(&self.identity).join(name)
    }

    /// The path, relative to the run, of a shard's file in one of the slot's folders.
    pub fn part(&self, folder: &str, shard: u32) -> String {
        self.slot.path(folder, &format!("/part-{}-{shard:05}.parquet", self.identity.short()))
    }

    /// The path, relative to the run, of a shard's file that is removed once the step is finished.
    pub fn scratch_part(&self, shard: u32) -> String {
        format!("steps/work/{}/shard-{shard:05}.parquet", self.identity.short())
    }

    fn note(&self, shard: u32) -> PathBuf {
        self.scratch(&format!("shard-{shard:05}.json"))
    }

    /// Records a finished shard, whose files must be written already.
    pub fn keep_shard<T: Serialize>(&self, shard: u32, note: &ShardNote<T>) -> Result<(), RunError> {
        note.write(&self.note(shard))
    }

    /// Forgets a finished shard, which is then done again.
    pub fn discard_shard(&self, shard: u32) -> Result<(), RunError> {
        let path = self.note(shard);
        match fs::remove_file(&path) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
                Err(RunError::io("remove", &path)(cause))
            }
            _ => Ok(()),
        }
    }

    /// The shards among `0..count` that are already finished and whose files still exist. A file whose content has changed is an
    /// error, because it would become part of the step.
    pub fn finished_shards<T: DeserializeOwned>(
        &self,
        count: u32,
    ) -> Result<BTreeMap<u32, ShardNote<T>>, RunError> {
        let shard = |shard| Ok(self.finished_shard(shard)?.map(|note| (shard, note)));
        (0..count).map(shard).filter_map(Result::transpose).collect()
    }

    /// The shards that are finished before the first that is not, for a step whose number of shards is not known beforehand.
    pub fn first_shards<T: DeserializeOwned>(&self) -> Result<Vec<ShardNote<T>>, RunError> {
        (0..).map_while(|shard| self.finished_shard(shard).transpose()).collect()
    }

    /// The notes of all `count` shards in order, once they are finished. One that is gone again is an error: without it, the step
    /// would silently have a smaller result.
    pub fn all_shards<T: DeserializeOwned>(&self, count: u32) -> Result<Vec<ShardNote<T>>, RunError> {
        let lost = |shard| RunError::ShardLost { shard, path: self.note(shard) };
        (0..count).map(|shard| self.finished_shard(shard)?.ok_or_else(|| lost(shard))).collect()
    }

    fn finished_shard<T: DeserializeOwned>(&self, shard: u32) -> Result<Option<ShardNote<T>>, RunError> {
        let Some(mut note) = ShardNote::<T>::read(&self.note(shard))? else { return Ok(None) };
        note.files.iter_mut().for_each(|entry| entry.path = self.slot.adopt(&entry.path));
        if !are_complete(&self.folder, &note.files)? {
            return Ok(None);
        }
        verify_files(self.folder.root(), &note.files)?;
        Ok(Some(note))
    }
}

/// Whether all files exist in their full size. A cut or missing file is no error: its shard is done again.
fn are_complete(folder: &Folder, files: &[FileEntry]) -> Result<bool, RunError> {
    for entry in files {
        if size(&folder.path(&entry.path))? != Some(entry.bytes) {
            return Ok(false);
        }
    }
    Ok(true)
}
