//! Puzzles and books of openings from the command line.

use std::fs;

use dc0_core::arena::read_puzzles;

use crate::experiment::Experiment;

const SUITE: &str =
    "# mates\n7k/8/8/8/8/8/R7/1R4K1 w - - dm 2; id \"rooks\";\n6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - bm Ra8#;\n";

#[test]
fn a_suite_is_solved_stored_and_reported() {
    let experiment = Experiment::new("");
    fs::write(experiment.folder.path().join("suite.epd"), SUITE).expect("writes");
    let solve =
        ["puzzles", "shipped", "suite.epd", "--simulations", "1,200", "--name", "solved", "--device", "cpu"];
    let first = experiment.command_ends(&solve, 0);
    assert!(first.stderr.contains("2 puzzles solved"), "{}", first.stderr);
    experiment.command_ends(&solve, 0);
    let query = "select id, simulations, solved, solved_from from puzzles order by puzzle, simulations";
    let rows = experiment.command_ends(&["sql", "datasets/solved", query], 0);
    assert!(rows.stdout.contains("rooks") && rows.stdout.contains("line 3"), "{}", rows.stdout);
    experiment.command_ends(&["report", "datasets/solved", "--out", "report.html"], 0);
    let page = fs::read_to_string(experiment.folder.path().join("report.html")).expect("a page");
    assert!(page.contains("puzzles-solved") && page.contains("policy alone"));
    experiment.command_ends(&["verify", "datasets/solved"], 0);
}

#[test]
fn broken_suites_are_refused_with_their_lines() {
    let experiment = Experiment::new("");
    let refused = |content: &str, expected: &[&str]| {
        fs::write(experiment.folder.path().join("bad.epd"), content).expect("writes");
        let found = experiment.command_ends(&["puzzles", "shipped", "bad.epd", "--device", "cpu"], 2);
        for expected in expected {
            assert!(found.stderr.contains(expected), "no {expected:?} in {}", found.stderr);
        }
    };
    refused("", &["bad.epd: has no positions"]);
    let lines =
        format!("{SUITE}nonsense\n7k/8/8/8/8/8/R7/1R4K1 w - - bm Rb9;\n8/8/8/8/8/8/8/8 w - - bm e4;\n");
    refused(&lines, &["bad.epd, line 4: has 1 of the four fields", "bad.epd, line 5: bm", "line 6: \"8/8"]);
    refused("7k/8/8/8/8/8/R7/1R4K1 w - - id \"x\";\n", &["bad.epd, line 1: has neither bm, am nor dm"]);
    let missing = experiment.command_ends(&["puzzles", "shipped", "none.epd", "--device", "cpu"], 2);
    assert!(missing.stderr.contains("none.epd: cannot be read"), "{}", missing.stderr);
}

/// Players without a tree search: one that draws its moves, the two searchers, and a net with a search of its own.
const PLAYERS: &str = r#"
let run = open_run("small");
let net = run.network(#{ tower: #{ kind: "nnue", filters: 64 }, value_head: #{ hidden: 8 } });
let suite = ["7k/8/8/8/8/8/R7/1R4K1 w - - dm 2;", "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - bm Ra8#; id \"back rank\";", "6k1/8/5K2/8/8/8/8/Q7 w - - dm 2;"];
for player in ["random", "alphabeta-2", alphabeta(#{ nodes: (), depth: 4 }), alphabeta(net, #{ nodes: 300 })] {
    let answered = run.puzzles(player, suite);
    print(`${answered.player.split("@")[-1]}: ${answered.solved}, ${answered.faults}, ${answered.milliseconds == ()}`);
}
let own = run.puzzles(player(net, #{ search: #{ simulations: 40 }, name: "own" }), suite);
print(`${own.budgets}: ${own.puzzles}`);
"#;

#[test]
fn any_player_solves_puzzles_the_same_with_any_lanes() {
    let whole = Experiment::new(PLAYERS);
    let ended = whole.run_ends(&["--lanes", "1"], 0);
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert!(lines.contains(&"alpha-beta (material), 4 plies: [1.0], #{}, true"), "{}", ended.stdout);
    assert!(lines.iter().any(|line| line.starts_with("alphabeta-")), "{}", ended.stdout);
    assert_eq!(lines.last(), Some(&"[40]: 3"), "{}", ended.stdout);
    assert!(ended.stderr.contains("by alphabeta-2: "), "{}", ended.stderr);
    let again = Experiment::new(PLAYERS);
    assert_eq!(again.run(&["--lanes", "3"]).stdout, ended.stdout);
    assert_eq!(again.results(), whole.results());
    let query = |sql: &str| whole.command_ends(&["sql", "datasets/small", sql], 0).stdout;
    let found = query(
        "select player, id, uci(played) as move, solved, nodes > 0 as counted from answers where id = 'back rank' order by suite",
    );
    assert!(found.contains("alphabeta-2") && found.matches("a1a8").count() >= 3, "{found}");
    assert!(query("select count(*) as n from puzzles where simulations = 40").contains('3'));
    whole.command_ends(&["verify", "datasets/small"], 0);
    whole.run_ends(&["--check"], 0);
}

/// An engine that crashes on the first puzzle, plays an illegal move in the second and null moves in the fourth.
#[cfg(unix)]
const SULKY: &str = r#"#!/bin/sh
while read -r line; do
    case "$line" in
        uci) echo "id name Sulky 1"; echo "uciok";;
        isready) echo "readyok";;
        position*) position="$line";;
        go*)
            echo "info depth 7 score cp 123 nodes 42"
            case "$position" in
                *R7/1R4K1*) echo "out of memory" >&2; exit 3;;
                *8/8/Q7*) echo "bestmove a1a1";;
                *4Q3*) echo "bestmove 0000";;
                *) echo "bestmove a1a8";;
            esac;;
        quit) exit 0;;
    esac
done
"#;

#[cfg(unix)]
#[test]
fn an_engine_that_fails_loses_the_puzzle_and_solves_the_others() {
    use std::os::unix::fs::PermissionsExt;

    let experiment = Experiment::new("");
    let folder = experiment.folder.path();
    let engine = folder.join("sulky");
    fs::write(&engine, SULKY).expect("writes");
    fs::set_permissions(&engine, fs::Permissions::from_mode(0o755)).expect("may run");
    let back_rank = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - bm Ra8#;\n";
    let suite = format!(
        "7k/8/8/8/8/8/R7/1R4K1 w - - dm 2;\n{back_rank}6k1/8/5K2/8/8/8/8/Q7 w - - dm 2;\n\
         4k3/8/4K3/8/8/8/8/4Q3 w - - dm 2;\n{back_rank}"
    );
    fs::write(folder.join("suite.epd"), suite).expect("writes");
    let solve = ["puzzles", "./sulky", "suite.epd", "--nodes", "5,9", "--name", "solved", "--device", "cpu"];
    let first = experiment.command_ends(&solve, 0);
    let closing = "40.0% of 5 puzzles solved, 42 nodes each, 1 without a move by crash, 2 without a move by illegal_move";
    assert_eq!(first.stderr.matches(closing).count(), 2, "{}", first.stderr);
    let again = experiment.command(&solve);
    assert_eq!(again.stderr.matches("(done before)").count(), 2, "{}", again.stderr);
    let rows = experiment.command(&[
            "sql",
            "datasets/solved",
            "select puzzle, player, played, solved, depth, reason, detail from answers where suite = 1 order by puzzle",
            "--format",
            "csv",
        ],
    );
    for expected in ["Sulky 1, 9 nodes", "crash", "out of memory", "illegal_move"] {
        assert!(rows.stdout.contains(expected), "no {expected} in {}{}", rows.stdout, rows.stderr);
    }
    assert_eq!(rows.stdout.matches("true").count(), 2, "{}", rows.stdout);
    let timed =
        ["puzzles", "./sulky", "suite.epd", "--move-time", "0.5,2", "--name", "solved", "--device", "cpu"];
    let timed = experiment.command_ends(&timed, 0);
    assert!(timed.stderr.contains(" ms each, 1 without a move by crash"), "{}", timed.stderr);
    experiment.command_ends(&["report", "datasets/solved", "--out", "report.html"], 0);
    let page = fs::read_to_string(folder.join("report.html")).expect("a page");
    assert!(page.contains("puzzles-by-time") && page.contains("crash: 1, illegal_move: 2"));
    experiment.command_ends(&["verify", "datasets/solved"], 0);
}

#[test]
fn limits_of_players_become_steps_of_a_script_and_others_are_refused() {
    let experiment = Experiment::new("");
    let shown = |args: &[&str]| {
        let all = [&["puzzles"], args, &["--script"]].concat();
        experiment.command_ends(&all, 0).stdout
    };
    let script = shown(&["an-engine", "a.epd", "--depth", "3,5", "--option", "Hash=64"]);
    for depth in [3, 5] {
        let call = format!(
            "run.puzzles(uci(\"an-engine\", #{{ depth: {depth}, options: #{{ \"Hash\": 64 }} }}), \"a.epd\");"
        );
        assert!(script.contains(&call), "{script}");
    }
    assert!(shown(&["greedy", "a.epd"]).contains("run.puzzles(\"greedy\", \"a.epd\");"));
    let by_time = shown(&["shipped", "a.epd", "--move-time", "0.1,1", "--device", "cpu"]);
    let args = "args: [\"uci\", \"--net\", \"shipped\", \"--device\", \"cpu\"]";
    assert!(by_time.contains(&format!("#{{ {args}, move_time: 0.1, time_margin: 1.0 }}")), "{by_time}");
    assert_eq!(by_time.matches("run.puzzles(").count(), 2, "{by_time}");
    let refused = [
        (
            &["shipped", "a.epd", "--nodes", "9"][..],
            "--nodes is not for nets; give --simulations or --move-time",
        ),
        (&["greedy", "a.epd", "--simulations", "9"], "--simulations is for nets that are named plainly"),
        (&["greedy", "a.epd", "--depth", "9"], "--depth is for UCI engines that are named plainly"),
        (&["an-engine", "a.epd", "--depth", "9", "--nodes", "7"], "cannot be used with"),
    ];
    for (args, expected) in refused {
        let ended = experiment.command_ends(&[&["puzzles"], args].concat(), 2);
        assert!(ended.stderr.contains(expected), "{args:?}: {}", ended.stderr);
    }
}

/// The arguments of a book with a judge.
fn judge<'a>(judge: &[&'a str]) -> Vec<&'a str> {
    [&["--out", "c.epd", "--judge"], judge].concat()
}

#[test]
fn books_are_made_again_with_the_same_bytes() {
    let experiment = Experiment::new("");
    let make = |file: &str, seed: &str| {
        let args =
            ["openings", "--out", file, "--count", "10", "--plies", "6", "--depth", "2", "--seed", seed];
        experiment.command_ends(&args, 0);
        fs::read(experiment.folder.path().join(file)).expect("a book")
    };
    let first = make("a.epd", "1");
    assert_eq!(first, make("b.epd", "1"));
    assert_ne!(first, make("b.epd", "2"));
    let starts = ["--start", "double-chess960", "--plies", "2", "--depth", "1", "--count", "10"];
    experiment.command_ends(&[&["openings", "--out", "d.epd"][..], &starts].concat(), 0);
    let failed = |args: &[&str]| experiment.command_ends(&[&["openings"], args].concat(), 2).stderr;
    assert!(failed(&judge(&["greedy"])).contains("--judge: expected a net, or a UCI engine"));
    assert!(
        failed(&judge(&["shipped", "--nodes", "5"])).contains("--nodes and --option are for UCI engines")
    );
    assert!(failed(&judge(&["shipped", "--simulations", "0"])).contains("simulations: must lie in 1.."));
    assert!(failed(&judge(&["no-such-engine"])).contains("no-such-engine"));
    assert!(failed(&judge(&["no-such-engine", "--simulations", "5"])).contains("--simulations is for nets"));
    assert!(failed(&["--out", "a.txt"]).contains("does not end in .epd"));
    assert!(failed(&["--out", "c.epd", "--plies", "0"]).contains("plies: must lie in 1..=60"));
    assert!(failed(&["--out", "c.epd", "--start", "chess9"]).contains("start: expected one of"));
    assert!(
        failed(&["--out", "c.epd", "--plies", "1", "--depth", "1", "--count", "21"])
            .contains("of 21 openings")
    );
}

#[test]
fn nets_and_engines_judge_openings() {
    let experiment = Experiment::new("");
    let make = |file: &str, judge: &[&str]| {
        let args = ["openings", "--out", file, "--count", "12", "--plies", "6", "--depth", "1"];
        experiment.command_ends(&[&args, judge].concat(), 0);
        fs::read_to_string(experiment.folder.path().join(file)).expect("a book")
    };
    let plain = make("plain.epd", &[]);
    let net = ["--judge", "shipped", "--simulations", "8"];
    let judged = make("net.epd", &net);
    assert_eq!((judged.lines().count(), &judged), (12, &make("again.epd", &net)));
    assert_ne!(judged, plain);
    // This program is an engine, too.
    let this = env!("CARGO_BIN_EXE_dc0-run");
    let script = experiment.folder.path().join("engine");
    fs::write(&script, format!("#!/bin/sh\nexec {this} uci --option SearchMode=material\n")).expect("writes");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("may run");
        let engine = ["--judge", "./engine", "--nodes", "300", "--option", "Hash=1"];
        let judged = make("engine.epd", &engine);
        assert_eq!((judged.lines().count(), &judged), (12, &make("again.epd", &engine)));
        assert_ne!(judged, plain);
    }
}

const GAMES: &str = r#"
let run = open_run("small");
run.arena("alphabeta-2", "random", #{ games: 20 });
"#;

#[test]
fn stored_games_become_puzzles() {
    let experiment = Experiment::new(GAMES);
    experiment.run_ends(&[], 0);
    let make = |count| {
        experiment.command(&[
            "export",
            "puzzles",
            "datasets/small",
            "--out",
            "mates.epd",
            "--mates",
            "2",
            "--count",
            count,
        ])
    };
    let made = make("3");
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    assert!(made.stdout.contains("3 mates in 1"), "{}", made.stdout);
    let content = fs::read(experiment.folder.path().join("mates.epd")).expect("a suite");
    let puzzles = read_puzzles("mates.epd", &content).unwrap_or_else(|error| panic!("{error}"));
    assert!(puzzles.iter().all(|puzzle| puzzle.right.len() == 1 && puzzle.id.starts_with("mate in ")));
    assert_eq!(make("0").code, Some(2));
}
