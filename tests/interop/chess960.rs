//! Chess960 and double Chess960: rules and notations by python-chess, games against Stockfish.

use std::fs;
use std::process::Command;

use dc0_core::board::{Game, Move, Position, Rules};
use serde_json::{Value, json};

use crate::arena::stockfish;
use crate::program::{PROGRAM, succeed};
use crate::{interop_command, interop_script, stdout_of};

/// A game from a start, in which kings castle when they can; otherwise keys decide.
fn played(start: Position, plies: usize) -> Game {
    let mut game = Game::from_position(start);
    while game.ply() < plies && game.outcome(&Rules { max_plies: 512 }).is_none() {
        let position = game.position();
        let moves = position.legal_moves();
        let castling =
            moves.iter().find(|mv| position.castling(**mv).is_some() && game.key().is_multiple_of(3));
        game.play_unchecked(*castling.unwrap_or(&moves[(game.key() >> 8) as usize % moves.len()]));
    }
    game
}

/// A start without some of its pieces, so that kings castle early. Queens may be rooks, which cannot castle.
fn thinned(number: u16) -> Option<Position> {
    let start = Position::chess960(number, number * 7 % 960)?.fen();
    let (board, _) = start.split_once(' ')?;
    let rows: Vec<&str> = board.split('/').collect();
    let files = |row: &str, first: u8| -> String {
        row.char_indices()
            .filter(|(_, piece)| "Rr".contains(*piece))
            .map(|(file, _)| char::from(first + file as u8))
            .collect()
    };
    let rights = files(rows[7], b'A') + &files(rows[0], b'a');
    let thinned = board
        .replace(['N', 'B', 'n', 'b'], "1")
        .replace('q', "r")
        .replace('Q', "R")
        .replace("pppppppp", "p2p1p1p")
        .replace("PPPPPPPP", "P2P1P1P");
    Position::from_fen(&format!("{thinned} w {rights} - 0 1")).ok()
}

fn line(game: &Game) -> Value {
    let ply = |(position, mv): (&Position, &Move)| {
        let mut legal: Vec<String> =
            position.legal_moves().iter().map(|mv| position.to_rook(*mv).to_string()).collect();
        legal.sort();
        let played = position.to_rook(*mv).to_string();
        json!({ "fen": position.fen(), "legal": legal, "played": played, "san": position.san(*mv) })
    };
    let plies: Vec<Value> = game.positions().zip(game.moves()).map(ply).collect();
    json!({ "start": game.start().fen(), "plies": plies })
}

#[test]
fn python_chess_agrees_on_positions_moves_and_san() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("games.jsonl");
    let starts = (0..960).step_by(8).filter_map(|number| Position::chess960(number, (number * 13 + 5) % 960));
    let full = starts.map(|start| played(start, 80));
    let empty = (0..960).step_by(4).filter_map(thinned).map(|start| played(start, 40));
    let lines: String = full.chain(empty).map(|game| format!("{}\n", line(&game))).collect();
    fs::write(&path, lines).expect("writes");
    let printed = stdout_of(interop_command("chess960.py").arg("games").arg(&path));
    let count = |what: &str| -> u32 {
        let part = printed.trim().split(", ").find_map(|part| part.strip_suffix(what));
        part.and_then(|number| number.trim().parse().ok()).unwrap_or_else(|| panic!("{what} in {printed}"))
    };
    assert!(count("games") > 300 && count("positions") > 10_000, "{printed}");
    assert!(count("castlings") > 300 && count("rooks by files") > 100, "{printed}");
}

#[test]
fn starts_have_the_numbers_of_python_chess() {
    let numbers = "import chess, sys; print(*(chess.Board.from_chess960_pos(number).fen() for number in range(960)), sep='\\n')";
    let expected = stdout_of(Command::new(crate::interop_python()).args(["-c", numbers]));
    let starts =
        (0..960).filter_map(|number| Position::chess960(number, number)).map(|start| start.fen() + "\n");
    assert_eq!(starts.collect::<String>(), expected);
}

#[test]
fn the_engine_plays_chess960_with_stockfish_under_python_chess() {
    let printed = stdout_of(interop_command("chess960.py").arg("play").arg(PROGRAM).arg(stockfish()));
    assert!(printed.starts_with("6 games, ") && !printed.contains(" 0 castlings"), "{printed}");
}

/// A match at starts of Chess960, some of them double.
const MATCH: &str = r#"
let run = open_run("small");
let net = run.network(#{ tower: #{ blocks: 1, filters: 8 }, value_head: #{ filters: 2, hidden: 8 } });
let other = uci("node", #{ args: ["STOCKFISH"], nodes: 100 });
for openings in ["chess960", "double-chess960"] {
    run.arena(net, other, #{ games: 4, openings: openings, search: #{ simulations: 4 }, program_games: 2 });
}
"#;

#[test]
fn matches_of_chess960_with_stockfish_end_by_the_rules() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let script = MATCH.replace("STOCKFISH", &stockfish().display().to_string());
    fs::write(folder.path().join("x.rhai"), script).expect("writes");
    let program = |args: &[&str]| succeed(Command::new(PROGRAM).current_dir(folder.path()).args(args));
    program(&["x.rhai", "--device", "cpu", "--backend", "torch"]);
    program(&["export", "pgn", "datasets/small", "--out", "games.pgn"]);
    let pgn = fs::read_to_string(folder.path().join("games.pgn")).expect("games");
    assert!(pgn.matches("[Variant \"Chess960\"]").count() >= 6, "{pgn}");
    assert_eq!(pgn.matches("[Termination \"normal\"]").count(), 8, "{pgn}");
    let read = interop_script("read_games.py", &folder.path().join("games.pgn"));
    assert_eq!(read.lines().count(), 8);
}
