//! Table files: written whole, with their digest; fully checked when read.

use std::io;
use std::path::Path;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::error::{FileFault, FileProblem, StoreError};
use super::format::{self, Effort, Provenance};
use super::row::{TableRow, first_fault};
use crate::{durable, regular};

/// A stored file as listed in a manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// Its path below the run's folder, with `/` as the separator.
    pub path: String,
    /// Rows of the table; 0 for other files.
    pub rows: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its blake3 digest, 64 hex digits.
    pub blake3: String,
}

/// Writes a table to `root/path`, where `path` is separated by `/`. Nothing is written if a row is invalid.
///
/// If the process is killed, the file is either whole or absent.
pub fn write_table<R: TableRow>(
    root: &Path,
    path: &str,
    rows: &[R],
    provenance: &Provenance,
) -> Result<FileEntry, StoreError> {
    write(root, path, rows, provenance, Effort::Small, durable::write)
}

/// As [`write_table`], for a shard of a step: until the step's manifest is written, a power cut may undo it, and the shard is done again.
pub fn write_shard_table<R: TableRow>(
    root: &Path,
    path: &str,
    rows: &[R],
    provenance: &Provenance,
) -> Result<FileEntry, StoreError> {
    write(root, path, rows, provenance, Effort::Small, durable::write_part)
}

/// As [`write_table`], in about half the time and for somewhat larger files: for rows that no search was needed for.
pub fn write_table_fast<R: TableRow>(
    root: &Path,
    path: &str,
    rows: &[R],
    provenance: &Provenance,
) -> Result<FileEntry, StoreError> {
    write(root, path, rows, provenance, Effort::Fast, durable::write)
}

fn write<R: TableRow>(
    root: &Path,
    path: &str,
    rows: &[R],
    provenance: &Provenance,
    effort: Effort,
    write_file: fn(&Path, &[u8]) -> io::Result<()>,
) -> Result<FileEntry, StoreError> {
    let file = root.join(path);
    let content = encode(rows, &file, provenance, effort)?;
    write_file(&file, &content).map_err(|source| StoreError::Write { file, source })?;
    Ok(FileEntry {
        path: path.to_owned(),
        rows: rows.len() as u64,
        bytes: content.len() as u64,
        blake3: durable::digest(&content),
    })
}

fn encode<R: TableRow>(
    rows: &[R],
    path: &Path,
    provenance: &Provenance,
    effort: Effort,
) -> Result<Vec<u8>, StoreError> {
    check_rows(rows, path)?;
    Ok(format::encode(rows, provenance, effort))
}

/// The bytes that [`write_table`] would write, for another process to write them; `path` is the table's name in errors.
pub fn encode_table<R: TableRow>(
    rows: &[R],
    path: &Path,
    provenance: &Provenance,
) -> Result<Vec<u8>, StoreError> {
    encode(rows, path, provenance, Effort::Small)
}

/// Reads a table that another process has encoded, with the checks of [`read_table`]. More rows than `most` are an error before any
/// is read. `path` is the table's name in errors.
pub fn decode_table<R: TableRow>(content: Vec<u8>, path: &Path, most: u64) -> Result<Vec<R>, StoreError> {
    let content = Bytes::from(content);
    let found = format::peek::<R>(content.clone(), path)?;
    if found > most {
        let cause = format!("it has {found} rows, expected at most {most}");
        return Err(format::damaged(path)(cause));
    }
    let rows = format::decode(content, path)?;
    check_rows(&rows, path)?;
    Ok(rows)
}

/// Reads a whole table and checks its name, version, columns and every row.
pub fn read_table<R: TableRow>(path: &Path) -> Result<Vec<R>, StoreError> {
    let file = regular::open(path).map_err(unreadable(path))?;
    let rows = format::decode(file, path)?;
    check_rows(&rows, path)?;
    Ok(rows)
}

/// The number of rows of a table; reads only the footer, and checks the name, version and columns.
pub fn peek_table<R: TableRow>(path: &Path) -> Result<u64, StoreError> {
    format::peek::<R>(regular::open(path).map_err(unreadable(path))?, path)
}

/// As [`peek_table`], for a table written by [`write_wide`](super::write_wide), whose columns only the file knows.
pub fn peek_wide(path: &Path, table: &'static str) -> Result<u64, StoreError> {
    format::peek_wide(regular::open(path).map_err(unreadable(path))?, path, table)
}

/// Reads a table listed in a manifest, after checking that the file has not changed.
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
    first_fault(rows).map_or(Ok(()), |fault| Err(StoreError::from_row_fault(path, R::TABLE, fault)))
}

/// Checks that a file has not changed since it was written.
pub fn verify_file(root: &Path, entry: &FileEntry) -> Result<(), StoreError> {
    verify_files(root, std::slice::from_ref(entry))
}

/// Checks that files have not changed since they were written; the error names every one that has.
pub fn verify_files(root: &Path, entries: &[FileEntry]) -> Result<(), StoreError> {
    let fault = |entry: &FileEntry| {
        let file = root.join(&entry.path);
        problem(&file, entry).map(|problem| FileFault { file, problem })
    };
    let faults: Vec<FileFault> = entries.iter().filter_map(fault).collect();
    if faults.is_empty() { Ok(()) } else { Err(StoreError::Changed { faults }) }
}

fn problem(file: &Path, entry: &FileEntry) -> Option<FileProblem> {
    compared(file, entry).unwrap_or_else(|cause| {
        let is_missing = cause.kind() == io::ErrorKind::NotFound;
        Some(if is_missing { FileProblem::Missing } else { FileProblem::Unreadable(cause.to_string()) })
    })
}

/// The difference between a file and its entry. A file of another size is not read.
fn compared(file: &Path, entry: &FileEntry) -> io::Result<Option<FileProblem>> {
    let mut file = regular::open(file)?;
    let (expected, found) = (entry.bytes, file.metadata()?.len());
    if expected != found {
        return Ok(Some(FileProblem::Size { expected, found }));
    }
    let content = regular::read_all(&mut file)?;
    Ok((durable::digest(&content) != entry.blake3).then_some(FileProblem::Content))
}
