//! The place of a step that is being done: its slot, its seed, and a folder for what it needs to go on after a kill.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use dc0_core::rng::Seed;
use dc0_core::store::FileEntry;

use super::document;
use super::error::RunError;
use super::files::names_if_there;
use super::folder::Folder;
use super::identity::Identity;
use super::manifest::size;
use super::meter::Meter;
use super::slot::Slot;

/// Says that an unfinished step writes to a slot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Claim {
    step: String,
    kind: String,
    slot: String,
}

const CLAIM: &str = "claim.json";

/// The slot's path in its first folder: names the slot.
fn slot_name(slot: Slot) -> String {
    slot.path(slot.series.folders()[0], "")
}

impl Claim {
    fn take(folder: &Folder, identity: &Identity, kind: &str, slot: Slot) -> Result<(), RunError> {
        let claim = Self { step: identity.digits().to_owned(), kind: kind.to_owned(), slot: slot_name(slot) };
        document::write(&folder.work(identity).join(CLAIM), &claim)
    }

    /// Ends the claim of a finished step.
    pub(super) fn release(folder: &Folder, identity: &Identity) -> Result<(), RunError> {
        let path = folder.work(identity);
        match fs::remove_dir_all(&path) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
                Err(RunError::io("remove", &path)(cause))
            }
            _ => Ok(()),
        }
    }

    /// Makes a finished step unfinished again: its manifest moves to its work, so that a kill leaves no step that looks
    /// finished without its files.
    pub(super) fn reopen(folder: &Folder, identity: &Identity, manifest: &Path) -> Result<(), RunError> {
        let work = folder.work(identity);
        fs::create_dir_all(&work).map_err(RunError::io("create", &work))?;
        fs::rename(manifest, work.join("finished-before.json")).map_err(RunError::io("move", manifest))
    }

    /// The short identity of the unfinished step that writes to a slot.
    pub(super) fn holder(folder: &Folder, slot: Slot) -> Result<Option<String>, RunError> {
        let mut claims = Self::all(folder)?.into_iter();
        Ok(claims.find(|(_, claim)| claim.slot == slot_name(slot)).map(|(holder, _)| holder))
    }

    /// What the unfinished steps of a run do.
    pub(super) fn kinds(folder: &Folder) -> Result<Vec<String>, RunError> {
        Ok(Self::all(folder)?.into_iter().map(|(_, claim)| claim.kind).collect())
    }

    /// The claims of all unfinished steps, by their short identities.
    fn all(folder: &Folder) -> Result<Vec<(String, Self)>, RunError> {
        let work = folder.all_work();
        let read = |step: String| {
            let claim: Option<Self> = document::read(&work.join(&step).join(CLAIM))?;
            Ok(claim.map(|claim| (step, claim)))
        };
        names_if_there(&work)?.into_iter().map(read).filter_map(Result::transpose).collect()
    }

    /// Whether an unfinished step was put aside in a folder.
    pub(super) fn is_of(aside: &Path, identity: &Identity) -> Result<bool, RunError> {
        let path = Folder::at(aside).work(identity).join(CLAIM);
        Ok(document::read::<Self>(&path)?.is_some_and(|claim| claim.step == identity.digits()))
    }
}

/// What a kill left of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Begun {
    /// Shards or updates that are done.
    pub parts: u32,
    /// Of so many.
    pub of: u32,
    /// `shards` or `updates`.
    pub unit: &'static str,
    /// Games, positions or updates that are done.
    pub amount: u64,
}

/// What the doing of a step is given.
#[derive(Debug, Clone)]
pub struct Workplace {
    /// The run's folder.
    pub folder: Folder,
    /// The step.
    pub identity: Identity,
    /// Where its files go.
    pub slot: Slot,
    /// Where its random streams come from.
    pub seed: Seed,
    /// Measures what is done here.
    pub meter: Arc<Meter>,
}

/// A finished shard of an unfinished step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShardNote<T> {
    /// The shard's files, relative to the run, when they were written; the slot may have another number since.
    pub files: Vec<FileEntry>,
    /// What the shard adds to the step's summary.
    pub part: T,
}

impl ShardNote<IgnoredAny> {
    /// The files of a shard, as its note says; none where it cannot be read just now.
    pub fn files(note: &Path) -> Vec<FileEntry> {
        document::read(note).ok().flatten().map_or_else(Vec::new, |note: Self| note.files)
    }
}

/// The notes of all finished shards of a run's unfinished steps, by their paths; those that cannot be listed are left out.
pub fn shard_notes(folder: &Folder) -> Vec<PathBuf> {
    let work = folder.all_work();
    let is_note =
        |name: &String| name.strip_prefix("shard-").is_some_and(|rest| rest.strip_suffix(".json").is_some());
    let notes = |step: String| {
        let own = work.join(step);
        let names = names_if_there(&own).unwrap_or_default().into_iter().filter(is_note);
        names.map(|name| own.join(name)).collect::<Vec<_>>()
    };
    names_if_there(&work).unwrap_or_default().into_iter().flat_map(notes).collect()
}

impl Workplace {
    /// Where an unfinished step that a kill interrupted left its parts, here or aside; none where it left nothing.
    pub fn of_unfinished(
        folder: &Folder,
        identity: &Identity,
        run_seed: u64,
    ) -> Result<Option<Self>, RunError> {
        for home in [folder.clone(), folder.aside(identity)] {
            let claim: Option<Claim> = document::read(&home.work(identity).join(CLAIM))?;
            let claim = claim.filter(|claim| claim.step == identity.digits());
            if let Some((slot, _, _)) = claim.as_ref().and_then(|claim| Slot::of(&claim.slot)) {
                let (identity, seed) = (identity.clone(), identity.seed(run_seed));
                let meter = Arc::new(Meter::unkept(identity.short()));
                return Ok(Some(Self { folder: home, identity, slot, seed, meter }));
            }
        }
        Ok(None)
    }

    pub(super) fn claim(&self, kind: &str) -> Result<(), RunError> {
        Claim::take(&self.folder, &self.identity, kind, self.slot)
    }

    /// A file that is removed when the step is finished.
    pub fn scratch(&self, name: &str) -> PathBuf {
        self.folder.work(&self.identity).join(name)
    }

    /// The path, relative to the run, of a shard's file in one of the slot's folders.
    pub fn part(&self, folder: &str, shard: u32) -> String {
        self.slot.path(folder, &format!("/part-{}-{shard:05}.parquet", self.identity.short()))
    }

    fn note(&self, shard: u32) -> PathBuf {
        self.scratch(&format!("shard-{shard:05}.json"))
    }

    /// Takes note of a finished shard; its files must be written.
    pub fn keep_shard<T: Serialize>(&self, shard: u32, note: &ShardNote<T>) -> Result<(), RunError> {
        document::write(&self.note(shard), note)
    }

    /// The shards among `0..count` that were finished before, with their files still there.
    pub fn finished_shards<T: DeserializeOwned>(
        &self,
        count: u32,
    ) -> Result<BTreeMap<u32, ShardNote<T>>, RunError> {
        let mut finished = BTreeMap::new();
        for shard in 0..count {
            let Some(mut note) = document::read::<ShardNote<T>>(&self.note(shard))? else {
                continue;
            };
            note.files.iter_mut().for_each(|entry| entry.path = self.slot.adopt(&entry.path));
            if self.are_whole(&note.files)? {
                finished.insert(shard, note);
            }
        }
        Ok(finished)
    }

    fn are_whole(&self, files: &[FileEntry]) -> Result<bool, RunError> {
        for entry in files {
            if size(&self.folder.path(&entry.path))? != Some(entry.bytes) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
