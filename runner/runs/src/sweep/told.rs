//! What is known of the trials of a sweep: all that samplers and pruners hear.

use dc0_core::param_enum;

use super::space::Point;

param_enum! {
    /// Which objectives are better.
    pub enum Direction {
        /// Larger ones.
        Maximize = "maximize",
        /// Smaller ones.
        Minimize = "minimize",
    }
}

impl Direction {
    /// The value as a gain: larger is better, whatever the direction.
    pub fn gain(self, value: f64) -> f64 {
        match self {
            Self::Maximize => value,
            Self::Minimize => -value,
        }
    }
}

param_enum! {
    /// Where a trial stands.
    pub enum TrialState {
        /// It is at work, or was when the question was asked.
        Running = "running",
        /// It has reached its rung and waits for its promotion.
        Paused = "paused",
        /// It has come to its end.
        Complete = "complete",
        /// It was stopped as not good enough.
        Pruned = "pruned",
        /// Its script or a step failed.
        Failed = "failed",
        /// The process ended in it; it goes on from there.
        Killed = "killed",
        /// Its point does not lie in the space any more.
        Stale = "stale",
    }
}

/// What a sampler hears of a trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// The trial's number.
    pub number: u32,
    /// The point it tries.
    pub point: Point,
    /// Where it stands.
    pub state: TrialState,
    /// The objective of a complete trial, the last report of one that was stopped; over its replicates, their mean.
    pub value: Option<f64>,
    /// Where that last report was made: a later one says more. Of no meaning for a complete trial.
    pub at: u32,
}
