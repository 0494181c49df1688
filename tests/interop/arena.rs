//! Matches with a UCI engine that was not written here: Stockfish for Node.js.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::program::{PROGRAM, succeed};
use crate::{browser_package, interop_command, stdout_of};

/// The engine.
pub(crate) fn stockfish() -> PathBuf {
    browser_package("node_modules/stockfish/src/stockfish.js")
}

/// Three openings after four plies each.
const OPENINGS: &str = "\
rnbqkbnr/pp2pppp/2p5/3p4/3PP3/8/PPP2PPP/RNBQKBNR w KQkq - c0 \"Caro-Kann\";
r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - c0 \"open game\";
rnbqkb1r/pppppp1p/5np1/8/2PP4/8/PP2PPPP/RNBQKBNR w KQkq - c0 \"King's Indian\";
";

/// A match of the engine with itself at two strengths, and of both with a net.
fn script(engine: &Path) -> String {
    let player = |name: &str, nodes: u32| {
        format!(
            "uci(\"node\", #{{ args: [{:?}], nodes: {nodes}, name: \"{name}\" }})",
            engine.display().to_string()
        )
    };
    format!(
        "let run = open_run(\"matches\");
        let net = run.network(#{{ tower: #{{ blocks: 1, filters: 8 }}, value_head: #{{ filters: 2, hidden: 8 }} }});
        run.arena({}, {}, #{{ games: 6, openings: \"book.epd\" }});
        run.arena(net, {}, #{{ games: 6, search: #{{ simulations: 4 }}, sprt: #{{ elo0: 0, elo1: 400 }}, program_games: 2 }});",
        player("strong", 300),
        player("weak", 60),
        player("weak", 60),
    )
}

fn run(folder: &Path) -> Command {
    let mut command = Command::new(PROGRAM);
    command.current_dir(folder).args(["x.rhai", "--device", "cpu", "--backend", "torch", "--lanes", "2"]);
    command.stdin(Stdio::null());
    command
}

fn prepared() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("temporary folder");
    fs::write(folder.path().join("x.rhai"), script(&stockfish())).expect("writes");
    fs::write(folder.path().join("book.epd"), OPENINGS).expect("writes");
    folder
}

/// The bytes of the tables of both matches.
fn tables(folder: &Path) -> Vec<Vec<u8>> {
    let matches = fs::read_dir(folder.join("datasets/matches/matches")).expect("a folder");
    let mut paths: Vec<PathBuf> = matches.map(|entry| entry.expect("a file").path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("reads")).collect()
}

#[test]
fn python_chess_plays_the_same_match_and_kills_change_nothing() {
    let whole = prepared();
    succeed(&mut run(whole.path()));
    let export = ["export", "pgn", "datasets/matches", "--number", "0", "--out", "games.pgn"];
    succeed(Command::new(PROGRAM).current_dir(whole.path()).args(export));
    let mut compared = interop_command("arena.py");
    let printed = stdout_of(compared.arg(stockfish()).arg(whole.path().join("games.pgn")));
    assert_eq!(printed.trim(), "6 games");

    // Killed again and again, wherever it is.
    let killed = prepared();
    for seconds in [1, 2, 3, 2] {
        let mut child =
            run(killed.path()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
        std::thread::sleep(Duration::from_secs(seconds));
        child.kill().expect("is killed, or has ended");
        child.wait().expect("ends");
    }
    succeed(&mut run(killed.path()));
    let (whole, killed) = (tables(whole.path()), tables(killed.path()));
    assert_eq!(whole.len(), 2);
    assert!(whole == killed, "a match that was killed has other games");
}
