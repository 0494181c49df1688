//! Several threads on one tree.

use std::hint;
use std::mem;
use std::sync::{Condvar, Mutex, MutexGuard, TryLockError};

use thiserror::Error;

use super::Search;
use super::gather::Amount;
use super::params::Engine;
use super::pending::Pending;
use crate::encoding::Encoding;
use crate::network::{Batch, Evaluations, Evaluator, EvaluatorError};
use crate::poison::IgnorePoison as _;

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
/// Batches come back in no fixed order, so results differ from run to run; with one thread they are those of a [`Search`]. One thread alone may also
/// [work in turns](Self::work_in_turns) with its evaluator.
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

/// Leaves whose evaluations are under way, and their rows.
#[derive(Default)]
struct Leaves {
    pending: Pending,
    batch: Batch,
}

impl State {
    /// Gathers at most so many leaves, maybe none; `None` once the search is done or stopped.
    fn gather(
        &mut self,
        most: u32,
        leaves: &mut Leaves,
        encoding: &Encoding,
        keep_going: &mut dyn FnMut(&Search) -> bool,
    ) -> Option<usize> {
        leaves.batch.clear();
        self.is_stopped |= !keep_going(&self.search);
        if self.is_stopped || self.search.prober.has_failed() || self.search.is_done() {
            return None;
        }
        let most = Amount { leaves: most, descents: DESCENTS };
        Some(self.search.gather_into(&mut leaves.pending, encoding, &mut leaves.batch, most))
    }
}

impl SharedSearch {
    /// Shares a search among threads.
    pub fn new(search: Search) -> Result<Self, NotShareable> {
        let engine = search.params.engine;
        if engine == Engine::Reference {
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
        self.state.lock().ignore_poison()
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
        let (mut leaves, mut evaluations) = (Leaves::default(), Evaluations::default());
        while self.gather(&mut leaves, evaluator.encoding(), keep_going) {
            let evaluated = evaluator.evaluate(&leaves.batch, &mut evaluations);
            let applied = evaluated.and_then(|()| self.apply(&mut leaves, &evaluations));
            self.stop_after(applied)?;
        }
        self.end()
    }

    /// As [`work_while`](Self::work_while) by one thread alone, whose leaf batch consists of two halves that take turns: while one is
    /// applied and gathered again, the evaluator's own threads have the other. The search does not depend on how many they are.
    pub fn work_in_turns(
        &self,
        evaluator: &mut dyn Evaluator,
        keep_going: &mut dyn FnMut(&Search) -> bool,
    ) -> Result<(), EvaluatorError> {
        let half = self.inspect(|search| search.params.leaf_batch / 2);
        if half == 0 {
            return self.work_while(evaluator, keep_going);
        }
        let (mut next, mut begun) = (Leaves::default(), Leaves::default());
        let mut evaluations = Evaluations::default();
        while self.gather_half(half, &mut next, evaluator.encoding(), keep_going) || !begun.pending.is_empty()
        {
            let taken = self.take_turns(&mut begun, &next, evaluator, &mut evaluations);
            self.stop_after(taken)?;
            mem::swap(&mut next, &mut begun);
        }
        self.end()
    }

    /// Finishes one half, begins the next, and applies the first while that is evaluated.
    fn take_turns(
        &self,
        begun: &mut Leaves,
        next: &Leaves,
        evaluator: &mut dyn Evaluator,
        evaluations: &mut Evaluations,
    ) -> Result<(), EvaluatorError> {
        let has_begun = !begun.pending.is_empty();
        if has_begun {
            evaluator.finish(&begun.batch, evaluations)?;
        }
        if !next.pending.is_empty() {
            evaluator.begin(&next.batch)?;
        }
        if has_begun { self.apply(begun, evaluations) } else { Ok(()) }
    }

    /// Fills a batch, waiting for other threads' batches if there is no leaf yet; false once the search is done or stopped.
    fn gather(
        &self,
        leaves: &mut Leaves,
        encoding: &Encoding,
        keep_going: &mut dyn FnMut(&Search) -> bool,
    ) -> bool {
        let mut state = self.state();
        let most = state.search.params.leaf_batch;
        loop {
            match state.gather(most, leaves, encoding, keep_going) {
                None => {
                    self.applied.notify_all();
                    return false;
                }
                Some(0) if state.search.in_flight() > 0 => {
                    state = self.applied.wait(state).ignore_poison();
                }
                Some(0) => {}
                Some(_) => return true,
            }
        }
    }

    /// Fills one half, which may stay empty while the other one is under way; false once the search is done or stopped.
    fn gather_half(
        &self,
        half: u32,
        leaves: &mut Leaves,
        encoding: &Encoding,
        keep_going: &mut dyn FnMut(&Search) -> bool,
    ) -> bool {
        let mut state = self.state();
        loop {
            match state.gather(half, leaves, encoding, keep_going) {
                None => return false,
                Some(0) if state.search.in_flight() == 0 => {}
                Some(_) => return true,
            }
        }
    }

    fn apply(&self, leaves: &mut Leaves, evaluations: &Evaluations) -> Result<(), EvaluatorError> {
        self.state().search.apply_from(&mut leaves.pending, &leaves.batch, evaluations, 0)?;
        self.applied.notify_all();
        Ok(())
    }

    /// Stops all threads after an error.
    fn stop_after(&self, worked: Result<(), EvaluatorError>) -> Result<(), EvaluatorError> {
        worked.inspect_err(|_| self.stop())
    }

    /// The error of a tablebase that ended the search.
    fn end(&self) -> Result<(), EvaluatorError> {
        Ok(self.state().search.prober.take_error()?)
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
        self.state.into_inner().ignore_poison().search
    }
}
