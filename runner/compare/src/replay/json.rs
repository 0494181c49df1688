//! A game as one JSON object.

use dc0_core::search::Target;
use dc0_core::selfplay::PositionRow;
use dc0_core::store::StoredPly;
use serde_json::{Value as Json, json};

use super::game::FoundGame;

/// The game with all plies, or with one.
pub(super) fn page(game: &FoundGame, ply: Option<usize>) -> Json {
    let stored = &game.stored;
    let is_shown = |stored: &StoredPly<'_>| ply.is_none_or(|ply| ply == stored.ply);
    json!({
        "step": game.step.name(),
        "game": game.name.game,
        "file": game.file.path,
        "white": stored.white,
        "black": stored.black,
        "result": stored.result.symbol(),
        "reason": stored.reason.name(),
        "opening_plies": stored.opening_plies,
        "plies": stored.plies().filter(is_shown).map(ply_json).collect::<Vec<_>>(),
    })
}

/// The position before a ply; `san` and `uci` are the move played, `null` after the last.
fn ply_json(stored: StoredPly<'_>) -> Json {
    let StoredPly { ply, position, played, search: row, .. } = stored;
    json!({
        "ply": ply,
        "fen": position.fen(),
        "san": played.map(|mv| position.san(mv)),
        "uci": played.map(|mv| mv.to_string()),
        "search": row.map(|row| search(&stored, row)),
    })
}

/// A search result; values are for the side to move.
fn search(ply: &StoredPly<'_>, row: &PositionRow) -> Json {
    let mv = |Target { played, visits, share }: Target| {
        let (san, uci) = (ply.position.san(played), played.to_string());
        json!({ "san": san, "uci": uci, "visits": visits, "target": share })
    };
    json!({
        "q": row.root_q, "draw": row.root_d, "net_q": row.net_q, "net_draw": row.net_d,
        "visits": row.simulations, "legal": row.legal, "full": row.full,
        "moves": ply.targets().into_iter().map(mv).collect::<Vec<_>>(),
    })
}
