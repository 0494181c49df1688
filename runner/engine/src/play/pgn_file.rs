//! The file that games are saved to.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use dc0_core::regular;
use thiserror::Error;

/// The file cannot be written.
#[derive(Debug, Error)]
#[error("--pgn {}: expected a file that can be written to: {cause}", file.display())]
pub(super) struct KeepError {
    file: PathBuf,
    cause: io::Error,
}

/// A PGN file. It is opened before the game, so that no game is played that cannot be saved.
#[derive(Debug)]
pub(super) struct Keep {
    path: PathBuf,
    file: File,
}

impl Keep {
    /// Opens a file, or creates it.
    pub(super) fn open(path: &Path) -> Result<Self, KeepError> {
        let file = regular::append(path);
        let file = file.map_err(|cause| KeepError { file: path.to_owned(), cause })?;
        Ok(Self { path: path.to_owned(), file })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a game, after an empty line if the file has games already.
    pub(super) fn add(&mut self, game: &str) -> Result<(), KeepError> {
        let written = self.file.metadata().and_then(|found| {
            let gap = if found.len() > 0 { "\n" } else { "" };
            self.file.write_all(format!("{gap}{}\n", game.trim_end()).as_bytes())?;
            self.file.sync_all()
        });
        written.map_err(|cause| KeepError { file: self.path.clone(), cause })
    }
}

#[cfg(test)]
mod tests {
    use super::Keep;

    #[test]
    fn games_are_separated_by_an_empty_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("games.pgn");
        Keep::open(&path).unwrap().add("[Event \"a\"]\n\n*\n\n").unwrap();
        Keep::open(&path).unwrap().add("[Event \"b\"]\n\n*\n\n").unwrap();
        let kept = std::fs::read_to_string(&path).unwrap();
        assert_eq!(kept, "[Event \"a\"]\n\n*\n\n[Event \"b\"]\n\n*\n");
    }

    #[test]
    fn a_file_that_cannot_be_written_is_named() {
        let error = Keep::open(std::path::Path::new("/nowhere/x.pgn")).unwrap_err().to_string();
        assert!(
            error.starts_with("--pgn /nowhere/x.pgn: expected a file that can be written to: "),
            "{error}"
        );
    }
}
