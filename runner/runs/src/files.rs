//! Listing, moving and removing files within a run.

use std::path::Path;
use std::{fs, io};

use super::error::RunError;
use super::folder::Folder;

/// All files below a folder of the run, as sorted paths relative to `base` with `/`. Empty if the folder does not exist.
pub(super) fn below(base: &Path, folder: &str) -> Result<Vec<String>, RunError> {
    let mut found = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(folder) = pending.pop() {
        let path = if folder.is_empty() { base.to_owned() } else { base.join(&folder) };
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => continue,
            Err(cause) => return Err(RunError::io("list", &path)(cause)),
        };
        for entry in entries {
            let entry = entry.map_err(RunError::io("list", &path))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let relative = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            let is_folder = entry.file_type().map_err(RunError::io("list", &path))?.is_dir();
            if is_folder {
                pending.push(relative);
            } else {
                found.push(relative);
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// The names in a folder, sorted.
pub(super) fn names(folder: &Path) -> Result<Vec<String>, RunError> {
    let entries = fs::read_dir(folder).map_err(RunError::io("list", folder))?;
    let name = |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> =
        entries.map(name).collect::<io::Result<_>>().map_err(RunError::io("list", folder))?;
    names.sort_unstable();
    Ok(names)
}

/// The names in a folder, sorted; empty if the folder does not exist.
pub(super) fn names_if_there(folder: &Path) -> Result<Vec<String>, RunError> {
    match names(folder) {
        Err(RunError::Io { cause, .. })
            if matches!(cause.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(Vec::new())
        }
        names => names,
    }
}

/// Moves a file within the run. A missing source is no error: either the file was moved before a kill, or it is lost, which is
/// noticed when it is next read.
pub(super) fn relocate(folder: &Folder, from: &str, to: &str) -> Result<(), RunError> {
    let (from, to) = (folder.path(from), folder.path(to));
    if !from.exists() {
        return Ok(());
    }
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent).map_err(RunError::io("create", parent))?;
    }
    fs::rename(&from, &to).map_err(RunError::io("move", &from))
}

/// Removes a folder and its subfolders as far as they are empty.
pub(super) fn remove_empty(path: &Path) {
    let Ok(entries) = fs::read_dir(path) else { return };
    entries.flatten().filter(|entry| entry.path().is_dir()).for_each(|entry| remove_empty(&entry.path()));
    // Fails if the folder is not empty, and it stays.
    let _ = fs::remove_dir(path);
}

/// Whether this is the name of an unfinished file: `durable` writes `name.<process>.tmp` and then renames it.
pub(super) fn is_unfinished(name: &str) -> bool {
    let stem = name.strip_suffix(".tmp").and_then(|stem| stem.rsplit_once('.'));
    stem.is_some_and(|(_, process)| !process.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Removes temporary files that killed processes left behind. Only the holder of the run's lock may call this.
pub(super) fn remove_unfinished(folder: &Folder) -> Result<(), RunError> {
    for name in below(folder.root(), "")?.iter().filter(|name| is_unfinished(name)) {
        let path = folder.path(name);
        fs::remove_file(&path).map_err(RunError::io("remove", &path))?;
    }
    Ok(())
}
