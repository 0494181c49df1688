//! Players of matches: `player`, `alphabeta`, `uci`, `xboard` and `installed`.

#![allow(clippy::needless_pass_by_value, reason = "the engine hands every argument over by value")]

use std::sync::Arc;

use rhai::{Dynamic, Engine, Map, NativeCallContext};

use dc0_core::alphabeta::AlphaBetaParams;
use dc0_core::arena::PlayerParams;
use dc0_opponents::Opponent;
use dc0_steps::handles::{Network, Player};

use super::session::Session;
use crate::call::{Answer, Call};
use crate::convert::Sampling;

type Context<'a> = NativeCallContext<'a>;

/// Registers the functions.
pub(super) fn register(engine: &mut Engine, session: &Arc<Session>) {
    engine.register_fn("player", player);
    engine.register_fn("alphabeta", |context: Context<'_>, map: Map| -> Answer<Player> {
        let call = Call::new("alphabeta", &context);
        let params = call.read::<AlphaBetaParams>(&map, Sampling(0))?.params;
        Ok(Player::Program(call.run(Opponent::alphabeta(&params))?.into()))
    });
    engine.register_fn("alphabeta", |context: Context<'_>, network: Network, map: Map| -> Answer<Player> {
        let params = Call::new("alphabeta", &context).read(&map, Sampling(0))?.params;
        let own = PlayerParams { alphabeta: Some(params), ..PlayerParams::default() };
        Ok(Player::Network { network, own: Arc::new(own) })
    });
    let shared = Arc::clone(session);
    engine.register_fn("uci", move |context: Context<'_>, command: &str, map: Map| -> Answer<Player> {
        let call = Call::new("uci", &context);
        let params = call.read(&map, Sampling(0))?.params;
        let opponent = call.run(Opponent::uci(command, &params, shared.host.starts_programs()))?;
        Ok(Player::Program(opponent.into()))
    });
    let shared = Arc::clone(session);
    engine.register_fn("xboard", move |context: Context<'_>, command: &str, map: Map| -> Answer<Player> {
        let call = Call::new("xboard", &context);
        let params = call.read(&map, Sampling(0))?.params;
        let opponent = call.run(Opponent::xboard(command, &params, shared.host.starts_programs()))?;
        Ok(Player::Program(opponent.into()))
    });
    engine.register_fn("installed", |command: &str| {
        let found = dc0_opponents::installed(command);
        found.map_or(Dynamic::UNIT, |path| path.display().to_string().into())
    });
}

fn player(context: Context<'_>, network: Network, map: Map) -> Answer<Player> {
    let call = Call::new("player", &context);
    let own = call.read::<PlayerParams>(&map, Sampling(0))?.params;
    Ok(Player::Network { network, own: Arc::new(own) })
}
