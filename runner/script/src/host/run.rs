//! The runs of a script: `open_run`, `run.window`, `run.promote` and `run.summary`.

#![allow(clippy::needless_pass_by_value, reason = "the engine hands every argument over by value")]

use std::path::Path;
use std::sync::Arc;

use rhai::{Engine, Map, NativeCallContext};

use dc0_steps::handles::{Games, Network, Source, Window};
use dc0_steps::host::{CallParams, OpenParams};
use dc0_steps::window::WindowParams;

use super::ownership;
use super::session::{RunHandle, Session};
use crate::call::{Answer, Call};
use crate::convert::Sampling;

type Context<'a> = NativeCallContext<'a>;

pub(super) fn register(engine: &mut Engine, session: &Arc<Session>) {
    let shared = Arc::clone(session);
    engine.register_fn("open_run", move |context: Context<'_>, name: &str| {
        open_run(&context, &shared, name, &Map::new())
    });
    let shared = Arc::clone(session);
    let with_map = move |context: Context<'_>, name: &str, map: Map| open_run(&context, &shared, name, &map);
    engine.register_fn("open_run", with_map);
    engine.register_fn("window", window);
    engine.register_fn("window", |context: Context<'_>, run: RunHandle| window(context, run, Map::new()));
    let shared = Arc::clone(session);
    engine.register_fn("load_dataset", move |context: Context<'_>, name: &str| {
        load_dataset(&context, &shared, name, &Map::new())
    });
    let shared = Arc::clone(session);
    engine.register_fn("load_dataset", move |context: Context<'_>, name: &str, map: Map| {
        load_dataset(&context, &shared, name, &map)
    });
    engine.register_fn("+", |a: Window, b: Window| a.with(&b));
    engine.register_fn("+", |a: Window, b: Games| a.with(&b.into()));
    engine.register_fn("+", |a: Games, b: Window| Window::from(a).with(&b));
    engine.register_fn("+", |a: Games, b: Games| Window::from(a).with(&b.into()));
    let of_games = |context: Context<'_>, games: Games, weight| weighted(&context, &games.into(), weight);
    let of_window = |context: Context<'_>, window: Window, weight| weighted(&context, &window, weight);
    engine.register_fn("*", of_games);
    engine.register_fn("*", of_window);
    engine.register_fn("*", move |context: Context<'_>, games: Games, weight: i64| {
        of_games(context, games, weight as f64)
    });
    engine.register_fn("*", move |context: Context<'_>, window: Window, weight: i64| {
        of_window(context, window, weight as f64)
    });
    engine.register_fn("promote", promote);
    engine.register_fn("summary", summary);
}

fn open_run(context: &Context<'_>, session: &Session, name: &str, map: &Map) -> Answer<RunHandle> {
    let call = Call::new("open_run", context);
    let host = session.next_host(&call, name)?;
    let params = call.read::<OpenParams>(map, Sampling(0))?;
    let info = call.run(host.open(name, params))?;
    Ok(session.add_run(host, info))
}

/// A window of the games of another folder; without a number of iterations it has all. Those of the script's own runs would be more each time the script goes on.
fn load_dataset(context: &Context<'_>, session: &Session, name: &str, map: &Map) -> Answer<Window> {
    let call = Call::new("load_dataset", context);
    let CallParams { mut params, given } = call.read::<WindowParams>(map, Sampling(0))?;
    if given.member("iterations").is_none() {
        params.iterations = u32::MAX;
    }
    let games = call.run(session.host.dataset(name))?;
    let is_own = |source: &Source| session.is_own_folder(Path::new(&*source.games.0.run));
    if games.0.iter().any(is_own) {
        return Err(
            call.misuse(format!("\"{name}\" is a run of this script; its games are `run.window(#{{…}})`"))
        );
    }
    params.of(games.games()).map_err(|problem| call.misuse(problem))
}

fn window(context: Context<'_>, run: RunHandle, map: Map) -> Answer<Window> {
    let call = Call::new("window", &context);
    let params = call.read::<WindowParams>(&map, Sampling(0))?.params;
    let progress = run.0.progress();
    if progress.iterations.is_empty() {
        return Err(call.misuse("there are no games yet; call self_play before"));
    }
    params.of(progress.iterations.iter()).map_err(|problem| call.misuse(problem))
}

/// The same games, taken `weight` times as often by a training.
fn weighted(context: &Context<'_>, window: &Window, weight: f64) -> Answer<Window> {
    let weighted = window.weighted(weight);
    let is_wrong = |weight: &f64| !(0.0..=Source::MOST_WEIGHT).contains(weight);
    let Some(wrong) = weighted.0.iter().map(|source| source.weight).find(is_wrong) else {
        return Ok(weighted);
    };
    let most = Source::MOST_WEIGHT;
    let problem = format!("expected a weight of games from 0 to {most} in all, got {wrong}");
    Err(Call::new("*", context).misuse(&problem))
}

fn promote(context: Context<'_>, run: RunHandle, network: Network) -> Answer<Network> {
    let call = Call::new("promote", &context);
    ownership::check(&call, &run, &[&network])?;
    call.run(run.0.promote(&network))?;
    Ok(network)
}

fn summary(context: Context<'_>, run: RunHandle) -> Answer<()> {
    let mut progress = run.0.progress();
    Call::new("summary", &context).run(run.0.host.summary(&progress.table))?;
    progress.is_shown = true;
    Ok(())
}
