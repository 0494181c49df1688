//! `match` and `rate`: scripts that commands write.

use crate::experiment::Experiment;

/// A net with a search of its own.
const OWN: &str = "player(run.load_network(\"\"), #{ search: #{ simulations: 2 } })";

#[test]
fn a_match_is_played_once_and_its_players_may_have_searches_of_their_own() {
    let experiment = Experiment::new("");
    let player = "player(run.load_network(\"\"), #{ search: #{ simulations: 2 }, name: \"short\" })";
    let command =
        ["match", "shipped", player, "--games", "2", "--simulations", "1", "--name", "m", "--device", "cpu"];
    let first = experiment.command_ends(&command, 0);
    assert!(first.stderr.contains("match 0000  0000 vs 0001@short: score "), "{}", first.stderr);
    let again = experiment.command(&command);
    assert!(
        again.stderr.lines().filter(|line| line.ends_with("(done before)")).count() == 3,
        "{}",
        again.stderr
    );
    let rows = experiment.command(&["sql", "datasets/m", "select distinct second from matches"]);
    assert!(rows.stdout.contains("@short"), "{}{}", rows.stdout, rows.stderr);
}

#[test]
fn names_of_runs_are_those_of_the_folder_that_out_names() {
    let experiment =
        Experiment::new("let run = open_run(\"tiny\"); run.network(#{ tower: #{ blocks: 1, filters: 4 } });");
    experiment.run_ends(&["--out", "elsewhere"], 0);
    let command = ["match", "tiny:0", "random", "--games", "2", "--simulations", "1", "--device", "cpu"];
    experiment.command_ends(&[&command[..], &["--out", "elsewhere"]].concat(), 0);
    let refused = experiment.command_ends(&command, 2);
    assert!(refused.stderr.contains("no run in datasets or folder of one"), "{}", refused.stderr);
}

#[test]
fn players_are_rated_relative_to_an_anchor() {
    let experiment = Experiment::new("");
    let command = [
        "rate",
        "greedy",
        "alphabeta-1",
        "--anchor",
        "random=100",
        "--games",
        "10",
        "--most-games",
        "60",
        "--name",
        "r",
        "--device",
        "cpu",
    ];
    let rated = experiment.command_ends(&command, 0);
    assert!(
        rated.stderr.contains("rate: after most_games = 60 games the widest 95 % interval still has"),
        "{}",
        rated.stderr
    );
    let line =
        |player: &str| rated.stdout.lines().find(|line| line.contains(player)).expect("is rated").to_owned();
    assert!(line("random").contains("true") && line("random").contains("100"), "{}", rated.stdout);
    let row = |player: &str| rated.stdout.find(player).expect("is rated");
    assert!(row("alphabeta-1") < row("greedy") && row("greedy") < row("random"), "{}", rated.stdout);
}

#[test]
fn what_a_command_cannot_use_is_refused_and_scripts_are_shown() {
    let experiment = Experiment::new("");
    let refused = [
        (
            &["match", "random", "greedy", "--nodes", "9"][..],
            "--nodes is for UCI engines that are named plainly",
        ),
        (&["match", "random", "engine", "--clock", "5"], "--clock: expected seconds and an increment"),
        (&["match", "random", "engine", "--option", "x"], "--option: expected NAME=VALUE"),
        (&["match", "random", "greedy", "--sprt", "5"], "--sprt: expected two differences in Elo"),
        (&["rate", "random", "greedy", "--anchor", "greedy"], "--anchor: expected PLAYER=ELO"),
        (&["match", OWN, OWN, "--simulations", "9"], "--simulations: every player has a search of its own"),
        (&["match", "random", "greedy", "--simulations", "9"], "or needs none; leave it out"),
    ];
    for (command, expected) in refused {
        let ended = experiment.command_ends(command, 2);
        assert!(ended.stderr.contains(expected), "{command:?}: {}", ended.stderr);
    }
    // A slip may be one in the name of a player, a run or an engine, and leaves no run behind.
    let slip = experiment.command_ends(&["match", "gredy", "random"], 2);
    assert!(slip.stderr.contains("\"gredy\" is no player (random, greedy,"), "{}", slip.stderr);
    assert!(slip.stderr.contains("did you mean greedy?"), "{}", slip.stderr);
    assert!(!experiment.folder.path().join("datasets/match-gredy-vs-random").exists());
    let shown = experiment.command(&["match", "random", "an-engine", "--depth", "3", "--script"]);
    assert!(shown.stdout.contains("let second = uci(\"an-engine\", #{ depth: 3 });"), "{}", shown.stdout);
    // Players with searches of their own have no use for that of the match.
    for (command, expected) in [
        (&["match", OWN, "shipped", "--script"][..], true),
        (&["match", OWN, OWN, "--script"], false),
        (&["rate", OWN, OWN, "--script"], false),
        (&["rate", OWN, "--anchor", "random=0", "--script"], true),
    ] {
        let shown = experiment.command(command).stdout;
        assert_eq!(shown.contains("search: #{ simulations: 100 }"), expected, "{shown}");
    }
}

#[test]
fn a_command_that_is_refused_leaves_no_run() {
    let experiment = Experiment::new("");
    let refused: [(&[&str], &str); 3] = [
        (&["match", "random", "greedy", "--games", "3", "--name", "m"], "games: must be even"),
        (
            &["match", "random", "greedy", "--openings", "nowhere.epd", "--name", "m"],
            "cannot read nowhere.epd",
        ),
        (&["rate", "random", "greedy", "--games", "3", "--name", "m"], "must be even"),
    ];
    for (args, expected) in refused {
        let refused = experiment.command_ends(&[args, &["--device", "cpu"]].concat(), 2);
        assert!(refused.stderr.contains(expected), "{}", refused.stderr);
        assert!(!experiment.folder.path().join("datasets/m").exists(), "{args:?}");
    }
}
