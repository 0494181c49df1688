//! A run that this process writes: steps that are done once.

mod begin;

pub use begin::ForkSource;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use dc0_core::durable;
use dc0_core::store::verify_wide;

use super::error::RunError;
use super::folder::Folder;
use super::fork::ForkRecord;
use super::generations::{Generation, Generations};
use super::history::{History, JournalEvent};
use super::identity::{Identity, Occurrences, StepCall};
use super::journal::Journal;
use super::ledger::Ledger;
use super::lock::Lock;
use super::manifest::{Manifest, Product};
use super::meter::Meter;
use super::record::{Record, device_kind};
use super::reuse_sources::{self, ReuseSources};
use super::script_snapshot::{changes, stored_faults};
use super::slot::Slot;
use super::step_store::{PreparedSlot, StepStore, SupersededSteps};
use super::workspace::StepWorkspace;
use super::{costs, files};

/// A run that this process writes.
#[derive(Debug)]
pub struct Run {
    folder: Folder,
    record: Record,
    journal: Arc<Journal>,
    store: StepStore,
    occurrences: Occurrences,
    steps: u32,
    /// The steps called since the run was opened.
    called: BTreeSet<Identity>,
    /// The short identities of finished steps that were superseded because the script had gone another way.
    left: BTreeSet<String>,
    /// The short identities of finished steps whose manifests are gone.
    lost: BTreeSet<String>,
    /// The short identities of the steps that were started before the run was opened.
    started: BTreeSet<String>,
    generations: Generations,
    sources: Arc<ReuseSources>,
    /// What differs from the last opening.
    changes: Vec<String>,
    lock: Lock,
}

/// A finished step, and how it was finished.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// Its manifest.
    pub manifest: Manifest,
    /// Whether it had been finished already.
    pub before: bool,
    /// The lost file because of which a finished step was done again.
    pub again: Option<String>,
    /// The run from which the step was taken over.
    pub from: Option<String>,
    /// Seconds that the script waited for the step, in this run or the one it was taken over from, as far as recorded.
    pub seconds: f64,
}

/// A step that was begun beside others. Its position among the steps is where it ends.
#[derive(Debug)]
pub struct Begun {
    call: StepCall,
    identity: Identity,
    slot: Slot,
    workspace: Option<StepWorkspace>,
}

impl Begun {
    /// What the work is done with; `None` if there is nothing to do beside others, because the step or one of another run is finished.
    pub fn workspace(&self) -> Option<&StepWorkspace> {
        self.workspace.as_ref()
    }

    /// The script waits for the step from now on.
    pub fn await_end(&self) {
        if let Some(workspace) = &self.workspace {
            workspace.meter.await_end();
        }
    }
}

/// How to open a run.
#[derive(Debug, Clone)]
pub struct Opening<'a> {
    /// The folder that holds runs.
    pub parent: &'a Path,
    /// The record of the run if it is new.
    pub record: Record,
    /// What is requested of an existing one.
    pub requested: Requested<'a>,
    /// Runs whose finished steps are taken over.
    pub reuse_sources: Arc<ReuseSources>,
}

/// The settings that are fixed once a run exists, as they are requested. `None` leaves one open: the run keeps the value it was created
/// with.
#[derive(Debug, Clone, Copy, Default)]
pub struct Requested<'a> {
    /// The seed.
    pub seed: Option<u64>,
    /// The backend.
    pub backend: Option<&'a str>,
    /// The device.
    pub device: Option<&'a str>,
    /// The precision.
    pub precision: Option<&'a str>,
    /// The number of threads.
    pub threads: Option<u32>,
    /// For a fork, the run and its iteration with which it begins.
    pub fork: Option<(&'a str, u32)>,
}

impl Requested<'_> {
    /// An error if an existing run cannot be opened this way by a script's file.
    pub fn check(&self, folder: &Folder, found: &Record, script: &str) -> Result<(), RunError> {
        let root = || folder.root().to_owned();
        if found.script.file != script {
            let (made_by, script) = (found.script.file.clone(), script.to_owned());
            return Err(RunError::OtherScript { folder: root(), made_by, script });
        }
        ForkRecord::check(folder, found.fork.as_ref(), self.fork)?;
        let fixed = &found.environment;
        let kind = |device: &str| device_kind(device).to_owned();
        let requested = [
            ("seed", found.seed.to_string(), self.seed.map(|seed| seed.to_string())),
            ("backend", fixed.backend.clone(), self.backend.map(str::to_owned)),
            ("device", kind(&fixed.device), self.device.map(kind)),
            ("precision", fixed.precision.clone(), self.precision.map(str::to_owned)),
            ("threads", fixed.threads.to_string(), self.threads.map(|threads| threads.to_string())),
        ];
        for (what, fixed, requested) in requested {
            if let Some(requested) = requested.filter(|requested| *requested != fixed) {
                return Err(RunError::Fixed { folder: root(), what, fixed, requested });
            }
        }
        Ok(())
    }
}

impl Run {
    /// Opens a run, or creates it.
    pub fn open(opening: &Opening<'_>) -> Result<Self, RunError> {
        let folder = Folder::of_run(opening.parent, &opening.record.name)?;
        let found = Record::read(&folder)?;
        if let Some(found) = &found {
            opening.requested.check(&folder, found, &opening.record.script.file)?;
        }
        // Before there is a run, which a refusal would leave behind.
        opening.reuse_sources.check(&found.as_ref().unwrap_or(&opening.record).environment)?;
        fs::create_dir_all(folder.root()).map_err(RunError::io("create", folder.root()))?;
        let lock = Lock::take(&folder)?;
        files::remove_unfinished(&folder)?;
        let found = Record::read(&folder)?;
        let is_new = found.is_none();
        // A new record is read back, so that its numbers are the same now and after reopening.
        let record = match found {
            Some(record) => record,
            None => opening.record.written(&folder)?,
        };
        let has_journal = folder.journal().exists();
        let (journal, history) = Journal::open(&folder)?;
        record.check(&folder, &history)?;
        let journal = Arc::new(journal);
        let store = StepStore::open(&folder, history.manifests())?;
        if !has_journal && !store.is_empty() {
            log::warn!(
                "{} is missing; the run goes on without the record of its earlier events and times",
                folder.journal().display()
            );
        }
        let generations = Generations::open(&folder)?;
        if let Some(cause) = generations.fault(&journal) {
            log::warn!("{cause}; it is written again as the script promotes its nets");
        }
        let run = Self {
            folder,
            record,
            journal,
            left: BTreeSet::new(),
            lost: store.lost()?.into_iter().collect(),
            started: history.started().map(str::to_owned).collect(),
            generations,
            store,
            occurrences: Occurrences::default(),
            steps: 0,
            called: BTreeSet::new(),
            sources: Arc::clone(&opening.reuse_sources),
            changes: changes(&history, &opening.record),
            lock,
        };
        let costs_fault = run.costs_fault(&history);
        let damaged = stored_faults(&run.folder, Some(&run.record), &history);
        run.note_opening(&opening.record, is_new)?;
        let left = stored_faults(&run.folder, Some(&run.record), &history);
        for (path, fault) in damaged {
            if left.iter().any(|(known, _)| *known == path) {
                log::warn!("{fault}");
            } else {
                log::warn!("{} was missing or damaged, and was written again", path.display());
            }
        }
        run.note_manifests()?;
        run.write_costs()?;
        if let Some(fault) = costs_fault {
            log::warn!("{fault}; it was written again from journal.jsonl and the manifests");
        }
        Ok(run)
    }

    fn note<'a>(
        &self,
        event: JournalEvent,
        details: impl IntoIterator<Item = (&'a str, Value)>,
    ) -> Result<(), RunError> {
        self.journal.note(event, details)
    }

    /// Records the manifests that a kill has kept out of the journal, and those that are gone.
    fn note_manifests(&self) -> Result<(), RunError> {
        self.store.unrecorded().try_for_each(|manifest| self.note_recorded(manifest))?;
        let again = |step: &String| {
            log::warn!(
                "the manifest of the step {step} is gone from {}; if the script calls the step, it is done again",
                self.folder.steps().display()
            );
            self.note(JournalEvent::Again, [("step", json!(step)), ("missing", json!("its manifest"))])
        };
        for step in self.store.moved() {
            self.note(JournalEvent::Superseded, [("step", json!(step)), ("by", json!("a killed process"))])?;
        }
        self.lost.iter().try_for_each(again)
    }

    fn note_recorded(&self, manifest: &Manifest) -> Result<(), RunError> {
        let identity = manifest.identity();
        let details = [
            ("step", json!(identity.short())),
            ("kind", json!(manifest.kind)),
            ("manifest", json!(manifest.digest())),
        ];
        self.note(JournalEvent::Recorded, details)
    }

    /// Stores the script if it differs from the run's first, and its modules, and records the opening in the journal.
    fn note_opening(&self, now: &Record, is_new: bool) -> Result<(), RunError> {
        let script = &now.script;
        if script.blake3 != self.record.script.blake3 {
            self.store_text(&script.blake3, &script.text)?;
        }
        let digest = |(path, text): (&String, &String)| (path.clone(), durable::digest(text.as_bytes()));
        let modules: BTreeMap<String, String> = now.modules.iter().map(digest).collect();
        for (path, digest) in &modules {
            self.store_text(digest, &now.modules[path])?;
        }
        let details = [
            ("pid", json!(std::process::id())),
            ("record", json!(self.record.digest())),
            ("script", json!(script.blake3)),
            ("modules", json!(modules)),
            ("params", json!(now.params)),
            ("given", json!(now.given)),
            ("dc0", json!(now.environment.dc0)),
            ("libraries", json!(now.environment.libraries)),
            ("finished_steps", json!(self.store.len())),
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

    fn store_text(&self, digest: &str, text: &str) -> Result<(), RunError> {
        let path = self.folder.script(digest);
        durable::write(&path, text.as_bytes()).map_err(RunError::io("write", &path))
    }

    /// Stores the text of a file that the script imports after opening the run; `path` is relative to the script's folder.
    pub fn keep_module(&self, path: &str, text: &str) -> Result<(), RunError> {
        let digest = durable::digest(text.as_bytes());
        self.store_text(&digest, text)?;
        self.note(JournalEvent::Imported, [("module", json!(path)), ("blake3", json!(digest))])
    }

    /// The run's folder.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Fails if the run's folder was removed or replaced since it was opened.
    pub fn check_folder(&self) -> Result<(), RunError> {
        self.lock.check(&self.folder)
    }

    /// The run's record.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The number of steps that are finished.
    pub fn finished_steps(&self) -> usize {
        self.store.len()
    }

    /// What differs between the script, its imports and parameters now, and those with which the run was opened before, for people.
    pub fn changes(&self) -> &[String] {
        &self.changes
    }

    /// The number of steps called since the run was opened.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// The journal, for recording other events.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// What is wrong with the table of costs, before it is written again. A kill can leave it without its last rows, or keep the first
    /// one from being written.
    fn costs_fault(&self, history: &History) -> Option<String> {
        let path = self.folder.path(Folder::COSTS);
        if path.exists() {
            let is_whole = verify_wide(&path, "costs", &self.record.of_costs()).is_ok();
            return (!is_whole).then(|| format!("{} is damaged or was changed", path.display()));
        }
        let finished = history.entries().iter().filter(|entry| entry.event() == Some(JournalEvent::Finished));
        (finished.count() > 1 && !self.store.is_empty()).then(|| format!("{} is missing", path.display()))
    }

    /// Updates the table of costs.
    fn write_costs(&self) -> Result<(), RunError> {
        let steps = self.store.in_order();
        if steps.is_empty() {
            return Ok(());
        }
        costs::write(&self.folder, &self.record, &steps, &self.journal.costs())
    }

    /// Does a step, unless it is finished. If an earlier attempt was interrupted, `body` resumes from what it finds in its
    /// workspace.
    pub fn step<E: From<RunError> + std::fmt::Display>(
        &mut self,
        call: &StepCall,
        slot: Slot,
        body: impl FnOnce(&StepWorkspace) -> Result<Product, E>,
    ) -> Result<Finished, E> {
        self.check_folder()?;
        let identity = self.next_identity(call);
        self.step_as(call, &identity, slot, body)
    }

    /// Whether a step is yet to be done if the script calls it now: neither this run nor one that it takes steps over from has finished
    /// it.
    pub fn is_to_do(&self, call: &StepCall) -> Result<bool, RunError> {
        self.is_new(&self.occurrences.peek(call, self.record.seed))
    }

    fn is_new(&self, identity: &Identity) -> Result<bool, RunError> {
        Ok(!self.store.has(identity)? && self.sources.find(identity, &self.folder)?.is_none())
    }

    /// The identity of a call that is made now.
    fn next_identity(&mut self, call: &StepCall) -> Identity {
        let identity = self.occurrences.next(call, self.record.seed);
        self.called.insert(identity.clone());
        identity
    }

    /// Ends a script that has come to its end: steps that it did not call since the run was opened move to the superseded ones, lest
    /// they count in tables and reports of the run as it is now. Returns the number of finished ones, with those that moved before, when
    /// the script did something new. Without any call nothing moves.
    pub fn complete(&mut self) -> Result<usize, RunError> {
        if self.called.is_empty() {
            return Ok(0);
        }
        self.check_folder()?;
        if self.leave_others("the end of the script")? {
            self.write_costs()?;
        }
        let called: BTreeSet<&str> = self.called.iter().map(Identity::short).collect();
        Ok(self.left.iter().filter(|step| !called.contains(step.as_str())).count())
    }

    /// Moves the steps that were not called since the run was opened to the superseded ones, and withdraws the generations that were
    /// not promoted since; returns whether finished ones were among them.
    fn leave_others(&mut self, by: &str) -> Result<bool, RunError> {
        // First those that refer to the others.
        self.generations.withdraw_unreached(&self.journal)?;
        let SupersededSteps { finished, unfinished } = self.store.supersede_others(&self.called)?;
        for step in finished.iter().chain(&unfinished) {
            self.note(JournalEvent::Superseded, [("step", json!(step)), ("by", json!(by))])?;
        }
        let is_any = !finished.is_empty();
        self.left.extend(finished);
        Ok(is_any)
    }

    /// Moves what a step that is not finished shows to be of the script before its change. A script that is as it was has called all
    /// finished steps before it does another one, but for one that is done again, or that failed and is tried again.
    fn leave_others_for(&mut self, step: &Identity) -> Result<(), RunError> {
        let is_as_before = self.changes.is_empty() && self.started.contains(step.short());
        if !is_as_before && !self.lost.contains(step.short()) && self.leave_others(step.short())? {
            self.write_costs()?;
        }
        Ok(())
    }

    /// Promotes a net to a generation.
    pub fn promote(&mut self, entry: Generation) -> Result<(), RunError> {
        self.generations.promote(entry, &self.journal)
    }

    /// Begins a step whose work is done beside other steps, until [`end`](Self::end). Meanwhile no other step may use the slot.
    pub fn begin_beside(&mut self, call: StepCall, slot: Slot) -> Result<Begun, RunError> {
        self.check_folder()?;
        let identity = self.next_identity(&call);
        // What is finished already is put into its place once its position is known.
        if !self.is_new(&identity)? {
            return Ok(Begun { call, identity, slot, workspace: None });
        }
        let PreparedSlot { moved, .. } = self.store.prepare(&identity, slot, self.steps)?;
        self.note_superseded(moved, &identity)?;
        let meter = Arc::new(Meter::start_beside(&self.journal, identity.short()));
        let workspace = StepWorkspace { meter, ..self.workspace(&identity, slot) };
        workspace.claim(call.kind)?;
        self.note(JournalEvent::Started, details(&call, &identity, &workspace.meter))?;
        Ok(Begun { call, identity, slot, workspace: Some(workspace) })
    }

    /// Ends a step that was begun beside others, given what its work came to. If there was nothing to do beside others, `body` does
    /// what may be left, as in [`step`](Self::step).
    pub fn end<E: From<RunError> + std::fmt::Display>(
        &mut self,
        begun: &Begun,
        outcome: Option<Result<Product, E>>,
        body: impl FnOnce(&StepWorkspace) -> Result<Product, E>,
    ) -> Result<Finished, E> {
        let Begun { call, identity, slot, workspace } = begun;
        let (Some(outcome), Some(workspace)) = (outcome, workspace) else {
            self.check_folder()?;
            return self.step_as(call, identity, *slot, body);
        };
        let order = self.steps;
        self.steps += 1;
        self.leave_others_for(identity)?;
        let ended = self.ended(call, identity, &workspace.meter, outcome);
        self.keep(call, identity, order, ended?)
    }

    /// Does the step of an identity, unless it is finished.
    fn step_as<E: From<RunError> + std::fmt::Display>(
        &mut self,
        call: &StepCall,
        identity: &Identity,
        slot: Slot,
        body: impl FnOnce(&StepWorkspace) -> Result<Product, E>,
    ) -> Result<Finished, E> {
        let order = self.steps;
        self.steps += 1;
        let PreparedSlot { moved, manifest, has_returned, missing, is_changed } =
            self.store.prepare(identity, slot, order)?;
        self.note_superseded(moved, identity)?;
        if let Some(manifest) = manifest {
            if has_returned {
                self.note_recorded(&manifest)?;
            }
            if is_changed {
                self.write_costs()?;
            }
            return Ok(self.finished(manifest, true));
        }
        if let Some(path) = &missing {
            self.note(JournalEvent::Again, [("step", json!(identity.short())), ("missing", json!(path))])?;
        }
        let sources = Arc::clone(&self.sources);
        let _turn = sources.turn(identity);
        if let Some((from, manifest)) = sources.find(identity, &self.folder)? {
            return Ok(self.take_over(&from, manifest, slot, order)?);
        }
        if missing.is_none() {
            self.leave_others_for(identity)?;
        }
        let attempted = self.attempt(call, identity, slot, body)?;
        Ok(Finished { again: missing, ..self.keep(call, identity, order, attempted)? })
    }

    /// Keeps a step that was just done.
    fn keep<E: From<RunError>>(
        &mut self,
        call: &StepCall,
        identity: &Identity,
        order: u32,
        (manifest, meter): (Manifest, Arc<Meter>),
    ) -> Result<Finished, E> {
        self.check_folder()?;
        let manifest = self.store.add(&manifest, order)?;
        let [step, kind, secs, waited, costs] = details(call, identity, &meter);
        let digest = ("manifest", json!(manifest.digest()));
        let details = [step, kind, secs, waited, costs, digest].into_iter().chain(meter.workers());
        self.note(JournalEvent::Finished, details)?;
        self.write_costs()?;
        Ok(self.finished(manifest, false))
    }

    fn note_superseded(&self, moved: BTreeSet<String>, by: &Identity) -> Result<(), RunError> {
        let mut moved = moved.into_iter();
        moved.try_for_each(|step| {
            self.note(JournalEvent::Superseded, [("step", json!(step)), ("by", json!(by.short()))])
        })
    }

    fn finished(&self, manifest: Manifest, before: bool) -> Finished {
        let seconds = self.journal.cost(manifest.identity().short()).map_or(0.0, |cost| cost.waited);
        Finished { manifest, before, again: None, from: None, seconds }
    }

    /// Takes over a finished step from another run.
    fn take_over(
        &mut self,
        from: &Folder,
        manifest: Manifest,
        slot: Slot,
        order: u32,
    ) -> Result<Finished, RunError> {
        let identity = manifest.identity();
        let kind = manifest.kind.clone();
        let cost =
            Ledger::from_history(&History::read(from)?).cost(identity.short()).cloned().unwrap_or_default();
        let workspace = self.workspace(&identity, slot);
        workspace.claim(&kind)?;
        let manifest = reuse_sources::take_over(from, manifest, &self.folder, slot)?;
        let manifest = self.store.add(&manifest, order)?;
        let from = from.root().display().to_string();
        let step = identity.short();
        let details = [
            ("step", json!(step)),
            ("kind", json!(kind)),
            ("secs", json!(cost.secs)),
            ("waited", json!(cost.waited)),
            ("from", json!(from)),
            ("attempts", json!(cost.attempts)),
            ("costs", json!(cost.figures)),
            ("manifest", json!(manifest.digest())),
        ];
        self.note(JournalEvent::TakenOver, details)?;
        self.write_costs()?;
        Ok(Finished { from: Some(from), ..self.finished(manifest, false) })
    }

    fn workspace(&self, identity: &Identity, slot: Slot) -> StepWorkspace {
        StepWorkspace {
            folder: self.folder.clone(),
            identity: identity.clone(),
            slot,
            seed: identity.seed(self.record.seed),
            meter: Arc::new(Meter::start(&self.journal, identity.short())),
        }
    }

    /// Does the work of a step and records its start and end.
    fn attempt<E: From<RunError> + std::fmt::Display>(
        &self,
        call: &StepCall,
        identity: &Identity,
        slot: Slot,
        body: impl FnOnce(&StepWorkspace) -> Result<Product, E>,
    ) -> Result<(Manifest, Arc<Meter>), E> {
        let workspace = self.workspace(identity, slot);
        let meter = Arc::clone(&workspace.meter);
        workspace.claim(call.kind)?;
        self.note(JournalEvent::Started, details(call, identity, &meter))?;
        let outcome = body(&workspace);
        // Records the cost now, in case of a kill before the step's last journal entry.
        if outcome.is_ok() {
            meter.note();
        }
        self.ended(call, identity, &meter, outcome)
    }

    /// What an attempt came to: a manifest, or an entry of the journal that says why there is none.
    fn ended<E: From<RunError> + std::fmt::Display>(
        &self,
        call: &StepCall,
        identity: &Identity,
        meter: &Arc<Meter>,
        outcome: Result<Product, E>,
    ) -> Result<(Manifest, Arc<Meter>), E> {
        match outcome {
            Ok(product) => Ok((Manifest::new(call, identity, self.record.seed, product), Arc::clone(meter))),
            Err(error) => {
                // Whatever the work missed, it missed it because the folder is gone.
                self.check_folder()?;
                let [step, kind, secs, waited, costs] = details(call, identity, meter);
                let because = ("because", json!(error.to_string()));
                let details = [step, kind, secs, waited, costs, because].into_iter().chain(meter.workers());
                self.note(JournalEvent::EndedEarly, details)?;
                Err(error)
            }
        }
    }
}

fn details(call: &StepCall, identity: &Identity, meter: &Meter) -> [(&'static str, serde_json::Value); 5] {
    let secs = meter.secs();
    let (waited, costs) = (json!(meter.waited(secs)), json!(meter.figures()));
    [
        ("step", json!(identity.short())),
        ("kind", json!(call.kind)),
        ("secs", json!(secs)),
        ("waited", waited),
        ("costs", costs),
    ]
}
