//! The step store: a run's finished steps, and the files in their slots.
//!
//! A slot belongs to one step at a time. When the script needs it for another step, or goes another way than the step there, the
//! files move to `superseded/<step>/`, and return if the script calls the old step again. Nothing is ever deleted.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use dc0_core::durable;

use super::error::RunError;
use super::files;
use super::folder::Folder;
use super::history::RecordedManifests;
use super::identity::Identity;
use super::manifest::Manifest;
use super::slot::Slot;
use super::view::{FinishedStep, RunView, manifest_files};
use super::workspace::{Claim, UnfinishedWork};

/// The name, among superseded steps, for files whose step is not known.
pub(super) const UNKNOWN: &str = "unknown";

/// The finished steps of a run.
#[derive(Debug)]
pub struct StepStore {
    folder: Folder,
    steps: BTreeMap<Identity, FinishedStep>,
    /// What the journal had recorded when the run was opened.
    recorded: RecordedManifests,
}

/// The short identities of steps that were superseded because the script has gone another way.
#[derive(Debug, Default)]
pub struct SupersededSteps {
    /// Those that were finished.
    pub finished: BTreeSet<String>,
    /// Those that were not.
    pub unfinished: BTreeSet<String>,
}

/// The state of a step whose slot has been made ready.
#[derive(Debug, Default)]
pub struct PreparedSlot {
    /// Short identities of the steps that were superseded.
    pub moved: BTreeSet<String>,
    /// The step's manifest, if it is finished.
    pub manifest: Option<Manifest>,
    /// Whether it was among the superseded steps.
    pub has_returned: bool,
    /// A file that the finished step has lost, so it must be done again.
    pub missing: Option<String>,
    /// Whether the set of finished steps or their order has changed.
    pub is_changed: bool,
}

impl StepStore {
    /// Reads the manifests of all finished steps. A step whose manifest is gone is not finished.
    pub fn open(folder: &Folder, recorded: RecordedManifests) -> Result<Self, RunError> {
        let mut store = Self { folder: folder.clone(), steps: BTreeMap::new(), recorded };
        for step in RunView::new(folder.clone()).stored_steps(&store.recorded)? {
            store.keep(step)?;
        }
        for identity in store.steps.keys() {
            Claim::release(folder, identity)?;
        }
        store.finish_moves()?;
        Ok(store)
    }

    /// Keeps a manifest that was read. Of two for a step, the one whose files are there is kept: a kill can come while a step moves.
    fn keep(&mut self, step: FinishedStep) -> Result<(), RunError> {
        let identity = step.manifest.identity();
        let (kept, removed) = match self.steps.remove(&identity) {
            None => (step, None),
            Some(other) if step.manifest.missing_file(&self.folder)?.is_none() => (step, Some(other)),
            Some(other) => (other, Some(step)),
        };
        if let Some(FinishedStep { path, .. }) = removed {
            log::warn!(
                "{} is another manifest of the same step as {}, and was removed",
                path.display(),
                kept.path.display()
            );
            fs::remove_file(&path).map_err(RunError::io("remove", &path))?;
        }
        self.steps.insert(identity, kept);
        Ok(())
    }

    /// The finished steps of which the journal has no entry, because a kill came first.
    pub fn unrecorded(&self) -> impl Iterator<Item = &Manifest> {
        let manifests = self.steps.values().map(|step| &step.manifest);
        manifests.filter(|manifest| !self.recorded.is_current(manifest.identity().short()))
    }

    /// The short identities of steps that the journal records as finished, and whose manifests are gone.
    pub fn lost(&self) -> Result<Vec<String>, RunError> {
        let run = RunView::new(self.folder.clone());
        let is_stored = |step: &str| self.steps.keys().any(|stored| stored.short() == step);
        let mut lost = Vec::new();
        for step in self.recorded.current().filter(|step| !is_stored(step)) {
            if !run.has_moved(step)? {
                lost.push(step.to_owned());
            }
        }
        Ok(lost)
    }

    /// The short identities of steps that the journal records as finished, and that were superseded when a kill came before its entry.
    pub fn moved(&self) -> impl Iterator<Item = &str> {
        let is_stored = |step: &str| self.steps.keys().any(|stored| stored.short() == step);
        let has_left = |step: &str| self.folder.superseded().join(step).join("steps").is_dir();
        self.recorded.current().filter(move |step| !is_stored(step) && has_left(step))
    }

    /// The number of finished steps.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether there are no finished steps.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// All finished steps with their positions in the script, sorted by position.
    pub fn in_order(&self) -> Vec<(u32, &Manifest)> {
        let mut steps: Vec<(u32, &Manifest)> =
            self.steps.values().map(|step| (step.order().unwrap_or(u32::MAX), &step.manifest)).collect();
        steps.sort_by_key(|(order, manifest)| (*order, &manifest.step));
        steps
    }

    /// Whether a step is finished, here or among the superseded ones; it may have lost files.
    pub fn has(&self, identity: &Identity) -> Result<bool, RunError> {
        if self.steps.contains_key(identity) {
            return Ok(true);
        }
        let superseded = manifest_files(&self.folder.superseded_step(identity))?;
        superseded.first().map_or(Ok(false), |path| Ok(Manifest::read(path)?.identity() == *identity))
    }

    /// Makes a slot ready for a step: files of other steps move to `superseded/`, and files of this step move into the slot, from
    /// there or from another slot.
    pub fn prepare(&mut self, identity: &Identity, slot: Slot, order: u32) -> Result<PreparedSlot, RunError> {
        let mut moved = self.clear_finished(identity, slot)?;
        moved.extend(self.clear_unfinished(identity, slot)?);
        let path_before = self.steps.get(identity).map(|step| step.path.clone());
        self.restore(identity, slot)?;
        let Some(step) = self.steps.remove(identity) else {
            let is_changed = !moved.is_empty();
            return Ok(PreparedSlot { moved, is_changed, ..PreparedSlot::default() });
        };
        let step = self.move_to(step, slot, order)?;
        let is_changed = !moved.is_empty() || path_before.as_ref() != Some(&step.path);
        let missing = step.manifest.missing_file(&self.folder)?;
        if missing.is_some() {
            Claim::reopen(&self.folder, identity, &step.path)?;
            return Ok(PreparedSlot { moved, missing, is_changed: true, ..PreparedSlot::default() });
        }
        self.steps.insert(identity.clone(), step.clone());
        let has_returned = path_before.is_none();
        Ok(PreparedSlot { moved, manifest: Some(step.manifest), has_returned, missing: None, is_changed })
    }

    /// Adds a step that was just done. Returns its manifest as read back from the file, so that numbers are the same now and
    /// after reopening.
    pub fn add(&mut self, manifest: &Manifest, order: u32) -> Result<Manifest, RunError> {
        let path = self.folder.steps().join(manifest.file_name(order));
        // Shards are written without it, and a manifest implies that its files exist.
        let folders: BTreeSet<PathBuf> = manifest
            .files
            .iter()
            .filter_map(|file| Some(self.folder.path(&file.path).parent()?.to_owned()))
            .collect();
        for folder in folders {
            durable::flush_folder(&folder).map_err(RunError::io("flush", &folder))?;
        }
        manifest.write(&path)?;
        Claim::release(&self.folder, &manifest.identity())?;
        let manifest = Manifest::read(&path)?;
        self.steps.insert(manifest.identity(), FinishedStep { manifest: manifest.clone(), path });
        Ok(manifest)
    }

    /// Moves finished steps out of a slot. The manifest moves first, because a manifest in `steps` implies that its files exist.
    fn clear_finished(&mut self, own: &Identity, slot: Slot) -> Result<BTreeSet<String>, RunError> {
        let in_slot = |step: &FinishedStep| step.manifest.files.iter().any(|entry| slot.holds(&entry.path));
        let others: Vec<Identity> = self
            .steps
            .iter()
            .filter(|(id, step)| *id != own && in_slot(step))
            .map(|(id, _)| id.clone())
            .collect();
        self.supersede(&others)
    }

    /// Moves finished steps to the superseded ones; returns their short identities.
    fn supersede(&mut self, steps: &[Identity]) -> Result<BTreeSet<String>, RunError> {
        for identity in steps {
            let step = self.steps.remove(identity).expect("a finished step");
            let target = superseded_folder(identity.short());
            let name =
                step.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            files::relocate(&self.folder, &format!("steps/{name}"), &format!("{target}/steps/{name}"))?;
            for entry in &step.manifest.files {
                files::relocate(&self.folder, &entry.path, &format!("{target}/{}", entry.path))?;
            }
        }
        Ok(steps.iter().map(|identity| identity.short().to_owned()).collect())
    }

    /// Moves all steps but the `called` ones to the superseded ones.
    pub fn supersede_others(&mut self, called: &BTreeSet<Identity>) -> Result<SupersededSteps, RunError> {
        let others: Vec<Identity> =
            self.steps.keys().filter(|identity| !called.contains(identity)).cloned().collect();
        let finished = self.supersede(&others)?;
        self.finish_moves()?;
        let mut unfinished = BTreeSet::new();
        for work in UnfinishedWork::all(&self.folder)? {
            let step = work.step();
            if !called.iter().any(|identity| *identity.short() == step) {
                if let Some(slot) = work.slot()? {
                    self.clear_slot(slot, |owner| (owner == step).then_some(owner))?;
                }
                self.move_folder(&format!("steps/work/{step}"), &superseded_folder(&step))?;
                unfinished.insert(step);
            }
        }
        Ok(SupersededSteps { finished, unfinished })
    }

    /// Moves the files that a kill has kept from following the manifests of superseded steps.
    fn finish_moves(&self) -> Result<(), RunError> {
        let files = self.steps.values().flat_map(|step| &step.manifest.files);
        let current: BTreeSet<&str> = files.map(|entry| entry.path.as_str()).collect();
        let superseded = self.folder.superseded();
        for name in files::names_if_there(&superseded)? {
            for path in manifest_files(&Folder::at(&superseded.join(&name)))? {
                for entry in &Manifest::read(&path)?.files {
                    let target = format!("{}/{}", superseded_folder(&name), entry.path);
                    if !current.contains(entry.path.as_str()) && !self.folder.path(&target).exists() {
                        files::relocate(&self.folder, &entry.path, &target)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Moves files of unfinished steps out of a slot.
    fn clear_unfinished(&self, own: &Identity, slot: Slot) -> Result<BTreeSet<String>, RunError> {
        // A finished step has no files but those of its manifest.
        let own_strays = self.steps.contains_key(own).then_some(UNKNOWN);
        let moved = self.clear_slot(slot, |owner| {
            if owner == own.short() { own_strays.map(str::to_owned) } else { Some(owner) }
        })?;
        for owner in &moved {
            self.move_folder(&format!("steps/work/{owner}"), &superseded_folder(owner))?;
        }
        Ok(moved)
    }

    /// Moves files of a slot that are of no finished step: given the owner of each, the superseded step to which it goes. Returns
    /// these steps.
    fn clear_slot(
        &self,
        slot: Slot,
        target: impl Fn(String) -> Option<String>,
    ) -> Result<BTreeSet<String>, RunError> {
        let finished = self.steps.values().flat_map(|step| &step.manifest.files);
        let finished: BTreeSet<&str> = finished.map(|entry| entry.path.as_str()).collect();
        let mut moved = BTreeSet::new();
        for folder in slot.series.folders() {
            for path in files::below(self.folder.root(), folder)? {
                if !slot.holds(&path) || finished.contains(path.as_str()) {
                    continue;
                }
                if let Some(step) = target(self.owner(&path, slot)?) {
                    files::relocate(&self.folder, &path, &format!("{}/{path}", superseded_folder(&step)))?;
                    moved.insert(step);
                }
            }
        }
        Ok(moved)
    }

    /// The step that a stray file belongs to, from its name, from a claim on the slot, or from a manifest that was moved to
    /// `superseded/` before a kill.
    fn owner(&self, path: &str, slot: Slot) -> Result<String, RunError> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let named = name
            .strip_prefix("part-")
            .and_then(|rest| rest.split_once('-'))
            .map(|(owner, _)| owner.to_owned());
        if let Some(owner) = named {
            return Ok(owner);
        }
        if let Some(owner) = Claim::holder(&self.folder, slot)? {
            return Ok(owner);
        }
        let superseded = self.folder.superseded();
        for name in files::names_if_there(&superseded)? {
            let folder = Folder::at(&superseded.join(name));
            // A step that has its file already is not the one that lost this one.
            if folder.path(path).exists() {
                continue;
            }
            let steps = RunView::new(folder).stored_steps(&self.recorded)?;
            let is_owner = |step: &FinishedStep| step.manifest.files.iter().any(|entry| entry.path == path);
            if let Some(owner) = steps.into_iter().find(is_owner) {
                return Ok(owner.manifest.identity().short().to_owned());
            }
        }
        Ok(UNKNOWN.to_owned())
    }

    /// Moves a folder with all its files into the folder `target`.
    fn move_folder(&self, folder: &str, target: &str) -> Result<(), RunError> {
        for path in files::below(self.folder.root(), folder)? {
            files::relocate(&self.folder, &path, &format!("{target}/{path}"))?;
        }
        files::remove_empty(&self.folder.path(folder));
        Ok(())
    }

    /// Restores the files of a superseded step. The manifest comes last, as when the step was done.
    fn restore(&mut self, identity: &Identity, slot: Slot) -> Result<(), RunError> {
        let base = self.folder.superseded_step(identity);
        let manifests = manifest_files(&base)?;
        let manifest = match manifests.first() {
            Some(path) => Some(Manifest::read(path)?).filter(|manifest| manifest.identity() == *identity),
            None if Claim::belongs_to(base.root(), identity)? => None,
            None => return Ok(()),
        };
        if manifest.is_none() && !manifests.is_empty() {
            return Ok(());
        }
        for path in files::below(base.root(), "")? {
            if !manifests.contains(&base.path(&path)) {
                let source = superseded_folder(identity.short());
                files::relocate(&self.folder, &format!("{source}/{path}"), &slot.adopt(&path))?;
            }
        }
        if let (Some(mut manifest), Some(path)) = (manifest, manifests.first()) {
            manifest.files.iter_mut().for_each(|entry| entry.path = slot.adopt(&entry.path));
            let name = path.file_name().expect("a manifest is a file");
            let step = FinishedStep { path: self.folder.steps().join(name), manifest };
            step.check(&self.recorded)?;
            step.manifest.write(&step.path)?;
            fs::remove_file(path).map_err(RunError::io("remove", path))?;
            self.steps.insert(identity.clone(), step);
        }
        files::remove_empty(base.root());
        Ok(())
    }

    /// Moves a finished step's files to its current slot, and renames its manifest for its current position in the script.
    fn move_to(&self, mut step: FinishedStep, slot: Slot, order: u32) -> Result<FinishedStep, RunError> {
        let target = self.folder.steps().join(step.manifest.file_name(order));
        let in_slot = step.manifest.files.iter().all(|entry| slot.adopt(&entry.path) == entry.path);
        if in_slot && target == step.path {
            return Ok(step);
        }
        for entry in &mut step.manifest.files {
            let new_path = slot.adopt(&entry.path);
            if new_path != entry.path {
                files::relocate(&self.folder, &entry.path, &new_path)?;
                entry.path = new_path;
            }
        }
        step.manifest.write(&target)?;
        if target != step.path {
            fs::remove_file(&step.path).map_err(RunError::io("remove", &step.path))?;
        }
        Ok(FinishedStep { path: target, ..step })
    }
}

/// The folder for the files of a superseded step, relative to the run.
fn superseded_folder(step: &str) -> String {
    format!("superseded/{step}")
}
