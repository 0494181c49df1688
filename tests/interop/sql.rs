//! SQL on a real run and a real sweep: DuckDB's Python package answers the questions of `docs/guides/sql.md`, and some hundreds of other
//! statements, as dc0 does. `cargo xtask test` installs it; without it these tests fail and say so.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::program::{PROGRAM, dc0_run, root, succeed};
use crate::{interop_command, interop_python, stdout_of};
use dc0_analysis::{AnalysisError, Database, Rows, Work, questions};
use dc0_core::params::Value;
use dc0_tables::Sources;
use serde_json::{Value as Json, json};

fn database(runs: &Path, run: &str) -> Database {
    let sources = Sources::named(runs, &[run.to_owned()]).expect("a run");
    Database::new(sources.runs, sources.sweeps, Work::Fast)
}

fn cell(value: &Value) -> Json {
    match value {
        Value::None => Json::Null,
        Value::Bool(value) => json!(value),
        Value::Int(value) => json!(value),
        Value::Float(value) if !value.is_finite() => json!(value.to_string()),
        Value::Float(value) => json!(value),
        Value::List(items) => items.iter().map(cell).collect(),
        Value::Text(text) => json!(text),
        Value::Group(_) => panic!("cells are no groups"),
    }
}

/// dc0's answer to a statement, or its error.
fn answer(database: &Database, statement: &str) -> Json {
    let rows = |rows: &Rows| -> Vec<Vec<Json>> {
        (0..rows.len()).map(|row| rows.row(row).iter().map(cell).collect()).collect()
    };
    match database.query(statement).and_then(|frame| frame.rows()) {
        Ok(found) => {
            let columns: Vec<String> = found.columns().into_iter().map(|(name, _)| name).collect();
            json!({ "statement": statement, "columns": columns, "rows": rows(&found) })
        }
        Err(error) => {
            let is_refusal = error.is_bad_input() && !matches!(error, AnalysisError::NotASelect { .. });
            assert!(is_refusal, "{statement}: {error}");
            let message = error.to_string();
            // One line in words, without what the program has around the statement.
            let is_clear = !message.is_empty()
                && ["\n", "INTERNAL", "dc0_", "Exception", "LINE ", "{", "view_"]
                    .iter()
                    .all(|odd| !message.contains(odd));
            assert!(is_clear, "{statement}: {message}");
            json!({ "statement": statement, "error": message })
        }
    }
}

/// Compares answers with DuckDB's over the views that `--views` prints. Returns what the script printed.
fn compare(folder: &Path, runs: &Path, run: &str, answers: &[Json]) -> Result<String, String> {
    compare_in(folder, runs, run, answers, ["duckdb", "views.sql", "sql_statements.py"])
}

/// Compares answers with those of a program, with what `--views` prints for it in a file.
fn compare_in(
    folder: &Path,
    runs: &Path,
    run: &str,
    answers: &[Json],
    [program, file, script]: [&str; 3],
) -> Result<String, String> {
    let views = succeed(Command::new(PROGRAM).args(["sql", "--views", program, "--runs"]).arg(runs).arg(run));
    fs::write(folder.join(file), views.stdout).expect("writes");
    let lines = answers.iter().fold(String::new(), |mut lines, answer| {
        writeln!(lines, "{answer}").expect("text takes everything");
        lines
    });
    fs::write(folder.join("answers.jsonl"), lines).expect("writes");
    let output = interop_command(script).arg("compare").arg(folder).output().expect("Python");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        Ok(printed)
    } else {
        Err(format!("{printed}{}", String::from_utf8_lossy(&output.stderr)))
    }
}

fn statements(folder: &Path) -> Vec<String> {
    let more = env::var("DC0_SQL_STATEMENTS").unwrap_or_default();
    written(
        interop_command("sql_statements.py").arg("write").arg(folder).args(more.split_whitespace()),
        folder,
    )
}

fn written(command: &mut Command, folder: &Path) -> Vec<String> {
    succeed(command);
    let written = fs::read_to_string(folder.join("statements.jsonl")).expect("the statements");
    let statement = |line: &str| {
        let line: Json = serde_json::from_str(line).expect("JSON");
        line["statement"].as_str().expect("a statement").to_owned()
    };
    written.lines().map(statement).collect()
}

#[test]
fn duckdb_answers_every_statement_as_dc0_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let runs = folder.path().join("runs");
    succeed(&mut dc0_run("tests/data/tiny.rhai", &runs));
    let database = database(&runs, "tiny");
    let own = questions().into_iter().filter(|question| !question.needs_sweep);
    let own = own.map(|question| question.statement.to_owned());
    let answers: Vec<Json> =
        own.chain(statements(folder.path())).map(|statement| answer(&database, &statement)).collect();
    let refused = answers.iter().filter(|answer| answer.get("error").is_some()).count();
    assert!(answers.len() > 600 && refused < answers.len() / 5, "{refused} of {}", answers.len());
    let compared = compare(folder.path(), &runs, "tiny", &answers);
    assert!(compared.is_ok(), "{}", compared.unwrap_err());
    // A wrong answer is detected.
    let mut wrong = answers[0].clone();
    wrong["rows"][0][2] = json!(123_456);
    let found = compare(folder.path(), &runs, "tiny", &[wrong]).expect_err("a difference");
    assert!(found.contains("1 different") && found.contains("123456"), "{found}");
}

#[test]
fn polars_answers_as_dc0_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let runs = folder.path().join("runs");
    succeed(&mut dc0_run("tests/data/tiny.rhai", &runs));
    let database = database(&runs, "tiny");
    let all = written(interop_command("polars_tables.py").arg("write").arg(folder.path()), folder.path());
    let answers: Vec<Json> = all.iter().map(|statement| answer(&database, statement)).collect();
    let program = ["polars", "tables.py", "polars_tables.py"];
    let compared = compare_in(folder.path(), &runs, "tiny", &answers, program);
    assert!(compared.is_ok(), "{}", compared.unwrap_err());
    let mut wrong = answers[0].clone();
    wrong["rows"][0][0] = json!(123_456);
    let found = compare_in(folder.path(), &runs, "tiny", &[wrong], program).expect_err("a difference");
    assert!(found.contains("1 different") && found.contains("123456"), "{found}");
}

#[test]
fn duckdb_answers_for_a_sweep_as_dc0_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("swept.rhai");
    fs::write(&script, SWEEP).expect("writes");
    // Letters that patterns of file names have.
    let runs = folder.path().join("runs [x]*");
    succeed(
        Command::new(PROGRAM)
            .arg(&script)
            .arg("--out")
            .arg(&runs)
            .args(["--backend", "torch"])
            .current_dir(root()),
    );
    let database = database(&runs, "swept");
    let own = questions().into_iter().filter(|question| question.needs_sweep);
    let mut all: Vec<String> = own.map(|question| question.statement.to_owned()).collect();
    assert_eq!(all.len(), 1);
    all.push(
        "select trial, replicate, count(*) as n from games group by trial, replicate order by all".to_owned(),
    );
    all.push("select trial, sum(games) as n from steps group by all order by all".to_owned());
    let answers: Vec<Json> = all.iter().map(|statement| answer(&database, statement)).collect();
    for answer in &answers {
        assert_eq!(answer["rows"].as_array().map(Vec::len), Some(4), "{answer}");
    }
    let compared = compare(folder.path(), &runs, "swept", &answers);
    assert!(compared.is_ok(), "{}", compared.unwrap_err());
    let views =
        succeed(Command::new(PROGRAM).args(["sql", "--views", "polars", "--runs"]).arg(&runs).arg("swept"));
    let module = folder.path().join("tables.py");
    fs::write(&module, views.stdout).expect("writes");
    let mut counts = Command::new(interop_python());
    counts.arg("-c").arg(
        "import sys; t = {}; exec(open(sys.argv[1]).read(), t); \
         print(t['trials'].collect().height, t['games'].group_by('trial', 'replicate').len().collect().rows())",
    );
    let counted = stdout_of(counts.arg(&module));
    assert!(counted.starts_with("4 ") && counted.matches(", 0, 2)").count() == 4, "{counted}");
}

/// Four trials of two games each.
const SWEEP: &str = r#"
sweep(#{ name: "swept", space: #{ c_puct: choice([0.5, 1.0, 2.0, 4.0]) }, sampler: "grid", trials: 4 }, |trial| {
    let net = trial.run.network(#{ tower: #{ blocks: 1, filters: 8 } });
    let games = trial.run.self_play(net, #{ games: 2, max_plies: 20, search: #{ simulations: 4, c_puct: trial.c_puct } });
    games.mean_entropy
});
"#;
