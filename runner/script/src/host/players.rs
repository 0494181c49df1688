//! Players of matches: `player`, `alphabeta`, `uci`, `xboard` and `installed`.

#![allow(clippy::needless_pass_by_value, reason = "the engine hands every argument over by value")]

use std::sync::Arc;

use rhai::{Dynamic, Engine, Map, NativeCallContext};

use dc0_core::alphabeta::AlphaBetaParams;
use dc0_core::arena::PlayerParams;
use dc0_core::params::Params;
use dc0_opponents::{Opponent, OpponentError, UciParams, XboardParams};
use dc0_steps::handles::{Network, Player};

use super::fields::call_params;
use super::session::Session;
use crate::call::{Answer, Call};
use crate::convert::Sampling;

type Context<'a> = NativeCallContext<'a>;

/// Registers the functions.
pub(super) fn register(engine: &mut Engine, session: &Arc<Session>) {
    engine.register_fn("player", player);
    engine.register_fn("alphabeta", |context: Context<'_>, map: Map| -> Answer<Player> {
        let call = Call::new("alphabeta", &context);
        let params = call_params::<AlphaBetaParams>(&call, &map, Sampling(0))?.params;
        Ok(Player::Program(call.run(Opponent::alphabeta(&params))?.into()))
    });
    engine.register_fn("alphabeta", |context: Context<'_>, network: Network, map: Map| -> Answer<Player> {
        let params =
            call_params::<AlphaBetaParams>(&Call::new("alphabeta", &context), &map, Sampling(0))?.params;
        let own = PlayerParams { alphabeta: Some(params), ..PlayerParams::default() };
        Ok(Player::Network { network, own: Arc::new(own) })
    });
    let shared = Arc::clone(session);
    engine.register_fn("uci", move |context: Context<'_>, command: &str, map: Map| {
        let probe = if shared.host.starts_programs() { Opponent::uci } else { Opponent::planned_uci };
        program::<UciParams>(&Call::new("uci", &context), command, &map, probe)
    });
    let shared = Arc::clone(session);
    engine.register_fn("xboard", move |context: Context<'_>, command: &str, map: Map| {
        let probe = if shared.host.starts_programs() { Opponent::xboard } else { Opponent::planned_xboard };
        program::<XboardParams>(&Call::new("xboard", &context), command, &map, probe)
    });
    engine.register_fn("installed", |command: &str| {
        let found = dc0_opponents::installed(command);
        found.map_or(Dynamic::UNIT, |path| path.display().to_string().into())
    });
}

/// A player that is a program; `find` finds it, and starts it once if it is not only planned.
fn program<P: Params>(
    call: &Call<'_>,
    command: &str,
    map: &Map,
    find: fn(&str, &P) -> Result<Opponent, OpponentError>,
) -> Answer<Player> {
    let params = call_params::<P>(call, map, Sampling(0))?.params;
    Ok(Player::Program(call.run(find(command, &params))?.into()))
}

fn player(context: Context<'_>, network: Network, map: Map) -> Answer<Player> {
    let call = Call::new("player", &context);
    let own = call_params::<PlayerParams>(&call, &map, Sampling(0))?.params;
    Ok(Player::Network { network, own: Arc::new(own) })
}
