//! `dc0-run import lc0`: datasets of training data, what is refused, planted corruptions, and training on such games.

#[expect(dead_code, reason = "the tests of the core use all of it")]
#[path = "../../../../core/src/import/lc0/tests/chunk.rs"]
mod chunk;

use std::fs;
use std::path::{Path, PathBuf};

// By this name `chunk` finds the crate from wherever it is included.
use dc0_core as tested;
use dc0_core::board::{GameResult, Reason, Rules, random_opening};
use dc0_core::rng::{Purpose, Seed};
use dc0_core::store::{GameRow, PositionRow, RejectRow};

use crate::experiment::Experiment;
use crate::imports::{Corruption, check_corruptions, problems, reseal};

/// The records of random games, one after the other, and of a broken one after each ten.
fn training_data(count: u64) -> Vec<u8> {
    let mut content = Vec::new();
    for number in 0..count {
        let mut stream = Seed { run: 4, step: 0 }.stream(number, Purpose::Opening);
        let game = random_opening(20 + number as u32 % 9, &Rules { max_plies: 512 }, &mut stream);
        let any = [GameResult::WhiteWins, GameResult::Draw, GameResult::BlackWins][number as usize % 3];
        let outcome = game.outcome(&Rules { max_plies: u32::MAX });
        let mut records = chunk::records(&game, outcome.map_or(any, |outcome| outcome.result()));
        content.extend(records.concat());
        if number % 10 == 9 {
            records.remove(2);
            content.extend(records.concat());
        }
    }
    content
}

fn with_games(count: u64) -> Experiment {
    let experiment = Experiment::new("");
    fs::write(experiment.folder.path().join("games.bin"), training_data(count)).expect("writes");
    experiment
}

const IMPORT: [&str; 7] = ["import", "lc0", "games.bin", "--out", "datasets/d", "--shard-games", "16"];

fn imported(count: u64) -> (Experiment, PathBuf) {
    let experiment = with_games(count);
    experiment.command_ends(&IMPORT, 0);
    let root = experiment.folder.path().join("datasets/d");
    (experiment, root)
}

#[test]
fn training_data_of_lc0_is_a_dataset_like_any_other() {
    let (experiment, root) = imported(40);
    let again = experiment.command_ends(&IMPORT, 0);
    assert!(again.stderr.contains("40 games of 44 read, ") && again.stderr.contains("done before"));
    assert!(again.stderr.contains("4 broken (planes 4)"), "{}", again.stderr);
    let card = fs::read_to_string(root.join("README.md")).expect("a page");
    assert!(card.contains("from training data of Leela Chess Zero."), "{card}");
    let verified = experiment.command_ends(&["verify", "datasets/d"], 0);
    assert!(verified.stdout.contains("40 games and "), "{}", verified.stdout);
    let query = "select count(*) as games, min(len(target)) > 0 as taught from games join positions using (run, iteration, game) \
        where simulations = list_sum(visits) + 1 and ply = 0";
    let rows = experiment.command_ends(&["sql", "datasets/d", query, "--format", "csv"], 0);
    assert!(rows.stdout.contains("40,true"), "{}", rows.stdout);
    let rejects = "select number, line, reason from rejects order by all limit 1";
    let rows = experiment.command_ends(&["sql", "datasets/d", rejects, "--format", "csv"], 0);
    assert!(rows.stdout.contains("11,3,planes"), "{}", rows.stdout);
    experiment.command_ends(&["report", "datasets/d", "--out", "report.html"], 0);
    experiment.command_ends(&["replay", "datasets/d", "0:7"], 0);
    experiment.command_ends(&["export", "pgn", "datasets/d", "--games", "imported", "--out", "again.pgn"], 0);
    let exported = fs::read_to_string(experiment.folder.path().join("again.pgn")).expect("a file");
    assert!(exported.contains("{q="), "the values of the searches are comments");
    experiment.command_ends(&["import", "pgn", "again.pgn", "--out", "datasets/e"], 0);
}

#[test]
fn what_is_no_training_data_is_refused_with_a_message() {
    let experiment = with_games(3);
    let folder = experiment.folder.path();
    let refused = |args: &[&str], code: i32, expected: &str| {
        let ended = experiment.command_ends(&[&["import", "lc0"], args].concat(), code);
        assert!(ended.stderr.contains(expected), "{args:?}: {expected}: {}", ended.stderr);
    };
    fs::write(folder.join("games.pgn"), "1. e4 1-0\n").expect("writes");
    fs::write(folder.join("cut.gz"), [0x1f, 0x8b, 8, 0]).expect("writes");
    let mut other = training_data(1);
    other[4] = 3;
    fs::write(folder.join("other.bin"), other).expect("writes");
    refused(&["missing.tar", "--out", "d"], 3, "error: cannot read missing.tar: ");
    refused(
        &["games.pgn", "--out", "d"],
        2,
        "error: games.pgn does not begin with a record; expected training data of lc0",
    );
    refused(&["cut.gz", "--out", "d"], 3, "error: cut.gz is cut or damaged: ");
    refused(&["games.bin", "--out", "d", "--value", "mean"], 2, "expected one of root, best, result");
    let none = "none of 1 games is taken: 1 broken (input_format 1); the first broken one is game 1 of other.bin, record 1: ply 0: its \
        input format is 3; expected 1 or 2";
    refused(&["other.bin", "--out", "other"], 2, none);
    let script = experiment
        .command_ends(&["import", "lc0", "games.bin", "--out", "d", "--value", "best", "--script"], 0);
    assert!(script.stdout.contains("run.import_lc0([\n    \"games.bin\", // "), "{}", script.stdout);
    assert!(script.stdout.ends_with("], #{\n    value: \"best\",\n});\n"), "{}", script.stdout);
}

#[test]
fn planted_corruptions_of_training_data_are_found() {
    let (experiment, root) = imported(20);
    assert_eq!(problems(&root), [""; 0]);
    let corruptions: [Corruption<'_>; 8] = [
        (
            "an illegal move",
            &|root| reseal::<GameRow>(root, "games", |rows| rows[3].moves[5] = rows[3].moves[0]),
            "game 3: its move at ply 5, ",
        ),
        (
            "a game that lc0 did not end by its length",
            &|root| {
                reseal::<GameRow>(root, "games", |rows| rows[1].reason = Reason::PlyCap.into());
            },
            "game 1: `reason` is ply_cap, but it ended by ",
        ),
        (
            "a position of another game",
            &|root| reseal::<PositionRow>(root, "positions", |rows| rows[4].fen = rows[8].fen.clone()),
            "game 0: ply 4: `fen` is ",
        ),
        (
            "a target on an illegal move",
            &|root| reseal::<PositionRow>(root, "positions", |rows| rows[2].moves[0] = 0),
            "game 0: ply 2: a1a1 in `moves` is not legal",
        ),
        (
            "a target with another sum",
            &|root| reseal::<PositionRow>(root, "positions", |rows| rows[2].target[1] += 500),
            "game 0: ply 2: the shares of `target` sum to ",
        ),
        (
            "visits that no search made",
            &|root| reseal::<PositionRow>(root, "positions", |rows| rows[6].visits[1] -= 1),
            "game 0: ply 6: `visits` sum to ",
        ),
        (
            "an impossible value",
            &|root| reseal::<PositionRow>(root, "positions", |rows| rows[1].root_q = 0.9),
            "game 0: ply 1: `root_q` is 0.9 and `root_d` 0.5",
        ),
        (
            "a broken game that is not listed",
            &|root| reseal::<RejectRow>(root, "rejects", |rows| _ = rows.remove(0)),
            "its broken game 0 is missing",
        ),
    ];
    check_corruptions(&experiment, &root, &corruptions);
}

#[test]
fn a_script_trains_on_training_data_and_searches_it_again() {
    let experiment = with_games(20);
    experiment.write(
        r#"
let run = open_run("small");
let games = run.import_lc0("games.bin", #{ value: "best", skip_plies: 4 });
print(`${games.games} of ${games.read}`);
let net = run.network(#{ tower: #{ blocks: 1, filters: 8 }, value_head: #{ filters: 2, hidden: 8 } });
let first = run.train(net, games, #{ updates: 4, batch: 16, search_value_weight: 0.5, surprise_weight: 0.5 });
let newer = run.reanalyze(first, games, #{ search: #{ simulations: 4 }, share: 0.2 });
print(`${newer.games} games searched again`);
run.train(first, run.window(), #{ updates: 4, batch: 16 });
"#,
    );
    let plan = experiment.run_ends(&["--check"], 0);
    assert!(plan.stdout.contains("import of games.bin"), "{}", plan.stdout);
    let ended = experiment.run_ends(&[], 0);
    assert!(ended.stdout.contains("20 of 22\n20 games searched again"), "{}", ended.stdout);
    let root: &Path = &experiment.run_folder();
    assert_eq!(problems(root), [""; 0]);
    let wrong = [
        ("run.import_lc0([])", "expected at least one file, got none"),
        ("run.import_lc0(\"missing.tar\")", "cannot read missing.tar: "),
        ("run.import_lc0(\"games.bin\", #{ value: \"mean\" })", "value: expected one of root, best, result"),
        ("run.import_lc0(\"games.bin\", #{ evals: \"ignore\" })", "evals: unknown parameter"),
    ];
    for (call, expected) in wrong {
        experiment.write(&format!("let run = open_run(\"small\"); {call};"));
        let ended = experiment.run(&[]);
        assert_eq!(ended.code, Some(2), "{call}: {}", ended.stderr);
        assert!(ended.stderr.contains(expected), "{call}: {expected}: {}", ended.stderr);
    }
}
