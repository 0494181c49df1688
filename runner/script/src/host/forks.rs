//! `fork(from, iteration, #{…})`, and what a run has: `run.best()`, `run.network_at(number)`, `run.games_at(number)`.

#![allow(clippy::needless_pass_by_value, reason = "the engine hands every argument over by value")]

use std::sync::Arc;

use rhai::{Engine, Map, NativeCallContext};

use super::session::{RunHandle, Session};
use crate::call::{Answer, Call};
use crate::convert::Sampling;
use dc0_steps::handles::{Games, Network};
use dc0_steps::host::{ForkParams, Forked};

type Context<'a> = NativeCallContext<'a>;

pub(super) fn register(engine: &mut Engine, session: &Arc<Session>) {
    let shared = Arc::clone(session);
    engine.register_fn("fork", move |context: Context<'_>, from: &str, iteration: i64, map: Map| {
        fork(&context, &shared, (from, iteration), &map)
    });
    engine.register_fn("best", best);
    engine.register_fn("network_at", network_at);
    engine.register_fn("games_at", games_at);
}

fn fork(
    context: &Context<'_>,
    session: &Session,
    (from, iteration): (&str, i64),
    map: &Map,
) -> Answer<RunHandle> {
    let call = Call::new("fork", context);
    let iteration = u32::try_from(iteration)
        .map_err(|_| call.misuse(format!("iterations are numbered from 0, got {iteration}")))?;
    let params = call.read::<ForkParams>(map, Sampling(0))?;
    let host = session.next_host(&call, &params.params.name)?;
    if session.has_run(from) {
        return Err(call.misuse(format!(
            "the script has opened the run \"{from}\" itself; go on with its nets by `run.load_network(net)`, and with its games by a \
             window of it"
        )));
    }
    let Forked { info, past } = call.run(host.fork(from, iteration, params))?;
    let run = session.add_run(host, info);
    for event in past {
        run.0.replay(event);
    }
    Ok(run)
}

/// The net that was promoted last, or else the first one.
fn best(context: Context<'_>, run: RunHandle) -> Answer<Network> {
    let best = run.0.progress().best.clone();
    best.ok_or_else(|| Call::new("best", &context).misuse("there is no net yet; call network before"))
}

/// A net by its number; negative numbers count from the last one.
fn network_at(context: Context<'_>, run: RunHandle, number: i64) -> Answer<Network> {
    let found = by_number(&run.0.progress().networks, number);
    found.map_err(|existing| {
        Call::new("network_at", &context).misuse(format!("there is no net {number}; {existing}"))
    })
}

/// The games of an iteration by its number; negative numbers count from the last one.
fn games_at(context: Context<'_>, run: RunHandle, number: i64) -> Answer<Games> {
    let found = by_number(&run.0.progress().iterations, number);
    found.map_err(|existing| {
        Call::new("games_at", &context).misuse(format!("there is no iteration {number}; {existing}"))
    })
}

/// An item by its number; an error says which there are.
fn by_number<T: Clone>(items: &[T], number: i64) -> Result<T, String> {
    let count = items.len() as i64;
    let index = if number < 0 { count.saturating_add(number) } else { number };
    let found = usize::try_from(index).ok().and_then(|index| items.get(index).cloned());
    found.ok_or_else(|| match count {
        0 => "the run has none yet".to_owned(),
        1 => "the run has only 0".to_owned(),
        count => format!("the run has 0 to {}", count - 1),
    })
}
