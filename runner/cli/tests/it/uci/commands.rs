//! UCI apart from searches: the handshake, bad input, and commands for humans.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use super::check::best;
use super::engine::{Engine, RESIDUAL};
use crate::experiment::flip;

#[test]
fn the_handshake_is_name_author_options_and_uciok() {
    let mut engine = Engine::start(&[]);
    let lines = engine.ask("uci", "uciok");
    assert!(lines[0].starts_with("id name dc0 ") && lines[1] == "id author the dc0 authors");
    let options = &lines[2..lines.len() - 1];
    assert!(options.iter().all(|line| line.starts_with("option name ")), "{lines:#?}");
    for name in
        ["MultiPV", "Ponder", "Threads", "Move Overhead", "UCI_ShowWDL", "SyzygyPath", "UCI_AnalyseMode"]
    {
        let start = format!("option name {name} type ");
        assert_eq!(options.iter().filter(|line| line.starts_with(&start)).count(), 1, "{name}");
    }
    assert!(options.iter().any(|line| line == "option name UCI_ShowWDL type check default false"));
    assert_eq!(engine.ask("isready", "readyok"), ["readyok"]);
    engine.send("quit");
    assert_eq!(engine.end(), (Some(0), Vec::new()));
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn libtorch_is_loaded_for_nets_of_other_kinds_than_nnue_alone() {
    let mut engine = Engine::ready(&["--option", "Backend=torch"]);
    engine.search("startpos", "go nodes 50");
    engine.send("setoption name SearchMode value alphabeta");
    engine.search("startpos", "go nodes 50");
    assert!(!engine.has_libtorch());
    engine.send(&format!("setoption name SearchMode value dc0\nsetoption name DC0Model value {RESIDUAL}"));
    engine.search("startpos", "go nodes 50");
    assert!(engine.has_libtorch());
}

/// A search from the start of a game, and one with its tree two plies later; without what depends on the time.
fn searches(engine: &mut Engine) -> Vec<String> {
    engine.send("ucinewgame");
    // The result and the move; a slow search reports its progress, too.
    let mut result = |position| engine.search(position, "go nodes 50").into_iter().rev().take(2);
    let lines: Vec<String> = result("startpos").chain(result("startpos moves e2e4 e7e5")).collect();
    let timeless = |line: &String| {
        let words: Vec<&str> = line.split(' ').collect();
        let is_time = |at: usize| ["nps", "time"].contains(&words[at]);
        let kept = (0..words.len()).filter(|at| !is_time(*at) && (*at == 0 || !is_time(*at - 1)));
        kept.map(|at| words[at]).collect::<Vec<_>>().join(" ")
    };
    lines.iter().map(timeless).collect()
}

/// The options with the values that they are declared with; buttons have none.
fn declared_defaults(introduced: &[String]) -> Vec<(String, String)> {
    let declared = |line: &String| {
        let (name, rest) = line.strip_prefix("option name ")?.split_once(" type ")?;
        let default = rest.split_once(" default ")?.1;
        let ends = [default.find(" min "), default.find(" var ")];
        let default = &default[..ends.into_iter().flatten().min().unwrap_or(default.len())];
        Some((name.to_owned(), default.to_owned()))
    };
    introduced.iter().filter_map(declared).collect()
}

#[test]
fn options_sent_back_as_declared_change_no_search() {
    let mut fresh = Engine::ready(&[]);
    let expected = searches(&mut fresh);
    // Some programs send every option at the start, others one after another.
    let mut engine = Engine::start(&[]);
    let options = declared_defaults(&engine.ask("uci", "uciok"));
    assert!(options.len() > 50, "{options:?}");
    for (name, default) in &options {
        engine.send(&format!("setoption name {name} value {default}"));
        assert_eq!(engine.ask("isready", "readyok"), ["readyok"], "{name}");
        assert_eq!(searches(&mut engine), expected, "{name}");
    }
}

#[test]
fn a_search_that_the_net_cannot_serve_is_refused() {
    let mut engine = Engine::ready(&[]);
    engine.send("setoption name search.moves_left value true");
    let lines = engine.ask("isready", "readyok");
    assert!(lines[0].contains("error: option search.moves_left: expected a net with"), "{lines:?}");
    engine.send("setoption name search.moves_left.slope value 0.5");
    let lines = engine.ask("isready", "readyok");
    assert!(lines[0].contains("has no effect until search.moves_left is true"), "{lines:?}");
    let mate = engine.search("startpos moves f2f3 e7e5 g2g4", "go nodes 100");
    assert_eq!(best(&mate), "d8h4");
}

#[test]
fn bad_input_is_reported_or_ignored_and_the_engine_survives() {
    let mut engine = Engine::ready(&[]);
    for (line, expected) in [
        ("setoption name Threads value 100000", "expected a whole number in 1..=64, got \"100000\""),
        ("setoption name NoSuchThing value 1", "there is no option \"NoSuchThing\""),
        ("setoption name search.root.considered value 0", "1..=218"),
        ("setoption name DC0Model value /no/such/net.safetensors", "found none"),
        ("setoption name Device value cuda:77", "cuda"),
        ("position fen nonsense", "is not a FEN"),
        ("position startpos moves e2e5", "move 1, \"e2e5\", is not legal"),
    ] {
        engine.send(line);
        let lines = engine.ask("isready", "readyok");
        assert!(
            lines[0].starts_with("info string error: ") && lines[0].contains(expected),
            "{line}: {lines:?}"
        );
        assert_eq!(lines.len(), 2);
    }
    // The position is invalid now, so there is no move.
    let lines = engine.ask("go nodes 1", "bestmove");
    assert_eq!(best(&lines), "(none)");
    // The error itself is not repeated.
    assert!(lines.len() == 2 && lines[0].contains("there is no position"), "{lines:?}");
    engine.send_bytes(b"\xff\xfe\x00 stop go? \r\nsetoption\ngoo\n\n   \nponderhit\nstop\n");
    engine.send(&"x".repeat(3_000_000));
    let lines = engine.ask("isready", "readyok");
    assert!(lines[0].contains("a line of more than 1048576 bytes is ignored"), "{lines:?}");
    assert_eq!(best(&engine.ask("go nodes 1", "bestmove")), "(none)");
    engine.search("startpos", "go nodes 10");
}

#[test]
fn lines_may_be_long_and_the_last_needs_no_end() {
    let mut engine = Engine::ready(&[]);
    engine.send_bytes(b"position startpos\r\ngo nodes 5\r\r\n");
    assert_ne!(best(&engine.until("bestmove")), "(none)");
    let shuffled = format!("position startpos moves{}", " g1f3 g8f6 f3g1 f6g8".repeat(20_000));
    engine.send(&shuffled);
    assert_eq!(engine.ask("isready", "readyok"), ["readyok"]);
    // The last line has no end.
    engine.send_bytes(b"position startpos\ngo nodes 5\nisready");
    engine.until("bestmove");
    let (code, lines) = engine.end();
    assert_eq!((code, lines), (Some(0), vec!["readyok".to_owned()]));
}

#[test]
fn damaged_nets_are_refused_and_the_old_one_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets/networks");
    let copy = |name: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let file = folder.path().join(name).join("az_small.safetensors");
        fs::create_dir(folder.path().join(name)).expect("a folder");
        let mut bytes = fs::read(shipped.join("az_small.safetensors")).expect("a net");
        change(&mut bytes);
        fs::write(&file, bytes).expect("writes");
        fs::copy(shipped.join("az_small.json"), file.with_extension("json")).expect("copies");
        file
    };
    let flipped = copy("flipped", &|_| ());
    flip(&flipped);
    let cut = copy("cut", &|bytes| bytes.truncate(bytes.len() / 2));
    let no_json = copy("no_json", &|_| ());
    fs::write(no_json.with_extension("json"), "{").expect("writes");
    let mut engine = Engine::ready(&[]);
    let before = engine.search("startpos", "go nodes 60");
    for file in [flipped, cut, no_json] {
        engine.send(&format!("setoption name DC0Model value {}", file.display()));
        let lines = engine.ask("isready", "readyok");
        assert!(lines.len() == 2 && lines[0].starts_with("info string error: "), "{lines:?}");
        engine.send("ucinewgame");
        assert_eq!(best(&engine.search("startpos", "go nodes 60")), best(&before));
    }
}

#[test]
fn declared_defaults_on_the_command_line_change_nothing() {
    let mut engine = Engine::ready(&["--option", "search.moves_left.slope=0.0027"]);
    let mate = engine.search("fen 6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", "go nodes 800");
    assert_eq!(best(&mate), "d1d8");
}

#[test]
fn command_line_options_are_checked_before_the_session() {
    for (args, expected) in [
        (["--net", "no-such-run"], "is neither a file"),
        (["--option", "Threads=none"], "a whole number in 1..=64"),
        (["--device", "cuda:77"], "cuda"),
        (["--option", "search.moves_left=true"], "expected a net with a moves_left_head"),
        (["--option", "search.kld_gain.interval=50"], "set search.kld_gain to true"),
    ] {
        let output =
            Command::new(env!("CARGO_BIN_EXE_dc0-run")).arg("uci").args(args).stdin(Stdio::null()).output();
        let output = output.expect("the program runs");
        assert_eq!(output.status.code(), Some(2));
        let errors = String::from_utf8(output.stderr).expect("text");
        assert!(errors.contains(expected), "{errors}");
    }
}

#[test]
fn board_net_tree_and_speed_can_be_printed() {
    let mut engine = Engine::ready(&[]);
    engine.send("tree");
    assert_eq!(engine.ask("isready", "readyok")[0], "nothing was searched");
    engine.search("startpos moves e2e4", "go nodes 50");
    for line in ["d", "eval", "tree", "bench"] {
        engine.send(line);
    }
    let lines = engine.ask("isready", "readyok");
    let output = lines.join("\n");
    for part in
        ["a b c d e f g h", "4 . . . . P . . .", " for the side to move", "in games score ", "visits", " nps"]
    {
        assert!(output.contains(part), "{part} in\n{output}");
    }
}

#[test]
fn a_chess_program_that_is_gone_is_no_error() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dc0-run"));
    command.args(["uci", "--device", "cpu"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut engine = command.spawn().expect("the program starts");
    drop(engine.stdout.take());
    let mut input = engine.stdin.take().expect("a pipe");
    input.write_all(b"uci\nisready\n").expect("the engine listens");
    let ended = engine.wait_with_output().expect("ends");
    assert_eq!((ended.status.code(), ended.stderr.as_slice()), (Some(0), &b""[..]));
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
