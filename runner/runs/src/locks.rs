//! Finds the holder of a run's lock from the system's list of locks, without touching the lock.

use std::fs;
use std::path::Path;

use super::lock::{Holder, pid_scope};

/// The process working on a run, as far as is known.
#[derive(Debug, PartialEq, Eq)]
pub enum Worker {
    /// This process.
    Process(u32),
    /// No process.
    None,
    /// The system does not list its locks, or the lock was taken elsewhere.
    Unknown,
}

impl Worker {
    /// The process id, if a process is working on the run.
    pub fn process(&self) -> Option<u32> {
        if let Self::Process(number) = self { Some(*number) } else { None }
    }
}

/// All locks that the system lists for this process.
#[derive(Debug)]
pub struct Locks {
    /// The list on Linux, which lacks the locks of processes in other containers and on other machines.
    list: Option<String>,
    /// This process's [`pid_scope`].
    scope: Option<String>,
}

impl Locks {
    /// Reads the current list.
    pub fn read() -> Self {
        Self { list: fs::read_to_string("/proc/locks").ok(), scope: pid_scope() }
    }

    /// The process that holds a lock; the lock file names the one that took it last.
    pub fn holder(&self, lock: &Path) -> Worker {
        let last = Holder::read(lock);
        let (Some(last), Some(inode), Some(list)) = (last, inode(lock), &self.list) else {
            return Worker::Unknown;
        };
        if last.scope.is_some() && last.scope != self.scope {
            return Worker::Unknown;
        }
        let is_held = list.lines().any(|line| is_lock_of(line, last.process, inode));
        if is_held { Worker::Process(last.process) } else { Worker::None }
    }
}

/// Whether a line such as `1: FLOCK  ADVISORY  WRITE 8624 fe:00:10085684 0 EOF` lists a lock of this file held by this process.
/// Lines with an arrow are waiting processes.
fn is_lock_of(line: &str, process: u32, inode: u64) -> bool {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [_, "FLOCK", _, "WRITE", owner, file, ..] = fields.as_slice() else { return false };
    owner.parse() == Ok(process)
        && file.rsplit(':').next().and_then(|number| number.parse().ok()) == Some(inode)
}

#[cfg(unix)]
fn inode(path: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).ok().map(|found| found.ino())
}

#[cfg(not(unix))]
fn inode(_: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::{Locks, Worker, inode, is_lock_of};
    use crate::{Folder, RunError, lock::Lock};

    #[test]
    fn a_listed_lock_is_matched_by_file_and_process() {
        assert!(is_lock_of("1: FLOCK  ADVISORY  WRITE 8624 fe:00:10085684 0 EOF", 8624, 10_085_684));
        assert!(!is_lock_of("1: -> FLOCK  ADVISORY  WRITE 8624 fe:00:10085684 0 EOF", 8624, 10_085_684));
        assert!(!is_lock_of("1: FLOCK  ADVISORY  READ 8624 fe:00:10085684 0 EOF", 8624, 10_085_684));
        assert!(!is_lock_of("1: FLOCK  ADVISORY  WRITE 8624 fe:00:10085685 0 EOF", 8624, 10_085_684));
        assert!(!is_lock_of("", 1, 1));
    }

    #[cfg(unix)]
    #[test]
    fn the_holder_of_a_lock_taken_elsewhere_is_unknown() {
        let folder = tempfile::tempdir().expect("a folder");
        let lock = folder.path().join("run.lock");
        let worker = |text: &str, is_held: bool| {
            std::fs::write(&lock, text).expect("writes");
            let inode = inode(&lock).expect("a file");
            let list = format!("1: FLOCK  ADVISORY  WRITE 7 fe:00:{inode} 0 EOF\n");
            let list = Some(if is_held { list } else { String::new() });
            Locks { list, scope: Some("start pid:[1]".to_owned()) }.holder(&lock)
        };
        assert_eq!(worker("7\nstart pid:[1]\n", true), Worker::Process(7));
        assert_eq!(worker("7\nstart pid:[1]\n", false), Worker::None);
        assert_eq!(worker("7\n", false), Worker::None);
        assert_eq!(worker("7\nstart pid:[2]\n", false), Worker::Unknown);
        assert_eq!(worker("7\nother pid:[1]\n", false), Worker::Unknown);
        assert_eq!(worker("", false), Worker::Unknown);
    }

    #[cfg(unix)]
    #[test]
    fn a_fifo_instead_of_the_lock_keeps_nobody_waiting() {
        let parent = tempfile::tempdir().expect("a folder");
        let run = Folder::at(parent.path());
        let made = std::process::Command::new("mkfifo").arg(run.lock()).status();
        assert!(made.expect("mkfifo runs").success());
        assert_eq!(Locks::read().holder(&run.lock()), Worker::Unknown);
        for refused in [Lock::hold(&run).map(drop), Lock::take(&run).map(drop)] {
            let RunError::Io { cause, .. } = refused.expect_err("no lock") else { panic!("another error") };
            assert_eq!(cause.to_string(), "it is not a regular file");
        }
    }
}
