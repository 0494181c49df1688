//! How the session controls a search that is under way.

use std::sync::{Condvar, Mutex, MutexGuard};

use dc0_core::poison::IgnorePoison as _;

use dc0_process::clock::Stopwatch;

/// Stops one search, or starts its clock after a ponder hit.
#[derive(Debug)]
pub(super) struct Signal {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    is_stopped: bool,
    /// Started when the engine's own clock started; `None` while it ponders.
    own_time: Option<Stopwatch>,
}

impl Signal {
    /// A signal for a search that begins now.
    pub(super) fn new(ponders: bool) -> Self {
        let own_time = (!ponders).then(Stopwatch::start);
        Self { state: Mutex::new(State { is_stopped: false, own_time }), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().ignore_poison()
    }

    /// Ends the search.
    pub(super) fn stop(&self) {
        self.state().is_stopped = true;
        self.changed.notify_all();
    }

    /// The opponent played the move that was pondered on.
    pub(super) fn ponder_hit(&self) {
        self.state().own_time.get_or_insert_with(Stopwatch::start);
        self.changed.notify_all();
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.state().is_stopped
    }

    /// The engine's own time on this move; `None` while pondering.
    pub(super) fn own_time(&self) -> Option<Stopwatch> {
        self.state().own_time
    }

    /// Whether the engine ponders: neither hit nor stopped yet.
    pub(super) fn ponders(&self) -> bool {
        let state = self.state();
        !state.is_stopped && state.own_time.is_none()
    }

    /// Waits until the move may be reported: pondering ends by a hit or a stop, an infinite search by a stop alone.
    pub(super) fn wait(&self, is_infinite: bool) {
        let waits = |state: &mut State| !state.is_stopped && (is_infinite || state.own_time.is_none());
        drop(self.changed.wait_while(self.state(), waits).ignore_poison());
    }
}
