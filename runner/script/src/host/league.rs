//! `run.league`: opponents drawn from a run's earlier generations.

#![allow(clippy::needless_pass_by_value, reason = "the engine hands every argument over by value")]

use std::collections::BTreeMap;

use rhai::{Array, Dynamic, Engine, Map, NativeCallContext};

use dc0_core::arena::LeagueParams;
use dc0_core::arena::rating::{PairResult, Standings};
use dc0_core::rng::Seed;

use dc0_steps::StepError;

use super::session::RunHandle;
use crate::call::{Answer, Call};
use crate::convert::Sampling;

type Context<'a> = NativeCallContext<'a>;

pub(super) fn register(engine: &mut Engine) {
    engine.register_fn("league", league);
    engine.register_fn("league", |context: Context<'_>, run: RunHandle| league(context, run, Map::new()));
}

fn league(context: Context<'_>, run: RunHandle, map: Map) -> Answer<Array> {
    let call = Call::new("league", &context);
    let params = call.read::<LeagueParams>(&map, Sampling(0))?.params;
    let (generations, drawings) = run.0.next_drawing();
    let results = call.run(run.0.results().map_err(StepError::from))?;
    let elo = ratings(&results);
    let ratings: Vec<Option<f64>> = generations.iter().map(|net| elo.get(&net.name()).copied()).collect();
    let drawn = params.draw(&ratings, Seed { run: run.0.info.seed, step: drawings });
    Ok(drawn.into_iter().map(|number| Dynamic::from(generations[number].clone())).collect())
}

/// The joint ratings of all players, except those that no chain of games connects to the most.
fn ratings(results: &[PairResult<String>]) -> BTreeMap<String, f64> {
    let mut players: Vec<String> =
        results.iter().flat_map(|result| [result.first.clone(), result.second.clone()]).collect();
    players.sort();
    players.dedup();
    let standings = Standings::new(&players, results, &BTreeMap::new());
    let rated = standings.map(|standings| standings.players).unwrap_or_default();
    rated.into_iter().filter_map(|standing| Some((standing.player, standing.rating?.elo))).collect()
}
