//! The program as match servers and chess programs start it: under any name, without arguments.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn run(program: &Path, args: &[&str], input: &str) -> Output {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("the program listens");
    child.wait_with_output().expect("the program ends")
}

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_dc0-run"))
}

#[test]
fn without_arguments_the_program_is_an_engine_for_whoever_talks_to_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = folder.path().join("some-engine");
    std::fs::copy(program(), &engine).expect("a copy");
    let ended = run(&engine, &[], "uci\nposition startpos moves e2e4\ngo nodes 20\nisready\nquit\n");
    let told = String::from_utf8(ended.stdout).expect("text");
    assert!(ended.status.success(), "{told}");
    for part in ["id name dc0", "uciok", "readyok", "bestmove "] {
        assert!(told.lines().any(|line| line.starts_with(part)), "{part} in\n{told}");
    }
}

#[test]
fn without_arguments_and_without_a_word_the_program_explains_itself() {
    let ended = run(program(), &[], "");
    let told = String::from_utf8(ended.stderr).expect("text");
    assert_eq!(ended.status.code(), Some(2));
    assert!(told.contains("Usage: dc0-run"), "{told}");
}

/// Match servers look for `N nodes` and `N nps` in the last lines, as text in ASCII, and keep 31 bits of the first.
#[test]
fn bench_ends_with_what_match_servers_read_and_the_engine_says_the_same_signature() {
    let bench = ["bench", "--games", "2", "--simulations", "8", "--seconds", "1"];
    let table = run(program(), &bench, "");
    let told = run(program(), &[], "bench\n");
    let signature = |ended: Output| {
        assert!(ended.status.success() && ended.stdout.is_ascii(), "{ended:?}");
        let text = String::from_utf8(ended.stdout).expect("text");
        let words: Vec<String> =
            text.lines().last().expect("a line").split(' ').map(ToOwned::to_owned).collect();
        assert_eq!((words.len(), &*words[1], &*words[3]), (4, "nodes", "nps"), "{text}");
        assert!(words[2].parse::<u64>().expect("a number") > 0);
        words[0].parse::<i32>().expect("a number of 31 bits")
    };
    assert_eq!(signature(table), signature(told));
}
