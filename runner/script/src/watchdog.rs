//! `--max-hours` and `--max-disk`: stops a script that runs too long or writes too much, as Ctrl-C does.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fs, thread};

use crate::args::RunArgs;
use dc0_process::clock::Stopwatch;
use dc0_process::console::Console;
use dc0_process::interrupt::Interrupt;

/// Polling interval of the time.
const TIME_INTERVAL: Duration = Duration::from_millis(250);

/// Polling interval of the disk, in intervals of the time: walking a large folder takes a while.
const DISK_INTERVAL: u32 = 20;

const GIBIBYTE: f64 = (1u64 << 30) as f64;

/// The limits of a script.
#[derive(Debug, Clone, PartialEq)]
struct Limits {
    time: Option<Duration>,
    /// Bytes by which the folder of runs may grow.
    bytes: Option<u64>,
    folder: PathBuf,
}

/// Watches the limits, if there are any, in a thread of its own.
pub fn start(args: &RunArgs, interrupt: &Interrupt, console: &Arc<Console>) -> std::io::Result<()> {
    let limits = Limits {
        time: args.max_hours.map(|hours| Duration::from_secs_f64(hours * 3600.0)),
        bytes: args.max_disk.map(|size| (size * GIBIBYTE) as u64),
        folder: args.out.clone(),
    };
    if limits.time.is_none() && limits.bytes.is_none() {
        return Ok(());
    }
    let (interrupt, console) = (interrupt.clone(), Arc::clone(console));
    thread::Builder::new().name("watchdog".to_owned()).spawn(move || watch(&limits, &interrupt, &console))?;
    Ok(())
}

fn watch(limits: &Limits, interrupt: &Interrupt, console: &Console) {
    let (started, bytes_before) =
        (Stopwatch::start(), limits.bytes.map_or(0, |_| bytes_below(&limits.folder)));
    for poll in 1u32.. {
        thread::sleep(TIME_INTERVAL);
        let grown = || bytes_below(&limits.folder).saturating_sub(bytes_before);
        let grown = (limits.bytes.is_some() && poll.is_multiple_of(DISK_INTERVAL)).then(grown);
        if let Some(reason) = limits.exceeded(started.elapsed(), grown.unwrap_or(0)) {
            console.note(&format!("{reason}; stopping after this batch"));
            interrupt.request();
            return;
        }
    }
}

impl Limits {
    fn exceeded(&self, elapsed: Duration, grown: u64) -> Option<String> {
        if self.time.is_some_and(|limit| elapsed >= limit) {
            return Some("the time of --max-hours is over".to_owned());
        }
        let folder = self.folder.display();
        let (grown_by, is_over) = (grown as f64 / GIBIBYTE, self.bytes.is_some_and(|limit| grown > limit));
        is_over.then(|| format!("{folder} has grown by {grown_by:.3} GiB, more than --max-disk allows"))
    }
}

/// Bytes of all files below a folder. Files that cannot be read or disappear meanwhile are not counted.
fn bytes_below(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let bytes = |entry: fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => bytes_below(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    entries.flatten().map(bytes).sum()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use super::{Limits, bytes_below};

    #[test]
    fn each_limit_is_named_once_it_is_exceeded() {
        let limits = Limits {
            time: Some(Duration::from_secs(10)),
            bytes: Some(1 << 20),
            folder: PathBuf::from("datasets"),
        };
        assert_eq!(limits.exceeded(Duration::from_secs(9), 1 << 20), None);
        assert!(limits.exceeded(Duration::from_secs(10), 0).expect("over").contains("--max-hours"));
        let disk = limits.exceeded(Duration::ZERO, 3 << 29).expect("over");
        assert_eq!(disk, "datasets has grown by 1.500 GiB, more than --max-disk allows");
        let none = Limits { time: None, bytes: None, ..limits };
        assert_eq!(none.exceeded(Duration::MAX, u64::MAX), None);
    }

    #[test]
    fn files_at_all_depths_are_counted() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(folder.path().join("a/b")).expect("folders");
        std::fs::write(folder.path().join("a/b/c"), [0; 100]).expect("a file");
        std::fs::write(folder.path().join("d"), [0; 11]).expect("a file");
        assert_eq!((bytes_below(folder.path()), bytes_below(&folder.path().join("nothing"))), (111, 0));
    }
}
