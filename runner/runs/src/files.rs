//! Moving and listing files within a run.

use std::path::Path;
use std::{fs, io};

use super::error::RunError;
use super::folder::Folder;

/// Every file below a folder of the run, relative to `base`, with `/`, sorted. A folder that does not exist has none.
pub(super) fn below(base: &Path, folder: &str) -> Result<Vec<String>, RunError> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
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
                waiting.push(relative);
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

/// The names in a folder, sorted; none where there is no folder.
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

/// Moves a file within the run. A file that is gone from its place was moved before a kill, or is lost; whoever needs it
/// will look for it at its goal.
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

/// Removes a folder and the folders in it as far as they are empty.
pub(super) fn remove_empty(path: &Path) {
    let Ok(entries) = fs::read_dir(path) else { return };
    entries.flatten().filter(|entry| entry.path().is_dir()).for_each(|entry| remove_empty(&entry.path()));
    // Fails where something is left in it, which then stays.
    let _ = fs::remove_dir(path);
}

/// Whether a name is that of a file being written: `durable` writes `name.<process>.tmp` and renames it.
pub(super) fn is_unfinished(name: &str) -> bool {
    let stem = name.strip_suffix(".tmp").and_then(|stem| stem.rsplit_once('.'));
    stem.is_some_and(|(_, process)| !process.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Removes what killed writers left beside the files they were writing; only the lock's holder may do so.
pub(super) fn remove_unfinished(folder: &Folder) -> Result<(), RunError> {
    for name in below(folder.root(), "")?.iter().filter(|name| is_unfinished(name)) {
        let path = folder.path(name);
        fs::remove_file(&path).map_err(RunError::io("remove", &path))?;
    }
    Ok(())
}
