//! `diff`, `reproduce` and `replay` on small runs: complete, changed, damaged and killed ones.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::experiment::{Ended, Experiment, FIXED, SMALL, copy_folder, flip, rewrite_journal, wait_for};
use dc0_core::board::{Game, Position};
use dc0_core::store::{GameRow, read_table};
use dc0_runs::sweep::folder::SweepRecord;
use dc0_runs::sweep::observation::Direction;
use dc0_runs::{Folder, Manifest};
use serde_json::Value as Json;

/// One iteration, with a module, a value from the command line, and an import after the run is opened.
const WITH_MODULES: &str = r#"
import "lib/sizes" as sizes;
let p = params(#{ updates: 4, temperature: |ply| if ply < 10 { 1 } else { 0.5 } });
let run = open_run("small");
let best = run.network(#{ tower: #{ blocks: 1, filters: sizes::filters() }, value_head: #{ filters: 2, hidden: 8 } });
import "lib/late" as late;
run.self_play(best, #{ games: 4, shard_games: 2, search: #{ simulations: late::simulations() }, max_plies: 24,
    temperature: p.temperature });
run.train(best, run.window(), #{ updates: p.updates, batch: 16, checkpoint_every: 2, log_every: 2 });
run.arena(best, "greedy", #{ games: 2, search: #{ simulations: 4 }, max_plies: 24 });
"#;

fn with_modules() -> Experiment {
    let experiment = Experiment::new(WITH_MODULES);
    let folder = experiment.folder.path().join("lib");
    fs::create_dir(&folder).expect("a folder");
    fs::write(folder.join("sizes.rhai"), "fn filters() { 8 }").expect("writes");
    fs::write(folder.join("late.rhai"), "fn simulations() { 4 }").expect("writes");
    experiment
}

#[track_caller]
fn check(ended: &Ended, code: i32, out: &[&str], err: &[&str]) {
    assert_eq!(ended.code, Some(code), "{}{}", ended.stdout, ended.stderr);
    for expected in out {
        assert!(ended.stdout.contains(expected), "{expected:?} is not in:\n{}", ended.stdout);
    }
    for expected in err {
        assert!(ended.stderr.contains(expected), "{expected:?} is not in:\n{}", ended.stderr);
    }
}

#[test]
fn diff_shows_where_two_runs_diverge_and_why() {
    let experiment = Experiment::new(SMALL);
    assert_eq!(experiment.run(&[]).code, Some(0));
    copy_folder(&experiment.run_folder(), &experiment.folder.path().join("datasets/copy"));
    let same = experiment.command(&["diff", "small", "datasets/copy"]);
    check(&same, 0, &["script: the same", "The results are the same: all 8 steps have the same files."], &[]);
    // A folder may have a name that no run can be given.
    copy_folder(&experiment.run_folder(), &experiment.folder.path().join("moved/x:1 \"é\""));
    let moved = "moved/x:1 \"é\"";
    for args in [
        &["diff", "small", moved][..],
        &["replay", moved, "0:0"],
        &["export", "pgn", moved, "--out", "x.pgn"],
    ] {
        check(&experiment.command(args), 0, &[], &[]);
    }
    assert_eq!(experiment.run(&["--set", "updates=6"]).code, Some(0));
    let differs = experiment.command(&["diff", "copy", "small"]);
    let expected = [
        "updates  8 -> 6",
        "network 0001    train      updates 8 -> 6",
        "They diverge at network 0001: updates 8 -> 6.",
        "follows from network 0001",
        "The results differ: 2 of 8 steps have the same files.",
    ];
    check(&differs, 1, &expected, &[]);
    experiment
        .write(&SMALL.replace("let search = #{ simulations: 4 };", "let search = #{ simulations: 6 };"));
    assert_eq!(experiment.run(&[]).code, Some(0));
    let json = experiment.command(&["diff", "copy", "small", "--format", "json"]);
    let page: Json = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(
        (json.code, &page["same"], &page["same_script"]),
        (Some(1), &Json::from(false), &Json::from(false))
    );
    let step = &page["steps"][page["parts_at"].as_u64().expect("a place") as usize];
    assert_eq!((&step["name"], &step["status"]), (&"iteration 0000".into(), &"other_step".into()));
    assert_eq!(step["reasons"][0]["parameter"], "search.simulations");
    let text = experiment.command(&["diff", "copy", "small"]);
    check(&text, 1, &["-let search = #{ simulations: 4 };", "+let search = #{ simulations: 6 };"], &[]);
    assert!(text.stdout.lines().all(|line| line == line.trim_end()), "{}", text.stdout);
}

#[test]
fn missing_and_damaged_runs_have_their_exit_codes() {
    let experiment = with_modules();
    assert_eq!(experiment.run(&[]).code, Some(0));
    let absent = "\"nothing\" is neither the folder of a run nor the name of one in datasets/";
    for args in [&["diff", "small", "nothing"][..], &["reproduce", "nothing"], &["replay", "nothing", "0:0"]]
    {
        check(&experiment.command(args), 2, &[], &[absent]);
    }
    for (name, expected) in [
        ("0:99", "iteration 0000 has no game 99; its games are 0 to 3"),
        ("7:0", "has no iteration 7; it has iteration 0"),
        ("match:0:9", "match 0000 has no game 9; its games are 0 to 1"),
        (
            "seven",
            "expected ITERATION:GAME such as 3:17, or match:MATCH:GAME such as match:2:5, got \"seven\"",
        ),
    ] {
        check(&experiment.command(&["replay", "small", name]), 2, &[], &[expected]);
    }
    check(
        &experiment.command(&["replay", "small", "0:1", "--ply", "900"]),
        2,
        &[],
        &["the game has no ply 900"],
    );
    let games = experiment.first_in("games/");
    let content = fs::read(&games).expect("reads");
    flip(&games);
    check(&experiment.command(&["replay", "small", "0:0"]), 3, &[], &["games/iteration=0000"]);
    let diff = || experiment.command(&["diff", "small", "small"]);
    check(&diff(), 3, &[], &["games/iteration=0000", "its content is not what the finished step wrote"]);
    fs::write(&games, &content[..100]).expect("writes");
    check(&diff(), 3, &[], &["games/iteration=0000", "has 100 bytes instead of"]);
    fs::remove_file(&games).expect("removes");
    check(&diff(), 3, &[], &["games/iteration=0000", "belongs to a finished step, and is gone"]);
    let manifest = experiment.first_in("steps/");
    let text = fs::read_to_string(&manifest).expect("reads");
    fs::write(&manifest, &text[..text.len() / 2]).expect("writes");
    for args in [&["diff", "small", "small"][..], &["reproduce", "small"], &["replay", "small", "0:0"]] {
        check(&experiment.command(args), 3, &[], &["is damaged"]);
    }
}

#[test]
fn a_run_is_reproduced_from_its_folder_alone() {
    let experiment = with_modules();
    assert_eq!(experiment.run(&["--set", "updates=6", "--seed", "5"]).code, Some(0));
    let before = experiment.results();
    fs::remove_file(experiment.folder.path().join("x.rhai")).expect("removes");
    fs::remove_dir_all(experiment.folder.path().join("lib")).expect("removes");
    let expected = ["network 0001    train", "same", "Reproduced: all 4 steps produced the same"];
    check(
        &experiment.command(&["reproduce", "small", "--lanes", "1"]),
        0,
        &expected,
        &["reproducing 4 steps of"],
    );
    let again = experiment.folder.path().join("datasets/small.reproduced");
    assert!(!again.exists(), "the default folder is removed");
    let json = experiment.command(&["reproduce", "small", "--out", "again", "--format", "json"]);
    let page: Json = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!((json.code, &page["same"]), (Some(0), &Json::from(true)));
    assert!(experiment.folder.path().join("again/small/run.json").is_file(), "what was asked for is kept");
    check(
        &experiment.command(&["diff", "small", "again/small"]),
        0,
        &["parameters of the script: the same"],
        &[],
    );
    for out in ["datasets", "datasets/small/inside"] {
        let refused = experiment.command(&["reproduce", "small", "--out", out]);
        check(&refused, 2, &[], &["the run must not change; give another --out"]);
    }
    assert_eq!(experiment.results(), before, "the original is as it was");
    // Another digest in a manifest stands for a run that produced other bytes.
    let path = experiment.first_in("steps/0001-self_play");
    let manifest = Manifest::read(&path).expect("a manifest");
    let mut other = manifest.clone();
    other.files[0].blake3 = "0".repeat(64);
    other.write(&path).expect("writes");
    let of_other = |line: &str| line.replace(&manifest.digest(), &other.digest());
    rewrite_journal(&experiment.run_folder().join("journal.jsonl"), of_other);
    let expected = [
        "same step, different bytes in 1 of its files",
        "Not reproduced: 3 of 4 steps",
        "They diverge at iteration 0000",
    ];
    check(&experiment.command(&["reproduce", "small"]), 1, &expected, &["in the original"]);
    assert!(again.exists(), "what differs is kept");
}

#[test]
fn a_killed_reproduction_of_an_unfinished_run_resumes() {
    let experiment = Experiment::new(&SMALL.replace("updates: 8", "updates: 40"));
    let mut child = experiment.begin(&[]);
    let steps = experiment.run_folder().join("steps");
    let is_manifest = |entry: &fs::DirEntry| entry.path().extension().is_some_and(|kind| kind == "json");
    let finished = || fs::read_dir(&steps).map_or(0, |all| all.flatten().filter(is_manifest).count());
    wait_for("three steps", || finished() >= 3);
    child.kill().expect("can be killed");
    child.wait().expect("ends");
    let count = finished();
    let again = experiment.folder.path().join("datasets/small.reproduced/small");
    let mut first = experiment.start(&["reproduce", "small"]);
    wait_for("steps", || again.join("steps").is_dir());
    first.kill().expect("can be killed");
    first.wait().expect("ends");
    let expected = format!("Reproduced: all {count} steps produced the same");
    check(&experiment.command(&["reproduce", "small", "--keep"]), 0, &[&expected], &[]);
    let journal = fs::read_to_string(again.join("journal.jsonl")).expect("reads");
    assert_eq!(journal.matches("\"opened\"").count(), 2, "{journal}");
    assert!(!journal.contains("taken over"));
}

#[test]
fn reproducing_recomputes_reused_steps_and_refuses_sweeps() {
    let experiment = with_modules();
    assert_eq!(experiment.run(&[]).code, Some(0));
    experiment.write(&WITH_MODULES.replace("\"small\")", "\"second\", #{ from: [\"small\"] })"));
    let second = experiment.run(&["--set", "updates=6"]);
    assert_eq!(second.stderr.matches("(taken over from").count(), 3, "{}", second.stderr);
    fs::remove_dir_all(experiment.run_folder()).expect("removes");
    let expected = ["Reproduced: all 4 steps produced the same"];
    let reproduced = experiment.command(&["reproduce", "second"]);
    check(&reproduced, 0, &expected, &[]);
    assert!(!reproduced.stderr.contains("taken over"), "{}", reproduced.stderr);
    let sweep = experiment.folder.path().join("datasets/many");
    copy_folder(&experiment.folder.path().join("datasets/second"), &sweep.join("trials/0000-0"));
    let record = SweepRecord::new("many", "x.rhai", Direction::Maximize, 3, 2);
    record.write(&Folder::at(&sweep)).expect("writes");
    let expected = ["is a sweep", "dc0-run x.rhai --out DIR --seed 3 --threads 2"];
    check(&experiment.command(&["reproduce", "many"]), 2, &[], &expected);
    check(&experiment.command(&["reproduce", "many/trials/0000-0"]), 2, &[], &["is a trial of a sweep"]);
    check(&experiment.command(&["diff", "many", "second"]), 2, &[], &["is a sweep", "trials/0000-0"]);
    check(&experiment.command(&["diff", "many/trials/0000-0", "second"]), 0, &[], &[]);
}

#[test]
fn every_stored_game_replays_to_the_same_moves_and_visits() {
    let experiment = Experiment::new(SMALL);
    assert_eq!(experiment.run(&["--set", "iterations=1"]).code, Some(0));
    for game in ["0:0", "0:3", "0:5", "match:0:3", "match:1:1"] {
        let same = experiment.command(&["replay", "small", game, "--recompute"]);
        check(&same, 0, &["played again from the seed: the same moves and visits"], &[]);
        let json = experiment.command(&["replay", "small", game, "--format", "json"]);
        let page: Json = serde_json::from_str(&json.stdout).expect("JSON");
        let plies = page["plies"].as_array().expect("plies");
        let pgn = experiment.command(&["replay", "small", game, "--pgn"]);
        let count = format!("[PlyCount \"{}\"]", plies.len() - 1);
        check(&pgn, 0, &[&count, plies[0]["san"].as_str().expect("a move")], &[]);
        assert_eq!(plies[0]["search"].is_object(), !game.starts_with("match"), "{}", plies[0]);
    }
    let ply = experiment.command(&["replay", "small", "0:1", "--ply", "1", "--ascii"]);
    check(&ply, 0, &["iteration 0000, game 1:", "ply 1: 1...", "for Black", "visits", "     a  b  c"], &[]);
    let whole = experiment.command(&["replay", "small", "0:1", "--ascii"]);
    assert!(whole.stdout.matches("     a  b  c").count() > 5, "{}", whole.stdout);
    // Another seed of the step plays other games.
    let manifests = fs::read_dir(experiment.run_folder().join("steps")).expect("a folder").flatten();
    let of_games = |path: &PathBuf| path.to_string_lossy().contains("-self_play-");
    let path = manifests.map(|entry| entry.path()).find(of_games).expect("a step");
    let manifest = Manifest::read(&path).expect("a manifest");
    let other = Manifest { seed: 2, ..manifest.clone() };
    other.write(&path).expect("writes");
    let journal = experiment.run_folder().join("journal.jsonl");
    rewrite_journal(&journal, |line| line.replace(&manifest.digest(), &other.digest()));
    let other = experiment.command(&["replay", "small", "0:3", "--recompute"]);
    check(&other, 1, &["played again from the seed: different, first at game"], &[]);
    fs::remove_file(experiment.first_in("networks/0000.safetensors")).expect("removes");
    check(&experiment.command(&["replay", "small", "0:3", "--recompute"]), 2, &[], &["is not in"]);
}

/// A run whose games start from a book, and then from games of its own.
const STARTS: &str = r#"
let p = params(#{ archive_share: 1.0, book: "book.pgn" });
let run = open_run("small");
let net = run.network(#{ tower: #{ blocks: 1, filters: 8 }, value_head: #{ filters: 2, hidden: 8 } });
let play = #{ games: 6, shard_games: 3, search: #{ simulations: 4 }, max_plies: 30 };
let first = run.self_play(net, play + #{ openings: #{ file: p.book, share: 0.5 } });
let second = run.self_play(net, first, play + #{ archive_share: p.archive_share, opening_plies: 1 });
let newer = run.reanalyze(net, first + second, #{ search: #{ simulations: 3 }, share: 0.5 });
run.train(net, newer, #{ updates: 2, batch: 8 });
"#;

#[test]
fn games_start_from_books_and_earlier_games_and_are_played_again() {
    let experiment = Experiment::new(STARTS);
    let book = experiment.folder.path().join("book.pgn");
    fs::write(&book, "1. e4 c5 2. Nf3 *\n\n1. d4 d5 2. c4 *\n").expect("writes");
    assert_eq!(experiment.run(&[]).code, Some(0));
    let rows = |iteration: u32| -> Vec<GameRow> {
        let folder = experiment.run_folder().join(format!("games/iteration={iteration:04}"));
        let files = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
        files
            .collect::<BTreeSet<_>>()
            .into_iter()
            .flat_map(|file| read_table::<GameRow>(&file).expect("reads"))
            .collect()
    };
    let (first, second) = (rows(0), rows(1));
    assert!(first.iter().all(|game| [0, 3].contains(&game.opening_plies)));
    assert!(
        first.iter().any(|game| game.opening_plies == 3) && first.iter().any(|game| game.opening_plies == 0)
    );
    let searched = |game: &GameRow| -> Vec<String> {
        let played = Game::from_packed(&game.start_fen, &game.moves).expect("a legal game");
        played.positions().skip(game.opening_plies.into()).map(Position::fen).collect()
    };
    let archive: Vec<String> = first.iter().flat_map(searched).collect();
    assert!(second.iter().all(|game| archive.contains(&game.start_fen)), "{second:?}");
    for game in ["0:1", "0:4", "1:1", "1:4"] {
        let same = experiment.command(&["replay", "small", game, "--recompute"]);
        check(&same, 0, &["played again from the seed: the same moves and visits"], &[]);
    }
    // Copies of all games in one iteration, with other targets for about half of the positions.
    let moves = |games: &[GameRow]| games.iter().map(|game| game.moves.clone()).collect::<Vec<_>>();
    let copies = rows(2);
    assert_eq!(moves(&copies), [moves(&first), moves(&second)].concat());
    assert_eq!(copies.iter().map(|game| game.game).collect::<Vec<_>>(), (0..12).collect::<Vec<_>>());
    let again = experiment.command(&["replay", "small", "2:1", "--recompute"]);
    check(&again, 2, &[], &["the games of iteration 0002 are copies with new targets"]);
    check(&experiment.command(&["replay", "small", "2:11"]), 0, &[], &[]);
    check(&experiment.command(&["verify", "small"]), 0, &[], &[]);
    let resumed = experiment.run(&[]);
    check(&resumed, 0, &[], &["5 steps done before"]);
    let refused = |args: &[&str], expected: &str| check(&experiment.run(args), 2, &[], &[expected]);
    refused(&["--set", "archive_share=0.0"], "archive_share: expected more than 0");
    refused(&["--set", "book=none.pgn"], "cannot read none.pgn");
    let long =
        "a3 a6 b3 b6 c3 c6 d3 d6 e3 e6 f3 f6 g3 g6 h3 h6 a4 a5 b4 b5 c4 c5 d4 d5 e4 e5 f4 f5 g4 g5 h4 h5 *\n";
    fs::write(&book, long).expect("writes");
    refused(&[], "has 32 plies, which must stay below max_plies = 30, in self-play with `opening_plies`");
}

#[test]
fn costs_are_written_for_each_step_and_rewritten_if_lost() {
    let experiment = Experiment::new(SMALL);
    assert_eq!(experiment.run(&["--set", "iterations=1"]).code, Some(0));
    let table = experiment.run_folder().join("costs.parquet");
    let content = fs::read(&table).expect("a table");
    assert_eq!((&content[..4], &content[content.len() - 4..]), (&b"PAR1"[..], &b"PAR1"[..]));
    fs::remove_file(&table).expect("removes");
    assert_eq!(experiment.run(&["--set", "iterations=1"]).code, Some(0));
    assert_eq!(fs::read(&table).expect("a table"), content, "nothing was done, so nothing costs more");
}

#[test]
fn the_smoke_experiment_is_reproduced_byte_for_byte() {
    let experiment = Experiment::new(include_str!("../../../../experiments/smoke.rhai"));
    assert_eq!(experiment.run(&[]).code, Some(0));
    let expected = ["Reproduced: all 12 steps produced the same 30 files."];
    check(&experiment.command(&["reproduce", "smoke"]), 0, &expected, &[]);
}

/// Games of one run, and a net that another one trains and plays from them.
const NAMES_ANOTHER: &str = r#"
let games = load_dataset("small");
let run = open_run("pupil");
let net = run.load_network("small");
run.train(net, games, #{ updates: 2, batch: 8, validation_fraction: 0.0 });
run.validate(net, games);
run.summary();
"#;

#[test]
fn a_run_that_names_another_one_is_reproduced_beside_it() {
    let experiment = Experiment::new(SMALL);
    assert_eq!(experiment.run(&["--set", "iterations=1"]).code, Some(0));
    experiment.write(NAMES_ANOTHER);
    experiment.run_ends(&[], 0);
    let expected = ["Reproduced: all 3 steps produced the same"];
    check(&experiment.command(&["reproduce", "pupil"]), 0, &expected, &[]);
    let ended = experiment.command(&["reproduce", "pupil", "--format", "json"]);
    assert!(serde_json::from_str::<Json>(&ended.stdout).is_ok(), "{}", ended.stdout);
    fs::rename(experiment.folder.path().join("datasets/small"), experiment.folder.path().join("moved"))
        .expect("moves");
    let ended = experiment.command_ends(&["reproduce", "pupil"], 2);
    assert!(ended.stderr.contains("\"small\" is neither a dataset nor a run"), "{}", ended.stderr);
    assert!(!experiment.folder.path().join("datasets/pupil.reproduced").exists(), "nothing is left");
}

#[test]
fn a_run_whose_sources_do_not_fit_is_not_begun() {
    let experiment = Experiment::new(SMALL);
    assert_eq!(experiment.run(&["--set", "iterations=1"]).code, Some(0));
    experiment.write(&SMALL.replace("open_run(\"small\")", "open_run(\"second\", #{ from: [\"small\"] })"));
    let start = |threads, code| {
        let args = [&FIXED[..6], &[threads, "--set", "iterations=1"]].concat();
        experiment.command_ends(&args, code);
    };
    start("2", 2);
    assert!(!experiment.folder.path().join("datasets/second/run.json").exists());
    start("1", 0);
}
