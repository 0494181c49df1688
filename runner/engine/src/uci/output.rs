//! Lines to the chess program, each whole and at once.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard};

use dc0_core::poison::IgnorePoison as _;

/// The output of all threads; clones write to the same channel.
#[derive(Clone)]
pub(super) struct Output(Arc<Mutex<Channel>>);

struct Channel {
    to: Box<dyn Write + Send>,
    /// The first failure; nothing is written after it.
    failure: Option<io::Error>,
    is_broken: bool,
}

impl Output {
    pub(super) fn new(to: Box<dyn Write + Send>) -> Self {
        Self(Arc::new(Mutex::new(Channel { to, failure: None, is_broken: false })))
    }

    fn channel(&self) -> MutexGuard<'_, Channel> {
        self.0.lock().ignore_poison()
    }

    /// Writes a line and flushes it.
    pub(super) fn line(&self, line: &str) {
        let mut channel = self.channel();
        if channel.is_broken {
            return;
        }
        let written = writeln!(channel.to, "{line}").and_then(|()| channel.to.flush());
        if let Err(cause) = written {
            channel.failure = Some(cause);
            channel.is_broken = true;
        }
    }

    /// Writes an `info string` line, for people.
    pub(super) fn info(&self, text: &str) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        self.line(&format!("info string {text}"));
    }

    /// Whether writing has failed; nothing is written any more.
    pub(super) fn is_broken(&self) -> bool {
        self.channel().is_broken
    }

    /// The failure, on the first call after it.
    pub(super) fn take_failure(&self) -> Option<io::Error> {
        self.channel().failure.take()
    }
}
