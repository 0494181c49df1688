//! A game as one JSON object.

use dc0_core::board::Position;
use dc0_core::selfplay::PositionRow;
use serde_json::{Value as Json, json};

use super::game::StoredGame;
use super::text::ranked;

/// The game with all plies, or with one.
pub(super) fn page(game: &StoredGame, ply: Option<usize>) -> Json {
    let is_asked = |at: &usize| ply.is_none_or(|ply| ply == *at);
    json!({
        "step": game.step.name(),
        "game": game.name.game,
        "file": game.file.path,
        "white": game.white,
        "black": game.black,
        "result": game.score(),
        "reason": game.reason,
        "opening_plies": game.opening_plies,
        "plies": (0..game.positions.len()).filter(is_asked).map(|at| of_ply(game, at)).collect::<Vec<_>>(),
    })
}

/// The position before a ply; `san` and `uci` are the move played, and are `null` behind the last.
fn of_ply(game: &StoredGame, ply: usize) -> Json {
    let position = &game.positions[ply];
    let played = game.moves.get(ply);
    let searched = game.searched.get(ply).and_then(Option::as_ref).map(|row| search(position, row));
    json!({
        "ply": ply,
        "fen": position.fen(),
        "san": played.map(|played| position.san(*played)),
        "uci": played.map(ToString::to_string),
        "search": searched,
    })
}

/// Values are for the side to move.
fn search(position: &Position, row: &PositionRow) -> Json {
    let moves: Vec<Json> = ranked(row)
        .into_iter()
        .map(|(played, visits, target)| {
            json!({
                "san": position.san(played),
                "uci": played.to_string(),
                "visits": visits,
                "target": f64::from(target) / f64::from(u16::MAX),
            })
        })
        .collect();
    json!({
        "q": row.root_q, "draw": row.root_d, "net_q": row.net_q, "net_draw": row.net_d,
        "visits": row.simulations, "legal": row.legal, "full": row.full, "moves": moves,
    })
}
