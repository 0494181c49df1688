//! Files of tables: written whole, with their digest; read with everything checked.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::{FileFault, FileProblem, StoreError};
use super::format::{self, Provenance};
use super::row::{TableRow, first_fault};
use crate::durable;

/// A stored file as a manifest names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// Its path below the run's folder, with `/` between the parts.
    pub path: String,
    /// Rows of the table; 0 for other files.
    pub rows: u64,
    /// Its size.
    pub bytes: u64,
    /// Its blake3 digest, 64 hex digits.
    pub blake3: String,
}

/// Writes a table as `root/path`, where `path` uses `/` between its parts. Rows that cannot be right are not written.
///
/// A kill leaves the file whole or absent.
pub fn write_table<R: TableRow>(
    root: &Path,
    path: &str,
    rows: &[R],
    provenance: &Provenance,
) -> Result<FileEntry, StoreError> {
    let file = root.join(path);
    check_rows(rows, &file)?;
    let content = format::encode(rows, provenance);
    durable::write(&file, &content).map_err(|source| StoreError::Write { file, source })?;
    Ok(FileEntry {
        path: path.to_owned(),
        rows: rows.len() as u64,
        bytes: content.len() as u64,
        blake3: durable::digest(&content),
    })
}

/// Reads a table whole, and checks that it is one: its name, version, columns and every row.
pub fn read_table<R: TableRow>(path: &Path) -> Result<Vec<R>, StoreError> {
    let file = File::open(path).map_err(unreadable(path))?;
    let rows = format::decode(file, path)?;
    check_rows(&rows, path)?;
    Ok(rows)
}

/// The number of rows of a table, by its footer alone, after checking that it is one: its name, version and columns.
pub fn peek_table<R: TableRow>(path: &Path) -> Result<u64, StoreError> {
    format::peek::<R>(File::open(path).map_err(unreadable(path))?, path)
}

/// As [`peek_table`], for a table whose columns are its file's own, which [`write_wide`](super::write_wide) wrote.
pub fn peek_wide(path: &Path, table: &'static str) -> Result<u64, StoreError> {
    format::peek_wide(File::open(path).map_err(unreadable(path))?, path, table)
}

/// Reads a table that a manifest names, after checking that it is as it was written.
pub fn read_entry<R: TableRow>(root: &Path, entry: &FileEntry) -> Result<Vec<R>, StoreError> {
    verify_file(root, entry)?;
    read_table(&root.join(&entry.path))
}

fn unreadable(path: &Path) -> impl Fn(io::Error) -> StoreError {
    move |source| {
        let file = path.to_owned();
        if source.kind() == io::ErrorKind::NotFound {
            StoreError::Missing { file }
        } else {
            StoreError::Read { file, source }
        }
    }
}

fn check_rows<R: TableRow>(rows: &[R], path: &Path) -> Result<(), StoreError> {
    first_fault(rows).map_or(Ok(()), |fault| Err(StoreError::of_row(path, R::TABLE, fault)))
}

/// Reads a file again and compares it with what was written.
pub fn verify_file(root: &Path, entry: &FileEntry) -> Result<(), StoreError> {
    verify_files(root, std::slice::from_ref(entry))
}

/// Reads files again and compares them with what was written; the error names every one that differs.
pub fn verify_files(root: &Path, entries: &[FileEntry]) -> Result<(), StoreError> {
    let fault = |entry: &FileEntry| {
        let file = root.join(&entry.path);
        problem(&file, entry).map(|problem| FileFault { file, problem })
    };
    let faults: Vec<FileFault> = entries.iter().filter_map(fault).collect();
    if faults.is_empty() { Ok(()) } else { Err(StoreError::Changed { faults }) }
}

fn problem(file: &Path, entry: &FileEntry) -> Option<FileProblem> {
    let content = match fs::read(file) {
        Ok(content) => content,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Some(FileProblem::Missing),
        Err(cause) => return Some(FileProblem::Unreadable(cause.to_string())),
    };
    let (expected, found) = (entry.bytes, content.len() as u64);
    if expected != found {
        return Some(FileProblem::Size { expected, found });
    }
    (durable::digest(&content) != entry.blake3).then_some(FileProblem::Content)
}
