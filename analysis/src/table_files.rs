//! The current files of a table.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::AnalysisError;
use crate::source::{Files, RunSource};
use crate::stored_tables::Stored;

/// A file of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableFile {
    /// Its path.
    pub(crate) path: PathBuf,
    /// Its iteration, net, match or analysis.
    pub(crate) number: u32,
}

/// The files of a run's table in the order of their paths, those that should be there and are missing included.
pub(crate) fn files_of(run: &RunSource, table: &Stored) -> Result<Vec<TableFile>, AnalysisError> {
    let folder = run.folder.join(table.name);
    let below_folder = |file: &String| Some(file.strip_prefix(table.name)?.strip_prefix('/')?.to_owned());
    let mut names = match &run.files {
        Files::All => {
            let mut names = below(&folder)?;
            names.extend(run.digests.keys().filter_map(below_folder));
            names
        }
        Files::Listed => run.digests.keys().filter_map(below_folder).collect(),
        Files::Only(files) => files.iter().filter_map(below_folder).collect(),
    };
    names.sort_unstable();
    names.dedup();
    let file = |name: &String| {
        let number = table.numbering.number(name)?;
        Some(TableFile { path: folder.join(name), number })
    };
    let mut files: Vec<TableFile> = names.iter().filter_map(file).collect();
    // By number, not by name: five-digit numbers come after four-digit ones.
    files.sort_by_key(|file| file.number);
    Ok(files)
}

/// The files in a folder and its direct subfolders, as relative paths with `/`.
fn below(folder: &Path) -> Result<Vec<String>, AnalysisError> {
    let mut names = Vec::new();
    for (name, is_folder) in entries(folder)? {
        if is_folder {
            let inner = entries(&folder.join(&name))?;
            names.extend(
                inner
                    .into_iter()
                    .filter(|(_, is_folder)| !is_folder)
                    .map(|(inner, _)| format!("{name}/{inner}")),
            );
        } else {
            names.push(name);
        }
    }
    Ok(names)
}

/// A folder's entries, with whether each is a folder; empty if the folder does not exist.
fn entries(folder: &Path) -> Result<Vec<(String, bool)>, AnalysisError> {
    let error = |source| AnalysisError::List { folder: folder.to_owned(), source };
    let found = match fs::read_dir(folder) {
        Ok(found) => found,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(cause) => return Err(error(cause)),
    };
    let mut entries = Vec::new();
    for entry in found {
        let entry = entry.map_err(error)?;
        let is_folder = entry.file_type().map_err(error)?.is_dir();
        entries.push((entry.file_name().to_string_lossy().into_owned(), is_folder));
    }
    Ok(entries)
}
