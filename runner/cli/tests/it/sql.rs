//! `dc0-run sql` from outside, and scripts that read their own tables.

use std::fs;

use crate::experiment::{Ended, Experiment, SMALL, flip, is_reached};

/// Queries the runs of an experiment.
fn sql(experiment: &Experiment, args: &[&str]) -> Ended {
    experiment.command(&[&["sql"], args].concat())
}

fn refused(experiment: &Experiment, args: &[&str], code: i32, expected: &str) {
    let ended = sql(experiment, args);
    assert!(ended.stderr.trim_end().starts_with(expected), "{args:?}: {}", ended.stderr);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(code), ""), "{args:?}");
}

const GAMES: &str = "select iteration, count(*) as games from games group by iteration";

#[test]
fn queries_are_answered_in_every_format_and_errors_reported() {
    let experiment = Experiment::new(SMALL);
    assert_eq!(experiment.run(&[]).code, Some(0));
    let before = experiment.results();
    let table = sql(&experiment, &["small", GAMES]);
    assert_eq!(
        (table.code, table.stdout.as_str()),
        (Some(0), "iteration  games\n        0      6\n        1      6\n")
    );
    assert_eq!(sql(&experiment, &["datasets/small", GAMES]).stdout, table.stdout);
    assert_eq!(sql(&experiment, &["small", GAMES, "--format", "csv"]).stdout, "iteration,games\n0,6\n1,6\n");
    let json = sql(&experiment, &["small", GAMES, "--format", "json"]).stdout;
    assert_eq!(json, "{\"iteration\":0,\"games\":6}\n{\"iteration\":1,\"games\":6}\n");
    let steps = sql(
        &experiment,
        &[
            "small",
            "select kind, series, count(*) as n, count(seconds) as timed from steps group by all",
            "--format",
            "csv",
        ],
    );
    assert_eq!(
        steps.stdout,
        "kind,series,n,timed\narena,match,3,3\nnetwork,network,1,1\nself_play,iteration,2,2\ntrain,network,2,2\n"
    );
    let costs = "select kind, count(seconds) as timed, sum(games) as games from costs group by kind";
    let costs = sql(&experiment, &["small", costs, "--format", "csv"]);
    assert_eq!(costs.stdout, "kind,timed,games\narena,3,10\nnetwork,1,\nself_play,2,12\ntrain,2,\n");
    let staleness = "select network, iteration, generation, generations_behind from staleness order by all";
    let staleness = sql(&experiment, &["small", staleness, "--format", "csv"]);
    let rows = "1,0,0,0\n2,0,0,1\n2,1,1,0\n";
    assert_eq!(staleness.stdout, format!("network,iteration,generation,generations_behind\n{rows}"));
    let joined = "select count(*) as n from games join steps on steps.network = games.network and steps.number = games.iteration
        where steps.kind = 'self_play'";
    assert_eq!(sql(&experiment, &["small", joined, "--format", "csv"]).stdout, "n\n12\n");
    let cut = sql(&experiment, &["small", "select game, moves from games", "--rows", "2", "--width", "10"]);
    assert_eq!(cut.stdout.lines().count(), 3);
    assert!(
        cut.stderr.contains("the first 2 of 12 rows; --rows 12 shows all")
            && cut.stderr.contains("2 cells are cut"),
        "{}",
        cut.stderr
    );

    refused(
        &experiment,
        &["small", "select * from game"],
        2,
        "error: there is no table `game`; did you mean `games`?",
    );
    for (statement, expected) in [
        ("select g.gamee from games g", "error: there is no column `g.gamee`; did you mean `game`?"),
        ("select h.game from games g", "error: there is no table `h`; the nearest is `g`"),
    ] {
        refused(&experiment, &["small", statement], 2, expected);
    }
    refused(&experiment, &["small"], 2, "error: no statement is given; the last word, \"small\", is a run.");
    refused(&experiment, &[GAMES], 2, "error: no run is named;");
    refused(&experiment, &[], 2, "error: no run is named;");
    refused(&experiment, &["smal", GAMES], 2, "error: \"smal\" is neither a run nor a sweep");
    refused(&experiment, &["small", GAMES, "--format", "parquet"], 2, "error: Parquet is not text");
    refused(&experiment, &["small", GAMES, "--out", "x.xls"], 2, "error: the format of x.xls is not clear");
    refused(
        &experiment,
        &["small", GAMES, "--out", "x.rhai", "--format", "csv"],
        2,
        "error: x.rhai is there already",
    );
    assert_eq!(experiment.results(), before, "nothing of the run has changed");
}

#[cfg(unix)]
#[test]
fn tables_that_were_moved_to_another_disk_are_read_through_links() {
    let experiment = Experiment::new(SMALL);
    assert_eq!(experiment.run(&[]).code, Some(0));
    let before = sql(&experiment, &["small", GAMES]).stdout;
    let elsewhere = tempfile::tempdir().expect("a folder");
    let (games, moved) = (experiment.run_folder().join("games"), elsewhere.path().join("games"));
    fs::rename(&games, &moved).expect("one disk");
    std::os::unix::fs::symlink(&moved, &games).expect("a link");
    assert_eq!(sql(&experiment, &["small", GAMES]).stdout, before);
    // One part of a table.
    let part = experiment.first_in("positions");
    let moved = elsewhere.path().join("part.parquet");
    fs::rename(&part, &moved).expect("one disk");
    std::os::unix::fs::symlink(&moved, &part).expect("a link");
    let counted = sql(&experiment, &["small", "select count(*) from positions"]);
    assert_eq!(counted.code, Some(0), "{}", counted.stderr);
}

#[test]
fn existing_files_are_replaced_only_on_request() {
    let experiment = Experiment::new(SMALL);
    assert_eq!(experiment.run(&[]).code, Some(0));
    let written = sql(&experiment, &["small", GAMES, "--out", "games.parquet"]);
    assert_eq!((written.code, written.stdout.as_str()), (Some(0), ""));
    assert_eq!(written.stderr.trim_end(), "wrote games.parquet: 2 rows");
    let file = experiment.folder.path().join("games.parquet");
    assert!(fs::read(&file).expect("the file").starts_with(b"PAR1"));
    refused(
        &experiment,
        &["small", GAMES, "--out", "games.parquet"],
        2,
        "error: games.parquet is there already",
    );
    assert_eq!(sql(&experiment, &["small", GAMES, "--out", "games.parquet", "--replace"]).code, Some(0));
    assert_eq!(sql(&experiment, &["small", GAMES, "--out", "games.csv"]).code, Some(0));
    assert_eq!(
        fs::read_to_string(experiment.folder.path().join("games.csv")).expect("the file"),
        "iteration,games\n0,6\n1,6\n"
    );
    refused(
        &experiment,
        &["small", GAMES, "--out", "/dev/null/x.csv"],
        2,
        "error: cannot write /dev/null/x.csv",
    );
}

#[test]
fn tables_and_examples_are_listed() {
    let experiment = Experiment::new(SMALL);
    assert_eq!(experiment.run(&[]).code, Some(0));
    let tables = sql(&experiment, &["small", "--tables"]);
    assert!(tables.stdout.contains("games: self-play and imported games; 12 rows\n"), "{}", tables.stdout);
    assert!(
        tables.stdout.contains("  full             bool       whether the policy is trained"),
        "{}",
        tables.stdout
    );
    assert!(tables.stdout.contains("trees: every move of those searches; 0 rows"), "{}", tables.stdout);
    assert!(tables.stdout.contains("opening(moves)"), "{}", tables.stdout);
    let examples = sql(&experiment, &["--examples"]);
    assert_eq!(examples.stdout.matches("### ").count(), 20);
    let answered = sql(&experiment, &["--examples", "small"]);
    assert_eq!(
        (answered.code, answered.stdout.matches("```text").count()),
        (Some(0), 19),
        "{}",
        answered.stderr
    );
}

#[test]
fn a_damaged_file_is_reported_with_exit_code_3() {
    let experiment = Experiment::new(SMALL);
    assert_eq!(experiment.run(&[]).code, Some(0));
    let file = experiment.first_in("games");
    let whole = fs::read(&file).expect("the file");
    fs::write(&file, &whole[..whole.len() - 20]).expect("writes");
    let ended = sql(&experiment, &["small", GAMES]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(3), ""));
    let name = file.file_name().expect("a name").to_string_lossy().into_owned();
    assert!(
        ended.stderr.contains(&name) && ended.stderr.contains("not a whole Parquet file"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_flipped_bit_is_noticed_before_a_table_is_read() {
    let experiment = Experiment::new(SMALL);
    assert_eq!(experiment.run(&[]).code, Some(0));
    let file = experiment.first_in("games");
    flip(&file);
    let name = file.file_name().expect("a name").to_string_lossy().into_owned();
    for args in [vec!["sql", "small", GAMES], vec!["report", "small"]] {
        let ended = experiment.command_ends(&args, 3);
        assert!(ended.stderr.contains(&name) && ended.stderr.contains("has changed"), "{}", ended.stderr);
    }
    let other = sql(&experiment, &["small", "select count(*) as n from training"]);
    assert_eq!(other.code, Some(0), "{}", other.stderr);
}

#[test]
fn an_answer_without_a_missing_file_is_given_only_on_request() {
    let experiment = Experiment::new(SMALL);
    assert_eq!(experiment.run(&[]).code, Some(0));
    let query = |table: &str, args: &[&str]| {
        let statement = format!("select count(*) as n from {table}");
        sql(&experiment, &[&["small", &statement][..], args].concat())
    };
    let removed = |folder: &str| {
        let costs = experiment.run_folder().join("costs.parquet");
        let file = if folder == "costs.parquet" { costs } else { experiment.first_in(folder) };
        fs::remove_file(&file).expect("removes");
        file.file_name().expect("a name").to_string_lossy().into_owned()
    };
    for (folder, table, others) in
        [("games", "games", "10"), ("matches", "ratings", "3"), ("costs.parquet", "costs", "0")]
    {
        let name = removed(folder);
        for args in [&["small", &format!("select count(*) as n from {table}")][..], &["small", "--tables"]] {
            let refused = sql(&experiment, args);
            assert_eq!((refused.code, refused.stdout.as_str()), (Some(3), ""), "{table}");
            for expected in [&name, "is missing", "--incomplete answers from what can be read"] {
                assert!(refused.stderr.contains(expected), "{expected}: {}", refused.stderr);
            }
        }
        // Other tables are whole.
        assert_eq!(query("training", &[]).code, Some(0));
        let ended = query(table, &["--incomplete"]);
        assert_eq!(
            (ended.code, ended.stdout.lines().last().map(str::trim)),
            (Some(0), Some(others)),
            "{table}"
        );
        let left_out = ended.stderr.lines().find(|line| line.contains(&name));
        assert!(left_out.is_some_and(|line| line.starts_with("warn: left out: ")), "{}", ended.stderr);
        assert_eq!(experiment.run(&[]).code, Some(0), "heals");
        assert_eq!(query(table, &[]).code, Some(0), "{table}");
    }
    // Nets are not in any table.
    removed("networks");
    assert_eq!(query("steps", &[]).code, Some(0));
}

#[test]
fn arithmetic_on_stored_numbers_does_not_wrap() {
    let experiment = Experiment::new(SMALL);
    assert_eq!(experiment.run(&[]).code, Some(0));
    let statement = "select min(ply - 100) as a, min(-legal) < 0 as b, max(simulations) * 3000000000 > 4000000000 as c, \
        min(visits[1] - 5) < 0 as d from positions";
    let ended = sql(&experiment, &["small", statement, "--format", "csv"]);
    assert_eq!(ended.stdout, "a,b,c,d\n-100,true,true,true\n", "{}", ended.stderr);
}

#[test]
fn joins_may_compare_by_inequality() {
    let experiment = Experiment::new(SMALL);
    assert_eq!(experiment.run(&[]).code, Some(0));
    let one = "(select distinct iteration from games)";
    let statement = format!(
        "select a.iteration as x, b.iteration as y from {one} as a cross join {one} as b where a.iteration < b.iteration"
    );
    let ended = sql(&experiment, &["small", &statement]);
    assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (Some(0), "x  y\n0  1\n", ""));
}

#[test]
fn an_interrupted_run_can_be_queried() {
    let experiment = Experiment::new(SMALL);
    let mut child = experiment.begin(&[]);
    let first = experiment.run_folder().join("games/iteration=0000");
    is_reached("games", &mut child, || first.is_dir());
    child.kill().expect("stops");
    child.wait().expect("ends");
    for statement in
        [GAMES, "select count(*) as n from matches", "select * from steps", "select * from training"]
    {
        let ended = sql(&experiment, &["small", statement]);
        assert_eq!(ended.code, Some(0), "{statement}: {}", ended.stderr);
    }
}

/// A script that queries its own tables.
const READING: &str = r#"
let run = open_run("small");
let net = run.network(#{ tower: #{ blocks: 1, filters: 8 }, value_head: #{ filters: 2, hidden: 8 } });
for iteration in 0..3 {
    run.self_play(net, #{ games: 4 + iteration, shard_games: 2, search: #{ simulations: 4 }, max_plies: 30 });
    let games = run.table("games");
    print(`${games.len()} games: ${games.group_by(["iteration"]).agg(#{ n: "count(*)" }).column("n")}`);
    let by_reason = run.sql("select reason, avg(len(moves)) as plies from games group by reason").rows();
    print(by_reason);
    print(run.table("positions").filter("\"full\" and iteration = " + iteration).select(["avg(root_q) as q", "sum(policy_entropy(visits)) as h"]));
    print(run.table("steps").select(["step", "kind", "number", "seconds", "positions"]));
    print(run.table("costs"));
}
"#;

#[test]
fn a_script_queries_its_own_steps_and_a_rerun_sees_the_same() {
    let experiment = Experiment::new(READING);
    let first = experiment.run_ends(&[], 0);
    for expected in ["4 games: [4]", "9 games: [4, 5]", "15 games: [4, 5, 6]"] {
        assert!(first.stdout.contains(expected), "{}", first.stdout);
    }
    let again = experiment.run(&[]);
    assert_eq!(
        (again.code, &again.stdout),
        (Some(0), &first.stdout),
        "all games are stored by now, but the first query sees four"
    );
}

#[test]
fn a_check_reads_finished_steps_and_mocks_the_rest() {
    let script = READING.replace("print(by_reason)", "print(`${by_reason[0].plies + 1}`)");
    let experiment = Experiment::new(&script);
    let planned = experiment.run_ends(&["--check"], 0);
    assert!(
        planned.stderr.contains("print: 1 games: [0]") && planned.stderr.contains("print: 1.0"),
        "{}",
        planned.stderr
    );
    assert!(!experiment.run_folder().exists());
    assert_eq!(experiment.run(&[]).code, Some(0));
    let known = experiment.run(&["--check"]);
    assert!(known.stderr.contains("print: 15 games: [4, 5, 6]"), "{}", known.stderr);
}

#[test]
fn a_misspelt_column_is_an_error_at_its_line() {
    let experiment =
        Experiment::new("let run = open_run(\"small\");\nrun.table(\"games\").filter(\"resul = 0\");");
    let ended = experiment.run(&[]);
    let expected = "error: x.rhai:2:20: there is no column `resul`; did you mean `result`?";
    assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    assert_eq!(ended.code, Some(2));
}

/// A net measured on games, with an iteration before them or without.
const MEASURED: &str = r#"
let p = params(#{ before: false });
let run = open_run("small");
let net = run.network(#{ tower: #{ blocks: 1, filters: 8 } });
let playing = #{ games: 2, search: #{ simulations: 4 }, max_plies: 20 };
if p.before { run.self_play(net, playing + #{ games: 1 }); }
let games = run.self_play(net, playing);
run.validate(net, games);
"#;

#[test]
fn predictions_have_the_number_of_their_iteration_when_a_script_plays_another_one_before() {
    let experiment = Experiment::new(MEASURED);
    let joined = "select count(*) as rows, count(positions.fen) as found from predictions \
        left join positions using (iteration, game, ply)";
    for before in ["before=false", "before=true", "before=false"] {
        let ended = experiment.run_ends(&["--set", before], 0);
        assert!(!ended.stderr.contains("no position was measured"), "{}", ended.stderr);
        let answer = sql(&experiment, &["small", joined, "--format", "json"]).stdout;
        let numbers: serde_json::Value = serde_json::from_str(&answer).expect("a row");
        assert!(numbers["rows"].as_u64() > Some(0), "{answer}");
        assert_eq!(numbers["rows"], numbers["found"], "{before}");
    }
}

#[test]
fn a_validation_that_measures_nothing_says_so() {
    let experiment = Experiment::new(
        &MEASURED.replace("validate(net, games)", "validate(net, games, #{ held_out: 1e-6 })"),
    );
    let ended = experiment.run_ends(&[], 0);
    let expected =
        "validation of 0000: of 2 games no position was measured; give more games, a larger held_out";
    assert!(ended.stderr.contains(expected), "{}", ended.stderr);
}
