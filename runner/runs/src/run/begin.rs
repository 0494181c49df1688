//! Takes over the steps that a fork begins with.

use std::path::Path;

use dc0_core::store::verify_files;

use super::{Finished, Run};
use crate::error::RunError;
use crate::folder::Folder;
use crate::identity::Identity;
use crate::lock::Lock;
use crate::manifest::Manifest;
use crate::slot::Slot;
use crate::step_store::PreparedSlot;
use crate::view::RunView;

/// Where a fork's first steps are taken over from.
#[derive(Debug, Clone, Copy)]
pub enum ForkSource<'a> {
    /// The run that its record names, in this folder of runs.
    In(&'a Path),
    /// Another run that has these steps.
    Run(&'a Folder),
}

impl Run {
    /// Prepares the steps that a fork begins with: those that it does not have yet are taken over. Returns all of them with their
    /// slots.
    pub fn begin(&mut self, source: ForkSource<'_>) -> Result<Vec<(Slot, Finished)>, RunError> {
        let Some(fork) = self.record.fork.clone() else { return Ok(Vec::new()) };
        let mut opened = None;
        let mut steps = Vec::new();
        for (identity, slot) in fork.slots(&self.folder)? {
            let finished = self.adopt(&identity, slot, || match source {
                ForkSource::Run(folder) => Ok(folder.clone()),
                ForkSource::In(parent) => {
                    if let Some((folder, _)) = &opened {
                        return Ok(Folder::clone(folder));
                    }
                    let folder = Folder::of_existing(parent, &fork.from)?;
                    let lock = Lock::hold(&folder)?;
                    Ok(opened.insert((folder, lock)).0.clone())
                }
            })?;
            steps.push((slot, finished));
        }
        Ok(steps)
    }

    /// Takes over a step, unless the fork has it already.
    fn adopt(
        &mut self,
        identity: &Identity,
        slot: Slot,
        source: impl FnOnce() -> Result<Folder, RunError>,
    ) -> Result<Finished, RunError> {
        let order = self.steps;
        self.steps += 1;
        self.called.insert(identity.clone());
        let PreparedSlot { moved, manifest, .. } = self.store.prepare(identity, slot, order)?;
        self.note_superseded(moved, identity)?;
        let finished = if let Some(manifest) = manifest {
            self.finished(manifest, true)
        } else {
            let source = source()?;
            let manifest = verified(&source, identity)?;
            self.take_over(&source, manifest, slot, order)?
        };
        if let Some(call) = finished.manifest.call() {
            self.occurrences.next(&call, finished.manifest.seed);
        }
        Ok(finished)
    }
}

/// Reads a finished step of another run, and verifies the digests of its files.
fn verified(source: &Folder, identity: &Identity) -> Result<Manifest, RunError> {
    let gone = || RunError::ForkGone { folder: source.root().to_owned(), step: identity.short().to_owned() };
    let manifest = RunView::new(source.clone()).step(identity)?.ok_or_else(gone)?;
    verify_files(source.root(), &manifest.files)?;
    Ok(manifest)
}
