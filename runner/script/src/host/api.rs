//! The functions of scripts, as the engine knows them.

#![allow(clippy::needless_pass_by_value, reason = "the engine hands every argument over by value")]

use std::sync::Arc;

use rhai::{Dynamic, Engine, ImmutableString, Map, NativeCallContext};

use dc0_core::params::{Params, Value, nearest};

use super::session::{RunHandle, Session};
use super::{dimensions, forks, networks, outside, owners, steps, sweeps, tables, words};
use crate::call::{Answer, Call};
use crate::convert::{Sampling, to_dynamic};
use crate::declare::declare;
use dc0_steps::handles::{Analysis, Fields, Games, Network, Verdict, Window};
use dc0_steps::host::{Asked, OpenParams, WindowParams};

type Context<'a> = NativeCallContext<'a>;

/// Adds all functions and the types of their values.
pub fn register(engine: &mut Engine, session: &Arc<Session>) {
    register_fields::<RunHandle>(engine);
    register_fields::<Network>(engine);
    register_fields::<Games>(engine);
    register_fields::<Window>(engine);
    register_fields::<Verdict>(engine);
    register_fields::<Analysis>(engine);
    let own = Arc::clone(session);
    engine.register_fn("params", move |context: Context<'_>, map: Map| {
        declare(&own.declaration, &context, map)
    });
    let own = Arc::clone(session);
    engine.register_fn("open_run", move |context: Context<'_>, name: &str| {
        open_run(&context, &own, name, &Map::new())
    });
    let own = Arc::clone(session);
    let with_map = move |context: Context<'_>, name: &str, map: Map| open_run(&context, &own, name, &map);
    engine.register_fn("open_run", with_map);
    steps::register(engine);
    networks::register(engine);
    engine.register_fn("window", window);
    engine.register_fn("window", |context: Context<'_>, run: RunHandle| window(context, run, Map::new()));
    engine.register_fn("promote", promote);
    engine.register_fn("summary", summary);
    dimensions::register(engine);
    words::register(engine, session);
    forks::register(engine, session);
    tables::register(engine);
    sweeps::register(engine, session);
    outside::register(engine, session);
}

/// Lets scripts read a value's fields by name, and print it.
pub(super) fn register_fields<T: Fields>(engine: &mut Engine) {
    engine.register_type_with_name::<T>(T::KIND);
    engine.register_indexer_get(|context: Context<'_>, value: &mut T, name: ImmutableString| {
        read_field(&context, value, &name)
    });
    let describe = |value: &mut T| {
        let fields = value.fields().into_iter().map(|(name, value)| format!("{name}: {value}"));
        format!("{} #{{ {} }}", T::KIND, fields.collect::<Vec<_>>().join(", "))
    };
    engine.register_fn(rhai::FUNC_TO_STRING, describe);
    engine.register_fn(rhai::FUNC_TO_DEBUG, describe);
}

/// What scripts read of a value by names: the value's kind, and each name with its value; none for plain data.
pub fn fields_of(value: &Dynamic) -> Option<(&'static str, Vec<(String, Value)>)> {
    fn of<T: Fields>(value: &Dynamic) -> Option<(&'static str, Vec<(String, Value)>)> {
        value.read_lock::<T>().map(|value| (T::KIND, value.fields()))
    }
    let of_nets = || of::<Network>(value).or_else(|| of::<Games>(value)).or_else(|| of::<Window>(value));
    let of_results =
        || of::<Verdict>(value).or_else(|| of::<Analysis>(value)).or_else(|| of::<sweeps::Swept>(value));
    of::<RunHandle>(value).or_else(of_nets).or_else(of_results)
}

fn read_field<T: Fields>(context: &Context<'_>, value: &T, name: &str) -> Answer<Dynamic> {
    let fields = value.fields();
    if let Some((_, value)) = fields.iter().find(|(known, _)| known == name) {
        return Ok(to_dynamic(value));
    }
    let known: Vec<&str> = fields.iter().map(|(known, _)| known.as_str()).collect();
    let hint = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", known.join(", ")),
    };
    Err(Call::new(T::KIND, context).misuse(format!("there is no `{name}` here; {hint}")))
}

/// Reads a map whose functions, if any, are sampled for as many counters as one of its own parameters says.
pub(super) fn asked<P: Params>(call: &Call<'_>, map: &Map, sampling: Sampling) -> Answer<Asked<P>> {
    let (params, given) = call.read(map, sampling)?;
    Ok(Asked { params, given })
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
