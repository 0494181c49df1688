//! Timing by repetition, and the clock of the benchmarks.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use dc0_core::encoding::Encoding;
use dc0_core::network::{Batch, Evaluations, Evaluator, EvaluatorError};

/// The current time.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Reads seconds of a measurement.
pub(crate) fn positive_seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| *seconds > 0.0 && *seconds <= 86400.0);
    seconds.ok_or_else(|| "expected seconds above 0 and up to a day, such as 1.5".to_owned())
}

/// An evaluator that sums up its time, rows and batches.
pub(crate) struct Timed<'a, E> {
    /// The evaluator.
    pub(crate) inner: E,
    /// Nanoseconds spent in it, over all threads.
    pub(crate) nanos: &'a AtomicU64,
    /// Rows it evaluated.
    pub(crate) rows: &'a AtomicU64,
    /// Batches it evaluated.
    pub(crate) batches: &'a AtomicU64,
}

impl<E: Evaluator> Evaluator for Timed<'_, E> {
    fn encoding(&self) -> &Encoding {
        self.inner.encoding()
    }

    fn evaluate(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
        let start = now();
        let answer = self.inner.evaluate(batch, out);
        self.nanos.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        self.rows.fetch_add(batch.len() as u64, Ordering::Relaxed);
        self.batches.fetch_add(1, Ordering::Relaxed);
        answer
    }
}

/// Rates of repeated measurements, in units per second, sorted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rates(Vec<f64>);

impl Rates {
    /// Runs `work`, which returns its number of units, `repeats` times, at least once, after one warm-up.
    pub(crate) fn measure(repeats: u32, mut work: impl FnMut() -> u64) -> Self {
        work();
        let rate = |_| {
            let start = now();
            let units = work();
            units as f64 / start.elapsed().as_secs_f64()
        };
        let mut rates: Vec<f64> = (0..repeats).map(rate).collect();
        rates.sort_by(f64::total_cmp);
        Self(rates)
    }

    /// The median rate.
    pub(crate) fn median(&self) -> f64 {
        self.0[self.0.len() / 2]
    }

    /// The slowest and the fastest rate.
    pub(crate) fn range(&self) -> (f64, f64) {
        (self.0[0], self.0[self.0.len() - 1])
    }
}

impl std::fmt::Display for Rates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (slowest, fastest) = self.range();
        write!(f, "{:>12.0}  ({slowest:.0} – {fastest:.0})", self.median())
    }
}

/// A time in seconds with three decimals.
pub(crate) fn seconds(duration: Duration) -> String {
    format!("{:.3} s", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::positive_seconds;

    #[test]
    fn a_measurement_takes_some_seconds() {
        assert_eq!(["0.1", "86400"].map(positive_seconds), [Ok(0.1), Ok(86400.0)]);
        for text in ["-1", "0", "nan", "inf", "1e300", "a"] {
            assert!(positive_seconds(text).is_err(), "{text}");
        }
    }
}
