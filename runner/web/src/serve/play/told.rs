//! How a game stands, as its page reads it.

use dc0_core::board::{Game, Move, Promotion, Side, numbered_moves};
use serde_json::{Value, json};

use crate::serve::shard::men;
use dc0_engine::play::record::Record;
use dc0_engine::play::score::Score;
use dc0_engine::uci::{MoveLine, SearchResult};

/// Moves of a search that are shown.
const MOVES: usize = 8;

/// Moves of a line that are shown.
const LINE: usize = 8;

/// What a search thought of a position.
pub(super) struct Thought(Value);

/// Everything there is to tell.
pub(super) struct Scene<'a> {
    pub(super) id: &'a str,
    /// What the game was asked for with.
    pub(super) about: &'a Value,
    pub(super) version: u64,
    pub(super) record: &'a Record,
    pub(super) human: Option<Side>,
    pub(super) is_thinking: bool,
    pub(super) thought: Option<&'a Thought>,
    pub(super) error: Option<&'a str>,
    pub(super) can_undo: bool,
}

pub(super) fn told(scene: &Scene<'_>) -> Value {
    let position = scene.record.game.position();
    let is_over = scene.record.is_over();
    let legal = if is_over { Vec::new() } else { position.legal_moves() };
    let legal: Vec<Value> = legal
        .into_iter()
        .map(|of| json!([of.to_string(), of.from(), of.to(), of.promotion().map(letter), position.san(of)]))
        .collect();
    json!({
        "id": scene.id,
        "about": scene.about,
        "version": scene.version,
        "fen": position.fen(),
        "men": men(position),
        "turn": word(position.side_to_move()),
        "human": scene.human.map(word),
        "check": position.is_check(),
        "number": scene.record.game.start().fullmove_number(),
        "first": word(scene.record.game.start().side_to_move()),
        "moves": scene.record.plies().map(|(position, played, _)| position.san(played)).collect::<Vec<_>>(),
        "last": scene.record.game.moves().last().map(|last| [last.from(), last.to()]),
        "legal": legal,
        "result": is_over.then(|| scene.record.result()),
        "reason": scene.record.reason(),
        "thinking": scene.is_thinking,
        "thought": scene.thought.map(|thought| &thought.0),
        "error": scene.error,
        "undo": scene.can_undo,
    })
}

fn word(side: Side) -> &'static str {
    match side {
        Side::White => "white",
        Side::Black => "black",
    }
}

fn letter(promotion: Promotion) -> &'static str {
    match promotion {
        Promotion::Knight => "n",
        Promotion::Bishop => "b",
        Promotion::Rook => "r",
        Promotion::Queen => "q",
    }
}

impl Thought {
    /// Of a search of the present position of a game.
    pub(super) fn new(game: &Game, found: &SearchResult) -> Self {
        let position = game.position();
        let side = position.side_to_move();
        let all: u32 = found.lines.iter().map(|line| line.visits).sum();
        let line = |(at, told): (usize, &MoveLine)| {
            let first: Move = told.moves[0];
            let shown = &told.moves[..told.moves.len().min(LINE)];
            json!({
                "san": position.san(first), "from": first.from(), "to": first.to(), "visits": told.visits,
                "share": f64::from(told.visits) / f64::from(all.max(1)), "prior": told.prior, "q": told.q,
                "score": Score::of(told, side).text(), "line": numbered_moves(position, shown).join(" "),
                "chosen": at == found.chosen,
            })
        };
        let best = Score::of(&found.lines[found.chosen], side);
        Self(json!({
            "ply": game.ply(), "side": word(side), "men": men(position), "simulations": found.simulations,
            "score": best.text(), "chances": best.chances,
            "lines": found.lines.iter().enumerate().take(MOVES).map(line).collect::<Vec<_>>(),
            "more": found.lines.len().saturating_sub(MOVES),
        }))
    }
}
