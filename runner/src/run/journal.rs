//! What was done when: one JSON object a line, only ever appended to. Results never depend on it.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
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
