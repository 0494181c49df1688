//! Durable runs: a folder, and steps that are done once.
//!
//! A step's [`Identity`] is the digest of everything that decides its result. A finished step has a manifest, written last
//! and atomically. Opening a run again walks through finished steps at once, goes on with the unfinished one, and never
//! deletes anything.

mod donors;
mod error;
mod files;
mod folder;
mod generations;
mod identity;
mod journal;
mod lock;
mod manifest;
mod record;
mod shelf;
mod slot;
mod work;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use dc0_core::durable;

pub use donors::Donors;
pub use error::RunError;
pub use folder::Folder;
pub use generations::{Generation, Generations};
pub use identity::{Identity, Input, Occurrences, StepCall};
pub use journal::Journal;
pub use lock::Lock;
pub use manifest::{Manifest, Product};
pub use record::{Environment, FORMAT_VERSION, Record, ScriptRecord, device_kind};
pub use shelf::{Settled, Shelf};
pub use slot::{Series, Slot};
pub use work::{Begun, ShardNote, Workplace};

use crate::clock::Stopwatch;

/// A run that this process writes.
#[derive(Debug)]
pub struct Run {
    folder: Folder,
    record: Record,
    journal: Journal,
    shelf: Shelf,
    occurrences: Occurrences,
    steps: u32,
    donors: Arc<Donors>,
    seconds: BTreeMap<String, f64>,
    _lock: Lock,
}

/// How a step came to be finished.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// What was done.
    pub manifest: Manifest,
    /// Whether it had been finished before.
    pub before: bool,
    /// The file whose loss made it necessary to do a finished step again.
    pub again: Option<String>,
    /// The run that the step was taken over from.
    pub from: Option<String>,
    /// Seconds that the step took, in this run or the one it was taken over from, as far as the journals say.
    pub seconds: f64,
}

/// What a run is opened with. What is `None` was not asked for: an existing run keeps what it was created with.
#[derive(Debug, Clone)]
pub struct Opening<'a> {
    /// The folder that holds runs.
    pub parent: &'a Path,
    /// The record a new run gets.
    pub record: Record,
    /// The seed that was asked for.
    pub seed: Option<u64>,
    /// The backend that was asked for.
    pub backend: Option<String>,
    /// The device that was asked for.
    pub device: Option<String>,
    /// The precision that was asked for.
    pub precision: Option<String>,
    /// The threads that were asked for.
    pub threads: Option<u32>,
    /// Runs whose finished steps are taken over.
    pub donors: Arc<Donors>,
}

impl Run {
    /// Opens a run, or creates it.
    pub fn open(opening: &Opening<'_>) -> Result<Self, RunError> {
        let folder = Folder::of_run(opening.parent, &opening.record.name)?;
        if let Some(found) = Record::read(&folder)? {
            check_record(&folder, &found, opening)?;
        }
        fs::create_dir_all(folder.root()).map_err(RunError::io("create", folder.root()))?;
        let lock = Lock::take(&folder)?;
        files::remove_unfinished(&folder)?;
        let found = Record::read(&folder)?;
        if found.is_none() {
            opening.record.write(&folder)?;
        }
        let is_new = found.is_none();
        let record = found.unwrap_or_else(|| opening.record.clone());
        opening.donors.check(&record.environment)?;
        let journal = Journal::open(&folder)?;
        let seconds = Journal::seconds(&folder)?;
        let shelf = Shelf::open(&folder)?;
        let run = Self {
            folder,
            record,
            journal,
            shelf,
            occurrences: Occurrences::default(),
            steps: 0,
            donors: Arc::clone(&opening.donors),
            seconds,
            _lock: lock,
        };
        run.note_opening(&opening.record, is_new)?;
        Ok(run)
    }

    /// Keeps a script or program that differs from the run's first, and writes down who opened the run.
    fn note_opening(&self, now: &Record, is_new: bool) -> Result<(), RunError> {
        let script = &now.script;
        if script.blake3 != self.record.script.blake3 {
            let path = self.folder.script(&script.blake3);
            durable::write(&path, script.text.as_bytes()).map_err(RunError::io("write", &path))?;
        }
        let details = [
            ("pid", json!(std::process::id())),
            ("script", json!(script.blake3)),
            ("params", json!(now.params)),
            ("dc0", json!(now.environment.dc0)),
            ("libraries", json!(now.environment.libraries)),
            ("finished_steps", json!(self.shelf.len())),
        ];
        self.journal.note(if is_new { "created" } else { "opened" }, details)
    }

    /// The run's folder.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// What the run is.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The number of steps that are finished.
    pub fn finished_steps(&self) -> usize {
        self.shelf.len()
    }

    /// The journal, for what else is worth writing down.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Does a step, unless it is finished. `body` may be called for a step that a kill interrupted, and goes on from what
    /// it finds in its workplace.
    pub fn step<E: From<RunError> + std::fmt::Display>(
        &mut self,
        call: &StepCall,
        slot: Slot,
        body: impl FnOnce(&Workplace) -> Result<Product, E>,
    ) -> Result<Finished, E> {
        let identity = self.occurrences.next(call, self.record.seed);
        let order = self.steps;
        self.steps += 1;
        let Settled { moved, manifest, missing } = self.shelf.settle(&identity, slot, order)?;
        for step in moved {
            self.journal.note("superseded", [("step", json!(step)), ("by", json!(identity.short()))])?;
        }
        if let Some(manifest) = manifest {
            return Ok(self.finished(manifest, true));
        }
        if let Some(path) = &missing {
            self.journal.note("again", [("step", json!(identity.short())), ("missing", json!(path))])?;
        }
        let donors = Arc::clone(&self.donors);
        let _turn = donors.turn(&identity);
        if let Some((from, manifest)) = donors.find(&identity, &self.folder)? {
            return Ok(self.take_over(&from, manifest, (slot, order))?);
        }
        let watch = Stopwatch::start();
        let manifest = self.work_at(call, &identity, slot, body)?;
        let manifest = self.shelf.keep(&manifest, order)?;
        let secs = watch.elapsed().as_secs_f64();
        self.journal.note("finished", details(call, &identity, secs))?;
        *self.seconds.entry(identity.short().to_owned()).or_default() += secs;
        Ok(Finished { again: missing, ..self.finished(manifest, false) })
    }

    fn finished(&self, manifest: Manifest, before: bool) -> Finished {
        let seconds = self.seconds.get(manifest.identity().short()).copied().unwrap_or(0.0);
        Finished { manifest, before, again: None, from: None, seconds }
    }

    /// Takes a finished step over from another run.
    fn take_over(
        &mut self,
        from: &Folder,
        manifest: Manifest,
        (slot, order): (Slot, u32),
    ) -> Result<Finished, RunError> {
        let identity = manifest.identity();
        let kind = manifest.kind.clone();
        let seconds = Journal::seconds(from)?.get(identity.short()).copied().unwrap_or(0.0);
        let place = Workplace {
            folder: self.folder.clone(),
            identity: identity.clone(),
            slot,
            seed: identity.seed(self.record.seed),
        };
        place.claim(&kind)?;
        let manifest = donors::take_over((from, manifest), &self.folder, slot)?;
        let manifest = self.shelf.keep(&manifest, order)?;
        let from = from.root().display().to_string();
        let step = identity.short();
        let details =
            [("step", json!(step)), ("kind", json!(kind)), ("secs", json!(seconds)), ("from", json!(from))];
        self.journal.note("taken over", details)?;
        self.seconds.insert(step.to_owned(), seconds);
        Ok(Finished { from: Some(from), ..self.finished(manifest, false) })
    }

    fn work_at<E: From<RunError> + std::fmt::Display>(
        &self,
        call: &StepCall,
        identity: &Identity,
        slot: Slot,
        body: impl FnOnce(&Workplace) -> Result<Product, E>,
    ) -> Result<Manifest, E> {
        let seed = identity.seed(self.record.seed);
        let place = Workplace { folder: self.folder.clone(), identity: identity.clone(), slot, seed };
        place.claim(call.kind)?;
        let watch = Stopwatch::start();
        self.journal.note("started", details(call, identity, 0.0))?;
        match body(&place) {
            Ok(product) => Ok(Manifest::new(call, identity, self.record.seed, product)),
            Err(error) => {
                let [step, kind, secs] = details(call, identity, watch.elapsed().as_secs_f64());
                self.journal
                    .note("ended early", [step, kind, secs, ("because", json!(error.to_string()))])?;
                Err(error)
            }
        }
    }
}

fn details(call: &StepCall, identity: &Identity, secs: f64) -> [(&'static str, serde_json::Value); 3] {
    [("step", json!(identity.short())), ("kind", json!(call.kind)), ("secs", json!(secs))]
}

/// Whether an existing run may be opened like this.
fn check_record(folder: &Folder, found: &Record, opening: &Opening<'_>) -> Result<(), RunError> {
    let root = || folder.root().to_owned();
    if found.script.file != opening.record.script.file {
        let (made_by, script) = (found.script.file.clone(), opening.record.script.file.clone());
        return Err(RunError::OtherScript { folder: root(), made_by, script });
    }
    let fixed = &found.environment;
    let kind = |device: &str| device_kind(device).to_owned();
    let asked = [
        ("seed", found.seed.to_string(), opening.seed.map(|seed| seed.to_string())),
        ("backend", fixed.backend.clone(), opening.backend.clone()),
        ("device", kind(&fixed.device), opening.device.as_deref().map(kind)),
        ("precision", fixed.precision.clone(), opening.precision.clone()),
        ("threads", fixed.threads.to_string(), opening.threads.map(|threads| threads.to_string())),
    ];
    for (what, fixed, asked) in asked {
        if let Some(asked) = asked.filter(|asked| *asked != fixed) {
            return Err(RunError::Fixed { folder: root(), what, fixed, asked });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
