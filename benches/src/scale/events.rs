//! What happens when.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// One delivery of a group of shards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Issue {
    /// Whose shards they are.
    pub(super) learner: usize,
    /// Their step, by its number.
    pub(super) step: u32,
    /// Their group in that step.
    pub(super) group: usize,
    /// How often the task was delivered before.
    pub(super) deliveries: u8,
}

/// A lane of a worker between two failures of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LaneOf {
    pub(super) worker: usize,
    /// Failures of the worker before.
    pub(super) life: u32,
}

/// What happens.
#[derive(Debug, Clone, Copy)]
pub(super) enum Event {
    /// The broker has a task.
    Queued(Issue),
    /// A lane requests a task.
    Requested(LaneOf),
    /// A lane has done a task, in so many seconds.
    Finished(LaneOf, Issue, f64),
    /// Its tables are at the broker, or in the bucket.
    Sent(LaneOf, Issue, f64),
    /// Tables that are an object are stored, and the message is at the broker.
    Kept(LaneOf, Issue, f64),
    /// The broker has stored it.
    Stored(LaneOf, Issue, f64),
    /// A coordinator has counted the results that it took.
    Counted(usize),
    /// A coordinator looks at late shards.
    Checked(usize),
    /// All shards of a step are counted, and those of the sample done again.
    Played(usize),
    /// A training has ended.
    Trained(usize),
    /// A worker fails.
    Failed(LaneOf),
    /// A worker that failed is there again.
    Returned(usize),
    /// The broker gives up waiting for a worker.
    Silent(Issue),
    /// A second has passed.
    Second,
}

/// An event at a time; equal times keep their order.
struct Entry {
    at: f64,
    number: u64,
    event: Event,
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        // The heap gives the largest first.
        other.at.total_cmp(&self.at).then(other.number.cmp(&self.number))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Entry {}

/// Events in the order of their times.
#[derive(Default)]
pub(super) struct Events {
    heap: BinaryHeap<Entry>,
    number: u64,
}

impl Events {
    pub(super) fn add(&mut self, at: f64, event: Event) {
        self.number += 1;
        self.heap.push(Entry { at, number: self.number, event });
    }

    pub(super) fn next(&mut self) -> Option<(f64, Event)> {
        self.heap.pop().map(|entry| (entry.at, entry.event))
    }
}
