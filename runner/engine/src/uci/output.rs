//! Lines to another program, each whole and at once.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard};

use dc0_core::poison::IgnorePoison as _;

use super::log::Log;

/// The output of all threads; clones write to the same channel.
#[derive(Clone)]
pub(crate) struct Output(Arc<Mutex<Channel>>);

struct Channel {
    to: Box<dyn Write + Send>,
    log: Option<Log>,
    /// The first failure; nothing is written after it.
    failure: Option<io::Error>,
    is_broken: bool,
}

impl Output {
    pub(crate) fn new(to: Box<dyn Write + Send>) -> Self {
        Self(Arc::new(Mutex::new(Channel { to, log: None, failure: None, is_broken: false })))
    }

    fn channel(&self) -> MutexGuard<'_, Channel> {
        self.0.lock().ignore_poison()
    }

    /// Logs the session from here on; `None` ends the log.
    pub(super) fn log_to(&self, log: Option<Log>) {
        self.channel().log = log;
    }

    /// Logs a line that was read.
    pub(super) fn was_read(&self, line: &str) {
        self.channel().log_line(">>", line);
    }

    /// Writes a line and flushes it.
    pub(crate) fn line(&self, line: &str) {
        let mut channel = self.channel();
        channel.log_line("<<", line);
        channel.write(line);
    }

    /// Writes an `info string` line, for people.
    pub(super) fn info(&self, text: &str) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        self.line(&format!("info string {text}"));
    }

    /// Whether writing has failed; nothing is written any more.
    pub(crate) fn is_broken(&self) -> bool {
        self.channel().is_broken
    }

    /// The failure, on the first call after it.
    pub(crate) fn take_failure(&self) -> Option<io::Error> {
        self.channel().failure.take()
    }
}

impl Channel {
    fn write(&mut self, line: &str) {
        if self.is_broken {
            return;
        }
        let written = writeln!(self.to, "{line}").and_then(|()| self.to.flush());
        if let Err(cause) = written {
            self.failure = Some(cause);
            self.is_broken = true;
        }
    }

    /// A log that cannot be written is given up, and the chess program is informed; the game goes on.
    fn log_line(&mut self, direction: &str, line: &str) {
        let Some(Err(cause)) = self.log.as_ref().map(|log| log.write(direction, line)) else { return };
        self.log = None;
        self.write(&format!("info string error: LogFile: {cause}; nothing more is logged"));
    }
}
