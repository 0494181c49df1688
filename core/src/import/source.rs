//! Files that are imported: their names in tables, their sizes and their digests.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::content::{Content, SourceError};
use super::format::{GameFormat, PROBED};
use crate::regular;

/// A file that is imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Its path.
    pub path: PathBuf,
    /// Its name in tables: that of the file, or with its folder if another file has the same.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// blake3 of its content.
    pub digest: String,
}

impl Source {
    /// The files of a format at these paths, each with its digest. Every one is opened and looked at, so that an import does not fail at its
    /// last file for what could be known before.
    pub fn all<F: GameFormat>(paths: &[PathBuf]) -> Result<Vec<Self>, SourceError> {
        paths.iter().try_for_each(|path| probe::<F>(path))?;
        let mut sources = paths.iter().map(|path| Self::read(path)).collect::<Result<Vec<_>, _>>()?;
        let (mut digests, mut names) = (HashMap::new(), HashMap::new());
        for source in &sources {
            if let Some(first) = digests.insert(&source.digest, &source.path) {
                let (first, second) = (first.clone(), source.path.clone());
                return Err(SourceError::Twice { first, second });
            }
            *names.entry(source.name.clone()).or_insert(0) += 1;
        }
        for source in &mut sources {
            if names[&source.name] > 1 {
                source.name = source.path.display().to_string();
            }
        }
        Ok(sources)
    }

    fn read(path: &Path) -> Result<Self, SourceError> {
        let unreadable = |cause| SourceError::Read { file: path.to_owned(), cause };
        let mut hasher = blake3::Hasher::new();
        let bytes =
            io::copy(&mut regular::open(path).map_err(unreadable)?, &mut hasher).map_err(unreadable)?;
        let name = path.file_name().unwrap_or(path.as_os_str());
        let name = name.to_string_lossy().into_owned();
        Ok(Self { path: path.to_owned(), name, bytes, digest: hasher.finalize().to_hex().to_string() })
    }

    /// Its content from the start.
    pub(super) fn content(&self) -> Result<Content, SourceError> {
        Content::open(&self.path)
    }
}

/// Checks that a file begins as the format does.
fn probe<F: GameFormat>(path: &Path) -> Result<(), SourceError> {
    let file = path.to_owned();
    let found = fs::metadata(path).map_err(|cause| SourceError::Read { file: file.clone(), cause })?;
    if found.is_dir() {
        return Err(SourceError::Folder { file, such_as: F::SUCH_AS });
    }
    let (mut head, mut content) = (Vec::new(), Content::open(path)?);
    if found.len() == 0 {
        return Err(SourceError::Empty { file, expected: F::CONTENT });
    }
    content.read_to(&mut head, PROBED as u64)?;
    F::probe(&head, path)
}
