//! One game of self-play as scripts see it.

use dc0_core::board::{Game, Move, Position, Side};
use dc0_core::network::{EvaluatorError, Wdl};
use dc0_core::params::Value;
use dc0_core::rng::Seed;
use dc0_core::selfplay::{GameRow, Openings, PositionRow, SelfPlayJob, SelfPlayParams, Shard};
use dc0_core::store::StoredGame;
use dc0_core::trainer::TrainParams;
use dc0_core::trainer::samples::{ValueTarget, value_targets};

use super::OutsideError;
use dc0_engine::explain::ExplainError;
use dc0_runs::net::Named;
use dc0_steps::host::{Host, HostError};
use dc0_steps::kinds::{play_one, starts};

/// Plays game 0 of a seed.
pub(super) fn play(
    host: &dyn Host,
    net: &Named,
    seed: u64,
    params: &SelfPlayParams,
) -> Result<Value, OutsideError> {
    let tablebases = params.search.open_tablebases().map_err(ExplainError::from)?;
    let openings = Openings { book: starts(params).map_err(HostError::from)?, ..Openings::default() };
    let make_evaluator = || {
        let failed = |cause: HostError| EvaluatorError::Device { rows: 0, cause: cause.to_string() };
        host.evaluator(&net.net).map_err(failed)
    };
    let job = SelfPlayJob {
        params,
        seed: Seed { run: seed, step: 0 },
        network: &net.digest[..16],
        make_evaluator: &make_evaluator,
        tables: tablebases.as_ref(),
        openings: Some(&openings),
    };
    let shard = Shard { index: 0, first_game: 0, games: 1 };
    let result = play_one(&job, &net.net, shard, &*host.observer()).map_err(HostError::from)?;
    value(&result.games[0], &result.positions, params)
}

fn value(row: &GameRow, positions: &[PositionRow], params: &SelfPlayParams) -> Result<Value, OutsideError> {
    let stored = StoredGame::of_self_play(row, positions).expect("self-play plays legal moves");
    let mut game = Game::from_position(stored.game.start().clone());
    let mut plies = Vec::new();
    let targets = value_targets(row, positions, &TrainParams::default());
    let targets = targets.map_err(|fault| ExplainError::Target(fault.to_string()))?;
    let mut targets = targets.into_iter();
    for stored_ply in stored.plies() {
        let Some(played) = stored_ply.played else { break };
        let search = stored_ply.search.and_then(|row| Some((row, targets.next()?)));
        plies.push(ply(&game, played, search, params));
        game.play_unchecked(played);
    }
    Ok(Value::of([
        ("result", Value::Text(stored.result.symbol().to_owned())),
        ("reason", Value::Text(stored.reason.name().replace('_', " "))),
        ("fen", Value::Text(game.position().fen())),
        ("moves", Value::Text(stored.movetext())),
        ("opening_plies", Value::Int(row.opening_plies.into())),
        ("plies", Value::List(plies)),
    ]))
}

/// A ply of the game; `search` is `()` for the moves of the opening.
fn ply(
    game: &Game,
    played: Move,
    searched: Option<(&PositionRow, ValueTarget)>,
    params: &SelfPlayParams,
) -> Value {
    let position = game.position();
    let search = searched.map(|(row, target)| search(position, row, target.wdl));
    Value::of([
        ("ply", Value::Int(game.ply() as i64)),
        ("number", Value::Int(position.fullmove_number().into())),
        ("side", side(position.side_to_move())),
        ("fen", Value::Text(position.fen())),
        ("position", Value::Text(game.to_text())),
        ("move", Value::Text(played.to_string())),
        ("san", Value::Text(position.san(played))),
        ("temperature", Value::Float(params.temperature.at(game.ply() as u32))),
        ("search", search.unwrap_or(Value::None)),
    ])
}

fn side(side: Side) -> Value {
    Value::Text(format!("{side:?}"))
}

/// The result of a ply's search, and the training targets made from it.
fn search(position: &Position, row: &PositionRow, target: Wdl) -> Value {
    let total: u64 = row.target.iter().map(|share| u64::from(*share)).sum();
    let mut moves: Vec<(u16, u32, Move)> = row
        .moves
        .iter()
        .zip(row.visits.iter().zip(&row.target))
        .filter_map(|(packed, (visits, share))| Some((*share, *visits, Move::from_packed(*packed)?)))
        .collect();
    moves.sort_by(|a, b| b.cmp(a));
    let move_value = |(share, visits, mv): (u16, u32, Move)| {
        Value::of([
            ("move", Value::Text(mv.to_string())),
            ("san", Value::Text(position.san(mv))),
            ("visits", Value::Int(visits.into())),
            ("target", Value::Float(f64::from(share) / total.max(1) as f64)),
        ])
    };
    Value::of([
        ("simulations", Value::Int(row.simulations.into())),
        ("value", Value::Float(row.root_q.into())),
        ("draw", Value::Float(row.root_d.into())),
        ("net_value", Value::Float(row.net_q.into())),
        ("net_draw", Value::Float(row.net_d.into())),
        ("legal", Value::Int(row.legal.into())),
        ("full", Value::Bool(row.full)),
        ("moves", Value::List(moves.into_iter().map(move_value).collect())),
        ("result", Value::Int(row.result.into())),
        (
            "target",
            Value::of([
                ("win", Value::Float(target.win.into())),
                ("draw", Value::Float(target.draw.into())),
                ("loss", Value::Float(target.loss.into())),
            ]),
        ),
    ])
}
