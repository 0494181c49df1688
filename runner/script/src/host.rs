//! The functions that scripts can call.

mod coming;
mod dimensions;
mod fields;
mod forks;
mod league;
mod networks;
mod no_run;
mod output;
mod own_runs;
mod ownership;
mod pending;
mod players;
mod rating;
mod run;
mod session;
mod steps;
mod sweeps;
mod tables;
mod usages;

use std::sync::Arc;

use rhai::{Dynamic, Engine, Map, NativeCallContext};

use dc0_core::params::Value;
use dc0_steps::handles::{
    Analysis, Fields, Games, MatchResult, Network, Player, SolvedPuzzles, Validation, Window,
};

use crate::declare::declare;
use coming::ComingGames;
use fields::register_fields;
use session::RunHandle;

pub use no_run::LoadedNetwork;
pub use rating::RateParams;
pub use session::Session;
pub use sweeps::{OWN_NAMES as TRIAL_NAMES, PartDone};
pub use usages::usages;

/// Registers all functions and the types of their values.
pub fn register(engine: &mut Engine, session: &Arc<Session>) {
    register_fields::<RunHandle>(engine);
    register_fields::<Network>(engine);
    register_fields::<Games>(engine);
    register_fields::<Window>(engine);
    register_fields::<Player>(engine);
    register_fields::<MatchResult>(engine);
    register_fields::<Analysis>(engine);
    register_fields::<SolvedPuzzles>(engine);
    register_fields::<Validation>(engine);
    let shared = Arc::clone(session);
    engine.register_fn("params", move |context: NativeCallContext<'_>, map: Map| {
        declare(&shared.declaration, &context, map)
    });
    coming::register(engine);
    run::register(engine, session);
    steps::register(engine);
    networks::register(engine);
    players::register(engine, session);
    league::register(engine);
    rating::register(engine);

    dimensions::register(engine);
    output::register(engine, session);
    forks::register(engine, session);
    tables::register(engine);
    sweeps::register(engine, session);
    no_run::register(engine, session);
}

/// The fields that scripts can read of a value: the value's kind, and the fields' names and values. `None` for plain data.
pub fn fields_of(value: &Dynamic) -> Option<(&'static str, Vec<(String, Value)>)> {
    fn read<T: Fields>(value: &Dynamic) -> Option<(&'static str, Vec<(String, Value)>)> {
        value.read_lock::<T>().map(|value| (T::KIND, value.fields()))
    }
    let nets_and_games =
        || read::<Network>(value).or_else(|| read::<Games>(value)).or_else(|| read::<Window>(value));
    let results = || {
        read::<MatchResult>(value)
            .or_else(|| read::<Player>(value))
            .or_else(|| read::<Analysis>(value))
            .or_else(|| read::<SolvedPuzzles>(value))
            .or_else(|| read::<Validation>(value))
            .or_else(|| read::<ComingGames>(value))
            .or_else(|| read::<sweeps::FinishedSweep>(value))
    };
    read::<RunHandle>(value).or_else(nets_and_games).or_else(results)
}
