//! Finished steps, and the files in their slots.
//!
//! A slot belongs to one step at a time. When the script comes to another step for a slot, what lies there moves to
//! `superseded/<step>/`, and comes back should the script ask for it again. Nothing is ever deleted.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::error::RunError;
use super::files;
use super::folder::Folder;
use super::identity::Identity;
use super::manifest::Manifest;
use super::slot::Slot;
use super::view::{FinishedStep, RunView, manifest_files};
use super::work::Claim;

/// All finished steps of a run.
#[derive(Debug)]
pub struct Shelf {
    folder: Folder,
    kept: BTreeMap<Identity, FinishedStep>,
}

/// What came of making a slot ready for a step.
#[derive(Debug)]
pub struct Settled {
    /// Steps whose files moved aside.
    pub moved: BTreeSet<String>,
    /// The step's manifest, if it is finished.
    pub manifest: Option<Manifest>,
    /// A file that a finished step has lost, so that it must be done again.
    pub missing: Option<String>,
    /// Whether other steps are finished than before, or in another order.
    pub is_changed: bool,
}

impl Shelf {
    /// Reads the manifests of all finished steps.
    pub fn open(folder: &Folder) -> Result<Self, RunError> {
        let mut shelf = Self { folder: folder.clone(), kept: BTreeMap::new() };
        for step in RunView::new(folder.clone()).steps()? {
            shelf.kept.insert(step.manifest.identity(), step);
        }
        for identity in shelf.kept.keys() {
            Claim::release(folder, identity)?;
        }
        Ok(shelf)
    }

    /// The number of finished steps.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether no step is finished.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// All finished steps with their places in the script, in this order.
    pub fn in_order(&self) -> Vec<(u32, &Manifest)> {
        let mut steps: Vec<(u32, &Manifest)> =
            self.kept.values().map(|kept| (kept.order().unwrap_or(u32::MAX), &kept.manifest)).collect();
        steps.sort_by_key(|(order, manifest)| (*order, &manifest.step));
        steps
    }

    /// Makes a slot ready for a step: what belongs to other steps moves aside, and what the step left here, elsewhere or
    /// aside comes to the slot.
    pub fn settle(&mut self, identity: &Identity, slot: Slot, order: u32) -> Result<Settled, RunError> {
        let mut moved = self.clear_finished(identity, slot)?;
        moved.extend(self.clear_strays(identity, slot)?);
        let place = |shelf: &Self| shelf.kept.get(identity).map(|kept| kept.path.clone());
        let before = place(self);
        self.bring_back(identity, slot)?;
        let Some(kept) = self.kept.remove(identity) else {
            let is_changed = !moved.is_empty();
            return Ok(Settled { moved, manifest: None, missing: None, is_changed });
        };
        let kept = self.adopt(kept, slot, order)?;
        let is_changed = !moved.is_empty() || before.as_ref() != Some(&kept.path);
        let missing = kept.manifest.missing_file(&self.folder)?;
        if missing.is_some() {
            Claim::reopen(&self.folder, identity, &kept.path)?;
            return Ok(Settled { moved, manifest: None, missing, is_changed: true });
        }
        self.kept.insert(identity.clone(), kept.clone());
        Ok(Settled { moved, manifest: Some(kept.manifest), missing: None, is_changed })
    }

    /// Keeps a step that was just done. Returns its manifest as it will be read from now on, to the last digit.
    pub fn keep(&mut self, manifest: &Manifest, order: u32) -> Result<Manifest, RunError> {
        let path = self.folder.steps().join(manifest.file_name(order));
        manifest.write(&path)?;
        Claim::release(&self.folder, &manifest.identity())?;
        let manifest = Manifest::read(&path)?;
        self.kept.insert(manifest.identity(), FinishedStep { manifest: manifest.clone(), path });
        Ok(manifest)
    }

    /// Moves finished steps out of a slot. The manifest goes first: a manifest in `steps` says that its files are there.
    fn clear_finished(&mut self, own: &Identity, slot: Slot) -> Result<BTreeSet<String>, RunError> {
        let in_slot = |kept: &FinishedStep| kept.manifest.files.iter().any(|entry| slot.holds(&entry.path));
        let others: Vec<Identity> = self
            .kept
            .iter()
            .filter(|(id, kept)| *id != own && in_slot(kept))
            .map(|(id, _)| id.clone())
            .collect();
        for identity in &others {
            let kept = self.kept.remove(identity).expect("listed just now");
            let aside = aside(identity.short());
            let name =
                kept.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            files::relocate(&self.folder, &format!("steps/{name}"), &format!("{aside}/steps/{name}"))?;
            for entry in &kept.manifest.files {
                files::relocate(&self.folder, &entry.path, &format!("{aside}/{}", entry.path))?;
            }
        }
        Ok(others.iter().map(|identity| identity.short().to_owned()).collect())
    }

    /// Moves files of unfinished steps out of a slot.
    fn clear_strays(&self, own: &Identity, slot: Slot) -> Result<BTreeSet<String>, RunError> {
        let own_files = self.kept.get(own).map(|kept| kept.manifest.files.as_slice()).unwrap_or_default();
        let mut moved = BTreeSet::new();
        for folder in slot.series.folders() {
            for path in files::below(self.folder.root(), folder)? {
                if !slot.holds(&path) || own_files.iter().any(|entry| entry.path == path) {
                    continue;
                }
                let owner = self.owner(&path, slot)?;
                if owner != own.short() {
                    files::relocate(&self.folder, &path, &format!("{}/{path}", aside(&owner)))?;
                    moved.insert(owner);
                }
            }
        }
        for owner in &moved {
            self.put_aside(&format!("steps/work/{owner}"), &aside(owner))?;
        }
        Ok(moved)
    }

    /// Which unfinished step a file belongs to: its name may say, or a claim on the slot, or a manifest put aside before
    /// a kill.
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
        let aside = self.folder.superseded();
        for name in files::names_if_there(&aside)? {
            let steps = RunView::at(&aside.join(name)).steps()?;
            let is_owner = |step: &FinishedStep| step.manifest.files.iter().any(|entry| entry.path == path);
            if let Some(owner) = steps.into_iter().find(is_owner) {
                return Ok(owner.manifest.identity().short().to_owned());
            }
        }
        Ok("unknown".to_owned())
    }

    fn put_aside(&self, folder: &str, aside: &str) -> Result<(), RunError> {
        for path in files::below(self.folder.root(), folder)? {
            files::relocate(&self.folder, &path, &format!("{aside}/{path}"))?;
        }
        files::remove_empty(&self.folder.path(folder));
        Ok(())
    }

    /// Brings back what lies aside for a step. The manifest comes last, as when the step was done.
    fn bring_back(&mut self, identity: &Identity, slot: Slot) -> Result<(), RunError> {
        let base = self.folder.aside(identity);
        let manifests = manifest_files(&base)?;
        let manifest = match manifests.first() {
            Some(path) => Some(Manifest::read(path)?).filter(|manifest| manifest.identity() == *identity),
            None if Claim::is_of(base.root(), identity)? => None,
            None => return Ok(()),
        };
        if manifest.is_none() && !manifests.is_empty() {
            return Ok(());
        }
        for path in files::below(base.root(), "")? {
            if !manifests.contains(&base.path(&path)) {
                let aside = aside(identity.short());
                files::relocate(&self.folder, &format!("{aside}/{path}"), &slot.adopt(&path))?;
            }
        }
        if let (Some(mut manifest), Some(path)) = (manifest, manifests.first()) {
            manifest.files.iter_mut().for_each(|entry| entry.path = slot.adopt(&entry.path));
            let name = path.file_name().expect("a manifest is a file");
            let kept = FinishedStep { path: self.folder.steps().join(name), manifest };
            kept.manifest.write(&kept.path)?;
            fs::remove_file(path).map_err(RunError::io("remove", path))?;
            self.kept.insert(identity.clone(), kept);
        }
        files::remove_empty(base.root());
        Ok(())
    }

    /// Moves a finished step's files to the slot that the script now has for it, and its manifest to its place there.
    fn adopt(&self, mut kept: FinishedStep, slot: Slot, order: u32) -> Result<FinishedStep, RunError> {
        let goal = self.folder.steps().join(kept.manifest.file_name(order));
        let settled = kept.manifest.files.iter().all(|entry| slot.adopt(&entry.path) == entry.path);
        if settled && goal == kept.path {
            return Ok(kept);
        }
        for entry in &mut kept.manifest.files {
            let there = slot.adopt(&entry.path);
            if there != entry.path {
                files::relocate(&self.folder, &entry.path, &there)?;
                entry.path = there;
            }
        }
        kept.manifest.write(&goal)?;
        if goal != kept.path {
            fs::remove_file(&kept.path).map_err(RunError::io("remove", &kept.path))?;
        }
        Ok(FinishedStep { path: goal, ..kept })
    }
}

/// The folder for what a step had to leave.
fn aside(step: &str) -> String {
    format!("superseded/{step}")
}
