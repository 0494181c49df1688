//! A simulated worker.

use super::events::{Issue, LaneOf};

/// A net that a worker has, or is about to have.
#[derive(Debug, Clone, Copy)]
pub(super) struct Net {
    /// Trainings before it.
    pub(super) version: u32,
    /// When it is there.
    pub(super) at: f64,
}

/// A worker.
#[derive(Debug, Clone)]
pub(super) struct Worker {
    /// Failures so far.
    pub(super) life: u32,
    pub(super) is_up: bool,
    /// How much longer its shards take than the mean.
    pub(super) slowness: f64,
    /// The latest net of each learner.
    pub(super) nets: Vec<Option<Net>>,
    /// What its lanes do, and since when.
    pub(super) running: Vec<(Issue, f64)>,
    /// Lanes that wait for a task.
    pub(super) idle: usize,
}

impl Worker {
    pub(super) fn new(slowness: f64, learners: usize) -> Self {
        Self { life: 0, is_up: true, slowness, nets: vec![None; learners], running: Vec::new(), idle: 0 }
    }

    /// Whether a lane has not failed since.
    pub(super) fn has(&self, lane: LaneOf) -> bool {
        self.is_up && self.life == lane.life
    }

    /// Whether a lane does an issue.
    pub(super) fn is_running(&self, issue: Issue) -> bool {
        self.running.iter().any(|(running, _)| *running == issue)
    }

    /// A lane has ended an issue.
    pub(super) fn end(&mut self, issue: Issue) {
        let running = self.running.iter().position(|(running, _)| *running == issue);
        self.running.swap_remove(running.expect("a lane does it"));
    }
}
