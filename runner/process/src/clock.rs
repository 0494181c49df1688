//! The only module that reads the clock. Times go to the terminal, the journal and the log, never into results.

#![allow(clippy::disallowed_methods, reason = "this is the clock that everything else uses")]

use std::time::{Duration, Instant, SystemTime};

/// Measures how long something takes.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts now.
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Time since the start.
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }

    /// A stopwatch that started earlier, for tests that depend on time; `None` if that is before the clock's origin.
    pub fn earlier_by(self, time: Duration) -> Option<Self> {
        self.0.checked_sub(time).map(Self)
    }
}

/// The current time as RFC 3339 in UTC, to the second.
pub fn timestamp() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// The time elapsed since a [`timestamp`]; `None` if it is in the future or malformed.
pub fn since(moment: &str) -> Option<Duration> {
    humantime::parse_rfc3339(moment).ok()?.elapsed().ok()
}

/// A number from the current time that rarely repeats; the default seed.
pub fn time_seed() -> u32 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    since.subsec_nanos() ^ since.as_secs() as u32
}
