//! Stored games as PGN, read by python-chess.

use std::process::Command;

use crate::interop_script;
use crate::program::{PROGRAM, succeed};

const SCRIPT: &str = r#"
let run = open_run("small");
let net = run.network(#{ tower: #{ blocks: 1, filters: 8 }, value_head: #{ filters: 2, hidden: 8 } });
run.self_play(net, #{ games: 12, search: #{ simulations: 4 } });
run.arena(net, "alphabeta-1", #{ games: 20, search: #{ simulations: 4 } });
"#;

#[test]
fn python_chess_reads_exported_games_and_agrees_with_their_results() {
    let folder = tempfile::tempdir().expect("temporary folder");
    std::fs::write(folder.path().join("x.rhai"), SCRIPT).expect("writes");
    let program = |args: &[&str]| succeed(Command::new(PROGRAM).current_dir(folder.path()).args(args));
    program(&["x.rhai", "--device", "cpu"]);
    program(&["export", "pgn", "datasets/small", "--out", "games.pgn"]);
    let read = interop_script("read_games.py", &folder.path().join("games.pgn"));
    assert_eq!(read.lines().count(), 32);
    assert!(read.lines().filter(|line| !line.starts_with("1/2-1/2")).count() > 10, "{read}");
}
