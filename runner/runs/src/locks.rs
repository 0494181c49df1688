//! Who holds the lock of a run, as the system lists it: without touching the lock.

use std::fs;
use std::path::Path;

use super::lock::{Holder, place};

/// Who works on a run.
#[derive(Debug, PartialEq, Eq)]
pub enum Worker {
    /// This process.
    Process(u32),
    /// Nobody does.
    Nobody,
    /// The system does not tell.
    Unknown,
}

impl Worker {
    /// The process, if one works on the run.
    pub fn process(&self) -> Option<u32> {
        if let Self::Process(number) = self { Some(*number) } else { None }
    }
}

/// All locks that the system tells this process of.
#[derive(Debug)]
pub struct Locks {
    /// Linux lists them; those of processes in other containers and on other machines are not among them.
    list: Option<String>,
    /// Where this process is.
    place: Option<String>,
}

impl Locks {
    /// As they are now.
    pub fn read() -> Self {
        Self { list: fs::read_to_string("/proc/locks").ok(), place: place() }
    }

    /// The process that holds a lock, without touching the lock, whose file says who took it last.
    pub fn holder(&self, lock: &Path) -> Worker {
        let noted = fs::read_to_string(lock).ok().and_then(|text| Holder::of(&text));
        let (Some(noted), Some(inode), Some(list)) = (noted, inode(lock), &self.list) else {
            return Worker::Unknown;
        };
        if noted.place.is_some() && noted.place != self.place {
            return Worker::Unknown;
        }
        let is_held = list.lines().any(|line| holds(line, noted.process, inode));
        if is_held { Worker::Process(noted.process) } else { Worker::Nobody }
    }
}

/// Whether a line such as `1: FLOCK  ADVISORY  WRITE 8624 fe:00:10085684 0 EOF` is of a file and a process; lines with an arrow
/// are of processes that wait.
fn holds(line: &str, process: u32, inode: u64) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [_, "FLOCK", _, "WRITE", of, file, ..] = words.as_slice() else { return false };
    of.parse() == Ok(process) && file.rsplit(':').next().and_then(|number| number.parse().ok()) == Some(inode)
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
    use super::{Locks, Worker, holds, inode};

    #[test]
    fn only_the_process_that_has_the_lock_holds_it() {
        assert!(holds("1: FLOCK  ADVISORY  WRITE 8624 fe:00:10085684 0 EOF", 8624, 10_085_684));
        assert!(!holds("1: -> FLOCK  ADVISORY  WRITE 8624 fe:00:10085684 0 EOF", 8624, 10_085_684));
        assert!(!holds("1: FLOCK  ADVISORY  READ 8624 fe:00:10085684 0 EOF", 8624, 10_085_684));
        assert!(!holds("1: FLOCK  ADVISORY  WRITE 8624 fe:00:10085685 0 EOF", 8624, 10_085_684));
        assert!(!holds("", 1, 1));
    }

    #[cfg(unix)]
    #[test]
    fn of_a_lock_that_was_taken_elsewhere_the_list_of_locks_says_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let lock = folder.path().join("run.lock");
        let worker = |text: &str, is_held: bool| {
            std::fs::write(&lock, text).expect("writes");
            let inode = inode(&lock).expect("a file");
            let list = format!("1: FLOCK  ADVISORY  WRITE 7 fe:00:{inode} 0 EOF\n");
            let list = Some(if is_held { list } else { String::new() });
            Locks { list, place: Some("start pid:[1]".to_owned()) }.holder(&lock)
        };
        assert_eq!(worker("7\nstart pid:[1]\n", true), Worker::Process(7));
        assert_eq!(worker("7\nstart pid:[1]\n", false), Worker::Nobody);
        assert_eq!(worker("7\n", false), Worker::Nobody);
        assert_eq!(worker("7\nstart pid:[2]\n", false), Worker::Unknown);
        assert_eq!(worker("7\nother pid:[1]\n", false), Worker::Unknown);
        assert_eq!(worker("", false), Worker::Unknown);
    }
}
