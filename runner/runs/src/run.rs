//! A run that this process writes: steps that are done once.

mod begin;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use dc0_core::durable;

use super::donors::{self, Donors};
use super::error::RunError;
use super::folder::Folder;
use super::fork::ForkRecord;
use super::history::{History, JournalEvent};
use super::identity::{Identity, Occurrences, StepCall};
use super::journal::Journal;
use super::ledger::Ledger;
use super::lock::Lock;
use super::manifest::{Manifest, Product};
use super::meter::Meter;
use super::record::{Record, device_kind};
use super::shelf::{Settled, Shelf};
use super::slot::Slot;
use super::work::Workplace;
use super::{costs, files};

/// A run that this process writes.
#[derive(Debug)]
pub struct Run {
    folder: Folder,
    record: Record,
    journal: Arc<Journal>,
    shelf: Shelf,
    occurrences: Occurrences,
    steps: u32,
    donors: Arc<Donors>,
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
    /// The run and its iteration that a fork begins with.
    pub fork: Option<(&'a str, u32)>,
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
        let journal = Arc::new(Journal::open(&folder)?);
        let shelf = Shelf::open(&folder)?;
        let run = Self {
            folder,
            record,
            journal,
            shelf,
            occurrences: Occurrences::default(),
            steps: 0,
            donors: Arc::clone(&opening.donors),
            _lock: lock,
        };
        run.note_opening(&opening.record, is_new)?;
        run.write_costs()?;
        Ok(run)
    }

    fn note<const N: usize>(&self, event: JournalEvent, details: [(&str, Value); N]) -> Result<(), RunError> {
        self.journal.note(event.word(), details)
    }

    /// Keeps a script or program that differs from the run's first, and writes down who opened the run.
    fn note_opening(&self, now: &Record, is_new: bool) -> Result<(), RunError> {
        let script = &now.script;
        if script.blake3 != self.record.script.blake3 {
            self.keep_text(&script.blake3, &script.text)?;
        }
        let digest = |(path, text): (&String, &String)| (path.clone(), durable::digest(text.as_bytes()));
        let modules: BTreeMap<String, String> = now.modules.iter().map(digest).collect();
        for (path, digest) in &modules {
            self.keep_text(digest, &now.modules[path])?;
        }
        let details = [
            ("pid", json!(std::process::id())),
            ("script", json!(script.blake3)),
            ("modules", json!(modules)),
            ("params", json!(now.params)),
            ("given", json!(now.given)),
            ("dc0", json!(now.environment.dc0)),
            ("libraries", json!(now.environment.libraries)),
            ("finished_steps", json!(self.shelf.len())),
        ];
        self.note(if is_new { JournalEvent::Created } else { JournalEvent::Opened }, details)?;
        match &self.record.fork {
            Some(ForkRecord { from, iteration, digest, steps, .. }) if is_new => {
                let details = [
                    ("from", json!(from)),
                    ("iteration", json!(iteration)),
                    ("digest", json!(digest)),
                    ("steps", json!(steps.len())),
                ];
                self.note(JournalEvent::Forked, details)
            }
            _ => Ok(()),
        }
    }

    fn keep_text(&self, digest: &str, text: &str) -> Result<(), RunError> {
        let path = self.folder.script(digest);
        durable::write(&path, text.as_bytes()).map_err(RunError::io("write", &path))
    }

    /// Keeps the text of a file that the script has imported since it opened the run; `path` is below the script's folder.
    pub fn keep_module(&self, path: &str, text: &str) -> Result<(), RunError> {
        let digest = durable::digest(text.as_bytes());
        self.keep_text(&digest, text)?;
        self.note(JournalEvent::Imported, [("module", json!(path)), ("blake3", json!(digest))])
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

    /// The number of steps that were asked for since the run was opened.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// The journal, for what else is worth writing down.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Brings the table of costs up to date.
    fn write_costs(&self) -> Result<(), RunError> {
        let steps = self.shelf.in_order();
        if steps.is_empty() {
            return Ok(());
        }
        costs::write((&self.folder, &self.record), &steps, &self.journal.costs())
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
        let Settled { moved, manifest, missing, is_changed } = self.shelf.settle(&identity, slot, order)?;
        self.note_superseded(moved, &identity)?;
        if let Some(manifest) = manifest {
            if is_changed {
                self.write_costs()?;
            }
            return Ok(self.finished(manifest, true));
        }
        if let Some(path) = &missing {
            self.note(JournalEvent::Again, [("step", json!(identity.short())), ("missing", json!(path))])?;
        }
        let donors = Arc::clone(&self.donors);
        let _turn = donors.turn(&identity);
        if let Some((from, manifest)) = donors.find(&identity, &self.folder)? {
            return Ok(self.take_over(&from, manifest, (slot, order))?);
        }
        let (manifest, meter) = self.work_at(call, &identity, slot, body)?;
        let manifest = self.shelf.keep(&manifest, order)?;
        self.note(JournalEvent::Finished, details(call, &identity, &meter))?;
        self.write_costs()?;
        Ok(Finished { again: missing, ..self.finished(manifest, false) })
    }

    fn note_superseded(&self, moved: BTreeSet<String>, by: &Identity) -> Result<(), RunError> {
        let mut moved = moved.into_iter();
        moved.try_for_each(|step| {
            self.note(JournalEvent::Superseded, [("step", json!(step)), ("by", json!(by.short()))])
        })
    }

    fn finished(&self, manifest: Manifest, before: bool) -> Finished {
        let seconds = self.journal.cost(manifest.identity().short()).map_or(0.0, |cost| cost.secs);
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
        let cost = Ledger::of(&History::read(from)?).cost(identity.short()).cloned().unwrap_or_default();
        let place = self.place(&identity, slot);
        place.claim(&kind)?;
        let manifest = donors::take_over((from, manifest), &self.folder, slot)?;
        let manifest = self.shelf.keep(&manifest, order)?;
        let from = from.root().display().to_string();
        let step = identity.short();
        let details = [
            ("step", json!(step)),
            ("kind", json!(kind)),
            ("secs", json!(cost.secs)),
            ("from", json!(from)),
            ("attempts", json!(cost.attempts)),
            ("costs", json!(cost.figures)),
        ];
        self.note(JournalEvent::TakenOver, details)?;
        self.write_costs()?;
        Ok(Finished { from: Some(from), ..self.finished(manifest, false) })
    }

    fn place(&self, identity: &Identity, slot: Slot) -> Workplace {
        Workplace {
            folder: self.folder.clone(),
            identity: identity.clone(),
            slot,
            seed: identity.seed(self.record.seed),
            meter: Arc::new(Meter::start(&self.journal, identity.short())),
        }
    }

    fn work_at<E: From<RunError> + std::fmt::Display>(
        &self,
        call: &StepCall,
        identity: &Identity,
        slot: Slot,
        body: impl FnOnce(&Workplace) -> Result<Product, E>,
    ) -> Result<(Manifest, Arc<Meter>), E> {
        let place = self.place(identity, slot);
        let meter = Arc::clone(&place.meter);
        place.claim(call.kind)?;
        self.note(JournalEvent::Started, details(call, identity, &meter))?;
        match body(&place) {
            Ok(product) => {
                // Should a kill come before the step's last line, this one tells its costs.
                meter.note();
                Ok((Manifest::new(call, identity, self.record.seed, product), meter))
            }
            Err(error) => {
                let [step, kind, secs, costs] = details(call, identity, &meter);
                let because = ("because", json!(error.to_string()));
                self.note(JournalEvent::EndedEarly, [step, kind, secs, costs, because])?;
                Err(error)
            }
        }
    }
}

fn details(call: &StepCall, identity: &Identity, meter: &Meter) -> [(&'static str, serde_json::Value); 4] {
    let (secs, costs) = (json!(meter.secs()), json!(meter.figures()));
    [("step", json!(identity.short())), ("kind", json!(call.kind)), ("secs", secs), ("costs", costs)]
}

/// Whether an existing run may be opened like this.
fn check_record(folder: &Folder, found: &Record, opening: &Opening<'_>) -> Result<(), RunError> {
    let root = || folder.root().to_owned();
    if found.script.file != opening.record.script.file {
        let (made_by, script) = (found.script.file.clone(), opening.record.script.file.clone());
        return Err(RunError::OtherScript { folder: root(), made_by, script });
    }
    ForkRecord::check(folder, found.fork.as_ref(), opening.fork)?;
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
