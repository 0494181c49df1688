//! Jobs: one position to search, and its search once that has begun.

use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dc0_core::search::{ANALYSIS_RULES, Search, SearchSlot};
use dc0_process::clock::Stopwatch;

use super::query::Query;

/// One position of a query.
pub(super) struct Task {
    pub(super) query: Arc<Query>,
    pub(super) turn: u32,
    pub(super) rank: Rank,
    /// Whether its search is to end with what it has.
    is_terminated: AtomicBool,
}

/// The order of tasks; the least one is the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    pub(super) priority: Reverse<i32>,
    /// Of all tasks of the server.
    pub(super) number: u64,
}

impl Task {
    pub(super) fn new(query: &Arc<Query>, turn: u32, rank: Rank) -> Self {
        Self { query: Arc::clone(query), turn, rank, is_terminated: AtomicBool::new(false) }
    }

    pub(super) fn terminate(&self) {
        self.is_terminated.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_terminated(&self) -> bool {
        self.is_terminated.load(Ordering::SeqCst)
    }
}

/// A task with its search, which a lane may put aside for a more urgent one.
pub(super) struct Job {
    pub(super) task: Arc<Task>,
    pub(super) progress: Option<Progress>,
}

/// A search that has begun.
pub(super) struct Progress {
    pub(super) search: Search,
    started: Stopwatch,
    reported: Stopwatch,
}

impl Job {
    pub(super) fn new(task: Task) -> Self {
        Self { task: Arc::new(task), progress: None }
    }

    /// Rows that it takes of batches with so many.
    pub(super) fn rows(&self, of: u32) -> u32 {
        self.task.query.params.search.leaf_batch.min(of)
    }

    /// Begins the search of a position that is not decided.
    pub(super) fn begin(&mut self) {
        let Task { query, turn, .. } = &*self.task;
        let game = query.game(*turn);
        if game.outcome(&ANALYSIS_RULES).is_some() {
            return;
        }
        let (params, tablebases) = (query.params.search.clone(), query.tablebases.clone());
        let mut search = Search::with_tablebases(game, ANALYSIS_RULES, params, tablebases);
        search.restrict_root(&query.allowed);
        let (started, reported) = (Stopwatch::start(), Stopwatch::start());
        self.progress = Some(Progress { search, started, reported });
    }

    /// The search, if it has a visit.
    pub(super) fn searched(&self) -> Option<&Search> {
        self.progress.as_ref().map(|progress| &progress.search).filter(|search| search.visits() > 0)
    }

    /// Whether nothing is left to do: the position is decided, or its search is done, out of time or terminated.
    pub(super) fn is_over(&self) -> bool {
        let Some(Progress { search, started, .. }) = &self.progress else { return true };
        let is_late = |limit: Duration| search.visits() > 0 && started.elapsed() >= limit;
        search.is_done() || self.task.is_terminated() || self.task.query.time().is_some_and(is_late)
    }

    /// Whether it is time for a report, the next of which is then due an interval later.
    pub(super) fn is_due(&mut self) -> bool {
        let Some(interval) = self.task.query.report_every() else { return false };
        let Some(progress) = self.progress.as_mut().filter(|progress| progress.search.visits() > 0) else {
            return false;
        };
        let is_due = progress.reported.elapsed() >= interval;
        if is_due {
            progress.reported = Stopwatch::start();
        }
        is_due
    }
}

impl SearchSlot for Job {
    fn waiting(&mut self) -> Option<(usize, &mut Search)> {
        self.progress.as_mut().map(|progress| (0, &mut progress.search))
    }

    fn advance(&mut self) {}
}
