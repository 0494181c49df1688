//! The history of a run, read from its journal. All parsing of journal lines is here.

use std::collections::BTreeMap;
use std::path::Path;

use dc0_core::{param_enum, regular};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::chain::{self, Lines};
use super::error::{Remedy, RunError};
use super::files::names_if_there;
use super::folder::Folder;

param_enum! {
    /// The event that a journal entry records.
    pub enum JournalEvent {
        /// The run was created.
        Created = "created",
        /// An existing run was opened.
        Opened = "opened",
        /// The run was created as a fork of another run.
        Forked = "forked",
        /// The script imported a file after it had opened the run.
        Imported = "imported",
        /// A step was started.
        Started = "started",
        /// A step is in progress; its cost so far.
        Working = "working",
        /// A step was finished; with the digest of its manifest.
        Finished = "finished",
        /// A step was found finished whose end the journal did not record, because a kill came first, or a superseded one returned; with
        /// the digest of its manifest.
        Recorded = "recorded",
        /// A step was stopped, or failed.
        EndedEarly = "ended early",
        /// A finished step was taken over from another run; with the digest of its manifest.
        TakenOver = "taken over",
        /// Another step took a step's slot, or the script went another way.
        Superseded = "superseded",
        /// A finished step lost a file or its manifest, and is done again.
        Again = "again",
        /// A net became a generation; those after it are no longer listed.
        Promoted = "promoted",
        /// The generations from a number on are no longer listed, because the script went another way than when it promoted them.
        Withdrawn = "withdrawn",
        /// A remark of the script.
        Note = "note",
    }
}

/// A journal line. Missing members read as empty or zero.
#[derive(Debug, Clone, PartialEq)]
pub struct JournalEntry(Value);

impl JournalEntry {
    pub(super) fn new(line: Value) -> Self {
        Self(line)
    }

    /// The event; `None` if this program does not know it.
    pub fn event(&self) -> Option<JournalEvent> {
        self.text("event").and_then(JournalEvent::from_name)
    }

    /// When it was written.
    pub fn at(&self) -> &str {
        self.text("at").unwrap_or_default()
    }

    /// The short identity of its step.
    pub fn step(&self) -> Option<&str> {
        self.text("step")
    }

    /// Seconds that the step had taken by then.
    pub fn secs(&self) -> f64 {
        self.0["secs"].as_f64().unwrap_or(0.0)
    }

    /// Seconds that the script had waited for its step by then; the same unless the step is done beside others.
    pub(super) fn waited(&self) -> f64 {
        self.0["waited"].as_f64().unwrap_or_else(|| self.secs())
    }

    /// A text member.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0[name].as_str()
    }

    /// A member of any type; a missing one reads as `null`.
    pub fn member<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_value(self.0[name].clone()).ok()
    }

    /// The whole line.
    pub fn json(&self) -> &Value {
        &self.0
    }
}

/// The entries of a journal, in order.
#[derive(Debug, Clone, Default)]
pub struct History(Vec<JournalEntry>);

impl History {
    /// Parses as much as possible of a journal's text, to show what happens in a run. Lines that are not JSON are skipped.
    pub fn parse(journal: &str) -> Self {
        let entry = |line: &str| {
            let mut entry: Value = serde_json::from_str(line).ok()?;
            entry.as_object_mut()?.remove("chain");
            Some(JournalEntry(entry))
        };
        Self(journal.lines().filter_map(entry).collect())
    }

    /// Reads a run's journal; empty if it has none. A changed or missing line is an error; a last line that is incomplete, because
    /// a kill cut it short or it is being written, is left out.
    pub fn read(folder: &Folder) -> Result<Self, RunError> {
        let lines = Lines::read(&folder.journal(), Remedy::Journal)?;
        Ok(Self::of(lines.entries))
    }

    /// Like [`read`](Self::read); a journal that is gone although steps are finished is an error, and so is one that lacks the entries
    /// of several.
    pub(super) fn read_whole(folder: &Folder) -> Result<Self, RunError> {
        // Listed first: a step has its manifest before its entry.
        let mut manifests = names_if_there(&folder.steps())?;
        manifests.retain(|name| Path::new(name).extension().is_some_and(|kind| kind == "json"));
        if !folder.journal().exists() && !manifests.is_empty() {
            return Err(RunError::JournalLost { folder: folder.root().to_owned() });
        }
        let history = Self::read(folder)?;
        let recorded = history.manifests();
        let is_unrecorded = |name: &String| {
            let step = name.trim_end_matches(".json").rsplit('-').next().unwrap_or_default();
            recorded.digest(step).is_none() && folder.steps().join(name).exists()
        };
        manifests.retain(is_unrecorded);
        entries_lost(folder, &manifests).map_or(Ok(history), Err)
    }

    /// The entries of a damaged journal that are as they were written.
    pub(super) fn salvage(folder: &Folder) -> Self {
        Self::of(chain::salvage(&regular::read(&folder.journal()).unwrap_or_default()))
    }

    pub(super) fn of(lines: Vec<Value>) -> Self {
        Self(lines.into_iter().map(JournalEntry).collect())
    }

    /// The manifests of finished steps, by the steps' short identities.
    pub fn manifests(&self) -> RecordedManifests {
        let mut recorded = RecordedManifests::default();
        self.0.iter().for_each(|entry| recorded.apply(entry));
        recorded
    }

    /// The digest of the run's record, as of the first entry that has it.
    pub(super) fn record(&self) -> Option<&str> {
        self.0.iter().find_map(|entry| entry.text("record"))
    }

    /// The generations of which the journal has entries.
    pub(super) fn promotions(&self) -> Promotions {
        let mut promotions = Promotions::default();
        self.0.iter().for_each(|entry| promotions.apply(entry));
        promotions
    }

    /// The short identities of all steps that were ever started.
    pub(super) fn started(&self) -> impl Iterator<Item = &str> {
        let entries = self.0.iter().filter(|entry| entry.event() == Some(JournalEvent::Started));
        entries.filter_map(JournalEntry::step)
    }

    /// All entries.
    pub fn entries(&self) -> &[JournalEntry] {
        &self.0
    }
}

/// The error of a journal without entries of these finished steps. A kill leaves one manifest without an entry.
pub(super) fn entries_lost(folder: &Folder, manifests: &[String]) -> Option<RunError> {
    let cause = || format!("it has no entry of the finished steps {}", manifests.join(", "));
    (manifests.len() > 1).then(|| Remedy::Journal.damaged(&folder.journal(), cause()))
}

/// The generations that a journal records as promoted and not as withdrawn since, with the digests of their nets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Promotions(BTreeMap<u32, String>);

impl Promotions {
    pub(super) fn apply(&mut self, entry: &JournalEntry) {
        let event = entry.event();
        let is_last = matches!(event, Some(JournalEvent::Promoted | JournalEvent::Withdrawn));
        let Some(generation) = entry.member("generation").filter(|_| is_last) else { return };
        self.0.split_off(&generation);
        if let (Some(JournalEvent::Promoted), Some(net)) = (event, entry.member("blake3")) {
            self.0.insert(generation, net);
        }
    }

    /// The last one. Those before it are older.
    pub(super) fn last(&self) -> Option<(u32, &str)> {
        self.0.last_key_value().map(|(generation, net)| (*generation, net.as_str()))
    }
}

/// What a journal records about the manifests of finished steps.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecordedManifests(BTreeMap<String, RecordedManifest>);

/// A manifest as a journal records it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RecordedManifest {
    /// [`Manifest::digest`](super::Manifest::digest).
    digest: String,
    /// Whether it must be among the run's finished steps: superseded steps may be deleted.
    is_current: bool,
}

impl RecordedManifests {
    fn apply(&mut self, entry: &JournalEntry) {
        let Some(step) = entry.step() else { return };
        match entry.event() {
            Some(JournalEvent::Finished | JournalEvent::Recorded | JournalEvent::TakenOver) => {
                if let Some(digest) = entry.text("manifest") {
                    let recorded = RecordedManifest { digest: digest.to_owned(), is_current: true };
                    self.0.insert(step.to_owned(), recorded);
                }
            }
            Some(JournalEvent::Superseded) => {
                if let Some(recorded) = self.0.get_mut(step) {
                    recorded.is_current = false;
                }
            }
            Some(JournalEvent::Again) => _ = self.0.remove(step),
            _ => {}
        }
    }

    /// The digest of a step's manifest, if it is recorded.
    pub fn digest(&self, step: &str) -> Option<&str> {
        self.0.get(step).map(|recorded| recorded.digest.as_str())
    }

    /// Whether a step is recorded as finished and not as superseded since.
    pub fn is_current(&self, step: &str) -> bool {
        self.0.get(step).is_some_and(|recorded| recorded.is_current)
    }

    /// The short identities of the steps that are recorded as finished and not as superseded since.
    pub fn current(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|(_, recorded)| recorded.is_current).map(|(step, _)| step.as_str())
    }
}

/// A started step, as journal entries name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartedStep {
    /// Its short identity.
    pub step: String,
    /// Its kind.
    pub kind: String,
}

/// The progress of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Progress {
    /// Time of the first entry.
    pub first: String,
    /// Time of the last entry.
    pub last: String,
    /// The steps that were started and have not finished since, in the order of their starts: several if some are done beside others.
    /// After a kill or a stop they stay until the run goes on with a step.
    pub under_way: Vec<StartedStep>,
    /// Whether those steps were stopped or failed, as opposed to cut short by a kill.
    pub is_stopped: bool,
    /// Whether the run was opened again since the steps under way were started.
    is_reopened: bool,
    /// Steps in the order in which they were started, each with whether it is finished or superseded.
    started: Vec<(StartedStep, bool)>,
}

impl Progress {
    /// Derives the progress from a run's history.
    pub fn from_history(history: &History) -> Self {
        let mut progress = Self::default();
        history.entries().iter().for_each(|entry| progress.apply(entry));
        progress
    }

    fn apply(&mut self, entry: &JournalEntry) {
        entry.at().clone_into(&mut self.last);
        if self.first.is_empty() {
            self.first.clone_from(&self.last);
        }
        match entry.event() {
            Some(JournalEvent::Created | JournalEvent::Opened) => self.is_reopened = true,
            Some(JournalEvent::Started) => {
                self.go_on();
                let text = |name: &str| entry.text(name).unwrap_or_default().to_owned();
                let step = StartedStep { step: text("step"), kind: text("kind") };
                self.is_stopped = false;
                if !self.close(entry, false) {
                    self.started.push((step.clone(), false));
                }
                self.under_way.retain(|known| known.step != step.step);
                self.under_way.push(step);
            }
            Some(JournalEvent::Finished | JournalEvent::Recorded | JournalEvent::TakenOver) => {
                self.go_on();
                self.under_way.retain(|known| Some(known.step.as_str()) != entry.step());
                self.close(entry, true);
            }
            Some(JournalEvent::EndedEarly) => self.is_stopped = true,
            Some(JournalEvent::Superseded) => _ = self.close(entry, true),
            _ => {}
        }
    }

    /// The run goes on with a step: what was under way before it was opened is no more.
    fn go_on(&mut self) {
        if std::mem::take(&mut self.is_reopened) {
            self.under_way.clear();
        }
    }

    /// Marks the entry's step as finished or superseded, or as open again; returns false if it was never started.
    fn close(&mut self, entry: &JournalEntry, is_closed: bool) -> bool {
        let step = entry.step().unwrap_or_default();
        let known = self.started.iter_mut().find(|(started, _)| started.step == step);
        known.map(|(_, closed)| *closed = is_closed).is_some()
    }

    /// Steps that were started, and neither finished nor superseded since.
    pub fn unfinished(&self) -> impl Iterator<Item = &StartedStep> {
        self.started.iter().filter(|(_, is_closed)| !is_closed).map(|(step, _)| step)
    }
}

#[cfg(test)]
mod tests {
    use super::{History, Progress, StartedStep};

    const LINES: &str = r#"{"at":"1","event":"created"}
{"at":"2","event":"started","kind":"self_play","secs":0.0,"step":"aa"}
{"at":"3","event":"finished","kind":"self_play","secs":2.5,"step":"aa"}
{"at":"4","event":"started","kind":"train","secs":0.0,"step":"bb"}
"#;

    fn progress(journal: &str) -> Progress {
        Progress::from_history(&History::parse(journal))
    }

    #[test]
    fn progress_is_read_from_a_journal_that_a_kill_cut_short() {
        let found = progress(&format!("{LINES}{{\"at\":\"5\",\"eve"));
        assert_eq!((found.first.as_str(), found.last.as_str()), ("1", "4"));
        assert!(!found.is_stopped);
        let training = StartedStep { step: "bb".to_owned(), kind: "train".to_owned() };
        assert_eq!(found.unfinished().collect::<Vec<_>>(), [&training]);
        assert_eq!(found.under_way, [training]);
        let ended = r#"{"at":"5","event":"ended early","kind":"train","secs":1.0,"step":"bb"}"#;
        let found = progress(&format!("{LINES}{ended}"));
        assert_eq!((found.is_stopped, found.unfinished().count()), (true, 1));
        let superseded = r#"{"at":"5","event":"superseded","by":"cc","step":"bb"}"#;
        assert_eq!(progress(&format!("{LINES}{superseded}")).unfinished().count(), 0);
        for journal in ["", "\u{fffd}\n[1]\n7"] {
            assert_eq!(progress(journal), Progress::default());
        }
    }

    #[test]
    fn steps_beside_each_other_run_until_each_has_finished() {
        let under_way = |journal: &str| -> Vec<String> {
            progress(journal).under_way.into_iter().map(|started| started.step).collect()
        };
        let beside = r#"{"at":"5","event":"started","kind":"self_play","step":"cc"}
{"at":"6","event":"working","secs":1.0,"waited":0.0,"step":"cc"}
"#;
        assert_eq!(under_way(&format!("{LINES}{beside}")), ["bb", "cc"]);
        let finished = |step: &str| format!("{{\"at\":\"7\",\"event\":\"finished\",\"step\":\"{step}\"}}\n");
        let trained = format!("{LINES}{beside}{}", finished("bb"));
        assert_eq!(under_way(&trained), ["cc"]);
        assert!(under_way(&format!("{trained}{}", finished("cc"))).is_empty());
        // A kill leaves both under way, until the run goes on.
        let opened = format!("{LINES}{beside}{{\"at\":\"8\",\"event\":\"opened\"}}\n");
        assert_eq!(under_way(&opened), ["bb", "cc"]);
        let again = r#"{"at":"9","event":"started","kind":"self_play","step":"cc"}"#;
        assert_eq!(under_way(&format!("{opened}{again}")), ["cc"]);
    }

    #[test]
    fn a_finished_step_that_is_started_again_is_unfinished() {
        let again = r#"{"at":"5","event":"started","kind":"self_play","step":"aa"}"#;
        let found = progress(&format!("{LINES}{again}"));
        let unfinished: Vec<&str> = found.unfinished().map(|started| started.step.as_str()).collect();
        assert_eq!(unfinished, ["aa", "bb"]);
    }
}
