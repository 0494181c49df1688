//! Games of `dc0-run play`, read by python-chess.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::program::PROGRAM;
use crate::{interop_command, interop_script};

/// Plays a game into a file; returns the printed result and the last position.
fn play(file: &Path, args: &[&str], input: &str) -> (String, String) {
    let mut command = Command::new(PROGRAM);
    command.args(["play", "--device", "cpu", "--seed", "5", "--temperature", "1", "--sims", "12", "--pgn"]);
    command.arg(file).args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut program = command.spawn().expect("the program starts");
    let lines = format!("{input}fen\n");
    program.stdin.take().expect("a pipe").write_all(lines.as_bytes()).expect("it listens");
    let output = program.wait_with_output().expect("ends");
    assert!(output.status.success());
    let printed = String::from_utf8(output.stdout).expect("text");
    let fen =
        printed.lines().skip_while(|line| !line.ends_with("> fen")).nth(1).expect("a position").to_owned();
    let result = printed.lines().rev().find_map(|line| line.strip_prefix("[Result \"")).expect("a result");
    (result.trim_end_matches("\"]").to_owned(), fen)
}

#[test]
fn python_chess_reads_games_with_their_evaluations() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let file = folder.path().join("games.pgn");
    // The engine plays both sides, until the game or the input ends.
    let self_play = "go\n".repeat(250);
    let games = [
        play(&file, &[], &self_play),
        play(&file, &["--side", "black"], "e5\nNf6\nundo\nd6\nresign\n"),
        play(&file, &["--fen", "8/P6k/8/8/8/8/5p2/K7 b - - 7 41"], &self_play),
        play(&file, &["--fen", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"], "0-0\no-o\n"),
        play(&file, &["--fen", "startpos moves e2e4 a7a6 e4e5 d7d5"], "exd6\n"),
    ];
    let read = interop_script("read_games.py", &file);
    let read: Vec<Vec<&str>> = read.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(read.len(), games.len());
    for (game, (result, fen)) in read.iter().zip(&games) {
        assert_eq!((game[0], game[3]), (result.as_str(), fen.as_str()));
        let count = |text: &str| text.parse::<u32>().expect("a number");
        assert!(count(game[2]) > 0 && count(game[2]) <= count(game[1]), "{game:?}");
    }
    assert!(games.iter().any(|(result, _)| result != "*"), "{games:?}");
}

#[test]
fn a_wrong_move_in_a_pgn_is_detected() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let file = folder.path().join("game.pgn");
    play(&file, &[], "e4\n");
    let game = std::fs::read_to_string(&file).expect("the game");
    std::fs::write(&file, game.replace("1. e4", "1. e5")).expect("writes");
    let read = interop_command("read_games.py").arg(&file).output().expect("Python starts");
    assert!(!read.status.success());
}
