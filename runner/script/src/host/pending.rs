//! A step that is done while the script goes on, until the script waits for it.

use std::sync::{Arc, Mutex, MutexGuard};

use dc0_core::poison::IgnorePoison as _;
use dc0_steps::handles::Games;
use dc0_steps::step::Call as StepCall;

use crate::location::ScriptLocation;

/// The step behind games for which the script has not waited yet.
pub(super) struct Pending {
    pub(super) step: Arc<dyn StepCall>,
    /// Where the script has started it.
    pub(super) location: ScriptLocation,
    pub(super) state: SharedState,
}

/// What the script knows of the games.
pub(super) enum State {
    /// It has not waited for them.
    Playing,
    /// It has.
    Played(Games),
    /// It has, and they could not be played.
    Failed,
}

/// The state as all copies of the script's value share it.
#[derive(Clone)]
pub(super) struct SharedState(Arc<Mutex<State>>);

impl SharedState {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(State::Playing)))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().ignore_poison()
    }
}
