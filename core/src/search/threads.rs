//! Several threads on one tree.

use std::hint;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, TryLockError};

use thiserror::Error;

use super::Search;
use super::pending::Pending;
use crate::network::{Batch, Evaluations, Evaluator, EvaluatorError};

/// The search cannot be shared by several threads.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "the engine \"{engine}\" searches on one thread; set `search.engine` to \"fast\", or search without sharing"
)]
pub struct NotShareable {
    /// The engine of the search.
    pub engine: &'static str,
}

/// Descents after which `keep_going` is called again, if nearly all of them end at positions with a known result: about a
/// millisecond. A batch of other positions takes fewer.
const DESCENTS: u32 = 2048;

/// How often a thread looks whether the search is free before it sleeps: about a tenth of a millisecond.
const LOOKS: u32 = 5_000;

/// A search that several threads work on, each with an evaluator of its own.
///
/// While one thread's evaluator is busy the others gather and apply, one at a time; virtual loss keeps them on different paths.
/// Batches come back in no fixed order, so results differ from run to run; with one thread they are those of a [`Search`].
#[derive(Debug)]
pub struct SharedSearch {
    state: Mutex<State>,
    /// Notified whenever a batch was applied.
    applied: Condvar,
}

#[derive(Debug)]
struct State {
    search: Search,
    is_stopped: bool,
}

impl SharedSearch {
    /// Shares a search among threads.
    pub fn new(search: Search) -> Result<Self, NotShareable> {
        let engine = search.params.engine;
        if !engine.searcher().takes_threads() {
            return Err(NotShareable { engine: engine.name() });
        }
        Ok(Self { state: Mutex::new(State { search, is_stopped: false }), applied: Condvar::new() })
    }

    /// Another thread has the search for a batch's time, which is shorter than it takes to fall asleep and to be woken.
    fn state(&self) -> MutexGuard<'_, State> {
        for _ in 0..LOOKS {
            match self.state.try_lock() {
                Ok(state) => return state,
                Err(TryLockError::Poisoned(cause)) => return cause.into_inner(),
                Err(TryLockError::WouldBlock) => hint::spin_loop(),
            }
        }
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Searches until the search is done or stopped. Every thread calls it once with its own evaluator; an error stops all.
    pub fn work(&self, evaluator: &mut dyn Evaluator) -> Result<(), EvaluatorError> {
        self.work_while(evaluator, &mut |_| true)
    }

    /// As [`work`](Self::work), and stops all threads once `keep_going`, called before every batch, returns false: a time budget by
    /// the caller's clock. The search then ends at most one batch later.
    pub fn work_while(
        &self,
        evaluator: &mut dyn Evaluator,
        keep_going: &mut dyn FnMut(&Search) -> bool,
    ) -> Result<(), EvaluatorError> {
        let (mut pending, mut batch, mut evaluations) =
            (Pending::default(), Batch::default(), Evaluations::default());
        while self.gather(&mut pending, evaluator, &mut batch, keep_going) {
            let evaluated = evaluator.evaluate(&batch, &mut evaluations);
            let mut apply = || self.state().search.apply_from(&mut pending, &batch, &evaluations, 0);
            if let Err(error) = evaluated.and_then(|()| apply()) {
                self.stop();
                return Err(error);
            }
            self.applied.notify_all();
        }
        Ok(self.state().search.prober.take_error()?)
    }

    /// Fills a batch, waiting for other threads' batches if there is no leaf yet; false once the search is done or stopped.
    fn gather(
        &self,
        pending: &mut Pending,
        evaluator: &dyn Evaluator,
        batch: &mut Batch,
        keep_going: &mut dyn FnMut(&Search) -> bool,
    ) -> bool {
        batch.clear();
        let mut state = self.state();
        loop {
            state.is_stopped |= !keep_going(&state.search);
            if state.is_stopped || state.search.prober.has_failed() || state.search.is_done() {
                self.applied.notify_all();
                return false;
            }
            if state.search.gather_into(pending, evaluator.encoding(), batch, DESCENTS) > 0 {
                return true;
            }
            if state.search.in_flight() > 0 {
                state = self.applied.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Stops all threads after the batches that are under way.
    pub fn stop(&self) {
        self.state().is_stopped = true;
        self.applied.notify_all();
    }

    /// Reads the search between two batches.
    pub fn inspect<T>(&self, read: impl FnOnce(&Search) -> T) -> T {
        read(&self.state().search)
    }

    /// The search, once all threads are done.
    pub fn into_search(self) -> Search {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).search
    }
}
