//! Games that are played while the script goes on: what `run.start_self_play` returns.
//!
//! A script can read nothing of them before it waits for them, so it cannot depend on which step ends first.

use std::sync::Arc;

use rhai::{Engine, NativeCallContext};

use dc0_core::params::Value;
use dc0_runs::Series;
use dc0_steps::Summary;
use dc0_steps::handles::{Fields, Games};
use dc0_steps::host::HostError;
use dc0_steps::step::{Call as StepCall, StepResult};

use super::pending::{Pending, SharedState, State};
use super::session::{OpenRun, RunHandle};
use crate::call::{Answer, Call};
use crate::failure::Failure;

/// Games that are played while the script goes on.
#[derive(Clone)]
pub(super) struct ComingGames {
    run: RunHandle,
    /// The number that they will have.
    iteration: usize,
    /// The games once the script has waited for them.
    state: SharedState,
}

pub(super) fn register(engine: &mut Engine) {
    super::fields::register_fields::<ComingGames>(engine);
    engine.register_fn("wait", wait);
}

/// An error if a step would number its games before those that are being played.
pub(super) fn check(call: &Call<'_>, run: &RunHandle, step: &dyn StepCall) -> Answer<()> {
    let pending = run.0.pending();
    match pending.as_ref().filter(|_| step.kind().series() == Series::Iterations) {
        Some(Pending { location, .. }) => Err(call.misuse(format!(
            "the games started at {location} come first in the run, and the script has not waited for them; call `wait()` of what \
             `start_self_play` returned before"
        ))),
        None => Ok(()),
    }
}

/// Starts the games of a step.
pub(super) fn start(call: &Call<'_>, run: &RunHandle, step: Arc<dyn StepCall>) -> Answer<ComingGames> {
    call.run(run.0.host.start(Arc::clone(&step)))?;
    let state = SharedState::new();
    *run.0.pending() = Some(Pending { step, location: call.location(), state: state.clone() });
    let iteration = run.0.progress().iterations.len();
    Ok(ComingGames { run: run.clone(), iteration, state })
}

#[allow(clippy::needless_pass_by_value, reason = "the engine hands every argument over by value")]
fn wait(context: NativeCallContext<'_>, coming: ComingGames) -> Answer<Games> {
    let call = Call::new("wait", &context);
    // Only those that are being played are pending.
    if matches!(&*coming.state.lock(), State::Playing) {
        call.run(coming.run.0.await_pending())?;
    }
    match &*coming.state.lock() {
        State::Played(games) => Ok(games.clone()),
        State::Playing | State::Failed => {
            Err(call.misuse("these games were not played to their end; start them again"))
        }
    }
}

impl OpenRun {
    /// Waits for the games that are being played, if there are any. They become an iteration of the run here.
    fn await_pending(&self) -> Result<(), HostError> {
        let Some(Pending { step, state, .. }) = self.pending().take() else { return Ok(()) };
        *state.lock() = State::Failed;
        let result = self.host.wait()?;
        self.add_spent(step.spent(result.summary()));
        self.record(&result);
        if let StepResult::Games(games) = result {
            *state.lock() = State::Played(games);
        }
        Ok(())
    }

    /// Waits for games for which the script has not waited by its end. An error has the position where they were started.
    pub(super) fn await_rest(&self) -> Result<(), Failure> {
        let Some(location) = self.pending().as_ref().map(|pending| pending.location.clone()) else {
            return Ok(());
        };
        log::info!("the script has ended without waiting for the games started at {location}");
        self.await_pending().map_err(|error| Failure { location: Some(location), ..Failure::from(&error) })
    }
}

impl Fields for ComingGames {
    const KIND: &'static str = "ComingGames";

    fn fields(&self) -> Vec<(String, Value)> {
        let fields = [
            ("run", Value::Text(self.run.0.info.name.clone())),
            ("iteration", Value::Int(self.iteration as i64)),
        ];
        fields.map(|(name, value)| (name.to_owned(), value)).into()
    }

    fn summary(&self) -> Option<&Summary> {
        None
    }
}
