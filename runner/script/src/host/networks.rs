//! `network_preset` and `run.inspect`.

#![allow(clippy::needless_pass_by_value, reason = "the engine hands every argument over by value")]

use rhai::{Dynamic, Engine, Map, NativeCallContext};

use dc0_core::network::torch::InspectParams;
use dc0_core::network::{preset, presets};
use dc0_core::params::{Param, nearest};

use super::ownership;
use super::session::RunHandle;
use crate::call::{Answer, Call};
use crate::convert::Sampling;
use crate::dynamic::to_dynamic;
use dc0_steps::handles::Network;

type Context<'a> = NativeCallContext<'a>;

/// Registers the functions.
pub(super) fn register(engine: &mut Engine) {
    engine.register_fn("network_preset", network_preset);
    engine.register_fn("inspect", inspect);
    engine.register_fn("inspect", |context: Context<'_>, run: RunHandle, net: Network| {
        inspect(context, run, net, Map::new())
    });
}

/// The spec of a named net as a map, to be changed or given to `network` as it is.
fn network_preset(context: Context<'_>, name: &str) -> Answer<Dynamic> {
    if let Some(preset) = preset(name) {
        return Ok(to_dynamic(&preset.spec.to_value()));
    }
    let names: Vec<&str> = presets().iter().map(|preset| preset.name).collect();
    let hint = nearest(name, names.iter().copied()).map(|near| format!("did you mean \"{near}\"? "));
    let (hint, names) = (hint.unwrap_or_default(), names.join(", "));
    Err(Call::new("network_preset", &context)
        .misuse(format!("there is no net \"{name}\"; {hint}there are {names}")))
}

fn inspect(context: Context<'_>, run: RunHandle, net: Network, map: Map) -> Answer<Dynamic> {
    let call = Call::new("inspect", &context);
    ownership::check(&call, &run, &[&net])?;
    let params = call.read::<InspectParams>(&map, Sampling(0))?.params;
    call.run(run.0.host.inspect(&net, &params)).map(|inspection| to_dynamic(&inspection))
}
