//! A stored game as the boards of pages read it, in the report and the live view. They do not know the rules of chess: every position
//! comes with its pieces, and every move with its squares.
//!
//! ```json
//! { "white": "0003", "black": "0003", "result": "1–0", "reason": "checkmate", "opening": 4, "before": 0, "plies": […] }
//! ```
//!
//! `opening` is the number of plies that no player chose, and `before` that of the plies before the start, by its move number. `plies` has
//! an entry for each position, the last one included:
//!
//! - `b`: the first two fields of the FEN.
//! - `m`: the move that led to it, as SAN, from, to; `null` at the start.
//! - `t`: the result of its search, or `null`: `q` and `n`, value and P(draw) by the search and by the net alone, for the side to move;
//!   `s`, simulations; `v`, visits of all moves; `f`, whether the policy is trained on it; `a`, the number of moves with visits or a share;
//!   and `p`, the first of them in the order of [`StoredPly::targets`]: SAN, from, to, visits, share of the policy target, and 1 for the
//!   move that was played, otherwise 0.

use dc0_core::board::{Game, GameResult, Position, Side};
use dc0_core::search::Target;
use dc0_core::store::{PositionRow, StoredGame, StoredPly};
use serde_json::{Value as Json, json};

/// The most moves of a search that are shown. Chosen.
const SHOWN: usize = 8;

/// A game with its searches.
pub fn game(game: &StoredGame) -> Json {
    json!({
        "white": game.white,
        "black": game.black,
        "result": result(game.result),
        "reason": game.reason.name().replace('_', " "),
        "opening": game.opening_plies,
        "before": plies_before(game.game.start()),
        "plies": plies(game),
    })
}

/// The last position of a game that is being played, as an entry of `plies`.
pub fn last_position(game: &Game) -> Json {
    let (before, last) = game.positions().zip(game.moves()).last().unzip();
    let ply = StoredPly {
        ply: game.ply(),
        position: game.position(),
        last: last.copied(),
        played: None,
        search: None,
    };
    entry(&ply, before)
}

/// A result with typographic dashes.
pub fn result(result: GameResult) -> &'static str {
    match result {
        GameResult::WhiteWins => "1–0",
        GameResult::Draw => "½–½",
        GameResult::BlackWins => "0–1",
    }
}

/// The first two fields of the FEN: piece placement and side to move.
pub fn placement(position: &Position) -> String {
    position.fen().split(' ').take(2).collect::<Vec<_>>().join(" ")
}

/// The plies before a position, by its move number and its side to move.
fn plies_before(position: &Position) -> u64 {
    let moves = u64::from(position.fullmove_number().saturating_sub(1));
    2 * moves + u64::from(position.side_to_move() == Side::Black)
}

fn plies(game: &StoredGame) -> Vec<Json> {
    let mut before = None;
    game.plies().map(|ply| entry(&ply, before.replace(ply.position))).collect()
}

/// The entry of a position, given the one before it.
fn entry(ply: &StoredPly<'_>, before: Option<&Position>) -> Json {
    let last = before.zip(ply.last).map(|(before, last)| json!([before.san(last), last.from(), last.to()]));
    let search = ply.search.map(|row| search(ply, row));
    json!({ "b": placement(ply.position), "m": last, "t": search })
}

fn search(ply: &StoredPly<'_>, row: &PositionRow) -> Json {
    let shown = |Target { played, visits, share }: Target| {
        let is_played = u8::from(played.packed() == row.played);
        json!([ply.position.san(played), played.from(), played.to(), visits, rounded(share), is_played])
    };
    let pair = |q: f32, d: f32| [q, d].map(|value| rounded(value.into()));
    json!({
        "q": pair(row.root_q, row.root_d),
        "n": pair(row.net_q, row.net_d),
        "s": row.simulations,
        "v": row.visits.iter().map(|visits| u64::from(*visits)).sum::<u64>(),
        "f": row.full,
        "a": row.moves.len(),
        "p": ply.targets().into_iter().take(SHOWN).map(shown).collect::<Vec<_>>(),
    })
}

fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use dc0_core::board::{Game, GameResult, Move, Reason};
    use dc0_core::store::{GameRow, PositionRow, StoredGame};
    use serde_json::json;

    use super::{game, last_position, plies_before};

    #[test]
    fn a_game_has_its_positions_moves_and_searches() {
        let played = Game::from_text("startpos moves e2e4 e7e5").expect("a game");
        let moves: Vec<u16> = played.moves().iter().copied().map(Move::packed).collect();
        let packed = |text: &str| Move::from_uci(text).expect("a move").packed();
        let row = GameRow {
            game: 0,
            network: "0123".to_owned(),
            start_fen: played.start().fen(),
            moves: moves.clone(),
            opening_plies: 1,
            result: GameResult::Draw,
            reason: Reason::PlyCap.into(),
        };
        let position = PositionRow {
            ply: 1,
            played: moves[1],
            moves: vec![packed("c7c5"), packed("e7e5")],
            visits: vec![1, 2],
            target: vec![1, 2],
            root_q: 0.1234,
            root_d: 0.25,
            net_q: -0.5,
            net_d: 0.125,
            simulations: 4,
            full: true,
            ..PositionRow::default()
        };
        let stored = StoredGame::of_self_play(&row, &[position]).expect("a game");
        let search = json!({
            "q": [0.123, 0.25], "n": [-0.5, 0.125], "s": 4, "v": 3, "f": true, "a": 2,
            "p": [["e5", 52, 36, 2, 0.667, 1], ["c5", 50, 34, 1, 0.333, 0]],
        });
        let expected = json!({
            "white": "0123", "black": "0123", "result": "½–½", "reason": "ply cap", "opening": 1, "before": 0,
            "plies": [
                { "b": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w", "m": null, "t": null },
                { "b": "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b", "m": ["e4", 12, 28], "t": search },
                { "b": "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w", "m": ["e5", 52, 36], "t": null },
            ],
        });
        assert_eq!(game(&stored), expected);
        assert_eq!(last_position(&played), expected["plies"][2]);
        assert_eq!(last_position(&Game::initial()), expected["plies"][0]);
    }

    #[test]
    fn plies_are_counted_from_the_move_number_of_the_start() {
        let before = |text: &str| plies_before(Game::from_text(text).expect("a game").start());
        assert_eq!(before("startpos"), 0);
        assert_eq!(before("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"), 1);
        assert_eq!(before("8/8/8/4k3/8/8/4P3/4K3 w - - 0 40"), 78);
        assert_eq!(before("8/8/8/4k3/8/8/4P3/4K3 b - - 0 40"), 79);
        assert_eq!(before("8/8/8/4k3/8/8/4P3/4K3 b - - 0 4294967295"), 8_589_934_589);
    }
}
