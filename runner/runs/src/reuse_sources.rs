//! Reuse of finished steps: a step that another run has finished is taken over instead of being done again.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard};

use dc0_core::durable;
use dc0_core::poison::IgnorePoison as _;

use super::error::RunError;
use super::folder::Folder;
use super::identity::Identity;
use super::manifest::Manifest;
use super::record::{Environment, Record};
use super::slot::Slot;
use super::view::RunView;

/// Runs that share their finished steps. If several of them reach equal steps at the same time, only one does the work.
#[derive(Debug, Default)]
pub struct ReuseSources {
    runs: Mutex<Vec<Folder>>,
    in_progress: Mutex<BTreeSet<Identity>>,
    changed: Condvar,
}

/// The exclusive right to do a step; other runs that need the same step wait until this value is dropped.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    sources: &'a ReuseSources,
    identity: Identity,
}

impl ReuseSources {
    /// Adds a run, which may still be in progress.
    pub fn add(&self, run: Folder) {
        let mut runs = lock(&self.runs);
        if runs.iter().all(|known| known.root() != run.root()) {
            runs.push(run);
        }
    }

    /// Checks that a run with this environment gets the same results as all of these.
    pub(super) fn check(&self, own: &Environment) -> Result<(), RunError> {
        // A run that another trial is creating right now has the same environment, or its own check reports the difference.
        for run in lock(&self.runs).iter().filter(|run| run.is_run()) {
            let Some(record) = Record::read(run)? else { continue };
            let (found, own) = (record.environment.rounding(), own.rounding());
            if found != own {
                return Err(RunError::OtherEnvironment { folder: run.root().to_owned(), found, own });
            }
        }
        Ok(())
    }

    /// Waits until no other run of this process is working on the step.
    pub(super) fn turn(&self, identity: &Identity) -> Turn<'_> {
        let in_progress = lock(&self.in_progress);
        let waited = self.changed.wait_while(in_progress, |steps| steps.contains(identity));
        waited.ignore_poison().insert(identity.clone());
        Turn { sources: self, identity: identity.clone() }
    }

    /// Finds a run other than `own` that has finished the step and still has all its files.
    pub(super) fn find(
        &self,
        identity: &Identity,
        own: &Folder,
    ) -> Result<Option<(Folder, Manifest)>, RunError> {
        let runs = lock(&self.runs).clone();
        for run in runs.into_iter().filter(|run| run.root() != own.root()) {
            let Some(manifest) = RunView::new(run.clone()).step(identity)? else { continue };
            if manifest.missing_file(&run)?.is_none() {
                return Ok(Some((run, manifest)));
            }
        }
        Ok(None)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        lock(&self.sources.in_progress).remove(&self.identity);
        self.sources.changed.notify_all();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().ignore_poison()
}

/// Links another run's files into a slot of this run. Files of finished steps never change, so both runs can share them;
/// they are copied where the file system has no hard links.
pub(super) fn take_over(
    from: &Folder,
    manifest: Manifest,
    to: &Folder,
    slot: Slot,
) -> Result<Manifest, RunError> {
    let mut taken = manifest;
    for entry in &mut taken.files {
        let source = from.path(&entry.path);
        entry.path = slot.adopt(&entry.path);
        let target = to.path(&entry.path);
        share(&source, &target).map_err(RunError::io("take over", &source))?;
    }
    Ok(taken)
}

fn share(source: &Path, target: &Path) -> io::Result<()> {
    let folder = target.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let temporary = target.with_added_extension(format!("{}.tmp", std::process::id()));
    if fs::hard_link(source, &temporary).is_err() {
        fs::copy(source, &temporary)?;
        File::open(&temporary)?.sync_all()?;
    }
    // The rename does nothing if both are already the same file, so the temporary name is removed explicitly.
    fs::rename(&temporary, target)?;
    match fs::remove_file(&temporary) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(cause),
        _ => durable::flush_folder(folder),
    }
}
