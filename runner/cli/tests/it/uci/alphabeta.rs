//! `SearchMode alphabeta` and `material`: the second searcher, as a chess program sees it.

use std::process::Command;
use std::time::Duration;

use dc0_core::alphabeta::bench::SIGNATURE;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::{NetworkSpec, ValueHead, initial_weights, preset};
use dc0_core::params::Value;
use dc0_core::rng::Seed;
use dc0_process::clock::Stopwatch;

use super::check::{after, best, last_number};
use super::engine::{Engine, RESIDUAL};

const MODE: [&str; 2] = ["--option", "SearchMode=alphabeta"];

#[test]
fn the_mode_is_switched_and_back() {
    let mut engine = Engine::ready(&[]);
    engine.send("setoption name SearchMode value alphabeta");
    let ready = engine.ask("isready", "readyok");
    assert!(ready[0].contains("the value of DC0Model's net, on the CPU"), "{ready:?}");
    engine.send(&format!("setoption name DC0Model value {RESIDUAL}"));
    let ready = engine.ask("isready", "readyok");
    let own = "the shipped NNUE, on the CPU; the net of DC0Model is not used";
    assert!(ready.iter().any(|line| line.contains(own)), "{ready:?}");
    let lines = engine.search("startpos", "go depth 7");
    assert!(lines.iter().any(|line| line.starts_with("info depth 7 seldepth ")), "{lines:?}");
    assert!(engine.ask("eval", "nnue").last().expect("a line").ends_with("for the side to move, in pawns"));
    engine.send("setoption name DC0Model value\nsetoption name SearchMode value dc0");
    let lines = engine.search("startpos", "go nodes 50");
    assert_eq!(last_number(&lines, "nodes"), 50);
}

#[test]
fn material_plays_without_the_net_and_gives_no_chances() {
    let mut engine = Engine::ready(&["--option", "SearchMode=material", "--option", "UCI_ShowWDL=true"]);
    // A queen more, and nothing else to see.
    let eval = engine.ask("position fen 7k/8/8/8/8/8/8/KQ6 w - - 0 1\neval", "material");
    assert!(eval.last().expect("a line").starts_with("material +8.9"), "{eval:?}");
    let lines = engine.search("startpos", "go depth 6");
    assert_eq!(last_number(&lines, "depth"), 6);
    assert!(lines.iter().all(|line| !line.contains(" wdl ")), "{lines:?}");
    assert!(
        lines.iter().any(|line| line.contains("UCI_ShowWDL has no effect: material gives no")),
        "{lines:?}"
    );
    engine.send("setoption name DC0Model value shipped:az_small");
    let ready = engine.ask("isready", "readyok");
    let note = "info string DC0Model has no effect in SearchMode material";
    assert!(ready.iter().any(|line| line == note), "{ready:?}");
    // The evaluation changes with the mode.
    let by_material = signature(&mut engine);
    engine.send("setoption name DC0Model value\nsetoption name SearchMode value alphabeta");
    assert_ne!(signature(&mut engine), by_material);
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

/// The numbers after `wdl` in the last info line, if it has them.
fn wdl(lines: &[String]) -> Option<[u32; 3]> {
    let last = lines.iter().rfind(|line| line.starts_with("info depth")).expect("an info line");
    let (_, rest) = last.split_once(" wdl ")?;
    let numbers: Vec<u32> = rest.split(' ').take(3).map(|number| number.parse().expect("a number")).collect();
    Some(numbers.try_into().expect("three numbers"))
}

#[test]
fn chances_are_shown_on_request() {
    let mut engine = Engine::ready(&MODE);
    assert_eq!(wdl(&engine.search("startpos", "go depth 4")), None);
    engine.send("setoption name UCI_ShowWDL value true");
    let opening = wdl(&engine.search("startpos", "go depth 6")).expect("it was requested");
    assert_eq!(opening.iter().sum::<u32>(), 1000);
    for (position, expected) in [
        ("fen 6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", [1000, 0, 0]),
        // The fifty moves are over with the next one.
        ("fen 7k/8/8/8/8/8/1R6/K7 w - - 99 90", [0, 1000, 0]),
    ] {
        assert_eq!(wdl(&engine.search(position, "go depth 6")), Some(expected), "{position}");
    }
}

#[test]
fn a_net_without_draws_has_no_chances() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("scalar.safetensors");
    let mut spec: NetworkSpec = preset("nnue-128").expect("exists").spec;
    spec.value_head.kind = ValueHead::Scalar;
    let weights = initial_weights(&spec, Seed { run: 1, step: 1 });
    Checkpoint { spec, weights, provenance: Value::None }.save(&file).expect("a net");
    let mut engine = Engine::ready(&[&MODE[..], &["--net", file.to_str().expect("UTF-8")]].concat());
    engine.send("setoption name UCI_ShowWDL value true");
    let lines = engine.search("startpos", "go depth 3");
    assert_eq!(wdl(&lines), None);
    assert!(lines.iter().any(|line| line.contains("UCI_ShowWDL has no effect")), "{lines:?}");
}

/// The signature that `bench` prints.
fn signature(engine: &mut Engine) -> u64 {
    engine.send("bench");
    let lines = engine.ask("isready", "readyok");
    let words: Vec<&str> =
        lines.iter().rfind(|line| line.ends_with(" nps")).expect("a line").split(' ').collect();
    assert_eq!((words[1], words[3]), ("nodes", "nps"), "{lines:?}");
    words[0].parse().expect("nodes")
}

#[test]
fn bench_measures_the_net_that_plays() {
    let mut engine = Engine::ready(&MODE);
    let first = signature(&mut engine);
    assert_ne!(first, SIGNATURE);
    engine.search("startpos moves e2e4", "go nodes 5000");
    for option in ["Threads value 2", "Hash value 1"] {
        engine.send(&format!("setoption name {option}"));
    }
    assert_eq!(signature(&mut engine), first);
    engine.send("setoption name alphabeta.null_move value false");
    assert_ne!(signature(&mut engine), first);
}

#[test]
fn options_of_the_other_search_are_reported() {
    let mut engine = Engine::ready(&MODE);
    let mut set = |option: &str| {
        engine.send(&format!("setoption name {option}"));
        let lines = engine.ask("isready", "readyok");
        lines.into_iter().find(|line| line.contains(" no effect "))
    };
    let note =
        |options: &str, mode: &str| Some(format!("info string {options} no effect in SearchMode {mode}"));
    assert_eq!(set("DC0Cpuct value 2.5"), note("DC0Cpuct has", "alphabeta"));
    assert_eq!(set("search.draw_score value 0.1"), note("search.draw_score has", "alphabeta"));
    assert_eq!(set("Backend value torch"), note("Backend has", "alphabeta"));
    assert_eq!(set("DC0Temperature value 0"), None);
    assert_eq!(set("alphabeta.razoring value false"), None);
    assert_eq!(set("SearchMode value dc0"), note("alphabeta.razoring has", "dc0"));
    assert_eq!(set("alphabeta.razoring value true"), None);
    assert_eq!(set("SearchMode value alphabeta"), note("DC0Cpuct, search.draw_score have", "alphabeta"));
    for (option, mode) in [("DC0Cpuct=2", "alphabeta"), ("alphabeta.futility=false", "dc0")] {
        let mode_option = format!("SearchMode={mode}");
        let mut command = Command::new(env!("CARGO_BIN_EXE_dc0-run"));
        let output =
            command.args(["uci", "--option", option, "--option", &mode_option]).output().expect("it runs");
        let errors = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(&format!("has no effect in SearchMode {mode}")), "{errors}");
    }
}

#[test]
fn searches_without_an_end_wait_for_the_chess_program() {
    let mut engine = Engine::ready(&MODE);
    let mate = "fen 6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1";
    for (go, end) in
        [("go infinite", "stop"), ("go ponder depth 3", "ponderhit"), ("go ponder nodes 50", "stop")]
    {
        engine.send(&format!("position {mate}"));
        engine.send(go);
        // All depths are searched in no time, and the result must wait.
        while !engine.until("info")[0].starts_with("info depth 199 ") {}
        let waiting = engine.ask("isready", "readyok");
        assert!(!waiting.iter().any(|line| line.starts_with("bestmove")), "{go}: {waiting:?}");
        assert_eq!(best(&engine.ask(end, "bestmove")), "a1a8", "{go}");
    }
}

#[test]
fn limits_are_combined() {
    let mut engine = Engine::ready(&MODE);
    assert_eq!(last_number(&engine.search("startpos", "go depth 60 nodes 700"), "nodes"), 700);
    assert_eq!(last_number(&engine.search("startpos", "go depth 3 nodes 10000000"), "depth"), 3);
    assert_eq!(last_number(&engine.search("startpos", "go nodes 0"), "nodes"), 1);
    assert_eq!(last_number(&engine.search("startpos", "go depth 0"), "depth"), 1);
    engine.search("startpos", "go wtime 3000 btime 3000 movestogo 2 depth 4");
    engine.send("setoption name MultiPV value 4");
    let lines = engine.search("startpos", "go depth 5 searchmoves a2a3 a1a8 H2H3");
    assert!(lines.iter().any(|line| line.contains("expected legal moves, got a1a8")), "{lines:?}");
    let number =
        |line: &String| after(&line.split(' ').collect::<Vec<_>>(), "multipv").map(ToOwned::to_owned);
    let numbers: Vec<String> =
        lines.iter().filter(|line| line.starts_with("info depth 5 ")).filter_map(number).collect();
    assert!(numbers.ends_with(&["1".to_owned(), "2".to_owned()]), "{lines:?}");
    let none = engine.search("fen 6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", "go mate 1 searchmoves g1h1");
    assert!(none.iter().any(|line| line.contains("no mate in 1 was found")), "{none:?}");
}
