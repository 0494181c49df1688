//! What happened in a run, as its journal tells it: the one reader of the journal's lines.

use dc0_core::param_enum;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::document;
use super::error::RunError;
use super::folder::Folder;

param_enum! {
    /// What an entry of a journal is about.
    pub enum JournalEvent {
        /// The run was created.
        Created = "created",
        /// A run that was there was opened.
        Opened = "opened",
        /// A run that was created begins with the steps of another one.
        Forked = "forked",
        /// The script has imported a file since it opened the run.
        Imported = "imported",
        /// A step was begun.
        Started = "started",
        /// What a step has cost so far.
        Working = "working",
        /// A step was finished.
        Finished = "finished",
        /// A step was stopped, or failed.
        EndedEarly = "ended early",
        /// A finished step was taken over from another run.
        TakenOver = "taken over",
        /// Another step has taken the place of a step.
        Superseded = "superseded",
        /// A finished step has lost a file and is done again.
        Again = "again",
        /// A remark of the script.
        Note = "note",
    }
}

/// A line of a journal. What it lacks is read as nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct JournalEntry(Value);

impl JournalEntry {
    pub(super) fn new(line: Value) -> Self {
        Self(line)
    }

    /// What it is about; `None` if that is not known to this program.
    pub fn event(&self) -> Option<JournalEvent> {
        self.text("event").and_then(JournalEvent::from_word)
    }

    /// When it was written.
    pub fn at(&self) -> &str {
        self.text("at").unwrap_or_default()
    }

    /// The short identity of its step.
    pub fn step(&self) -> Option<&str> {
        self.text("step")
    }

    /// Seconds that the step took until then.
    pub fn secs(&self) -> f64 {
        self.0["secs"].as_f64().unwrap_or(0.0)
    }

    /// A member that is a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0[name].as_str()
    }

    /// A member of any type; one that is absent is read as `null`.
    pub fn member<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_value(self.0[name].clone()).ok()
    }

    /// The whole line.
    pub fn json(&self) -> &Value {
        &self.0
    }
}

/// A journal, entry by entry in its order.
#[derive(Debug, Clone, Default)]
pub struct History(Vec<JournalEntry>);

impl History {
    /// Of a journal's text. A line that a kill cut short, or that is being written, is no JSON, and says nothing.
    pub fn of(journal: &str) -> Self {
        Self(journal.lines().filter_map(|line| serde_json::from_str(line).ok()).map(JournalEntry).collect())
    }

    /// Of a run; empty where it has no journal.
    pub fn read(folder: &Folder) -> Result<Self, RunError> {
        Ok(Self::of(&document::text(&folder.journal())?.unwrap_or_default()))
    }

    /// All entries.
    pub fn entries(&self) -> &[JournalEntry] {
        &self.0
    }
}

/// A step as entries name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BegunStep {
    /// Its short identity.
    pub step: String,
    /// What is done.
    pub kind: String,
}

/// How far a run has come.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Progress {
    /// When its first entry was written.
    pub first: String,
    /// When its last entry was written.
    pub last: String,
    /// Steps that were finished or taken over.
    pub finished: usize,
    /// Seconds of all steps.
    pub seconds: f64,
    /// The step that was begun last, unless one was finished since.
    pub under_way: Option<BegunStep>,
    /// Whether that step was stopped or failed, rather than cut short by a kill.
    pub is_stopped: bool,
    /// Steps in the order in which they were begun, each with whether it is settled.
    begun: Vec<(BegunStep, bool)>,
}

impl Progress {
    /// What a journal says of it.
    pub fn of(history: &History) -> Self {
        let mut progress = Self::default();
        history.entries().iter().for_each(|entry| progress.take(entry));
        progress
    }

    fn take(&mut self, entry: &JournalEntry) {
        entry.at().clone_into(&mut self.last);
        if self.first.is_empty() {
            self.first.clone_from(&self.last);
        }
        match entry.event() {
            Some(JournalEvent::Started) => {
                let text = |name: &str| entry.text(name).unwrap_or_default().to_owned();
                let begun = BegunStep { step: text("step"), kind: text("kind") };
                self.is_stopped = false;
                if !self.settle(entry, false) {
                    self.begun.push((begun.clone(), false));
                }
                self.under_way = Some(begun);
            }
            Some(JournalEvent::Finished | JournalEvent::TakenOver) => {
                self.under_way = None;
                self.finished += 1;
                self.seconds += entry.secs();
                self.settle(entry, true);
            }
            Some(JournalEvent::EndedEarly) => {
                self.is_stopped = true;
                self.seconds += entry.secs();
            }
            Some(JournalEvent::Superseded) => _ = self.settle(entry, true),
            _ => {}
        }
    }

    /// Notes whether a step is settled; false for one that was never begun.
    fn settle(&mut self, entry: &JournalEntry, is_settled: bool) -> bool {
        let step = entry.step().unwrap_or_default();
        let known = self.begun.iter_mut().find(|(begun, _)| begun.step == step);
        known.map(|(_, settled)| *settled = is_settled).is_some()
    }

    /// Steps that were begun, and neither finished since nor given up for another one.
    pub fn unfinished(&self) -> impl Iterator<Item = &BegunStep> {
        self.begun.iter().filter(|(_, is_settled)| !is_settled).map(|(begun, _)| begun)
    }
}

#[cfg(test)]
mod tests {
    use super::{BegunStep, History, Progress};

    const LINES: &str = r#"{"at":"1","event":"created"}
{"at":"2","event":"started","kind":"self_play","secs":0.0,"step":"aa"}
{"at":"3","event":"finished","kind":"self_play","secs":2.5,"step":"aa"}
{"at":"4","event":"started","kind":"train","secs":0.0,"step":"bb"}
"#;

    fn progress(journal: &str) -> Progress {
        Progress::of(&History::of(journal))
    }

    #[test]
    fn a_journal_says_what_is_finished_and_what_is_under_way_even_where_a_kill_cut_it_short() {
        let found = progress(&format!("{LINES}{{\"at\":\"5\",\"eve"));
        assert_eq!((found.first.as_str(), found.last.as_str()), ("1", "4"));
        assert_eq!((found.finished, found.seconds, found.is_stopped), (1, 2.5, false));
        let training = BegunStep { step: "bb".to_owned(), kind: "train".to_owned() };
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
    fn a_finished_step_that_is_begun_again_is_unfinished() {
        let again = r#"{"at":"5","event":"started","kind":"self_play","step":"aa"}"#;
        let found = progress(&format!("{LINES}{again}"));
        let unfinished: Vec<&str> = found.unfinished().map(|begun| begun.step.as_str()).collect();
        assert_eq!(unfinished, ["aa", "bb"]);
    }
}
