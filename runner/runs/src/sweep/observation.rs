//! Trials as samplers and pruners observe them.

use dc0_core::param_enum;

use super::space::Point;

param_enum! {
    /// Whether larger or smaller objectives are better.
    pub enum Direction {
        /// Larger ones.
        Maximize = "maximize",
        /// Smaller ones.
        Minimize = "minimize",
    }
}

impl Direction {
    /// The value as a gain, where larger is always better.
    pub fn gain(self, value: f64) -> f64 {
        match self {
            Self::Maximize => value,
            Self::Minimize => -value,
        }
    }
}

param_enum! {
    /// The state of a trial.
    pub enum TrialState {
        /// It is running.
        Running = "running",
        /// It has reached its rung and waits for promotion.
        Paused = "paused",
        /// It has run to its end.
        Complete = "complete",
        /// The pruner ended it.
        Pruned = "pruned",
        /// Its script or a step failed.
        Failed = "failed",
        /// Its process was killed; it will be resumed.
        Killed = "killed",
        /// Its point no longer lies in the space.
        Stale = "stale",
    }
}

/// A trial as samplers see it.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// The trial's number.
    pub number: u32,
    /// Its point.
    pub point: Point,
    /// Its state.
    pub state: TrialState,
    /// The objective of a complete trial, or the last report of a stopped one; the mean over its replicates.
    pub value: Option<f64>,
    /// The progress at the last report, by which stopped trials are ranked. Not used for complete trials.
    pub at: u32,
}
