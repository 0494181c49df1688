//! `SearchMode alphabeta`: the second searcher, as a chess program sees it.

use std::time::Duration;

use dc0_process::clock::Stopwatch;

use super::check::{best, last_number};
use super::engine::Engine;

const MODE: [&str; 2] = ["--option", "SearchMode=alphabeta"];

#[test]
fn the_mode_is_switched_and_back() {
    let mut engine = Engine::ready(&[]);
    engine.send("setoption name SearchMode value alphabeta");
    let ready = engine.ask("isready", "readyok");
    assert!(ready[0].contains("the NNUE in the program; the net of DC0Model is not used"), "{ready:?}");
    let lines = engine.search("startpos", "go depth 7");
    assert!(lines.iter().any(|line| line.starts_with("info depth 7 seldepth ")), "{lines:?}");
    assert!(engine.ask("eval", "nnue").last().expect("a line").ends_with("for the side to move, in pawns"));
    engine.send("setoption name SearchMode value dc0");
    let lines = engine.search("startpos", "go nodes 50");
    assert_eq!(last_number(&lines, "nodes"), 50);
}

#[test]
fn limits_are_kept() {
    let mut engine = Engine::ready(&MODE);
    assert_eq!(last_number(&engine.search("startpos", "go nodes 5000"), "nodes"), 5000);
    assert_eq!(last_number(&engine.search("startpos", "go depth 6"), "depth"), 6);
    let only = engine.search("startpos", "go depth 5 searchmoves a2a3 h2h3");
    assert!(["a2a3", "h2h3"].contains(&best(&only)), "{only:?}");
    engine.send("setoption name MultiPV value 3");
    let lines = engine.search("startpos", "go depth 6");
    assert!(
        lines.iter().any(|line| line.starts_with("info depth 6 ") && line.contains(" multipv 3 ")),
        "{lines:?}"
    );
    engine.send("setoption name MultiPV value 1");
    let mate = engine.search("fen 7k/8/8/8/8/8/R7/1R4K1 w - - 0 1", "go mate 2");
    assert!(mate.iter().any(|line| line.contains("score mate 2 ")), "{mate:?}");
    let none = engine.search("startpos", "go mate 1");
    assert!(none.iter().any(|line| line.contains("no mate in 1 was found")), "{none:?}");
}

#[test]
fn equal_searches_of_a_new_game_are_equal() {
    let mut engine = Engine::ready(&MODE);
    let mut run = || {
        engine.send("ucinewgame");
        engine.ask("isready", "readyok");
        let moves = ["startpos", "startpos moves e2e4 e7e5"]
            .map(|position| engine.search(position, "go nodes 30000"));
        moves.map(|lines| (best(&lines).to_owned(), last_number(&lines, "nodes")))
    };
    assert_eq!(run(), run());
}

#[test]
fn clocks_stops_and_ponder_hits_end_a_search() {
    let mut engine = Engine::ready(&MODE);
    let watch = Stopwatch::start();
    engine.search("startpos", "go movetime 200");
    assert!(watch.elapsed() < Duration::from_secs(20));
    engine.search("startpos", "go wtime 2000 btime 2000 winc 20 binc 20");
    engine.search("startpos", "go wtime 1 btime 1");
    engine.send("position startpos");
    engine.send("go infinite");
    assert_eq!(engine.ask("isready", "readyok").last().map(String::as_str), Some("readyok"));
    assert!(!best(&engine.ask("stop", "bestmove")).is_empty());
    engine.send("position startpos moves e2e4");
    engine.send("go ponder wtime 1000 btime 1000");
    engine.send("ponderhit");
    assert!(!best(&engine.until("bestmove")).is_empty());
    engine.send("go ponder nodes 100");
    assert!(!best(&engine.ask("stop", "bestmove")).is_empty());
}

#[test]
fn several_threads_search_and_stop() {
    let mut engine =
        Engine::ready(&["--option", "SearchMode=alphabeta", "--option", "Threads=3", "--option", "Hash=4"]);
    engine.search("startpos", "go depth 9");
    engine.search("startpos", "go nodes 60000");
    engine.send("go infinite");
    assert!(!best(&engine.ask("stop", "bestmove")).is_empty());
}
