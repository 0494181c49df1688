//! The program as match servers and chess GUIs start it: under any name, without arguments.

use std::path::Path;
use std::process::Command;

use crate::experiment::{Ended, piped};

fn run(program: &Path, args: &[&str], input: &str) -> Ended {
    piped(Command::new(program).args(args), input.as_bytes())
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
    assert_eq!(ended.code, Some(0), "{}", ended.stdout);
    for part in ["id name dc0", "uciok", "readyok", "bestmove "] {
        assert!(ended.stdout.lines().any(|line| line.starts_with(part)), "{part} in\n{}", ended.stdout);
    }
}

#[test]
fn without_arguments_and_input_the_usage_is_printed() {
    let ended = run(program(), &[], "");
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("Usage: dc0-run"), "{}", ended.stderr);
}

/// Match servers look for `N nodes` and `N nps` in the last lines, in ASCII, and keep 31 bits of the node count.
#[test]
fn bench_and_the_engine_end_with_the_same_signature_line() {
    let bench = ["bench", "--games", "2", "--simulations", "8", "--seconds", "1"];
    let table = run(program(), &bench, "");
    let engine = run(program(), &[], "bench\n");
    let signature = |ended: Ended| {
        assert!(ended.code == Some(0) && ended.stdout.is_ascii(), "{ended:?}");
        let text = ended.stdout;
        let words: Vec<String> =
            text.lines().last().expect("a line").split(' ').map(ToOwned::to_owned).collect();
        assert_eq!((words.len(), &*words[1], &*words[3]), (4, "nodes", "nps"), "{text}");
        assert!(words[2].parse::<u64>().expect("a number") > 0);
        words[0].parse::<i32>().expect("a number of 31 bits")
    };
    assert_eq!(signature(table), signature(engine));
}
