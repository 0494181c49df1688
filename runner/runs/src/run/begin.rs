//! The steps that a fork begins with, taken over from the other run.

use std::path::Path;

use dc0_core::store::verify_files;

use super::{Finished, Run};
use crate::error::RunError;
use crate::folder::Folder;
use crate::identity::Identity;
use crate::lock::Lock;
use crate::manifest::Manifest;
use crate::shelf::Settled;
use crate::slot::Slot;
use crate::view::RunView;

impl Run {
    /// Does the steps that a fork begins with: those that are not there yet are taken over from the other run, a run of
    /// `parent`. Gives all of them with their places.
    pub fn begin(&mut self, parent: &Path) -> Result<Vec<(Slot, Finished)>, RunError> {
        let Some(fork) = self.record.fork.clone() else { return Ok(Vec::new()) };
        let mut donor = None;
        let mut begun = Vec::new();
        for (identity, slot) in fork.places(&self.folder)? {
            let finished = self.adopt(&identity, slot, || match &mut donor {
                Some((folder, _)) => Ok(Folder::clone(folder)),
                none => {
                    let folder = Folder::of_existing(parent, &fork.from)?;
                    let (folder, _) = none.insert((folder.clone(), Lock::hold(&folder)?));
                    Ok(folder.clone())
                }
            })?;
            begun.push((slot, finished));
        }
        Ok(begun)
    }

    /// Takes a step over, unless it is there.
    fn adopt(
        &mut self,
        identity: &Identity,
        slot: Slot,
        donor: impl FnOnce() -> Result<Folder, RunError>,
    ) -> Result<Finished, RunError> {
        let order = self.steps;
        self.steps += 1;
        let Settled { moved, manifest, .. } = self.shelf.settle(identity, slot, order)?;
        self.note_superseded(moved, identity)?;
        let finished = if let Some(manifest) = manifest {
            self.finished(manifest, true)
        } else {
            let donor = donor()?;
            let manifest = whole(&donor, identity)?;
            self.take_over(&donor, manifest, (slot, order))?
        };
        if let Some(call) = finished.manifest.call() {
            self.occurrences.next(&call, finished.manifest.seed);
        }
        Ok(finished)
    }
}

/// A finished step of another run, whose files are read to see that they are as they were written.
fn whole(donor: &Folder, identity: &Identity) -> Result<Manifest, RunError> {
    let gone = || RunError::ForkGone { folder: donor.root().to_owned(), step: identity.short().to_owned() };
    let manifest = RunView::new(donor.clone()).step(identity)?.ok_or_else(gone)?;
    verify_files(donor.root(), &manifest.files)?;
    Ok(manifest)
}
