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

/// The machine's start and the namespace of processes that this process is in, by which numbers of processes mean something;
/// `None` where the system does not tell (it tells on Linux).
pub(super) fn place() -> Option<String> {
    let start = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{} {}", start.trim(), namespace.display()))
}

/// What the file of a lock says of the process that took it last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Holder {
    /// Its number.
    pub(super) process: u32,
    /// Its [`place`], where it was known.
    pub(super) place: Option<String>,
}

impl Holder {
    /// Of a file's text: the number in the first line, the place in the second.
    pub(super) fn of(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let process = lines.next()?.trim().parse().ok()?;
        let place = lines.next().map(|line| line.trim().to_owned()).filter(|place| !place.is_empty());
        Some(Self { process, place })
    }
}

/// The error that names the process which writes a run.
fn locked(folder: &Folder) -> RunError {
    let holder = fs::read_to_string(folder.lock()).ok().and_then(|text| Holder::of(&text));
    RunError::Locked { folder: folder.root().to_owned(), pid: holder.map(|holder| holder.process) }
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
        // For people, for the message above and for `dc0-run serve`; the lock itself does not depend on it.
        let text = format!("{}\n{}\n", std::process::id(), place().unwrap_or_default());
        let noted = file.set_len(0).and_then(|()| file.write_all(text.as_bytes()));
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
