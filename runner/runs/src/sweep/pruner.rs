//! Pruners decide which trials continue, and how far.
//!
//! All rules are pure functions of the reports. Reports are noisy, so each has an interval, and a trial is held back only if its
//! whole interval is worse than the threshold.

mod asha;
mod median;
mod params;
mod report;

use super::observation::{Direction, TrialState};
pub use params::{PrunerKind, PrunerParams};
pub use report::{Reported, Reports};

/// The pruner of a sweep.
#[derive(Debug, Clone, Copy)]
pub struct Pruner<'a> {
    /// The rule and its settings.
    pub params: &'a PrunerParams,
    /// Whether larger or smaller values are better.
    pub direction: Direction,
}

/// What a trial does after a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It continues.
    Continue,
    /// It is not good enough and ends.
    Prune,
    /// It has reached its rung and waits for promotion.
    Pause,
}

/// What a sweep does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Job {
    /// Start a new trial.
    New {
        /// The trial runs to its first report at or beyond this, or to its end.
        until: Option<u32>,
    },
    /// Resume a paused trial.
    Promote {
        /// The trial.
        number: u32,
        /// The trial runs to its first report at or beyond this, or to its end.
        until: Option<u32>,
    },
}

/// A trial as pruners see it.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// The trial's number.
    pub number: u32,
    /// Its state; a trial that has been promoted counts as running.
    pub state: TrialState,
    /// Its reports.
    pub reports: Reports,
}

impl Pruner<'_> {
    /// Decides what a trial does after one of its `own` reports; `until` is from its job.
    ///
    /// With replicates, the report is that of [`Reports::up_to`] the progress that a replicate has just reported, so that later
    /// replicates are judged by the mean so far.
    pub fn decide(&self, until: Option<u32>, own: &Reported, others: &[Reports]) -> Decision {
        match self.params.kind {
            PrunerKind::Median if median::is_below(self, own, others) => Decision::Prune,
            PrunerKind::Asha if until.is_some_and(|until| own.at >= until) => Decision::Pause,
            PrunerKind::None | PrunerKind::Median | PrunerKind::Asha => Decision::Continue,
        }
    }

    /// The next job of the sweep, given whether it may start a new trial; `None` if there is nothing to do.
    ///
    /// While other trials are running, their next reports may change that.
    pub fn next_job(&self, trials: &[Progress], may_start: bool) -> Option<Job> {
        let (promotion, until) = match self.params.kind {
            PrunerKind::None | PrunerKind::Median => (None, None),
            PrunerKind::Asha => (asha::promotion(self, trials), self.params.rung(0)),
        };
        promotion.or(may_start.then_some(Job::New { until }))
    }

    /// The optimistic value of a report, as a gain: the better end of its interval, as far as `doubt` counts it.
    fn optimistic_gain(&self, report: &Reported) -> f64 {
        let better_end = match self.direction {
            Direction::Maximize => report.high,
            Direction::Minimize => report.low,
        };
        self.direction.gain(report.value + self.params.doubt * (better_end - report.value))
    }
}

#[cfg(test)]
mod tests;
