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

/// What a search found in a position.
pub(super) struct SearchInfo(Value);

/// A game at one moment.
pub(super) struct Snapshot<'a> {
    pub(super) id: &'a str,
    /// What the game was asked for with.
    pub(super) about: &'a Value,
    pub(super) version: u64,
    pub(super) record: &'a Record,
    pub(super) human: Option<Side>,
    pub(super) is_thinking: bool,
    pub(super) info: Option<&'a SearchInfo>,
    pub(super) error: Option<&'a str>,
    pub(super) can_undo: bool,
}

impl Snapshot<'_> {
    pub(super) fn json(&self) -> Value {
        let position = self.record.game.position();
        let is_over = self.record.is_over();
        let legal = if is_over { Vec::new() } else { position.legal_moves() };
        let legal: Vec<Value> = legal
            .into_iter()
            .map(|of| {
                json!([of.to_string(), of.from(), of.to(), of.promotion().map(letter), position.san(of)])
            })
            .collect();
        json!({
            "id": self.id,
            "about": self.about,
            "version": self.version,
            "fen": position.fen(),
            "men": men(position),
            "turn": name(position.side_to_move()),
            "human": self.human.map(name),
            "check": position.is_check(),
            "number": self.record.game.start().fullmove_number(),
            "first": name(self.record.game.start().side_to_move()),
            "moves": self.record.plies().map(|(position, played, _)| position.san(played)).collect::<Vec<_>>(),
            "last": self.record.game.moves().last().map(|last| [last.from(), last.to()]),
            "legal": legal,
            "result": is_over.then(|| self.record.result()),
            "reason": self.record.reason(),
            "thinking": self.is_thinking,
            "thought": self.info.map(|info| &info.0),
            "error": self.error,
            "undo": self.can_undo,
        })
    }
}

fn name(side: Side) -> &'static str {
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

impl SearchInfo {
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
            "ply": game.ply(), "side": name(side), "men": men(position), "simulations": found.simulations,
            "score": best.text(), "chances": best.chances,
            "lines": found.lines.iter().enumerate().take(MOVES).map(line).collect::<Vec<_>>(),
            "more": found.lines.len().saturating_sub(MOVES),
        }))
    }
}
