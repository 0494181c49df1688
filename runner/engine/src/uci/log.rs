//! `LogFile`: the session in a file, for finding out what a chess program and the engine said to each other, and when.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

use dc0_core::regular;
use dc0_process::clock::{self, Stopwatch};

/// A log; clones write to the same file.
#[derive(Debug, Clone)]
pub(super) struct Log {
    file: Arc<File>,
    /// Since it was opened.
    started: Stopwatch,
}

impl Log {
    /// Opens a file, which keeps what earlier sessions logged.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        // The session is read as UTF-8, with this character for all that is not.
        if path.to_string_lossy().contains(char::REPLACEMENT_CHARACTER) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the name is not UTF-8"));
        }
        let file = regular::append(path)?;
        writeln!(&file, "== dc0 {}, {}", env!("CARGO_PKG_VERSION"), clock::timestamp())?;
        Ok(Self { file: Arc::new(file), started: Stopwatch::start() })
    }

    /// Writes a line with the seconds since the log began.
    pub(super) fn write(&self, direction: &str, line: &str) -> io::Result<()> {
        let seconds = self.started.elapsed().as_secs_f64();
        // One call, so that programs that share a file do not mix their lines.
        (&*self.file).write_all(format!("{seconds:10.3} {direction} {line}\n").as_bytes())
    }
}
