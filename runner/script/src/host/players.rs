//! Players of matches: `player`, `uci`, `xboard` and `installed`.

#![allow(clippy::needless_pass_by_value, reason = "the engine hands every argument over by value")]

use std::sync::Arc;

use rhai::{Dynamic, Engine, Map, NativeCallContext};

use dc0_core::arena::PlayerParams;
use dc0_opponents::{Opponent, UciParams};
use dc0_steps::handles::{Network, Player};

use super::fields::call_params;
use crate::call::{Answer, Call};
use crate::convert::Sampling;

type Context<'a> = NativeCallContext<'a>;

/// Registers the functions.
pub(super) fn register(engine: &mut Engine) {
    engine.register_fn("player", player);
    engine.register_fn("uci", uci);
    engine.register_fn("installed", |command: &str| {
        let found = dc0_opponents::installed(command);
        found.map_or(Dynamic::UNIT, |path| path.display().to_string().into())
    });
}

fn uci(context: Context<'_>, command: &str, map: Map) -> Answer<Player> {
    let call = Call::new("uci", &context);
    let params = call_params::<UciParams>(&call, &map, Sampling(0))?.params;
    Ok(Player::Program(call.run(Opponent::uci(command, &params))?.into()))
}

fn player(context: Context<'_>, network: Network, map: Map) -> Answer<Player> {
    let call = Call::new("player", &context);
    let own = call_params::<PlayerParams>(&call, &map, Sampling(0))?.params;
    Ok(Player::Network { network, own: Arc::new(own) })
}
