//! The program as match servers and chess GUIs start it: under any name, without arguments.

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
fn without_arguments_piped_input_starts_the_uci_engine() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = folder.path().join("some-engine");
    std::fs::copy(program(), &engine).expect("a copy");
    let ended = run(&engine, &[], "uci\nposition startpos moves e2e4\ngo nodes 20\nisready\nquit\n");
    let output = String::from_utf8(ended.stdout).expect("text");
    assert!(ended.status.success(), "{output}");
    for part in ["id name dc0", "uciok", "readyok", "bestmove "] {
        assert!(output.lines().any(|line| line.starts_with(part)), "{part} in\n{output}");
    }
}

#[test]
fn without_arguments_and_input_the_usage_is_printed() {
    let ended = run(program(), &[], "");
    let errors = String::from_utf8(ended.stderr).expect("text");
    assert_eq!(ended.status.code(), Some(2));
    assert!(errors.contains("Usage: dc0-run"), "{errors}");
}

/// Match servers look for `N nodes` and `N nps` in the last lines, in ASCII, and keep 31 bits of the node count.
#[test]
fn bench_and_the_engine_end_with_the_same_signature_line() {
    let bench = ["bench", "--games", "2", "--simulations", "8", "--seconds", "1"];
    let table = run(program(), &bench, "");
    let engine = run(program(), &[], "bench\n");
    let signature = |ended: Output| {
        assert!(ended.status.success() && ended.stdout.is_ascii(), "{ended:?}");
        let text = String::from_utf8(ended.stdout).expect("text");
        let words: Vec<String> =
            text.lines().last().expect("a line").split(' ').map(ToOwned::to_owned).collect();
        assert_eq!((words.len(), &*words[1], &*words[3]), (4, "nodes", "nps"), "{text}");
        assert!(words[2].parse::<u64>().expect("a number") > 0);
        words[0].parse::<i32>().expect("a number of 31 bits")
    };
    assert_eq!(signature(table), signature(engine));
}
