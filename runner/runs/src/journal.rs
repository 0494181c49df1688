//! The journal of a run: what happened, with times. Results never depend on it.

use std::sync::{Mutex, MutexGuard};

use dc0_core::poison::IgnorePoison as _;

use serde_json::{Map, Value};

use super::chain::Appender;
use super::error::{Remedy, RunError};
use super::folder::Folder;
use super::history::{History, JournalEntry, JournalEvent, Promotions};
use super::ledger::{Cost, Ledger};
use dc0_process::clock;

/// The journal of an open run.
#[derive(Debug)]
pub struct Journal {
    writing: Mutex<Writing>,
}

/// The open file, and what is recorded in its lines.
#[derive(Debug)]
struct Writing {
    file: Appender,
    ledger: Ledger,
    promotions: Promotions,
}

impl Journal {
    /// Opens or creates the journal, and reads what has happened so far.
    pub fn open(folder: &Folder) -> Result<(Self, History), RunError> {
        let (file, lines) = Appender::open(&folder.journal(), Remedy::Journal)?;
        let history = History::of(lines);
        let ledger = Ledger::from_history(&history);
        let promotions = history.promotions();
        Ok((Self { writing: Mutex::new(Writing { file, ledger, promotions }) }, history))
    }

    fn writing(&self) -> MutexGuard<'_, Writing> {
        self.writing.lock().ignore_poison()
    }

    /// The recorded cost of a step.
    pub fn cost(&self, step: &str) -> Option<Cost> {
        self.writing().ledger.cost(step).cloned()
    }

    /// The recorded generations.
    pub(super) fn promotions(&self) -> Promotions {
        self.writing().promotions.clone()
    }

    /// The recorded costs of all steps.
    pub fn costs(&self) -> Ledger {
        self.writing().ledger.clone()
    }

    /// Appends an entry with the current time.
    pub fn note<'a>(
        &self,
        event: JournalEvent,
        details: impl IntoIterator<Item = (&'a str, Value)>,
    ) -> Result<(), RunError> {
        let mut line = Map::new();
        line.insert("at".to_owned(), clock::timestamp().into());
        line.insert("event".to_owned(), event.name().into());
        line.extend(details.into_iter().map(|(name, value)| (name.to_owned(), value)));
        let entry = JournalEntry::new(Value::Object(line));
        // Progress may be lost in a power cut, but a step must not be finished without its entry.
        let must_last = event != JournalEvent::Working;
        let mut writing = self.writing();
        writing.file.append(entry.json(), must_last)?;
        writing.ledger.apply(&entry);
        writing.promotions.apply(&entry);
        Ok(())
    }
}
