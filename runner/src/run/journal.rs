//! What was done when: one JSON object a line, only ever appended to. Results never depend on it.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use serde_json::{Map, Value};

use super::error::RunError;
use super::folder::Folder;
use crate::clock;

/// The journal of an open run.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Mutex<File>,
}

impl Journal {
    /// Opens or creates the journal. A line that a kill cut short is ended first.
    pub fn open(folder: &Folder) -> Result<Self, RunError> {
        let path = folder.journal();
        let opened = OpenOptions::new().create(true).append(true).read(true).open(&path);
        let mut file = opened.map_err(RunError::io("open", &path))?;
        end_line(&mut file).map_err(RunError::io("write", &path))?;
        Ok(Self { path, file: Mutex::new(file) })
    }

    /// Everything that happened in a run, in its order. A line that a kill cut short is no JSON, and says nothing.
    pub fn lines(folder: &Folder) -> Result<Vec<Value>, RunError> {
        let path = folder.journal();
        match fs::read_to_string(&path) {
            Ok(text) => Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(cause) => Err(RunError::io("read", &path)(cause)),
        }
    }

    /// How long each step of a run took, by its short identity: all attempts that ended, or the attempts of the run it was taken
    /// over from.
    pub fn seconds(folder: &Folder) -> Result<BTreeMap<String, f64>, RunError> {
        let mut seconds = BTreeMap::new();
        for line in Self::lines(folder)? {
            let ended = ["finished", "ended early", "taken over"].map(Value::from).contains(&line["event"]);
            if let (true, Some(step), Some(secs)) = (ended, line["step"].as_str(), line["secs"].as_f64()) {
                *seconds.entry(step.to_owned()).or_default() += secs;
            }
        }
        Ok(seconds)
    }

    /// Appends what happened, with the time.
    pub fn note<const N: usize>(&self, event: &str, details: [(&str, Value); N]) -> Result<(), RunError> {
        let mut line = Map::new();
        line.insert("at".to_owned(), clock::timestamp().into());
        line.insert("event".to_owned(), event.into());
        line.extend(details.map(|(name, value)| (name.to_owned(), value)));
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(file, "{}", Value::Object(line)).map_err(RunError::io("write", &self.path))
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
