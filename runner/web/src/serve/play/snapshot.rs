//! The state of a game as JSON, for its page.

use dc0_analysis::web::games::placement;
use dc0_core::board::{Game, Move, Promotion, Side, numbered_moves};
use serde_json::{Value, json};

use dc0_engine::play::record::Record;
use dc0_engine::play::score::Score;
use dc0_engine::uci::{MoveLine, SearchResult};

/// Moves of a search that are shown.
const MOVES: usize = 8;

/// Moves of a line that are shown.
const LINE: usize = 8;

/// The result of a search, as JSON.
pub(super) struct SearchInfo(Value);

/// A game at one moment.
pub(super) struct Snapshot<'a> {
    pub(super) id: &'a str,
    /// The settings of the game.
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
        let on_board = |mv: Move| {
            let goal =
                |to: u8| json!([mv.to_string(), mv.from(), to, mv.promotion().map(letter), position.san(mv)]);
            // Castling is also the king's move to its rook.
            let rook =
                position.castling(mv).map(|castling| castling.rook_from).filter(|rook| *rook != mv.to());
            std::iter::once(mv.to()).chain(rook).map(goal).collect::<Vec<Value>>()
        };
        let legal: Vec<Value> = legal.into_iter().flat_map(on_board).collect();
        json!({
            "id": self.id,
            "about": self.about,
            "version": self.version,
            "fen": position.fen(),
            "placement": placement(position),
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
    /// The result of a search of a game's current position.
    pub(super) fn new(game: &Game, found: &SearchResult) -> Self {
        let position = game.position();
        let side = position.side_to_move();
        let all: u32 = found.lines.iter().map(|line| line.visits).sum();
        let line = |(index, line): (usize, &MoveLine)| {
            let first: Move = line.moves[0];
            let shown = &line.moves[..line.moves.len().min(LINE)];
            json!({
                "san": position.san(first), "from": first.from(), "to": first.to(), "visits": line.visits,
                "share": f64::from(line.visits) / f64::from(all.max(1)), "prior": line.prior, "q": line.q,
                "score": Score::from_line(line, side).text(), "line": numbered_moves(position, shown).join(" "),
                "chosen": index == found.chosen,
            })
        };
        let best = Score::from_line(&found.lines[found.chosen], side);
        Self(json!({
            "ply": game.ply(), "side": name(side), "placement": placement(position), "simulations": found.simulations,
            "score": best.text(), "chances": best.chances,
            "lines": found.lines.iter().enumerate().take(MOVES).map(line).collect::<Vec<_>>(),
            "more": found.lines.len().saturating_sub(MOVES),
        }))
    }
}
