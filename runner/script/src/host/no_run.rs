//! Functions of scripts that need no run and store nothing: stored nets, their evaluations and games, and boards.

#![allow(clippy::needless_pass_by_value, reason = "the engine hands every argument over by value")]

mod forward;
mod game;

use std::path::Path;
use std::sync::Arc;

use rhai::{Dynamic, Engine, Map, NativeCallContext};

use dc0_core::board::Game;
use dc0_core::params::Value;
use dc0_core::selfplay::{SelfPlayParams, SelfPlaySearch};
use dc0_process::exit::Exit;
use dc0_process::fault::Fault;
use thiserror::Error;

use super::Session;
use super::fields::register_fields;
use crate::call::{Answer, Call};
use crate::convert::Sampling;
use crate::dynamic::to_dynamic;
use dc0_engine::explain::{self, ExplainError, ExplainParams, StudiedNet, Study};
use dc0_engine::play::board::{Scene, board as draw};
use dc0_process::style::{TermStyle, ascii};
use dc0_runs::net::{Named, named_in, shipped};
use dc0_steps::Summary;
use dc0_steps::handles::Fields;
use dc0_steps::host::{Host, HostError};
use dc0_steps::kinds::summary_members;

type Context<'a> = NativeCallContext<'a>;

/// A function that needs no run has failed.
#[derive(Debug, Error)]
pub(super) enum OutsideError {
    /// The evaluator.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The net, the position or its explanation.
    #[error(transparent)]
    Explain(#[from] ExplainError),
}

impl Fault for OutsideError {
    fn exit(&self) -> Exit {
        match self {
            Self::Host(error) => error.exit(),
            Self::Explain(error) => error.exit(),
        }
    }
}

/// A net that belongs to no run of the script.
#[derive(Debug, Clone)]
pub struct LoadedNetwork(pub Arc<Named>);

impl Fields for LoadedNetwork {
    const KIND: &'static str = "StoredNetwork";

    fn fields(&self) -> Vec<(String, Value)> {
        let own = [
            ("file".to_owned(), Value::Text(self.0.file.display().to_string())),
            ("digest".to_owned(), Value::Text(self.0.digest.clone())),
        ];
        own.into_iter().chain(summary_members(&self.0.net.spec)).collect()
    }

    fn summary(&self) -> Option<&Summary> {
        None
    }
}

/// Most simulations of a search in a dry run.
const MAX_DRY_SIMULATIONS: u32 = 64;

/// Most nodes of an alpha-beta search in a dry run.
const MAX_DRY_NODES: u64 = 1000;

/// Most plies after the opening of a game in a dry run.
const MAX_DRY_PLIES: u32 = 40;

pub(super) fn register(engine: &mut Engine, session: &Arc<Session>) {
    register_fields::<LoadedNetwork>(engine);
    engine.register_fn("load_network", |context: Context<'_>| load(&context, None));
    let shared = Arc::clone(session);
    engine.register_fn("load_network", move |context: Context<'_>, name: &str| {
        load(&context, Some((shared.host.runs(), name)))
    });
    let shared = Arc::clone(session);
    engine.register_fn(
        "explain",
        move |context: Context<'_>, net: LoadedNetwork, position: &str, map: Map| {
            explain_position(&Call::new("explain", &context), &*shared.host, &net, position, &map)
        },
    );
    engine.register_fn("forward_pass", |context: Context<'_>, net: LoadedNetwork, position: &str| {
        let call = Call::new("forward_pass", &context);
        let game = game(&call, position)?;
        call.run(forward::evaluate(&net.0.net, &game)).map(|value| to_dynamic(&value))
    });
    let shared = Arc::clone(session);
    engine.register_fn("play_game", move |context: Context<'_>, net: LoadedNetwork, seed: i64, map: Map| {
        play_game(&Call::new("play_game", &context), &*shared.host, &net, seed, &map)
    });
    engine.register_fn("board", |context: Context<'_>, position: &str| board(&context, position));
    engine.register_fn("to_ascii", ascii);
}

/// Reads a net; a name is one in the folder of runs.
fn load(context: &Context<'_>, name: Option<(&Path, &str)>) -> Answer<LoadedNetwork> {
    let loaded = match name {
        Some((runs, name)) => named_in(runs, name).map_err(ExplainError::from),
        None => shipped().map_err(ExplainError::from),
    };
    Ok(LoadedNetwork(Arc::new(Call::new("load_network", context).run(loaded)?)))
}

/// The game up to a position, which must not be over.
fn game(call: &Call<'_>, position: &str) -> Answer<Game> {
    call.run(explain::position(position))
}

fn explain_position(
    call: &Call<'_>,
    host: &dyn Host,
    net: &LoadedNetwork,
    position: &str,
    map: &Map,
) -> Answer<Dynamic> {
    let mut params = call.read::<ExplainParams>(map, Sampling(0))?.params;
    let game = game(call, position)?;
    if host.is_planning() {
        params.search.simulations = params.search.simulations.min(MAX_DRY_SIMULATIONS);
    }
    let study = || -> Result<Study, OutsideError> {
        let (mut evaluator, observer) = (host.evaluator(&net.0.net)?, host.observer());
        let name = net.0.file.display().to_string();
        let studied = StudiedNet::new(&net.0.net, name);
        Ok(Study::new(game.clone(), &studied, params.clone(), &mut *evaluator, &*observer)?)
    };
    call.run(study()).map(|study| to_dynamic(&explain::value(&study)))
}

fn play_game(call: &Call<'_>, host: &dyn Host, net: &LoadedNetwork, seed: i64, map: &Map) -> Answer<Dynamic> {
    let by_ply = Sampling::by(map, "max_plies", SelfPlayParams::default().max_plies);
    let mut params = call.read::<SelfPlayParams>(map, by_ply)?.params;
    let Ok(seed) = u64::try_from(seed) else {
        return Err(call.misuse(format!("seed: expected a whole number of at least 0, got {seed}")));
    };
    if params.archive_share > 0.0 {
        return Err(call.misuse(
            "archive_share: a single game has no earlier games to start from; leave it out, or use run.self_play(net, window, #{…})",
        ));
    }
    if host.is_planning() {
        params.playout_cap = None;
        match &mut params.search {
            SelfPlaySearch::Tree(search) => {
                search.simulations = search.simulations.min(MAX_DRY_SIMULATIONS);
            }
            SelfPlaySearch::AlphaBeta(search) => search.nodes = search.nodes.min(MAX_DRY_NODES),
        }
        // A line of the book may be longer than the plies that are played.
        let book = params.openings.as_ref().map_or(0, |_| params.max_plies);
        params.max_plies = params.max_plies.min(book.max(params.opening_plies + MAX_DRY_PLIES));
    }
    params.games = 1;
    call.run(game::play(host, &net.0, seed, &params)).map(|game| to_dynamic(&game))
}

/// A board in Unicode without colours.
fn board(context: &Context<'_>, position: &str) -> Answer<String> {
    let call = Call::new("board", context);
    let game = call.run(Game::from_text(position).map_err(ExplainError::from))?;
    let style = TermStyle { is_unicode: true, is_coloured: false };
    let last = game.moves().last().copied();
    let lines = draw(&Scene { position: game.position(), last, is_flipped: false, style });
    Ok(lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n"))
}
