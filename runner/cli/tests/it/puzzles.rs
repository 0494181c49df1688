//! Puzzles and books of openings from the command line.

use std::fs;

use dc0_core::arena::read_puzzles;

use crate::experiment::{Ended, Experiment};

const SUITE: &str =
    "# mates\n7k/8/8/8/8/8/R7/1R4K1 w - - dm 2; id \"rooks\";\n6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - bm Ra8#;\n";

fn ended(experiment: &Experiment, args: &[&str]) -> Ended {
    experiment.start(args).wait_with_output().expect("ends").into()
}

#[test]
fn a_suite_is_solved_stored_and_reported() {
    let experiment = Experiment::new("");
    fs::write(experiment.folder.path().join("suite.epd"), SUITE).expect("writes");
    let solve =
        ["puzzles", "shipped", "suite.epd", "--simulations", "1,200", "--name", "solved", "--device", "cpu"];
    let first = ended(&experiment, &solve);
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    assert!(first.stderr.contains("2 puzzles solved"), "{}", first.stderr);
    let again = ended(&experiment, &solve);
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    let rows = ended(
        &experiment,
        &[
            "sql",
            "datasets/solved",
            "select id, simulations, solved, solved_from from puzzles order by puzzle, simulations",
        ],
    );
    assert_eq!(rows.code, Some(0), "{}", rows.stderr);
    assert!(rows.stdout.contains("rooks") && rows.stdout.contains("line 3"), "{}", rows.stdout);
    let report = ended(&experiment, &["report", "datasets/solved", "--out", "report.html"]);
    assert_eq!(report.code, Some(0), "{}", report.stderr);
    let page = fs::read_to_string(experiment.folder.path().join("report.html")).expect("a page");
    assert!(page.contains("puzzles-solved") && page.contains("policy alone"));
    let verified = ended(&experiment, &["verify", "datasets/solved"]);
    assert_eq!(verified.code, Some(0), "{}{}", verified.stdout, verified.stderr);
}

#[test]
fn broken_suites_are_refused_with_their_lines() {
    let experiment = Experiment::new("");
    let refused = |content: &str, expected: &[&str]| {
        fs::write(experiment.folder.path().join("bad.epd"), content).expect("writes");
        let found = ended(&experiment, &["puzzles", "shipped", "bad.epd", "--device", "cpu"]);
        assert_eq!(found.code, Some(2), "{}", found.stderr);
        for expected in expected {
            assert!(found.stderr.contains(expected), "no {expected:?} in {}", found.stderr);
        }
    };
    refused("", &["bad.epd: has no positions"]);
    let lines =
        format!("{SUITE}nonsense\n7k/8/8/8/8/8/R7/1R4K1 w - - bm Rb9;\n8/8/8/8/8/8/8/8 w - - bm e4;\n");
    refused(&lines, &["bad.epd, line 4: has 1 of the four fields", "bad.epd, line 5: bm", "line 6: \"8/8"]);
    refused("7k/8/8/8/8/8/R7/1R4K1 w - - id \"x\";\n", &["bad.epd, line 1: has neither bm, am nor dm"]);
    let missing = ended(&experiment, &["puzzles", "shipped", "none.epd", "--device", "cpu"]);
    assert_eq!(missing.code, Some(2), "{}", missing.stderr);
    assert!(missing.stderr.contains("none.epd: cannot be read"), "{}", missing.stderr);
}

#[test]
fn books_are_made_again_with_the_same_bytes() {
    let experiment = Experiment::new("");
    let make = |file: &str, seed: &str| {
        let args =
            ["openings", "--out", file, "--count", "30", "--plies", "6", "--depth", "2", "--seed", seed];
        let made = ended(&experiment, &args);
        assert_eq!(made.code, Some(0), "{}", made.stderr);
        fs::read(experiment.folder.path().join(file)).expect("a book")
    };
    assert_eq!(make("a.epd", "1"), make("b.epd", "1"));
    assert_ne!(make("a.epd", "1"), make("b.epd", "2"));
    let starts = ["--start", "double-chess960", "--plies", "2", "--depth", "1", "--count", "10"];
    let made = ended(&experiment, &[&["openings", "--out", "d.epd"][..], &starts].concat());
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    let failed = |args: &[&str]| {
        let all: Vec<&str> = ["openings"].iter().chain(args).copied().collect();
        let failed = ended(&experiment, &all);
        assert_eq!(failed.code, Some(2), "{}", failed.stderr);
        failed.stderr
    };
    assert!(failed(&["--out", "a.txt"]).contains("does not end in .epd"));
    assert!(failed(&["--out", "c.epd", "--plies", "0"]).contains("plies: must lie in 1..=60"));
    assert!(failed(&["--out", "c.epd", "--start", "chess9"]).contains("start: expected one of"));
    assert!(failed(&["--out", "c.epd", "--plies", "1", "--count", "21"]).contains("of 21 openings"));
}

const GAMES: &str = r#"
let run = open_run("small");
run.arena("alphabeta-2", "random", #{ games: 20 });
"#;

#[test]
fn stored_games_become_puzzles() {
    let experiment = Experiment::new(GAMES);
    let played = experiment.run(&[]);
    assert_eq!(played.code, Some(0), "{}", played.stderr);
    let make = |count| {
        ended(
            &experiment,
            &["export", "puzzles", "datasets/small", "--out", "mates.epd", "--mates", "2", "--count", count],
        )
    };
    let made = make("3");
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    assert!(made.stdout.contains("3 mates in 1"), "{}", made.stdout);
    let content = fs::read(experiment.folder.path().join("mates.epd")).expect("a suite");
    let puzzles = read_puzzles("mates.epd", &content).unwrap_or_else(|error| panic!("{error}"));
    assert!(puzzles.iter().all(|puzzle| puzzle.right.len() == 1 && puzzle.id.starts_with("mate in ")));
    assert_eq!(make("0").code, Some(2));
}
