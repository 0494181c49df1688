//! Steps that other runs have finished: taken over instead of being done again.

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

/// Runs that give their finished steps to each other. Equal steps that several of them come to at once are done by one.
#[derive(Debug, Default)]
pub struct Donors {
    runs: Mutex<Vec<Folder>>,
    at_work: Mutex<BTreeSet<Identity>>,
    changed: Condvar,
}

/// The right to do a step; others that want the same one wait until this value is gone.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    donors: &'a Donors,
    identity: Identity,
}

impl Donors {
    /// Adds a run, which may still be at work.
    pub fn add(&self, run: Folder) {
        let mut runs = lock(&self.runs);
        if runs.iter().all(|known| known.root() != run.root()) {
            runs.push(run);
        }
    }

    /// Whether a run with this environment comes to the same results as all of these.
    pub(super) fn check(&self, own: &Environment) -> Result<(), RunError> {
        // One that is being created right now by another trial has the same environment, or says so itself.
        for run in lock(&self.runs).iter().filter(|run| run.is_run()) {
            let Some(record) = Record::read(run)? else { continue };
            let (found, own) = (record.environment.rounding(), own.rounding());
            if found != own {
                return Err(RunError::OtherEnvironment { folder: run.root().to_owned(), found, own });
            }
        }
        Ok(())
    }

    /// Waits until no other run of this process is at a step.
    pub(super) fn turn(&self, identity: &Identity) -> Turn<'_> {
        let at_work = lock(&self.at_work);
        let waited = self.changed.wait_while(at_work, |at_work| at_work.contains(identity));
        waited.ignore_poison().insert(identity.clone());
        Turn { donors: self, identity: identity.clone() }
    }

    /// A run other than `own` that has finished a step and still has all its files.
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
        lock(&self.donors.at_work).remove(&self.identity);
        self.donors.changed.notify_all();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().ignore_poison()
}

/// Puts another run's files into a slot of one's own. Files of finished steps never change, so both runs may have the same
/// ones; where the file system cannot do that, they are copied.
pub(super) fn take_over(
    (from, manifest): (&Folder, Manifest),
    to: &Folder,
    slot: Slot,
) -> Result<Manifest, RunError> {
    let mut taken = manifest;
    for entry in &mut taken.files {
        let source = from.path(&entry.path);
        entry.path = slot.adopt(&entry.path);
        let goal = to.path(&entry.path);
        share(&source, &goal).map_err(RunError::io("take over", &source))?;
    }
    Ok(taken)
}

fn share(source: &Path, goal: &Path) -> io::Result<()> {
    let folder = goal.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let beside = goal.with_added_extension(format!("{}.tmp", std::process::id()));
    if fs::hard_link(source, &beside).is_err() {
        fs::copy(source, &beside)?;
        File::open(&beside)?.sync_all()?;
    }
    // Does nothing where both are the same file already, so what is beside is removed by name.
    fs::rename(&beside, goal)?;
    match fs::remove_file(&beside) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(cause),
        _ => durable::flush_folder(folder),
    }
}
