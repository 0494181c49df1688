//! Standard input as a file. An import reads its sources twice, for their digests and for their games.

use std::fs::{self, File};
use std::io::{self, ErrorKind, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use dc0_runs::{Folder, Lock, RunError};

use super::ImportError;

/// The file name that stands for standard input.
const INPUT: &str = "-";

/// Bytes that are copied at once.
const BUFFER_BYTES: usize = 1 << 16;

/// A copy of standard input beside the dataset, in a folder that only this process uses. It is removed with this value.
pub(super) struct KeptInput {
    folder: Folder,
    /// Held while the folder is used.
    _lock: Lock,
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
    let kept = KeptInput::new(parent, name)?;
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
    /// The first folder that no other import uses. What a killed one has left there is overwritten.
    fn new(parent: &Path, name: &str) -> Result<Self, RunError> {
        let mut number = 1;
        loop {
            let folder = Folder::at(&parent.join(format!(".{name}.import-{number}")));
            fs::create_dir_all(folder.root()).map_err(RunError::io("create", folder.root()))?;
            match Lock::take(&folder) {
                Ok(lock) => return Ok(Self { folder, _lock: lock }),
                Err(RunError::Locked { .. }) => number += 1,
                Err(cause) => return Err(cause),
            }
        }
    }

    /// Rows have its name as that of their source.
    fn file(&self) -> PathBuf {
        self.folder.root().join("stdin")
    }

    /// The files, with the copy instead of standard input.
    pub(super) fn paths(&self, files: &[PathBuf]) -> Vec<PathBuf> {
        let path = |file: &PathBuf| if file == Path::new(INPUT) { self.file() } else { file.clone() };
        files.iter().map(path).collect()
    }
}

impl Drop for KeptInput {
    fn drop(&mut self) {
        let folder = self.folder.root();
        if let Err(cause) = fs::remove_dir_all(folder) {
            log::warn!("{} is not needed any more and cannot be removed: {cause}", folder.display());
        }
    }
}
