//! `dc0-run explain` and the demos, as users run them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::experiment::{Ended, Experiment, SMALL, piped};

fn run(args: &[&str]) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dc0-run"));
    piped(command.args(args).env("LC_ALL", "C.UTF-8").env_remove("NO_COLOR"), b"")
}

fn explain(args: &[&str]) -> Ended {
    run(&[&["explain", "--device", "cpu"], args].concat())
}

const MATE: &str = "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1";

#[test]
fn a_mate_is_found_and_explained() {
    let explained = explain(&[MATE, "--sims", "100", "--ascii"]);
    assert_eq!(explained.code, Some(0), "{}", explained.stderr);
    assert!(explained.stdout.is_ascii() && !explained.stdout.contains('\x1b'));
    for part in ["White to move; values are for White throughout", "; proven win", "Rd8#", "proven win"] {
        assert!(explained.stdout.contains(part), "no \"{part}\" in\n{}", explained.stdout);
    }
    let again = explain(&[MATE, "--sims", "100", "--ascii"]);
    assert_eq!(again.stdout, explained.stdout);
}

#[test]
fn every_format_is_written_to_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    for (format, begins) in
        [("html", "<!doctype html>"), ("svg", "<svg xmlns"), ("json", "{"), ("text", "  1 ")]
    {
        let file = folder.path().join(format);
        let path = file.to_str().expect("UTF-8");
        let position = ["startpos", "moves", "e2e4"];
        let written =
            explain(&[&position[..], &["--sims", "30", "--format", format, "--out", path]].concat());
        assert_eq!((written.code, written.stdout.as_str()), (Some(0), ""), "{}", written.stderr);
        let text = fs::read_to_string(&file).expect("a file");
        assert!(text.starts_with(begins), "{text}");
        // A page loads nothing from outside.
        assert!(
            !text.contains("src=") && !text.replace("http://www.w3.org/2000/svg", "").contains("http"),
            "{format}"
        );
    }
    let json = explain(&["startpos", "--sims", "20", "--format", "json"]).stdout;
    let data: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(data["search"]["simulations"], 20);
    assert_eq!(data["side"], "White");
}

#[test]
fn bad_input_is_reported() {
    for (args, code, part) in [
        (&["x"][..], 2, "\"x\" is not a FEN"),
        (&["startpos moves e2e5"], 2, "\"e2e5\", is not legal"),
        (&["8/8/8/8/8/8/8/8 w - - 0 1"], 2, "is not a legal position"),
        (&["7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"], 2, "the game is over in"),
        (&["startpos", "--net", "nowhere"], 2, "\"nowhere\" is neither a file"),
        (&["startpos", "--net", "nowhere.safetensors"], 3, "nowhere"),
        (&["startpos", "--sims", "0"], 2, "0 is not in 1..=10000000"),
        (&["startpos", "--search", "c_put=1", "--search", "simulation=3"], 2, "did you mean `c_puct`?"),
        (&["startpos", "--search", "c_puct"], 2, "expected NAME=VALUE"),
        (
            &["startpos", "--net", "shipped:az_small", "--search", "quiescence=true"],
            2,
            "search.quiescence: expected a net with a tower of the kind nnue",
        ),
        (&["startpos", "--search", "tablebases=/nowhere"], 2, "/nowhere"),
        (
            &["startpos", "--sims", "2", "--out", "/dev/null/x"],
            2,
            "cannot write the explanation to /dev/null/x",
        ),
        (&["no_run:1:2@3"], 2, "no_run is not the folder of a run"),
        (&[], 2, "POSITION"),
    ] {
        let refused = explain(args);
        assert_eq!(refused.code, Some(code), "{args:?} {}", refused.stderr);
        assert!(refused.stderr.contains(part), "no \"{part}\" in {}", refused.stderr);
        assert_eq!(refused.stdout, "");
    }
    let both = explain(&["startpos", "--search", "c_put=1", "--search", "simulation=3"]).stderr;
    assert!(both.contains("explain: 2 problems"), "{both}");
}

#[test]
fn stored_games_are_explained_with_nets_of_runs() {
    let experiment = Experiment::new(SMALL);
    experiment.run_ends(&["--set", "iterations=1"], 0);
    let run = experiment.run_folder();
    let run = run.to_str().expect("UTF-8");
    let explained =
        explain(&[&format!("{run}:0:3@5"), "--net", run, "--sims", "16", "--search", "root.rule=gumbel"]);
    assert_eq!(explained.code, Some(0), "{}", explained.stderr);
    assert!(
        explained.stdout.contains("Black to move") && explained.stdout.contains("sequential halving"),
        "{}",
        explained.stdout
    );
    let by_player = explain(&[&format!("{run}:0:3@5"), "--sims", "16", "--search", "root.rule=gumbel"]);
    assert!(by_player.stdout.contains("networks/0000"), "{}", by_player.stdout);
    for (name, part) in
        [(":0:99@1", "has no game 99"), (":7:0@1", "has no game 0"), (":0:3@999", "the game has 30 plies")]
    {
        let refused = explain(&[&format!("{run}{name}")]);
        assert_eq!(refused.code, Some(2), "{}", refused.stderr);
        assert!(
            refused.stderr.contains(part) || part.contains("plies") && refused.stderr.contains(" plies"),
            "{}",
            refused.stderr
        );
    }
}

fn demo(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/demos").join(name)
}

#[test]
fn demos_run_in_any_folder_and_write_no_files() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, quick, parts) in [
        ("one_search.rhai", "simulations=12", ["Simulation 2", "The tree", "is the most visited one"]),
        ("forward_pass.rhai", "moves=3", ["1. Input: 20 planes", "stem.conv", "P(win) − P(loss)"]),
        (
            "one_game.rhai",
            "max_plies=12",
            ["Ply 0: White plays 1.", "ply cap, after 12 plies", "What the net learns"],
        ),
    ] {
        let start = |more: &[&str]| -> Ended {
            let mut command = Command::new(env!("CARGO_BIN_EXE_dc0-run"));
            command.arg(demo(name)).args(["--device", "cpu", "--set", quick]).args(more);
            command.current_dir(folder.path()).output().expect("starts").into()
        };
        let shown = start(&[]);
        assert_eq!(shown.code, Some(0), "{name}: {}", shown.stderr);
        for part in parts {
            assert!(shown.stdout.contains(part), "{name}: no \"{part}\" in\n{}", shown.stdout);
        }
        let widest = shown.stdout.lines().map(|line| line.chars().count()).max();
        let moves = shown.stdout.lines().filter(|line| !line.starts_with("The moves: "));
        let widest = widest.min(moves.map(|line| line.chars().count()).max());
        assert!(widest <= Some(112), "{name}: {widest:?} columns");
        assert_eq!(shown.stdout, start(&[]).stdout, "{name} is deterministic");
        let checked = start(&["--check"]);
        assert_eq!(checked.code, Some(0), "{name}: {}", checked.stderr);
    }
    assert_eq!(fs::read_dir(folder.path()).expect("lists").count(), 0, "nothing was written");
}

#[test]
fn wrong_calls_are_reported() {
    for (script, part) in [
        ("load_network(\"nowhere\");", "\"nowhere\" is neither a file"),
        ("explain(load_network(), \"x\", #{});", "\"x\" is not a FEN"),
        ("explain(load_network(), \"startpos\", #{ step: 1 });", "did you mean `steps`?"),
        (
            "explain(load_network(), \"startpos\", #{ steps: 2, search: #{ leaf_batch: 4 } });",
            "must be 1 where steps are shown",
        ),
        (
            "play_game(load_network(), -1, #{});",
            "play_game: seed: expected a whole number of at least 0, got -1",
        ),
        ("play_game(load_network(), 1, #{ search: #{ simulations: 1 } });", "self-play needs at least 2"),
        ("board(\"x\");", "\"x\" is not a FEN"),
        ("forward_pass(load_network(), 7);", "call it as forward_pass(net, "),
        (
            "open_run(\"r\").self_play(load_network(), #{});",
            "`self_play` is not called with (Run, StoredNetwork, map)",
        ),
    ] {
        let experiment = Experiment::new(script);
        let refused = experiment.run(&["--check"]);
        assert_eq!(refused.code, Some(2), "{script}: {}", refused.stderr);
        assert!(refused.stderr.contains(part), "no \"{part}\" in {}", refused.stderr);
    }
}
