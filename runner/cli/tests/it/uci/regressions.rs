//! Regression tests for faults that chess GUIs met in engines, each with a reference to where it was found.

use std::collections::BTreeSet;

use super::check::{after, check};
use super::engine::Engine;

/// Positions with special moves, many moves, a mate in one, and no legal move.
const POSITIONS: [&str; 6] = [
    "startpos moves e2e4 a7a6 e4e5 d7d5",
    "fen r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    "fen r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1",
    "fen 6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1",
    "fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
    "fen R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1",
];

/// The `info` lines of a search, without `info string`.
fn infos(lines: &[String]) -> impl Iterator<Item = Vec<&str>> {
    let infos = lines.iter().filter(|line| line.starts_with("info ") && !line.starts_with("info string"));
    infos.map(|line| line.split(' ').collect())
}

/// `score -368` without `cp` made a program ignore the analysis (en-croissant #500).
#[test]
fn every_score_is_cp_or_mate_with_an_integer() {
    let mut engine = Engine::ready(&["--option", "MultiPV=3"]);
    for position in POSITIONS {
        for info in infos(&engine.search(position, "go nodes 200")) {
            let at = info.iter().position(|word| *word == "score").expect("a score");
            assert!(["cp", "mate"].contains(&info[at + 1]), "{info:?}");
            assert!(info[at + 2].parse::<i64>().is_ok(), "{info:?}");
        }
    }
}

/// Without the option an engine is not offered for analysis (lucaschess #81).
#[test]
fn multi_pv_is_an_option_and_numbers_the_lines() {
    let mut engine = Engine::start(&[]);
    let introduced = engine.ask("uci", "uciok");
    assert!(introduced.iter().any(|line| line == "option name MultiPV type spin default 1 min 1 max 218"));
    for lines in 1..=3 {
        engine.send(&format!("setoption name MultiPV value {lines}"));
        let output = engine.search("startpos", "go nodes 100");
        let numbers: BTreeSet<&str> =
            infos(&output).map(|info| after(&info, "multipv").expect("a number")).collect();
        assert_eq!(numbers.len(), lines, "{output:#?}");
    }
}

/// Moves that are not legal, or followed by stray characters, raise errors in clients (python-chess #427, #429, #570, #1119;
/// lichess-bot #211, #870; `BotLi` #113). Every search of these tests is checked for legal moves; this test checks their form.
#[test]
fn moves_have_no_trailing_characters() {
    let mut engine = Engine::ready(&["--option", "MultiPV=5"]);
    let is_move = |word: &str| {
        let squares = word.is_char_boundary(4) && {
            let bytes = word.as_bytes();
            [0, 2]
                .iter()
                .all(|at| (b'a'..=b'h').contains(&bytes[*at]) && (b'1'..=b'8').contains(&bytes[at + 1]))
        };
        squares && ["", "q", "r", "b", "n"].contains(&&word[4..])
    };
    for position in POSITIONS {
        let lines = engine.search(position, "go nodes 300");
        for info in infos(&lines) {
            let pv = info.iter().position(|word| *word == "pv").map_or(info.len(), |at| at + 1);
            assert!(info[pv..].iter().all(|word| is_move(word)), "{info:?}");
        }
        let best: Vec<&str> = lines.last().expect("a move").split(' ').collect();
        let is_plain = match best[..] {
            ["bestmove", "(none)"] => infos(&lines).all(|info| !info.contains(&"pv")),
            ["bestmove", best] => is_move(best),
            ["bestmove", best, "ponder", answer] => is_move(best) && is_move(answer),
            _ => false,
        };
        assert!(is_plain, "{best:?}");
    }
}

/// A late `bestmove` of the previous position was taken for the answer to the next one (lichess-bot #211, `BotLi` #113).
#[test]
fn every_go_has_one_bestmove_even_with_racing_stops() {
    let mut engine = Engine::ready(&[]);
    // White is to move in the first and Black in the second, so no move is legal in both.
    let (pondered, played) = ("startpos moves e2e4 e7e5", "startpos moves d2d4");
    for end in
        ["stop", "ponderhit\nstop", "stop\nstop", "ponderhit", "stop\nponderhit", "isready\nstop\nisready"]
    {
        for go in ["go ponder wtime 300 btime 300", "go ponder nodes 5", "go ponder movetime 5"] {
            engine.send(&format!("position {pondered}\n{go}\n{end}\nposition {played}\ngo nodes 20\nstop"));
            for position in [pondered, played] {
                let mut lines = engine.until("bestmove");
                lines.retain(|line| line != "readyok");
                check(position, &lines);
            }
        }
    }
    engine.send("stop");
    assert_eq!(engine.ask("isready", "readyok"), ["readyok"], "nothing is printed twice");
}

/// `wdl` in `info` lines breaks some programs (lc0, changes of 0.32).
#[test]
fn wdl_is_printed_only_on_request() {
    let mut engine = Engine::start(&[]);
    let introduced = engine.ask("uci", "uciok");
    assert!(introduced.iter().any(|line| line == "option name UCI_ShowWDL type check default false"));
    let has_wdl = |lines: &[String]| infos(lines).any(|info| info.contains(&"wdl"));
    assert!(!has_wdl(&engine.search("startpos", "go nodes 50")));
    engine.send("setoption name UCI_ShowWDL value true");
    assert!(has_wdl(&engine.search("startpos", "go nodes 50")));
}

/// A backend that the machine lacks must be named to the user, and the engine must play on (en-croissant #180).
#[test]
fn missing_devices_and_backends_are_reported_and_the_cpu_plays_on() {
    let mut engine = Engine::ready(&["--onnxruntime", "/no/such/libonnxruntime.so"]);
    for (option, expected) in [("Device value cuda:77", "cuda"), ("Backend value onnx", "onnxruntime")] {
        engine.send(&format!("setoption name {option}"));
        let lines = engine.ask("isready", "readyok");
        assert!(lines[0].starts_with("info string error: ") && lines[0].contains(expected), "{lines:?}");
        let best = engine.search("startpos", "go nodes 20");
        assert!(!best.contains(&"bestmove (none)".to_owned()), "{best:?}");
    }
}
