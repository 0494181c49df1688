//! `fork(from, iteration, #{…})`, and the nets of a run: `run.best()`, `run.network_at(number)`.

#![allow(clippy::needless_pass_by_value, reason = "the engine hands every argument over by value")]

use std::sync::Arc;

use rhai::{Engine, Map, NativeCallContext};

use super::fields::call_params;
use super::session::{RunHandle, Session};
use crate::call::{Answer, Call};
use crate::convert::Sampling;
use dc0_steps::handles::Network;
use dc0_steps::host::{CallParams, ForkParams, Forked};

type Context<'a> = NativeCallContext<'a>;

pub(super) fn register(engine: &mut Engine, session: &Arc<Session>) {
    let shared = Arc::clone(session);
    engine.register_fn("fork", move |context: Context<'_>, from: &str, iteration: i64, map: Map| {
        fork(&context, &shared, (from, iteration), &map)
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
    session.check_openable(&call)?;
    let iteration = u32::try_from(iteration)
        .map_err(|_| call.misuse(format!("iterations are numbered from 0, got {iteration}")))?;
    let params: CallParams<ForkParams> = call_params(&call, map, Sampling(0))?;
    let Forked { info, past } = call.run(session.host.fork(from, iteration, params))?;
    let run = session.set_run(info);
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
    let progress = run.0.progress();
    let count = progress.networks.len() as i64;
    let index = if number < 0 { count.saturating_add(number) } else { number };
    let found = usize::try_from(index).ok().and_then(|index| progress.networks.get(index).cloned());
    found.ok_or_else(|| {
        let existing = match count {
            0 => "the run has none yet".to_owned(),
            1 => "the run has only 0".to_owned(),
            count => format!("the run has 0 to {}", count - 1),
        };
        Call::new("network_at", &context).misuse(format!("there is no net {number}; {existing}"))
    })
}
