//! The small bookkeeping files of a run: text, mostly JSON, each read and written whole.

use std::path::Path;
use std::{fs, io};

use serde::Serialize;
use serde::de::DeserializeOwned;

use dc0_core::durable;

use super::error::RunError;

/// Reads a file's text; `None` if the file does not exist.
pub(super) fn text(path: &Path) -> Result<Option<String>, RunError> {
    match fs::read_to_string(path) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some).map_err(RunError::io("read", path)),
    }
}

/// Parses a file's text as JSON.
pub(super) fn parsed<T: DeserializeOwned>(text: &str, path: &Path) -> Result<T, RunError> {
    serde_json::from_str(text).map_err(|cause| RunError::damaged(path, cause))
}

/// Reads and parses a JSON file; `None` if it does not exist.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, RunError> {
    text(path)?.map(|text| parsed(&text, path)).transpose()
}

/// Writes a file whole or not at all.
pub(super) fn write<T: Serialize>(path: &Path, content: &T) -> Result<(), RunError> {
    let text = serde_json::to_string_pretty(content).expect("bookkeeping has text keys only");
    durable::write(path, format!("{text}\n").as_bytes()).map_err(RunError::io("write", path))
}
