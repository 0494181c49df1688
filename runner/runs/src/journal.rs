//! The journal of a run: one JSON object per line, append-only. Results never depend on it.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use dc0_core::poison::IgnorePoison as _;

use serde_json::{Map, Value};

use super::error::RunError;
use super::folder::Folder;
use super::history::{History, JournalEntry};
use super::ledger::{Cost, Ledger};
use dc0_process::clock;

/// The journal of an open run.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    writing: Mutex<Writing>,
}

/// The open file, and the costs recorded in its lines.
#[derive(Debug)]
struct Writing {
    file: File,
    ledger: Ledger,
}

impl Journal {
    /// Opens or creates the journal. A line that a kill cut short is terminated first.
    pub fn open(folder: &Folder) -> Result<Self, RunError> {
        let path = folder.journal();
        let opened = OpenOptions::new().create(true).append(true).read(true).open(&path);
        let mut file = opened.map_err(RunError::io("open", &path))?;
        end_line(&mut file).map_err(RunError::io("write", &path))?;
        let ledger = Ledger::from_history(&History::read(folder)?);
        Ok(Self { path, writing: Mutex::new(Writing { file, ledger }) })
    }

    fn writing(&self) -> MutexGuard<'_, Writing> {
        self.writing.lock().ignore_poison()
    }

    /// The recorded cost of a step.
    pub fn cost(&self, step: &str) -> Option<Cost> {
        self.writing().ledger.cost(step).cloned()
    }

    /// The recorded costs of all steps.
    pub fn costs(&self) -> Ledger {
        self.writing().ledger.clone()
    }

    /// Appends an entry with the current time; `event` is the name of a [`JournalEvent`](super::JournalEvent).
    pub fn note<const N: usize>(&self, event: &str, details: [(&str, Value); N]) -> Result<(), RunError> {
        let mut line = Map::new();
        line.insert("at".to_owned(), clock::timestamp().into());
        line.insert("event".to_owned(), event.into());
        line.extend(details.map(|(name, value)| (name.to_owned(), value)));
        let entry = JournalEntry::new(Value::Object(line));
        let mut writing = self.writing();
        writeln!(writing.file, "{}", entry.json()).map_err(RunError::io("write", &self.path))?;
        writing.ledger.apply(&entry);
        Ok(())
    }
}

fn end_line(file: &mut File) -> std::io::Result<()> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(());
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    if last == [b'\n'] { Ok(()) } else { file.write_all(b"\n") }
}
