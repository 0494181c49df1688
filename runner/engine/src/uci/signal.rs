//! What the session tells a search that is under way.

use std::sync::{Condvar, Mutex, MutexGuard};

use dc0_core::poison::IgnorePoison as _;

use dc0_process::clock::Stopwatch;

/// The reins of one search.
#[derive(Debug)]
pub(super) struct Signal {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    is_stopped: bool,
    /// Since when thinking costs the engine's own time; `None` while it ponders.
    counted_from: Option<Stopwatch>,
}

impl Signal {
    /// Of a search that begins now.
    pub(super) fn new(ponders: bool) -> Self {
        let counted_from = (!ponders).then(Stopwatch::start);
        Self { state: Mutex::new(State { is_stopped: false, counted_from }), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().ignore_poison()
    }

    /// Ends the search.
    pub(super) fn stop(&self) {
        self.state().is_stopped = true;
        self.changed.notify_all();
    }

    /// The move that was pondered on has been played.
    pub(super) fn ponder_hit(&self) {
        self.state().counted_from.get_or_insert_with(Stopwatch::start);
        self.changed.notify_all();
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.state().is_stopped
    }

    /// Runs since thinking costs time; `None` while pondering.
    pub(super) fn thinking(&self) -> Option<Stopwatch> {
        self.state().counted_from
    }

    /// Whether the engine ponders: neither hit nor stopped yet.
    pub(super) fn ponders(&self) -> bool {
        let state = self.state();
        !state.is_stopped && state.counted_from.is_none()
    }

    /// Waits until the move may be told: pondering ends by a hit or a stop, an infinite search by a stop alone.
    pub(super) fn wait(&self, is_infinite: bool) {
        let waits = |state: &mut State| !state.is_stopped && (is_infinite || state.counted_from.is_none());
        drop(self.changed.wait_while(self.state(), waits).ignore_poison());
    }
}
