//! A run of a script: opened, with a window over its games, promotions, and the table at its end.

#![allow(clippy::needless_pass_by_value, reason = "the engine hands every argument over by value")]

use std::sync::Arc;

use rhai::{Engine, Map, NativeCallContext};

use dc0_steps::handles::{Network, Window};
use dc0_steps::host::{Asked, OpenParams, WindowParams};

use super::fields::asked;
use super::owners;
use super::session::{RunHandle, Session};
use crate::call::{Answer, Call};
use crate::convert::Sampling;

type Context<'a> = NativeCallContext<'a>;

pub(super) fn register(engine: &mut Engine, session: &Arc<Session>) {
    let own = Arc::clone(session);
    engine.register_fn("open_run", move |context: Context<'_>, name: &str| {
        open_run(&context, &own, name, &Map::new())
    });
    let own = Arc::clone(session);
    let with_map = move |context: Context<'_>, name: &str, map: Map| open_run(&context, &own, name, &map);
    engine.register_fn("open_run", with_map);
    engine.register_fn("window", window);
    engine.register_fn("window", |context: Context<'_>, run: RunHandle| window(context, run, Map::new()));
    engine.register_fn("promote", promote);
    engine.register_fn("summary", summary);
}

fn open_run(context: &Context<'_>, session: &Session, name: &str, map: &Map) -> Answer<RunHandle> {
    let call = Call::new("open_run", context);
    session.openable(&call)?;
    let asked: Asked<OpenParams> = asked(&call, map, Sampling(0))?;
    let info = call.run(session.host.open(name, asked))?;
    Ok(session.keep(info))
}

fn window(context: Context<'_>, run: RunHandle, map: Map) -> Answer<Window> {
    let call = Call::new("window", &context);
    let WindowParams { iterations } = asked::<WindowParams>(&call, &map, Sampling(0))?.params;
    let progress = run.0.progress();
    if progress.iterations.is_empty() {
        return Err(call.misuse("there are no games yet; call self_play before"));
    }
    let first = progress.iterations.len().saturating_sub(iterations as usize);
    Ok(Window(Arc::new(progress.iterations[first..].to_vec())))
}

fn promote(context: Context<'_>, run: RunHandle, network: Network) -> Answer<Network> {
    let call = Call::new("promote", &context);
    owners::check(&call, &run, &[&network])?;
    call.run(run.0.promote(&network))?;
    Ok(network)
}

fn summary(context: Context<'_>, run: RunHandle) -> Answer<()> {
    let mut progress = run.0.progress();
    Call::new("summary", &context).run(run.0.host.summary(&progress.table))?;
    progress.is_shown = true;
    Ok(())
}
