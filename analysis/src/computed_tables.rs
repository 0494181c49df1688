//! Tables without files, built from plain rows: `steps` and `runs`, which the runner supplies.

use dc0_core::params::Value;

use crate::source::{RunRow, RunSource, StepRow};

/// A column: its name, its documented type, and how to get a row's cell.
pub(crate) type ColumnDef<R> = (&'static str, &'static str, fn(&R) -> Value);

/// A row with the run that it belongs to.
pub(crate) type RunRowRef<'a, R> = (&'a RunSource, &'a R);

const STEP: [ColumnDef<StepRow>; 8] = [
    ("step", "u32", |row| Value::Int(row.step.into())),
    ("kind", "text", |row| Value::from(&row.kind)),
    ("series", "text", |row| row.series.as_deref().into()),
    ("number", "u32", |row| row.number.map_or(Value::None, |number| Value::Int(number.into()))),
    ("identity", "text", |row| Value::from(&row.identity)),
    // The same digits as in the table of games.
    ("network", "text", |row| row.network.as_ref().map(|digest| &digest[..digest.len().min(16)]).into()),
    ("seconds", "f64", |row| row.seconds.map_or(Value::None, Value::Float)),
    ("bytes", "i64", |row| Value::Int(row.bytes)),
];

/// Figures of steps: the column, its type, and the figure's key in the step's summary.
const FIGURES: [(&str, &str, &str); 40] = [
    ("games", "i64", "games"),
    ("positions", "i64", "positions"),
    ("evaluations", "i64", "evaluations"),
    ("first_evaluations", "i64", "first_evaluations"),
    ("second_evaluations", "i64", "second_evaluations"),
    ("cache_hits", "i64", "cache_hits"),
    ("simulations", "i64", "simulations"),
    ("mean_batch", "f64", "mean_batch"),
    ("updates", "i64", "updates"),
    ("samples", "i64", "samples_seen"),
    ("white_wins", "i64", "white_wins"),
    ("draws", "i64", "draws"),
    ("black_wins", "i64", "black_wins"),
    ("draw_rate", "f64", "draw_rate"),
    ("mean_plies", "f64", "mean_plies"),
    ("mean_entropy", "f64", "mean_entropy"),
    ("loss", "f64", "loss"),
    ("policy_loss", "f64", "policy_loss"),
    ("value_loss", "f64", "value_loss"),
    ("policy_accuracy", "f64", "policy_accuracy"),
    ("policy_entropy", "f64", "policy_entropy"),
    ("gradient_norm", "f64", "gradient_norm"),
    ("policy_top_three", "f64", "policy_top_three"),
    ("brier", "f64", "brier"),
    ("weight_norm", "f64", "weight_norm"),
    ("reuse", "f64", "reuse"),
    ("validation_loss", "f64", "validation_loss"),
    ("validation_brier", "f64", "validation_brier"),
    ("score", "f64", "score"),
    ("score_low", "f64", "score_low"),
    ("score_high", "f64", "score_high"),
    ("elo", "f64", "elo"),
    ("elo_low", "f64", "elo_low"),
    ("elo_high", "f64", "elo_high"),
    ("los", "f64", "los"),
    ("normalized_elo", "f64", "normalized_elo"),
    ("normalized_elo_low", "f64", "normalized_elo_low"),
    ("normalized_elo_high", "f64", "normalized_elo_high"),
    ("parameters", "i64", "parameters"),
    ("flops", "f64", "flops"),
];

const STEP_JSON: [ColumnDef<StepRow>; 2] = [
    ("summary", "text", |row| row.summary.canonical().into()),
    ("params", "text", |row| row.params.canonical().into()),
];

const RUN: [ColumnDef<RunRow>; 8] = [
    ("script", "text", |row| Value::from(&row.script)),
    ("seed", "i64", |row| Value::Int(row.seed)),
    ("backend", "text", |row| Value::from(&row.backend)),
    ("device", "text", |row| Value::from(&row.device)),
    ("precision", "text", |row| Value::from(&row.precision)),
    ("threads", "u32", |row| Value::Int(row.threads.into())),
    ("dc0", "text", |row| Value::from(&row.dc0)),
    ("params", "text", |row| row.params.canonical().into()),
];

/// The names and types of the own columns of `steps`.
pub(crate) fn step_columns() -> Vec<(&'static str, &'static str)> {
    let figures = FIGURES.iter().map(|(name, kind, _)| (*name, *kind));
    names(&STEP).chain(figures).chain(names(&STEP_JSON)).collect()
}

/// The names and types of the own columns of `runs`.
pub(crate) fn run_columns() -> Vec<(&'static str, &'static str)> {
    names(&RUN).collect()
}

/// The names and types of some columns.
pub(crate) fn names<R>(columns: &[ColumnDef<R>]) -> impl Iterator<Item = (&'static str, &'static str)> {
    columns.iter().map(|(name, kind, _)| (*name, *kind))
}

/// The rows of `steps`, each with its run.
pub(crate) fn steps<'a>(rows: &[RunRowRef<'a, StepRow>]) -> Vec<(&'a RunSource, Vec<Value>)> {
    let figures = |row: &StepRow| {
        let figure = |(_, kind, figure): &(&str, &str, &str)| typed(kind, member(&row.summary, figure));
        FIGURES.iter().map(figure).collect::<Vec<_>>()
    };
    let cells = |(run, row): &RunRowRef<'a, StepRow>| {
        (*run, cells(&STEP, *row).chain(figures(row)).chain(cells(&STEP_JSON, *row)).collect())
    };
    rows.iter().map(cells).collect()
}

/// The rows of `runs`, each with its run.
pub(crate) fn runs<'a>(rows: &[RunRowRef<'a, RunRow>]) -> Vec<(&'a RunSource, Vec<Value>)> {
    rows.iter().map(|(run, row)| (*run, cells(&RUN, *row).collect())).collect()
}

/// A row's cells.
pub(crate) fn cells<'a, R>(columns: &'a [ColumnDef<R>], row: &'a R) -> impl Iterator<Item = Value> + 'a {
    columns.iter().map(move |(_, kind, cell)| typed(kind, cell(row)))
}

fn member(group: &Value, name: &str) -> Value {
    match group {
        Value::Group(members) => members.get(name).cloned().unwrap_or(Value::None),
        _ => Value::None,
    }
}

/// A cell of a documented type; values of other types become empty cells.
fn typed(kind: &str, value: Value) -> Value {
    match (kind, value) {
        ("text", Value::Text(text)) => Value::Text(text),
        ("f64", value) => value.as_f64().map_or(Value::None, Value::Float),
        (kind, Value::Int(number)) if kind != "text" => Value::Int(number),
        _ => Value::None,
    }
}
