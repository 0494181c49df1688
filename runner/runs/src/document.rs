//! The small files of a run's bookkeeping: text, most of it JSON, each read and written whole.

use std::path::Path;
use std::{fs, io};

use serde::Serialize;
use serde::de::DeserializeOwned;

use dc0_core::durable;

use super::error::RunError;

/// The text of a file; `None` where there is none.
pub(super) fn text(path: &Path) -> Result<Option<String>, RunError> {
    match fs::read_to_string(path) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some).map_err(RunError::io("read", path)),
    }
}

/// What the text of a file says.
pub(super) fn parsed<T: DeserializeOwned>(text: &str, path: &Path) -> Result<T, RunError> {
    serde_json::from_str(text).map_err(|cause| RunError::damaged(path, cause))
}

/// What a file says; `None` where there is none.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, RunError> {
    text(path)?.map(|text| parsed(&text, path)).transpose()
}

/// Writes a file whole or not at all.
pub(super) fn write<T: Serialize>(path: &Path, content: &T) -> Result<(), RunError> {
    let text = serde_json::to_string_pretty(content).expect("bookkeeping has text keys only");
    durable::write(path, format!("{text}\n").as_bytes()).map_err(RunError::io("write", path))
}
