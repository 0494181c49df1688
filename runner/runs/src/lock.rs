//! The lock that allows only one writer per run.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::Path;

use dc0_core::regular;

use super::error::RunError;
use super::folder::Folder;

/// Held while this value lives; the system releases it even if the process is killed.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

/// The boot id and PID namespace in which this process's id is meaningful; `None` if they cannot be read (Linux only).
pub(super) fn pid_scope() -> Option<String> {
    let start = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{} {}", start.trim(), namespace.display()))
}

/// The process that last took a lock, as the lock file records it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Holder {
    /// Its process id.
    pub(super) process: u32,
    /// Its [`pid_scope`], if known.
    pub(super) scope: Option<String>,
}

impl Holder {
    /// Reads a lock file, unless it is damaged.
    pub(super) fn read(path: &Path) -> Option<Self> {
        Self::parse(&String::from_utf8(regular::read(path).ok()?).ok()?)
    }

    /// Parses a lock file: the process id in the first line, its scope in the second.
    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let process = lines.next()?.trim().parse().ok()?;
        let scope = lines.next().map(|line| line.trim().to_owned()).filter(|scope| !scope.is_empty());
        Some(Self { process, scope })
    }
}

/// The error that names the process writing a run.
fn locked(folder: &Folder) -> RunError {
    let pid = Holder::read(&folder.lock()).map(|holder| holder.process);
    RunError::Locked { folder: folder.root().to_owned(), pid }
}

impl Drop for Lock {
    /// Unlocks explicitly: a child process that is just being started shares the open file until it executes its program, so
    /// closing our handle would not release the lock.
    fn drop(&mut self) {
        if let Err(cause) = self.file.unlock() {
            log::warn!("the lock of a run could not be released at once: {cause}");
        }
    }
}

impl Lock {
    /// Takes the lock, or reports who holds it. The folder must exist.
    pub fn take(folder: &Folder) -> Result<Self, RunError> {
        let path = folder.lock();
        let mut file = regular::append(&path).map_err(RunError::io("open", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(locked(folder)),
            Err(TryLockError::Error(cause)) => return Err(RunError::io("lock", &path)(cause)),
        }
        // For users, for the error message and for `dc0-run serve`; the lock itself does not depend on the content.
        let text = format!("{}\n{}\n", std::process::id(), pid_scope().unwrap_or_default());
        let written = file.set_len(0).and_then(|()| file.write_all(text.as_bytes()));
        written.map_err(RunError::io("write", &path))?;
        Ok(Self { file })
    }

    /// Fails if the folder was removed, moved or replaced since the lock was taken: the lock file there is then gone or another.
    /// Without this check, files written later would appear in a new folder that is not whole.
    pub fn check(&self, folder: &Folder) -> Result<(), RunError> {
        if is_same(&self.file, &folder.lock()) {
            Ok(())
        } else {
            Err(RunError::Removed { folder: folder.root().to_owned() })
        }
    }

    /// Takes a shared lock, so that no one writes the run while it is read; reports who is writing it, if anyone. Writes nothing.
    pub fn hold(folder: &Folder) -> Result<Option<Self>, RunError> {
        let path = folder.lock();
        let file = match regular::open(&path) {
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

/// Whether an open file is still the one at a path.
#[cfg(unix)]
fn is_same(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let found = file.metadata().and_then(|own| Ok((own, fs::metadata(path)?)));
    found.is_ok_and(|(own, there)| (own.dev(), own.ino()) == (there.dev(), there.ino()))
}

/// Other systems refuse to remove a file that is open.
#[cfg(not(unix))]
fn is_same(_: &File, path: &Path) -> bool {
    path.exists()
}
