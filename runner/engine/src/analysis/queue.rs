//! The queue between the reader and the lanes.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use dc0_core::poison::IgnorePoison as _;

use super::error::AnalysisError;
use super::job::{Job, Rank, Task};
use super::query::Query;

/// Positions that may wait; while there are as many, no further line is read. Chosen.
pub(super) const MOST_WAITING: usize = 4096;

/// How long the end waits for a lane that may be writing to a program that reads nothing. Chosen.
const GRACE: Duration = Duration::from_secs(2);

/// Why the server ends before its input and its queries do.
pub(super) enum End {
    /// A signal.
    Interrupted,
    /// Answers cannot be written.
    Broken,
    /// Something else failed.
    Failed(AnalysisError),
}

/// Jobs that wait, the most urgent first, and what all threads know of each other.
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    waiting: BTreeMap<Rank, Job>,
    /// Tasks that lanes search.
    running: BTreeMap<Rank, Arc<Task>>,
    /// Tasks so far.
    count: u64,
    /// Whether the input has ended.
    is_closed: bool,
    end: Option<End>,
    /// Lanes that have not ended.
    lanes: u32,
    /// How often the cache was to be cleared.
    cache_clears: u64,
}

impl Queue {
    /// An empty queue for this many lanes.
    pub(super) fn new(lanes: u32) -> Self {
        let state = State {
            waiting: BTreeMap::new(),
            running: BTreeMap::new(),
            count: 0,
            is_closed: false,
            end: None,
            lanes,
            cache_clears: 0,
        };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().ignore_poison()
    }

    /// Ends the server after the batches that are under way; false if it was ending already.
    pub(super) fn end(&self, end: End) -> bool {
        let mut state = self.state();
        let is_first = state.end.is_none();
        if is_first {
            state.end = Some(end);
        }
        self.changed.notify_all();
        is_first
    }

    /// Adds the positions of a query, once fewer than [`MOST_WAITING`] wait. False if the server ends.
    pub(super) fn add(&self, query: &Arc<Query>) -> bool {
        let is_full = |state: &mut State| state.waiting.len() >= MOST_WAITING && state.end.is_none();
        let mut state = self.changed.wait_while(self.state(), is_full).ignore_poison();
        if state.end.is_some() {
            return false;
        }
        for (turn, priority) in query.turns() {
            let rank = Rank { priority: Reverse(priority), number: state.count };
            state.count += 1;
            state.waiting.insert(rank, Job::new(Task::new(query, turn, rank)));
        }
        self.changed.notify_all();
        true
    }

    /// The input has ended: lanes end once nothing waits.
    pub(super) fn close(&self) {
        self.state().is_closed = true;
        self.changed.notify_all();
    }

    /// Ends the searches of these tasks: takes those that wait out of the queue, and returns them with the number of all. A search
    /// that was ended before, and is in its last batch, does not count again.
    pub(super) fn terminate(&self, concerns: &dyn Fn(&Task) -> bool) -> (Vec<Job>, usize) {
        let mut state = self.state();
        let waiting: Vec<Job> =
            state.waiting.extract_if(.., |_, job| concerns(&job.task)).map(|(_, job)| job).collect();
        let goes_on = |task: &&Arc<Task>| concerns(task) && !task.is_terminated();
        let running: Vec<&Arc<Task>> = state.running.values().filter(goes_on).collect();
        for task in &running {
            task.terminate();
        }
        let count = waiting.len() + running.len();
        self.changed.notify_all();
        (waiting, count)
    }

    /// Has every lane clear its cache before its next batch.
    pub(super) fn clear_cache(&self) {
        self.state().cache_clears += 1;
    }

    /// How often the cache was to be cleared.
    pub(super) fn cache_clears(&self) -> u64 {
        self.state().cache_clears
    }

    /// Fills the batches of a lane, which have so many rows, with the most urgent jobs; a less urgent one makes room and waits.
    /// Waits while there is nothing to do. False once the lane should end.
    pub(super) fn fill(&self, jobs: &mut Vec<Job>, rows: u32) -> bool {
        let mut state = self.state();
        loop {
            if state.end.is_some() {
                return false;
            }
            if state.fill(jobs, rows) {
                // The reader may wait for room.
                self.changed.notify_all();
            }
            if !jobs.is_empty() {
                return true;
            }
            if state.is_closed && state.waiting.is_empty() {
                return false;
            }
            state = self.changed.wait(state).ignore_poison();
        }
    }

    /// A lane is done with a task.
    pub(super) fn finish(&self, task: &Task) {
        self.state().running.remove(&task.rank);
    }

    /// A lane has ended.
    pub(super) fn leave(&self) {
        self.state().lanes -= 1;
        self.changed.notify_all();
    }

    /// Waits until all lanes have ended, or until the server should end and they had time for it; returns why it should.
    pub(super) fn wait(&self) -> Option<End> {
        let works = |state: &mut State| state.lanes > 0 && state.end.is_none();
        let state = self.changed.wait_while(self.state(), works).ignore_poison();
        let (mut state, _) =
            self.changed.wait_timeout_while(state, GRACE, |state| state.lanes > 0).ignore_poison();
        state.end.take()
    }
}

impl State {
    /// Whether anything has changed.
    fn fill(&mut self, jobs: &mut Vec<Job>, rows: u32) -> bool {
        let mut has_changed = false;
        while let Some(next) = self.waiting.first_entry() {
            let (rank, needed) = (*next.key(), next.get().rows(rows));
            let as_urgent = jobs.iter().filter(|job| job.task.rank.priority <= rank.priority);
            if needed + as_urgent.map(|job| job.rows(rows)).sum::<u32>() > rows {
                break;
            }
            let job = next.remove();
            while needed + jobs.iter().map(|job| job.rows(rows)).sum::<u32>() > rows {
                let last = (0..jobs.len()).max_by_key(|index| jobs[*index].task.rank);
                let paused = jobs.swap_remove(last.expect("a full batch has jobs"));
                self.running.remove(&paused.task.rank);
                self.waiting.insert(paused.task.rank, paused);
            }
            self.running.insert(rank, Arc::clone(&job.task));
            jobs.push(job);
            has_changed = true;
        }
        has_changed
    }
}
