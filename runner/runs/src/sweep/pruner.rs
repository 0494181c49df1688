//! Pruners: which trials go on, and how far.
//!
//! Both rules are pure functions of what was reported. Reports are noisy, so a report carries an interval, and a trial is
//! only held back when the whole of it is worse than the bar.

mod asha;
mod median;
mod params;
mod report;

use super::told::{Direction, TrialState};
pub use params::{PrunerKind, PrunerParams};
pub use report::{Reported, pool};

/// What all questions of one sweep have in common.
#[derive(Debug, Clone, Copy)]
pub struct Pruner<'a> {
    /// The rule and its numbers.
    pub params: &'a PrunerParams,
    /// Which values are good.
    pub direction: Direction,
}

/// What a trial does after a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It goes on.
    GoOn,
    /// It is not good enough, and ends here.
    Prune,
    /// It has come as far as its job says, and waits for a promotion.
    Pause,
}

/// What a sweep does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Job {
    /// Start a new trial.
    New {
        /// How far it goes: to its first report at or beyond this, or to its end.
        until: Option<u32>,
    },
    /// Let a paused trial go on.
    Promote {
        /// The trial.
        number: u32,
        /// How far it goes: to its first report at or beyond this, or to its end.
        until: Option<u32>,
    },
}

/// What a pruner hears of a trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// The trial's number.
    pub number: u32,
    /// Where it stands; a trial whose promotion is decided is running again.
    pub state: TrialState,
    /// Its reports in order, over its replicates (see [`pool`]).
    pub reports: Vec<Reported>,
}

impl Pruner<'_> {
    /// What a trial does after one of its `own` reports; `until` is what its job said.
    ///
    /// With replicates, the report is the one of [`pool`] at the place where a replicate has just reported, so that
    /// later replicates are judged by the mean so far; the reports of the `others` are pooled, too.
    pub fn verdict(&self, until: Option<u32>, own: &Reported, others: &[Vec<Reported>]) -> Verdict {
        match self.params.kind {
            PrunerKind::Median if median::is_below(self, own, others) => Verdict::Prune,
            PrunerKind::Asha if until.is_some_and(|until| own.at >= until) => Verdict::Pause,
            PrunerKind::None | PrunerKind::Median | PrunerKind::Asha => Verdict::GoOn,
        }
    }

    /// What the sweep does next, where it may start a new trial or not; none when nothing is left to do.
    ///
    /// While other trials are at work, "nothing" may change with their next report.
    pub fn next_job(&self, trials: &[Progress], may_start: bool) -> Option<Job> {
        let (promotion, until) = match self.params.kind {
            PrunerKind::None | PrunerKind::Median => (None, None),
            PrunerKind::Asha => (asha::promotion(self, trials), self.params.rung(0)),
        };
        promotion.or(may_start.then_some(Job::New { until }))
    }

    /// The end of a report's interval that a trial may hope for, as a gain: as much of it as counts.
    fn hope(&self, report: &Reported) -> f64 {
        let best = match self.direction {
            Direction::Maximize => report.high,
            Direction::Minimize => report.low,
        };
        self.direction.gain(report.value + self.params.doubt * (best - report.value))
    }
}

#[cfg(test)]
mod tests;
