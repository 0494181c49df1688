//! Matches: sequential tests that end them early, and their games as PGN.

use std::collections::BTreeSet;
use std::fs;

use dc0_core::store::{MatchGameRow, read_table};

use crate::experiment::{Experiment, FIXED, SMALL, flip};

/// A random net has no chance against alpha-beta, so the test fails long before the last game.
const TESTED: &str = r#"
let run = open_run("small");
let net = run.network(#{ tower: #{ blocks: 1, filters: 8 }, value_head: #{ filters: 2, hidden: 8 } });
let verdict = run.arena(net, "alphabeta-2", #{ games: 400, shard_games: 4, search: #{ simulations: 4 },
    sprt: #{ elo0: 0.0, elo1: 60.0 } });
print(`${verdict.sprt.verdict} after ${verdict.games} games, ${verdict.sprt.llr <= verdict.sprt.lower}`);
"#;

#[test]
fn a_test_ends_a_match_and_neither_lanes_nor_kills_change_its_games() {
    let whole = Experiment::new(TESTED);
    let ended = whole.run_ends(&["--lanes", "1"], 0);
    let games = ended.stdout.strip_prefix("failed after ").and_then(|rest| rest.split_once(" games, true"));
    let games: u32 = games.expect("a verdict").0.parse().expect("a number");
    assert!(games < 100, "{games}");
    assert!(ended.stderr.contains("test failed: LLR -"), "{}", ended.stderr);

    let killed = Experiment::new(TESTED);
    killed.run_killed(&[&FIXED[..], &["--lanes", "3"]].concat());
    assert_eq!(killed.run(&["--lanes", "2"]).stdout, ended.stdout);
    assert_eq!(killed.results(), whole.results());
}

/// A match of a player that is a program without a process.
const SEARCHERS: &str = r#"
let run = open_run("small");
let strong = alphabeta(#{ nodes: 400 });
let verdict = run.arena(strong, "greedy", #{ games: 6 });
print(`${strong.name}: ${verdict.score}`);
"#;

#[test]
fn the_alpha_beta_player_repeats_its_games() {
    let whole = Experiment::new(SEARCHERS);
    let ended = whole.run(&["--lanes", "1"]);
    assert_eq!(ended.stdout, "alpha-beta (material), 400 nodes: 1.0\n", "{}", ended.stderr);
    let again = Experiment::new(SEARCHERS);
    assert_eq!(again.run(&["--lanes", "3"]).stdout, ended.stdout);
    assert_eq!(again.results(), whole.results());
    let other = Experiment::new(&SEARCHERS.replace("nodes: 400", "nodes: ()"));
    let refused = other.run_ends(&["--check"], 2);
    assert!(refused.stderr.contains("nodes: expected a limit, got ()"), "{}", refused.stderr);
}

/// An NNUE from random weights: self-play, training, and matches by both searches.
const NNUE: &str = r#"
let run = open_run("small");
let net = run.network(#{ tower: #{ kind: "nnue", filters: 64 }, value_head: #{ hidden: 8 }, auxiliary_heads: #{ material: true } });
run.self_play(net, #{ games: 6, shard_games: 2, max_plies: 60, search: #{ simulations: 8 } });
let trained = run.train(net, run.window(#{ iterations: 1 }), #{ updates: 4, batch: 16 });
let by_values = alphabeta(trained, #{ nodes: 300 });
print(run.arena(by_values, "random", #{ games: 4 }).score);
run.arena(trained, by_values, #{ games: 4, search: #{ simulations: 8 } });
let wider = run.grow(trained, #{ filters: 128 });
run.arena(wider, trained, #{ games: 4, search: #{ simulations: 8 } });
"#;

#[test]
fn an_nnue_plays_and_learns_the_same_with_any_lanes() {
    let whole = Experiment::new(NNUE);
    let ended = whole.run_ends(&["--lanes", "1"], 0);
    let again = Experiment::new(NNUE);
    assert_eq!(again.run(&["--lanes", "3"]).stdout, ended.stdout);
    assert_eq!(again.results(), whole.results());
    // Alpha-beta without a tree search beside it plays pair by pair.
    for (game, shard) in [("match:0:3", "games 2 to 3"), ("match:1:3", "games 0 to 3")] {
        let replayed = whole.command(&["replay", "datasets/small", game, "--recompute"]);
        replayed.has(&format!("{shard}, played again from the seed: the same moves"));
    }

    let other = Experiment::new(&NNUE.replace(r#"kind: "nnue", filters: 64"#, "blocks: 1, filters: 8"));
    let refused = other.run_ends(&["--check"], 2);
    assert!(refused.stderr.contains("is of the kind se_resnet; leave it out"), "{}", refused.stderr);
    let both = NNUE
        .replace("alphabeta(trained, #{ nodes: 300 })", "player(trained, #{ alphabeta: #{}, search: #{} })");
    let both = Experiment::new(&both).run_ends(&["--check"], 2);
    assert!(both.stderr.contains("expected one of `search` and `alphabeta`, got both"), "{}", both.stderr);
    let narrow = Experiment::new(&NNUE.replace("filters: 64", "filters: 40")).run_ends(&["--check"], 2);
    assert!(
        narrow.stderr.contains("tower.filters: an nnue takes a multiple of 64, got 40"),
        "{}",
        narrow.stderr
    );
}

/// Games and a match of Chess960, which the net trains on.
const CHESS960: &str = r#"
let run = open_run("small");
let net = run.network(#{ tower: #{ blocks: 1, filters: 8 }, value_head: #{ filters: 2, hidden: 8 } });
let search = #{ simulations: 4 };
let games = run.self_play(net, #{ games: 12, openings: "chess960", search: search, max_plies: 80 });
let after = run.train(net, games, #{ updates: 2, batch: 8 });
let verdict = run.arena(after, "greedy", #{ games: 6, openings: "double-chess960", search: search });
print(verdict.games);
"#;

#[test]
fn games_begin_at_starts_of_chess960_and_are_written_and_read_again() {
    let whole = Experiment::new(CHESS960);
    let ended = whole.run(&["--lanes", "1"]);
    assert!(ended.stdout.starts_with("6\n"), "{}{}", ended.stdout, ended.stderr);
    let again = Experiment::new(CHESS960);
    assert_eq!(again.run(&["--lanes", "3"]).stdout, ended.stdout);
    assert_eq!(again.results(), whole.results());
    let command = |args: &[&str]| whole.command_ends(args, 0);
    command(&["verify", "datasets/small"]);
    command(&["export", "pgn", "datasets/small", "--out", "all.pgn"]);
    let pgn = fs::read_to_string(whole.folder.path().join("all.pgn")).expect("the games");
    // A few starts have kings and rooks on the squares of standard chess.
    assert!(pgn.matches("[Variant \"Chess960\"]").count() > 14, "{pgn}");
    // What was exported is imported with the same moves.
    command(&["export", "pgn", "datasets/small", "--games", "self-play", "--out", "games.pgn"]);
    command(&["import", "pgn", "games.pgn", "--out", "datasets/read"]);
    let games = "select start_fen, uci(moves) as moves from games order by start_fen, moves";
    let read = |from: &str| {
        command(&["sql", from, games, "--out", "games.csv", "--replace"]);
        fs::read_to_string(whole.folder.path().join("games.csv")).expect("the answer")
    };
    let stored = read("datasets/small");
    assert_eq!((stored.lines().count(), read("datasets/read")), (13, stored));
}

#[test]
fn wrong_tests_are_refused() {
    let script = TESTED.replace("elo1: 60.0", "elo1: -1.0, alpha: 0.7");
    let ended = Experiment::new(&script).run_ends(&["--check"], 2);
    assert!(ended.stderr.contains("alpha"), "{}", ended.stderr);
}

#[test]
fn stored_games_are_exported_as_pgn() {
    let experiment = Experiment::new(SMALL);
    experiment.run_ends(&[], 0);
    let export = |args: &[&str], code| {
        let games = ["export", "pgn", "datasets/small", "--out", "games.pgn"];
        experiment.command_ends(&[&games, args].concat(), code)
    };
    let file = experiment.folder.path().join("games.pgn");
    // Two iterations of 6 games, two matches of 4 and one of 2.
    for (args, games) in [
        (&[][..], 22),
        (&["--games", "self-play"], 12),
        (&["--games", "matches"], 10),
        (&["--games", "self-play", "--number", "1"], 6),
    ] {
        let ended = export(args, 0);
        assert!(ended.stdout.contains(&format!(": {games} games of ")), "{}", ended.stdout);
        let pgn = fs::read_to_string(&file).expect("the games");
        assert_eq!(pgn.matches("[Event ").count(), games);
        assert_eq!(pgn.contains("[Black \"random\"]"), args.is_empty() || args.contains(&"matches"));
        assert!(pgn.contains("[White \"network "), "{pgn}");
    }
    let to_stdout =
        ["export", "pgn", "datasets/small", "--games", "self-play", "--number", "1", "--out", "-"];
    let ended = experiment.command_ends(&to_stdout, 0);
    assert_eq!(ended.stdout, fs::read_to_string(&file).expect("the games"));
    assert!(ended.stderr.contains(": 6 games of "), "{}", ended.stderr);
    assert!(!experiment.folder.path().join("-").exists());
    let ended = export(&["--number", "7"], 2);
    assert!(ended.stderr.contains("games with the number 7"), "{}", ended.stderr);
    let damaged = experiment.first_in("matches");
    flip(&damaged);
    fs::remove_file(&file).expect("is there");
    export(&[], 3);
    assert!(!file.exists(), "no part of the games is written");
}

#[test]
fn a_league_draws_from_all_generations_before_the_current_one() {
    let experiment = Experiment::new(
        r#"let run = open_run("small");
        let best = run.network(#{ tower: #{ blocks: 1, filters: 8 }, value_head: #{ filters: 2, hidden: 8 } });
        let first = best;
        let games = run.self_play(best, #{ games: 4, search: #{ simulations: 2 }, max_plies: 10 });
        print(`drawn ${run.league().map(|net| net.name)}`);
        for iteration in 0..2 {
            best = run.promote(run.train(best, games, #{ updates: 1, batch: 8 }));
            let names = run.league(#{ opponents: 5 }).map(|net| net.name);
            names.sort();
            print(`drawn ${names}`);
        }
        // The current net is none of its opponents, and each of them is one.
        for back in [first, best, first] {
            run.promote(back);
            let names = run.league(#{ opponents: 5 }).map(|net| net.name);
            names.sort();
            print(`drawn ${names}`);
        }"#,
    );
    let ended = experiment.run_ends(&[], 0);
    let drawn: Vec<&str> = ended.stdout.lines().filter_map(|line| line.strip_prefix("drawn ")).collect();
    let others_than = [r#"["0001", "0002"]"#, r#"["0000", "0001"]"#, r#"["0001", "0002"]"#];
    assert_eq!(drawn, [&["[]", r#"["0000"]"#, r#"["0000", "0001"]"#][..], &others_than].concat());
}

#[test]
fn a_rating_deals_no_two_players_an_opening_twice() {
    let experiment = Experiment::new(
        r#"let run = open_run("small");
        let found = run.rate(#{
            players: [alphabeta(#{ nodes: 200 }), alphabeta(#{ nodes: 300 })],
            games: 8, most_games: 100, width: 1.0, arena: #{ openings: "book.epd", max_plies: 40 },
        });
        print(found.games);"#,
    );
    let pawns = (0..8).map(|file| {
        let before = if file == 0 { String::new() } else { file.to_string() };
        let after = if file == 7 { String::new() } else { (7 - file).to_string() };
        let (moved, rest) =
            (format!("{before}P{after}"), format!("{}1{}", "P".repeat(file), "P".repeat(7 - file)));
        format!("rnbqkbnr/pppppppp/8/8/8/{moved}/{rest}/RNBQKBNR b KQkq -\n")
    });
    fs::write(experiment.folder.path().join("book.epd"), pawns.collect::<String>()).expect("writes");
    let ended = experiment.run(&[]);
    // Another match would need four more than the eight that there are.
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "16\n"), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("rate: with no openings left that two players have not had, the widest"),
        "{}",
        ended.stderr
    );
    let tables = fs::read_dir(experiment.run_folder().join("matches")).expect("a folder");
    let rows = tables.flat_map(|entry| {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|ending| ending == "parquet") {
            read_table::<MatchGameRow>(&path).expect("reads")
        } else {
            Vec::new()
        }
    });
    let starts: Vec<String> = rows.map(|row| row.start_fen).collect();
    assert_eq!((starts.len(), starts.iter().collect::<BTreeSet<_>>().len()), (16, 8));
    // Other players of the same name, and anchors that are given twice, are errors; so is a test, after which scores are no estimates.
    let refused = |players: &str, more: &str| {
        let text = format!("let run = open_run(\"other\"); run.rate(#{{ {players}, games: 8 {more} }});");
        Experiment::new(&text).run_ends(&[], 2).stderr
    };
    let twice = refused(r#"players: ["greedy"], anchors: [["random", 0], ["random", 9]]"#, "");
    assert!(twice.contains("anchors[1]: random is an anchor already"), "{twice}");
    let two = r#"players: ["greedy", player(net, #{ name: "a", search: #{ simulations: 2 } })], anchors: [[player(net, #{ name: "a", search: #{ simulations: 4 } }), 0]]"#;
    let net = "let run = open_run(\"other\"); let net = run.network(#{ tower: #{ blocks: 1, filters: 8 } });";
    let ended = Experiment::new(&format!("{net} run.rate(#{{ {two}, games: 8 }});")).run(&[]);
    assert!(
        ended.code == Some(2) && ended.stderr.contains("another player has the name 0000@a, too"),
        "{}",
        ended.stderr
    );
    let tested = refused(r#"players: ["greedy", "random"]"#, ", arena: #{ sprt: #{} }");
    assert!(tested.contains("arena.sprt: ends matches when they look decided"), "{tested}");
}

#[test]
fn a_check_of_a_finished_rating_has_nothing_left_to_do() {
    let experiment = Experiment::new(
        r#"let run = open_run("small");
        run.rate(#{ players: ["random", "greedy", "alphabeta-1"], games: 8, most_games: 64, width: 1.0, arena: #{ max_plies: 80 } });"#,
    );
    experiment.run_ends(&[], 0);
    let ended = experiment.run(&["--check", "--format", "json"]);
    let plan: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!((&plan["distinct"], &plan["done"]), (&8.into(), &8.into()), "{plan}");
}
