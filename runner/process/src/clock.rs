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

    /// Time from another start to this one; zero if the other was later.
    pub fn since(self, earlier: Self) -> Duration {
        self.0.saturating_duration_since(earlier.0)
    }

    /// A stopwatch that started earlier, for tests that depend on time; `None` if that is before the clock's origin.
    pub fn earlier_by(self, time: Duration) -> Option<Self> {
        self.0.checked_sub(time).map(Self)
    }
}

/// The current time as RFC 3339 in UTC, to the second.
pub fn timestamp() -> String {
    rfc3339(SystemTime::now())
}

/// RFC 3339 has the years 1970 to 9999 here. A clock that is set to another year must not stop the work: it counts as the nearest.
pub fn rfc3339(time: SystemTime) -> String {
    const LAST: Duration = Duration::from_secs(253_402_300_799);
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().min(LAST);
    humantime::format_rfc3339_seconds(SystemTime::UNIX_EPOCH + since).to_string()
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

#[cfg(test)]
mod tests {
    use super::{Duration, SystemTime, rfc3339};

    #[test]
    fn a_clock_outside_the_known_years_still_gives_a_time() {
        let (epoch, year) = (SystemTime::UNIX_EPOCH, Duration::from_hours(8766));
        assert_eq!(rfc3339(epoch + Duration::from_secs(86_399)), "1970-01-01T23:59:59Z");
        assert_eq!(rfc3339(epoch - 10 * year), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(epoch + 9000 * year), "9999-12-31T23:59:59Z");
    }
}
