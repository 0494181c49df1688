//! The shards of a step when a process begins or resumes it: those that are finished, and those that are left.

use std::collections::BTreeMap;

use dc0_core::selfplay::Shard;
use dc0_runs::{PartialProgress, RunError, ShardNote, StepWorkspace};
use serde::de::DeserializeOwned;

/// All shards of a step; `T` is what a finished one notes for the summary.
pub(crate) struct Shards<T> {
    /// How many there are in all.
    pub(crate) count: u32,
    /// The notes of those that an earlier process finished, by the shard's index.
    pub(crate) finished: BTreeMap<u32, ShardNote<T>>,
    /// Those that are left, in order.
    pub(crate) rest: Vec<Shard>,
}

impl<T: DeserializeOwned> Shards<T> {
    /// Looks for finished shards in the step's work folder. A file whose content has changed is an error.
    pub(crate) fn find(workspace: &StepWorkspace, mut all: Vec<Shard>) -> Result<Self, RunError> {
        let count = all.len() as u32;
        let finished = workspace.finished_shards::<T>(count)?;
        all.retain(|shard| !finished.contains_key(&shard.index));
        Ok(Self { count, finished, rest: all })
    }

    /// A figure of the finished shards, such as their games.
    pub(crate) fn sum(&self, figure: impl Fn(&T) -> u64) -> u64 {
        self.finished.values().map(|note| figure(&note.part)).sum()
    }

    /// How far the step is, counted by this figure.
    pub(crate) fn progress(&self, figure: impl Fn(&T) -> u64) -> PartialProgress {
        let parts = self.finished.len() as u32;
        PartialProgress { parts, total: self.count, unit: "shards", amount: self.sum(figure) }
    }
}
