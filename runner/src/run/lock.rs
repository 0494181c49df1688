//! One writer for each run.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};

use super::error::RunError;
use super::folder::Folder;

/// Held while this value lives; the system gives it back even when the process is killed.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

/// The error that names the process which writes a run.
fn locked(folder: &Folder) -> RunError {
    let pid = fs::read_to_string(folder.lock()).ok().and_then(|text| text.trim().parse().ok());
    RunError::Locked { folder: folder.root().to_owned(), pid }
}

impl Drop for Lock {
    /// A process that this one is just starting has the file open too until it becomes another program, and closing ours would
    /// not end the lock.
    fn drop(&mut self) {
        if let Err(cause) = self.file.unlock() {
            log::warn!("the lock of a run is given back late: {cause}");
        }
    }
}

impl Lock {
    /// Takes the lock, or says who has it. The folder must exist.
    pub fn take(folder: &Folder) -> Result<Self, RunError> {
        let path = folder.lock();
        let opened = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(&path);
        let mut file = opened.map_err(RunError::io("open", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(locked(folder)),
            Err(TryLockError::Error(cause)) => return Err(RunError::io("lock", &path)(cause)),
        }
        // For people and for the message above; the lock itself does not depend on it.
        let noted = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
        noted.map_err(RunError::io("write", &path))?;
        Ok(Self { file })
    }

    /// Keeps others from writing a run while it is read, and writes nothing itself; says who writes it, if someone does.
    pub fn hold(folder: &Folder) -> Result<Option<Self>, RunError> {
        let path = folder.lock();
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(cause) => return Err(RunError::io("open", &path)(cause)),
        };
        match file.try_lock_shared() {
            Ok(()) => Ok(Some(Self { file })),
            Err(TryLockError::WouldBlock) => Err(locked(folder)),
            Err(TryLockError::Error(cause)) => Err(RunError::io("lock", &path)(cause)),
        }
    }
}
