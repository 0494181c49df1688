//! Self-play whose moves alpha-beta searches, from the script to the tables.

use std::thread::sleep;
use std::time::Duration;

use crate::experiment::Experiment;

/// Games to learn from, as for an engine, with everything that ends or skips them.
const GAMES: &str = r#"
let run = open_run("small");
let net = run.network(#{ tower: #{ kind: "nnue", filters: 64 }, value_head: #{ hidden: 8 } });
let games = run.self_play(net, #{
    games: 12, shard_games: 2, opening_plies: 6, max_plies: 80, max_opening_value: 0.5, resignation: #{}, level_draw: #{},
    search: #{ kind: "alphabeta", nodes: 400, hash_mb: 1, selectivity: #{ singular_extensions: false } },
});
print(games.positions);
let trained = run.train(net, run.window(#{}), #{ updates: 4, batch: 16, positions: "quiet", validation_fraction: 0.2 });
run.self_play(trained, #{ games: 4, search: #{ kind: "alphabeta", nodes: 200 }, policy_targets: false, max_plies: 30, opening_plies: 4 });
run.reanalyze(trained, run.window(#{ iterations: 1 }), #{ search: #{ simulations: 4 } });
"#;

#[test]
fn games_resume_after_kills_and_every_command_reads_them() {
    let whole = Experiment::new(GAMES);
    whole.run_ends(&["--check"], 0);
    let ended = whole.run_ends(&["--lanes", "1"], 0);
    let killed = Experiment::new(GAMES);
    for attempt in 1..8 {
        let mut child = killed.begin(&["--lanes", "3"]);
        sleep(Duration::from_millis(100 + 40 * attempt));
        // Does nothing if the run has finished already.
        let _ = child.kill();
        child.wait().expect("ends");
    }
    let resumed = killed.run(&["--lanes", "2"]);
    assert_eq!((resumed.code, &resumed.stdout), (Some(0), &ended.stdout), "{}", resumed.stderr);
    assert_eq!(killed.results(), whole.results());

    let command = |args: &[&str]| whole.command_ends(args, 0).stdout;
    assert!(command(&["verify", "datasets/small"]).contains("whole"));
    let again = command(&["replay", "datasets/small", "0:5", "--recompute"]);
    assert!(again.contains("the same moves and visits"), "{again}");
    assert!(command(&["replay", "datasets/small", "0:5", "--pgn"]).contains("[Result "));
    command(&["export", "pgn", "datasets/small", "--out", "games.pgn"]);
    command(&["reproduce", "datasets/small"]);
    let query = "select count(*) filter (simulations between 1 and 400 and len(visits) = 1 and visits[1] = 1) = count(*) \
        as fits from positions where iteration = 0";
    assert!(command(&["sql", "datasets/small", query]).contains("true"));
}

#[test]
fn a_net_of_another_kind_is_refused_before_anything_is_played() {
    let script = GAMES.replace(r#"kind: "nnue", filters: 64"#, "blocks: 1, filters: 8");
    let refused = Experiment::new(&script).run_ends(&["--check"], 2);
    let expected = "search.kind: \"alphabeta\" searches by the values of a net of the kind nnue, and this one is of the kind se_resnet";
    assert!(refused.stderr.contains(expected), "{}", refused.stderr);
}

#[test]
fn a_single_game_can_be_played_without_a_run() {
    let experiment = Experiment::new(
        r#"open_run("small").network(#{ tower: #{ kind: "nnue", filters: 64 }, value_head: #{ hidden: 8 } });"#,
    );
    assert_eq!(experiment.run(&[]).code, Some(0));
    let net = experiment.first_in("networks").with_extension("safetensors");
    experiment.write(&format!(
        "let game = play_game(load_network({:?}), 1, #{{ search: #{{ kind: \"alphabeta\", nodes: 100 }}, max_plies: 6 }});
        print(game.plies.len()); print(game.plies[5].search.moves.len());",
        net.display()
    ));
    let played = experiment.run(&[]);
    assert!(played.code == Some(0) && played.stdout.starts_with("6\n1\n"), "{played:?}");
    let planned = experiment.run(&["--check"]);
    assert!(planned.code == Some(0) && planned.stderr.contains("print: 6"), "{planned:?}");
}
