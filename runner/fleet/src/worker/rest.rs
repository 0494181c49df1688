//! When a worker takes no tasks because it failed, so that others get them.

use std::time::Duration;

use dc0_process::clock::Stopwatch;

/// The rest after the first failure in a row; it doubles with each. Longer than the pause before the failed task is delivered again.
const FIRST: Duration = Duration::from_secs(2);

/// The longest rest.
const LONGEST: Duration = Duration::from_mins(1);

/// The rest of all lanes of a worker: what one of them cannot do, the others cannot either.
#[derive(Debug, Default)]
pub(super) struct Rest {
    /// Failures in a row.
    failures: u32,
    /// Since the last of them.
    watch: Option<Stopwatch>,
}

impl Rest {
    /// Rests after a failure. Those of other lanes meanwhile are not further ones: they had begun before.
    pub(super) fn begin(&mut self) {
        if !self.is_on() {
            self.failures += 1;
            self.watch = Some(Stopwatch::start());
        }
    }

    /// Forgets the failures after a task that was done.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    /// Whether no task may be taken now.
    pub(super) fn is_on(&self) -> bool {
        self.watch.is_some_and(|watch| watch.elapsed() < self.length())
    }

    fn length(&self) -> Duration {
        FIRST.saturating_mul(1 << self.failures.saturating_sub(1).min(5)).min(LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::Rest;

    #[test]
    fn failures_at_the_same_time_are_one_and_each_later_one_doubles_the_rest() {
        let mut rest = Rest::default();
        assert!(!rest.is_on());
        let mut lengths = Vec::new();
        for _ in 0..7 {
            (0..4).for_each(|_| rest.begin());
            assert!(rest.is_on());
            let length = rest.length();
            lengths.push(length.as_secs());
            rest.watch = rest.watch.and_then(|watch| watch.earlier_by(length / 2));
            assert!(rest.is_on());
            rest.watch = rest.watch.and_then(|watch| watch.earlier_by(length / 2));
            assert!(!rest.is_on());
        }
        assert_eq!(lengths, [2, 4, 8, 16, 32, 60, 60]);
        rest.reset();
        rest.begin();
        assert_eq!(rest.length().as_secs(), 2);
    }
}
