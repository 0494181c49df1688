//! The run of a script: `open_run`, `run.window`, `run.promote` and `run.summary`.

#![allow(clippy::needless_pass_by_value, reason = "the engine hands every argument over by value")]

use std::sync::Arc;

use rhai::{Engine, Map, NativeCallContext};

use dc0_steps::handles::{Network, Window};
use dc0_steps::host::{CallParams, OpenParams, WindowParams};

use super::fields::call_params;
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
    engine.register_fn("promote", promote);
    engine.register_fn("summary", summary);
}

fn open_run(context: &Context<'_>, session: &Session, name: &str, map: &Map) -> Answer<RunHandle> {
    let call = Call::new("open_run", context);
    session.check_openable(&call)?;
    let params: CallParams<OpenParams> = call_params(&call, map, Sampling(0))?;
    let info = call.run(session.host.open(name, params))?;
    Ok(session.set_run(info))
}

fn window(context: Context<'_>, run: RunHandle, map: Map) -> Answer<Window> {
    let call = Call::new("window", &context);
    let WindowParams { iterations } = call_params::<WindowParams>(&call, &map, Sampling(0))?.params;
    let progress = run.0.progress();
    if progress.iterations.is_empty() {
        return Err(call.misuse("there are no games yet; call self_play before"));
    }
    let first = progress.iterations.len().saturating_sub(iterations as usize);
    Ok(Window(Arc::new(progress.iterations[first..].to_vec())))
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
