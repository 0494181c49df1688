//! Logging: messages of the chosen level to the terminal, and from `info` up to the open run's log file.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use dc0_core::poison::IgnorePoison as _;
use dc0_core::regular;

use log::{LevelFilter, Record};

use crate::clock;
use crate::console::Console;

/// The log files of the open runs; earlier messages go to the terminal only.
#[derive(Debug, Clone, Default)]
pub struct LogFile(Arc<Mutex<Vec<File>>>);

impl LogFile {
    /// Appends messages to this file alone from now on.
    pub fn attach(&self, path: &Path) -> io::Result<()> {
        let file = regular::append(path)?;
        *self.0.lock().ignore_poison() = vec![file];
        Ok(())
    }

    /// Appends messages to this file too from now on.
    pub fn attach_also(&self, path: &Path) -> io::Result<()> {
        let file = regular::append(path)?;
        self.0.lock().ignore_poison().push(file);
        Ok(())
    }

    fn write(&self, record: &Record<'_>) {
        for file in self.0.lock().ignore_poison().iter_mut() {
            let (level, target) = (record.level(), record.target());
            // A log that cannot be written, perhaps because the disk is full, must not stop the work.
            let _ = writeln!(file, "{} {level:5} {target}: {}", clock::timestamp(), record.args());
        }
    }
}

/// Starts logging; `level` is for the terminal. The run's log file is attached to the result.
pub fn start(level: LevelFilter, console: &Arc<Console>) -> Result<LogFile, log::SetLoggerError> {
    let log_file = LogFile::default();
    let (file, console) = (log_file.clone(), Arc::clone(console));
    let terminal = fern::Dispatch::new().level(level).chain(fern::Output::call(move |record| {
        console.note(&format!("{}: {}", record.level().as_str().to_lowercase(), record.args()));
    }));
    let to_file = fern::Dispatch::new()
        .level(LevelFilter::Info)
        .chain(fern::Output::call(move |record| file.write(record)));
    fern::Dispatch::new().chain(terminal).chain(to_file).apply()?;
    Ok(log_file)
}
