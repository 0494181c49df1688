//! `fork(from, iteration, #{…})`, and the nets of a run by their places: `run.best()`, `run.network_at(number)`.

#![allow(clippy::needless_pass_by_value, reason = "the engine hands every argument over by value")]

use std::sync::Arc;

use rhai::{Engine, Map, NativeCallContext};

use super::fields::asked;
use super::session::{RunHandle, Session};
use crate::call::{Answer, Call};
use crate::convert::Sampling;
use dc0_steps::handles::Network;
use dc0_steps::host::{Asked, ForkParams, Forked};

type Context<'a> = NativeCallContext<'a>;

pub(super) fn register(engine: &mut Engine, session: &Arc<Session>) {
    let own = Arc::clone(session);
    engine.register_fn("fork", move |context: Context<'_>, from: &str, iteration: i64, map: Map| {
        fork(&context, &own, (from, iteration), &map)
    });
    engine.register_fn("best", best);
    engine.register_fn("network_at", network_at);
}

fn fork(
    context: &Context<'_>,
    session: &Session,
    (from, iteration): (&str, i64),
    map: &Map,
) -> Answer<RunHandle> {
    let call = Call::new("fork", context);
    session.openable(&call)?;
    let iteration = u32::try_from(iteration)
        .map_err(|_| call.misuse(format!("iterations are numbered from 0, got {iteration}")))?;
    let asked: Asked<ForkParams> = asked(&call, map, Sampling(0))?;
    let Forked { info, past } = call.run(session.host.fork(from, iteration, asked))?;
    let run = session.keep(info);
    for happened in past {
        run.0.recall(happened);
    }
    Ok(run)
}

/// The net that was promoted last, or the first one.
fn best(context: Context<'_>, run: RunHandle) -> Answer<Network> {
    let best = run.0.progress().best.clone();
    best.ok_or_else(|| Call::new("best", &context).misuse("there is no net yet; call network before"))
}

/// A net by its number; below 0 it counts from the last one.
fn network_at(context: Context<'_>, run: RunHandle, number: i64) -> Answer<Network> {
    let progress = run.0.progress();
    let count = progress.networks.len() as i64;
    let place = if number < 0 { count.saturating_add(number) } else { number };
    let found = usize::try_from(place).ok().and_then(|place| progress.networks.get(place).cloned());
    found.ok_or_else(|| {
        let there = match count {
            0 => "the run has none yet".to_owned(),
            1 => "the run has only 0".to_owned(),
            count => format!("the run has 0 to {}", count - 1),
        };
        Call::new("network_at", &context).misuse(format!("there is no net {number}; {there}"))
    })
}
