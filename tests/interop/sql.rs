//! The twenty questions of `docs/guides/sql.md` on a real run and a real sweep: DuckDB and Python's polars give the same answers as dc0.
//! `cargo xtask test` installs both; without them these tests fail and say so.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::interop_script;
use crate::program::{PROGRAM, dc0_run, root, succeed};
use dc0_analysis::{Question, questions};
use serde_json::json;

fn sql(runs: &Path, run: &str, statement: &str, more: &[&str]) -> String {
    let mut command = Command::new(PROGRAM);
    command.arg("sql").arg("--runs").arg(runs).args([run, statement]).args(more);
    String::from_utf8(succeed(&mut command).stdout).expect("UTF-8")
}

/// A question with dc0's answer, as a line for the script. Rows stay as dc0 writes them, in the order of their columns.
fn line(runs: &Path, run: &str, question: &Question) -> String {
    let answer = sql(runs, run, question.statement, &["--format", "json"]);
    let rows: Vec<&str> = answer.lines().filter(|line| !line.is_empty()).collect();
    let (title, statement) = (json!(question.title), json!(question.statement));
    format!("{{\"title\":{title},\"statement\":{statement},\"rows\":[{}]}}", rows.join(","))
}

/// Writes dc0's answers for the script.
fn prepare(runs: &Path, run: &str, own: &Path, questions: &[Question]) {
    fs::create_dir_all(own).expect("a folder");
    fs::write(own.join("run.txt"), runs.join(run).display().to_string()).expect("writes");
    let lines: String = questions.iter().map(|question| format!("{}\n", line(runs, run, question))).collect();
    fs::write(own.join("questions.jsonl"), lines).expect("writes");
    let steps = own.join("steps.parquet").display().to_string();
    sql(runs, run, "select * from steps", &["--out", &steps]);
}

fn check_agreement(own: &Path) -> String {
    let output = interop_script("ask_questions.py", own);
    let (printed, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{printed}\n{err}");
    printed.into_owned()
}

#[test]
fn duckdb_and_polars_answer_every_question_as_dc0_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let runs = folder.path().join("runs");
    succeed(&mut dc0_run("tests/data/tiny.rhai", &runs));
    let (sweep_questions, run_questions): (Vec<Question>, Vec<Question>) =
        questions().into_iter().partition(|question| question.needs_sweep);
    assert_eq!((sweep_questions.len(), run_questions.len()), (1, 19));
    let own = folder.path().join("run");
    prepare(&runs, "tiny", &own, &run_questions);
    fs::copy(runs.join("tiny/costs.parquet"), own.join("costs.parquet")).expect("copies");
    assert_eq!(check_agreement(&own).lines().count(), run_questions.len());
    check_detection(&own);
}

/// Checks that a wrong answer is detected.
fn check_detection(own: &Path) {
    let file = own.join("questions.jsonl");
    let right = fs::read_to_string(&file).expect("the questions");
    let first = right.lines().next().expect("a line");
    let (before, after) = first.split_once("\"games\":").expect("a number of games");
    let after = after.trim_start_matches(|c: char| c.is_ascii_digit());
    fs::write(&file, format!("{before}\"games\":123456{after}")).expect("writes");
    let output = interop_script("ask_questions.py", own);
    assert_eq!(output.status.code(), Some(1));
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(err.contains("DuckDB: row 0") && err.contains("polars: row 0"), "{err}");
}

#[test]
fn duckdb_and_polars_answer_for_a_sweep_as_dc0_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("swept.rhai");
    fs::write(&script, SWEEP).expect("writes");
    let runs = folder.path().join("runs");
    succeed(
        Command::new(PROGRAM)
            .arg(&script)
            .arg("--out")
            .arg(&runs)
            .args(["--backend", "torch"])
            .current_dir(root()),
    );
    let sweep_questions: Vec<Question> =
        questions().into_iter().filter(|question| question.needs_sweep).collect();
    let own = folder.path().join("sweep");
    prepare(&runs, "swept", &own, &sweep_questions);
    fs::copy(runs.join("swept/trials.parquet"), own.join("trials.parquet")).expect("copies");
    assert!(check_agreement(&own).contains("4 rows"));
    let games = sql(
        &runs,
        "swept",
        "select trial, replicate, count(*) as n from games group by trial, replicate",
        &["--format", "csv"],
    );
    assert_eq!(games.lines().count(), 5, "{games}");
}

/// Four trials of two games each.
const SWEEP: &str = r#"
sweep(#{ name: "swept", space: #{ c_puct: choice([0.5, 1.0, 2.0, 4.0]) }, sampler: "grid", trials: 4 }, |trial| {
    let net = trial.run.network(#{ tower: #{ blocks: 1, filters: 8 } });
    let games = trial.run.self_play(net, #{ games: 2, max_plies: 20, search: #{ simulations: 4, c_puct: trial.c_puct } });
    games.mean_entropy
});
"#;
