//! Standard input as a file. An import reads its sources twice, for their digests and for their games, and again after a kill.

use std::fs::{self, File};
use std::io::{self, ErrorKind, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use dc0_runs::RunError;

use super::ImportError;

/// The file name that stands for standard input.
const INPUT: &str = "-";

/// Bytes that are copied at once.
const BUFFER_BYTES: usize = 1 << 16;

/// A copy of standard input beside the dataset. It is removed with this value, unless the import was interrupted.
pub(super) struct KeptInput {
    folder: PathBuf,
    /// Whether an interrupted import still needs it.
    is_needed: bool,
}

/// Copies standard input beside the dataset, if one of the files stands for it.
pub(super) fn kept(files: &[PathBuf], parent: &Path, name: &str) -> Result<Option<KeptInput>, ImportError> {
    match files.iter().filter(|file| *file == Path::new(INPUT)).count() {
        0 => return Ok(None),
        1 => {}
        _ => return Err(ImportError::TwoInputs),
    }
    let mut input = io::stdin().lock();
    if input.is_terminal() {
        return Err(ImportError::Terminal);
    }
    let kept = KeptInput { folder: parent.join(format!(".{name}.import")), is_needed: false };
    fs::create_dir_all(&kept.folder).map_err(RunError::io("create", &kept.folder))?;
    let path = kept.file();
    let mut file = File::create(&path).map_err(RunError::io("create", &path))?;
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let count = match input.read(&mut buffer) {
            Ok(0) => return Ok(Some(kept)),
            Ok(count) => count,
            Err(cause) if cause.kind() == ErrorKind::Interrupted => continue,
            Err(cause) => return Err(ImportError::Input(cause)),
        };
        file.write_all(&buffer[..count]).map_err(RunError::io("write", &path))?;
    }
}

impl KeptInput {
    fn file(&self) -> PathBuf {
        self.folder.join("stdin")
    }

    /// The files, with the copy instead of standard input.
    pub(super) fn paths(&self, files: &[PathBuf]) -> Vec<PathBuf> {
        let path = |file: &PathBuf| if file == Path::new(INPUT) { self.file() } else { file.clone() };
        files.iter().map(path).collect()
    }

    /// Leaves the copy for the import that goes on.
    pub(super) fn leave(mut self) {
        self.is_needed = true;
    }
}

impl Drop for KeptInput {
    fn drop(&mut self) {
        if self.is_needed {
            return;
        }
        if let Err(cause) = fs::remove_dir_all(&self.folder) {
            log::warn!("{} is not needed any more and cannot be removed: {cause}", self.folder.display());
        }
    }
}
