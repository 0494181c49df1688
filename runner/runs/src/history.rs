//! The history of a run, read from its journal. All parsing of journal lines is here.

use dc0_core::param_enum;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::document;
use super::error::RunError;
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
        /// A step was finished.
        Finished = "finished",
        /// A step was stopped, or failed.
        EndedEarly = "ended early",
        /// A finished step was taken over from another run.
        TakenOver = "taken over",
        /// Another step took a step's slot.
        Superseded = "superseded",
        /// A finished step lost a file and is done again.
        Again = "again",
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
    /// Parses a journal's text. Lines that are not JSON are skipped: a kill cut them short, or they are being written.
    pub fn parse(journal: &str) -> Self {
        Self(journal.lines().filter_map(|line| serde_json::from_str(line).ok()).map(JournalEntry).collect())
    }

    /// Reads a run's journal; empty if it has none.
    pub fn read(folder: &Folder) -> Result<Self, RunError> {
        Ok(Self::parse(&document::text(&folder.journal())?.unwrap_or_default()))
    }

    /// All entries.
    pub fn entries(&self) -> &[JournalEntry] {
        &self.0
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
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Progress {
    /// Time of the first entry.
    pub first: String,
    /// Time of the last entry.
    pub last: String,
    /// Steps that were finished or taken over.
    pub finished: usize,
    /// Seconds that all steps took.
    pub seconds: f64,
    /// The last started step, unless a step has finished since.
    pub under_way: Option<StartedStep>,
    /// Whether that step was stopped or failed, as opposed to cut short by a kill.
    pub is_stopped: bool,
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
            Some(JournalEvent::Started) => {
                let text = |name: &str| entry.text(name).unwrap_or_default().to_owned();
                let step = StartedStep { step: text("step"), kind: text("kind") };
                self.is_stopped = false;
                if !self.close(entry, false) {
                    self.started.push((step.clone(), false));
                }
                self.under_way = Some(step);
            }
            Some(JournalEvent::Finished | JournalEvent::TakenOver) => {
                self.under_way = None;
                self.finished += 1;
                self.seconds += entry.secs();
                self.close(entry, true);
            }
            Some(JournalEvent::EndedEarly) => {
                self.is_stopped = true;
                self.seconds += entry.secs();
            }
            Some(JournalEvent::Superseded) => _ = self.close(entry, true),
            _ => {}
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
        assert_eq!((found.finished, found.seconds, found.is_stopped), (1, 2.5, false));
        let training = StartedStep { step: "bb".to_owned(), kind: "train".to_owned() };
        assert_eq!(found.unfinished().collect::<Vec<_>>(), [&training]);
        assert_eq!(found.under_way, Some(training));
        let ended = r#"{"at":"5","event":"ended early","kind":"train","secs":1.0,"step":"bb"}"#;
        let found = progress(&format!("{LINES}{ended}"));
        assert_eq!((found.is_stopped, found.seconds, found.unfinished().count()), (true, 3.5, 1));
        let superseded = r#"{"at":"5","event":"superseded","by":"cc","step":"bb"}"#;
        assert_eq!(progress(&format!("{LINES}{superseded}")).unfinished().count(), 0);
        for journal in ["", "\u{fffd}\n[1]\n7"] {
            assert_eq!(progress(journal), Progress::default());
        }
    }

    #[test]
    fn a_finished_step_that_is_started_again_is_unfinished() {
        let again = r#"{"at":"5","event":"started","kind":"self_play","step":"aa"}"#;
        let found = progress(&format!("{LINES}{again}"));
        let unfinished: Vec<&str> = found.unfinished().map(|started| started.step.as_str()).collect();
        assert_eq!(unfinished, ["aa", "bb"]);
    }
}
