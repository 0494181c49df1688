//! What the benches share: timing by repetition, and the one clock.

use std::time::{Duration, Instant};

/// The present moment.
#[expect(clippy::disallowed_methods, reason = "a bench is there to ask for the time")]
pub fn now() -> Instant {
    Instant::now()
}

/// Rates of some repetitions, in units a second.
#[derive(Debug, Clone, PartialEq)]
pub struct Rates(Vec<f64>);

impl Rates {
    /// Runs `work`, which returns how many units it did, `repeats` times after one warm-up.
    pub fn measure(repeats: usize, mut work: impl FnMut() -> u64) -> Self {
        work();
        let rate = |_| {
            let start = now();
            let units = work();
            units as f64 / start.elapsed().as_secs_f64()
        };
        let mut rates: Vec<f64> = (0..repeats.max(1)).map(rate).collect();
        rates.sort_by(f64::total_cmp);
        Self(rates)
    }

    /// The middle rate.
    pub fn median(&self) -> f64 {
        self.0[self.0.len() / 2]
    }

    /// The slowest and the fastest.
    pub fn range(&self) -> (f64, f64) {
        (self.0[0], self.0[self.0.len() - 1])
    }
}

impl std::fmt::Display for Rates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (slowest, fastest) = self.range();
        write!(f, "{:>12.0}  ({slowest:.0} – {fastest:.0})", self.median())
    }
}

/// Time in seconds with three digits.
pub fn seconds(duration: Duration) -> String {
    format!("{:.3} s", duration.as_secs_f64())
}
