//! Queries on stored tables, from files to results.

mod frames;
mod order;
mod runs;
mod wrong;

use std::path::Path;

use dc0_analysis::{Database, Files, RunSource, Trial, Work, questions};
use dc0_core::params::Value;
use dc0_core::store::{GameRow, Provenance, WideColumn, WideKind, write_table, write_wide};

use runs::{check, database, game, positions, run, table};

#[test]
fn rows_have_their_run_and_iteration() {
    let expected = "run    iteration  games\nfirst          3      2\nfirst      10000      3";
    check("select run, iteration, count(*) as games from games group by run, iteration", expected);
    check(
        "select net, update, loss from training",
        "net  update  loss\n  7      10   0.3\n  7      20  0.15",
    );
}

#[test]
fn the_schema_page_has_the_types_of_the_columns_that_come_from_paths() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/README.md");
    let page = std::fs::read_to_string(page).expect("the schema page");
    let section = page.split("\n### ").find(|section| section.starts_with("Columns from paths"));
    let rows = section.expect("a section").lines().filter_map(|line| line.strip_prefix("| `"));
    let rows: Vec<Vec<&str>> = rows.map(|row| row.split('|').map(str::trim).collect()).collect();
    let run = run();
    let trial = Trial { trial: 3, replicate: 1 };
    let source = RunSource { trial: Some(trial), ..RunSource::from_folder("sweep", run.path()) };
    let tables = Database::new(vec![source], Vec::new(), Work::Exact).tables().expect("tables");
    for row in rows {
        let name = row[0].trim_end_matches('`');
        let of_stored = ["games", "positions", "headers", "rejects", "training", "validation", "matches"];
        let of_stored = of_stored.iter().chain(&["searches", "trees", "puzzles", "answers", "predictions"]);
        // The iteration that a prediction is of is stored.
        let is_of_path = |table: &&&str| (name, **table) != ("iteration", "predictions");
        let kinds: Vec<&str> = of_stored
            .filter(is_of_path)
            .filter_map(|table| tables.iter().find(|known| known.name == *table))
            .filter_map(|table| table.columns.iter().find(|column| column.name == name))
            .map(|column| column.kind.as_str())
            .collect();
        assert!(!kinds.is_empty() && kinds.iter().all(|kind| *kind == row[1]), "{name}: {kinds:?}");
    }
}

#[test]
fn a_second_column_of_a_name_gets_a_number() {
    check("select 1 as a, 2 as a, 3 as a", "a  a_1  a_2\n1    2    3");
}

#[test]
fn a_reserved_word_in_quotes_is_a_column() {
    check("select count(*) as n from positions where \"full\"", "n\n7");
}

#[test]
fn tables_without_files_are_empty_but_have_columns() {
    check("select match, first, score from matches", "match  first  score");
    check("select count(*) as n from trees", "n\n0");
    check("select kind, seconds from steps", "kind  seconds");
}

/// Stores a table of costs with one row, in which only the given cells are set.
fn store_costs(folder: &Path, cells: &[(&str, Value)]) {
    let empty =
        ["step", "identity", "kind", "number", "taken_from", "attempts", "seconds", "cpu_seconds", "device"]
            .into_iter()
            .chain([
                "backend",
                "precision",
                "lanes",
                "threads",
                "games",
                "positions",
                "simulations",
                "evaluations",
            ])
            .chain([
                "evaluations_per_second",
                "cache_hits",
                "mean_batch",
                "largest_batch",
                "batch_fill",
                "net_idle",
            ])
            .chain(["updates", "samples", "samples_per_second", "flops", "peak_memory", "bytes"]);
    let cell = |name: &str| {
        cells.iter().find(|(known, _)| *known == name).map_or(Value::None, |(_, cell)| cell.clone())
    };
    let columns: Vec<WideColumn> = empty
        .map(|name| WideColumn { name: name.to_owned(), cells: vec![cell(name)], if_empty: WideKind::Float })
        .collect();
    write_wide(folder, "costs.parquet", "costs", 1, &columns, &Provenance::new()).expect("writes");
}

#[test]
fn costs_of_several_runs_are_one_table_even_with_empty_cells() {
    let folders = [run(), run(), run()];
    let text = |text: &str| Value::Text(text.to_owned());
    store_costs(
        folders[0].path(),
        &[("kind", text("train")), ("updates", Value::Int(7)), ("seconds", Value::Int(2))],
    );
    store_costs(
        folders[1].path(),
        &[("kind", text("grow")), ("device", text("cpu")), ("seconds", Value::Float(0.5))],
    );
    let runs = ["a", "b", "c"]
        .iter()
        .zip(&folders)
        .map(|(name, folder)| RunSource::from_folder(*name, folder.path()));
    let mut runs: Vec<RunSource> = runs.collect();
    let costs = |runs: &[RunSource]| {
        let database = Database::new(runs.to_vec(), Vec::new(), Work::Exact);
        table(&database.query("select run, kind, device, updates, seconds from costs").expect("a frame"))
    };
    assert_eq!(
        costs(&runs),
        "run  kind   device  updates  seconds\na    train  -             7        2\nb    grow   cpu           -      0.5"
    );
    // Scripts read only named files, so that their results do not depend on times.
    for run in &mut runs {
        run.files = Files::Only(vec!["costs.parquet".to_owned()]);
    }
    assert_eq!(costs(&runs), "run  kind  device  updates  seconds");
    let info = Database::new(runs, Vec::new(), Work::Exact).tables().expect("tables");
    let costs = info.iter().find(|table| table.name == "costs").expect("costs");
    assert_eq!(
        (costs.rows, costs.columns.len(), costs.about.as_str()),
        (0, 35, "what the steps of a run took")
    );
    assert!(costs.columns[1..].iter().all(|column| !column.meaning.is_empty()), "{costs:?}");
}

#[test]
fn chess_functions_work_in_inner_selects_too() {
    check(
        "select opening(moves) as name from games where game = 0 order by iteration",
        "name\nSicilian Defense\nQueen's Gambit",
    );
    let fens = "positions where ply = 3";
    let expected = "pieces  side   phase\n    32  black      1";
    check(
        &format!("select piece_count(fen) as pieces, side(fen) as side, phase(fen) as phase from {fens}"),
        expected,
    );
    check(
        "select uci(played) as uci, san(fen, played) as san from positions where ply = 3",
        "uci   san\nd8h4  Qh4#",
    );
    check(
        "select uci(moves) as moves, eco(moves) as eco from games where result = -1",
        "moves                eco\nf2f3 e7e5 g2g4 d8h4  A00",
    );
    let with = "with named as (select eco(moves) as code from games) select code, count(*) as n from named group by code";
    let expected = "code  n\nA00   1\nA04   1\nB20   1\nC20   1\nD06   1";
    check(with, &expected.replace("A04", "A05"));
    let bracketed = "(select len(moves) as n from games where result = 0) union all (select max(ply) from positions where game = 2) order by n";
    check(bracketed, "n\n1\n2\n3");
    let from =
        "select inside.n from (select len(moves) as n from games where result = 0) as inside order by n";
    check(from, "n\n2\n3");
    let union = "select len(moves) as n from games where result = 0 union all select list_max(visits) from positions where ply = 0 and game = 2 order by n";
    check(union, " n\n 2\n 3\n20");
    check(
        "select board(fen) as board from positions where ply = 1 and game = 2",
        "board\nr n b q k b n r\np p p p p p p p\n. . . . . . . .\n. . . . . . . .\n. . . . . . . .\n. . . . . N . .\nP P P P P P P P\nR N B Q K B . R",
    );
}

#[test]
fn a_table_of_with_may_shadow_and_read_a_stored_table() {
    let drawn = "with games as (select * from games where result = 0)";
    check(&format!("{drawn} select count(*) as n from games"), "n\n2");
    check(&format!("{drawn} select max(len(moves)) as n from games"), "n\n3");
    // In a subquery the definition is visible only there.
    let inside = format!(
        "select max(a.n) as n, count(*) as c from ({drawn} select count(*) as n from games) as a cross join games as g"
    );
    check(&inside, "n  c\n2  5");
}

#[test]
fn rows_are_counted_and_single_columns_read() {
    let folder = run();
    let games =
        database(folder.path()).query("select game, reason from games where result = 0").expect("a frame");
    assert_eq!(games.count().expect("counts"), 2);
    let only = games.only("reason").expect("a column");
    assert_eq!((only.columns(), only.count().expect("counts")), (&["reason".to_owned()][..], 2));
    assert_eq!(
        games.only("reasn").expect_err("an error").to_string(),
        "there is no column `reasn`; did you mean `reason`?"
    );
}

#[test]
fn example_queries_keep_runs_apart() {
    let (one, two) = (run(), run());
    let example = |folders: &[&Path], title: &str| {
        let runs = folders
            .iter()
            .enumerate()
            .map(|(index, folder)| RunSource::from_folder(format!("run {index}"), *folder));
        let database = Database::new(runs.collect(), Vec::new(), Work::Exact);
        let question =
            questions().into_iter().find(|question| question.title.contains(title)).expect("a question");
        database.query(question.statement).and_then(|frame| frame.rows()).expect("an answer")
    };
    let positions = |folders: &[&Path]| example(folders, "target at the end").len();
    assert_eq!((positions(&[one.path()]), positions(&[one.path(), two.path()])), (1, 2));
    let times = example(&[one.path()], "occur more than once");
    // The initial position occurs five times, the one after e2e4 twice, all others once.
    assert_eq!(times.numbers("times").expect("numbers"), [1.0, 2.0, 5.0].map(Some));
}

#[test]
fn only_named_files_are_read() {
    let folder = run();
    let files = Files::Only(vec!["games/iteration=0003/part-0a-00000.parquet".to_owned()]);
    let source = RunSource { files, ..RunSource::from_folder("first", folder.path()) };
    let database = Database::new(vec![source], Vec::new(), Work::Exact);
    let count =
        |table: &str| database.query(&format!("select count(*) as n from {table}")).expect("a frame").rows();
    assert_eq!(count("games").expect("rows").column("n").expect("a column"), [Value::Int(2)]);
    assert_eq!(count("positions").expect("rows").column("n").expect("a column"), [Value::Int(0)]);
}

#[test]
fn several_runs_and_trials_are_one_table() {
    let (one, two) = (run(), run());
    let trial = Some(Trial { trial: 4, replicate: 1 });
    let sources = vec![
        RunSource::from_folder("one", one.path()),
        RunSource { trial, ..RunSource::from_folder("sweep", two.path()) },
    ];
    let database = Database::new(sources, Vec::new(), Work::Fast);
    let frame = database
        .query("select run, trial, replicate, count(*) as n from games group by run, trial, replicate");
    let expected = "run    trial  replicate  n\none        -          -  5\nsweep      4          1  5";
    assert_eq!(table(&frame.expect("a frame")), expected);
}

#[test]
fn joins_keep_unmatched_rows_and_rename_duplicates() {
    check(
        "select a.game, b.net from games as a left join training as b on a.game = b.net and a.iteration = b.update where a.result = -1",
        "game  net\n   1    -",
    );
    check(
        "select a.game, b.net from games as a left join training as b on a.game < b.net and b.update = 10 and a.result = -1 order by a.game, b.net",
        "game  net\n   0    -\n   0    -\n   1    7\n   1    -\n   2    -",
    );
    let folder = run();
    let games = database(folder.path()).table("games").expect("the table");
    let few = games.select(&["game".to_owned(), "reason".to_owned(), "result".to_owned()]).expect("selects");
    let both = few.join(&few, &["game".to_owned(), "reason".to_owned()]).expect("joins");
    assert_eq!(both.columns(), ["game", "reason", "result", "other_result"]);
}

#[test]
fn equal_queries_have_equal_results() {
    let folder = tempfile::tempdir().expect("a folder");
    let games: Vec<GameRow> =
        (0..3000).map(|number| game(number, "e2e4 c7c5", (number % 3) as i8 - 1)).collect();
    let mut rows = positions(&games);
    for (number, row) in rows.iter_mut().enumerate() {
        row.root_q = (number as f32).sin();
    }
    write_table(folder.path(), "positions/iteration=0000/part.parquet", &rows, &Provenance::new())
        .expect("valid rows");
    let query = || {
        let frame = database(folder.path()).query(
            "select played, avg(root_q) as q, sum(root_q * root_d) as s from positions group by played",
        );
        let rows = frame.expect("a frame").rows().expect("an answer");
        (0..rows.len()).map(|row| rows.row(row)).collect::<Vec<_>>()
    };
    let first = query();
    assert!((0..20).all(|_| query() == first));
}

#[test]
fn every_column_of_every_table_has_a_meaning() {
    let folder = run();
    let trial = Some(Trial { trial: 0, replicate: 0 });
    let source = RunSource { trial, ..RunSource::from_folder("first", folder.path()) };
    for table in Database::new(vec![source], Vec::new(), Work::Fast).tables().expect("tables") {
        assert!(!table.about.is_empty(), "{}", table.name);
        for column in table.columns {
            assert!(!column.meaning.is_empty() && !column.kind.is_empty(), "{}.{}", table.name, column.name);
        }
    }
}

#[test]
fn all_twenty_example_queries_run() {
    let folder = run();
    let sweep = dc0_analysis::SweepSource {
        name: "s".to_owned(),
        folder: folder.path().to_owned(),
        trials: Provenance::new(),
        has_values: false,
    };
    let database =
        Database::new(vec![RunSource::from_folder("first", folder.path())], vec![sweep], Work::Fast);
    let questions = questions();
    assert_eq!(questions.len(), 20);
    for question in questions {
        let rows = database.query(question.statement).and_then(|frame| frame.rows());
        rows.unwrap_or_else(|error| panic!("{}: {error}", question.title));
    }
}
