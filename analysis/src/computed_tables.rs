//! Tables without files, built from plain rows: `steps` and `runs`, which the runner supplies.

use dc0_core::params::Value;
use polars::prelude::{Column, DataFrame, NamedFrom, PolarsResult, Series};

use crate::column_types::data_type;
use crate::source::{RunRow, RunSource, StepRow, Trial};

/// A column: its name, its documented type, and how to get a row's cell.
pub(crate) type ColumnDef<R> = (&'static str, &'static str, fn(&R) -> Value);

/// A row with the run that it belongs to.
pub(crate) type RunRowRef<'a, R> = (&'a RunSource, &'a R);

const STEP: [ColumnDef<StepRow>; 7] = [
    ("step", "u32", |row| Value::Int(row.step.into())),
    ("kind", "text", |row| text(&row.kind)),
    ("number", "u32", |row| row.number.map_or(Value::None, |number| Value::Int(number.into()))),
    ("identity", "text", |row| text(&row.identity)),
    // The same digits as in the table of games.
    ("network", "text", |row| {
        row.network.as_ref().map_or(Value::None, |digest| text(&digest[..digest.len().min(16)]))
    }),
    ("seconds", "f64", |row| row.seconds.map_or(Value::None, Value::Float)),
    ("bytes", "i64", |row| Value::Int(row.bytes)),
];

/// Figures of steps: the column, its type, and the figure's key in the step's summary.
const FIGURES: [(&str, &str, &str); 29] = [
    ("games", "i64", "games"),
    ("positions", "i64", "positions"),
    ("evaluations", "i64", "evaluations"),
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
    ("validation_loss", "f64", "validation_loss"),
    ("score", "f64", "score"),
    ("score_low", "f64", "score_low"),
    ("score_high", "f64", "score_high"),
    ("elo", "f64", "elo"),
    ("elo_low", "f64", "elo_low"),
    ("elo_high", "f64", "elo_high"),
    ("parameters", "i64", "parameters"),
    ("flops", "f64", "flops"),
];

const STEP_JSON: [ColumnDef<StepRow>; 2] = [
    ("summary", "text", |row| text(&row.summary.canonical())),
    ("params", "text", |row| text(&row.params.canonical())),
];

const RUN: [ColumnDef<RunRow>; 8] = [
    ("script", "text", |row| text(&row.script)),
    ("seed", "i64", |row| Value::Int(row.seed)),
    ("backend", "text", |row| text(&row.backend)),
    ("device", "text", |row| text(&row.device)),
    ("precision", "text", |row| text(&row.precision)),
    ("threads", "u32", |row| Value::Int(row.threads.into())),
    ("dc0", "text", |row| text(&row.dc0)),
    ("params", "text", |row| text(&row.params.canonical())),
];

pub(crate) fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// The names and types of a table's own columns; `None` for tables that are not built here.
pub(crate) fn columns(table: &str) -> Option<Vec<(&'static str, &'static str)>> {
    let figures = FIGURES.iter().map(|(name, kind, _)| (*name, *kind));
    match table {
        "steps" => Some(names(&STEP).chain(figures).chain(names(&STEP_JSON)).collect()),
        "runs" => Some(names(&RUN).collect()),
        _ => None,
    }
}

/// The names and types of some columns.
pub(crate) fn names<R>(columns: &[ColumnDef<R>]) -> impl Iterator<Item = (&'static str, &'static str)> {
    columns.iter().map(|(name, kind, _)| (*name, *kind))
}

/// All columns of `steps`.
pub(crate) fn steps(rows: &[RunRowRef<'_, StepRow>]) -> PolarsResult<Vec<Column>> {
    let figure = |(name, kind, figure): &(&str, &str, &str)| {
        column(name, kind, rows.iter().map(|(_, row)| member(&row.summary, figure)).collect())
    };
    let mut columns = filled(&STEP, rows)?;
    columns.extend(FIGURES.iter().map(figure).collect::<PolarsResult<Vec<_>>>()?);
    columns.extend(filled(&STEP_JSON, rows)?);
    Ok(columns)
}

/// All columns of `runs`.
pub(crate) fn runs(rows: &[RunRowRef<'_, RunRow>]) -> PolarsResult<Vec<Column>> {
    filled(&RUN, rows)
}

/// Columns filled with the cells of some rows.
pub(crate) fn filled<R>(columns: &[ColumnDef<R>], rows: &[RunRowRef<'_, R>]) -> PolarsResult<Vec<Column>> {
    let fill = |(name, kind, cell): &ColumnDef<R>| {
        column(name, kind, rows.iter().map(|(_, row)| cell(row)).collect())
    };
    columns.iter().map(fill).collect()
}

/// A table of columns, preceded by those that name each row's run and, if `has_trials`, its trial.
pub(crate) fn table<'a>(
    runs: impl Iterator<Item = &'a RunSource> + Clone,
    has_trials: bool,
    columns: Vec<Column>,
) -> PolarsResult<DataFrame> {
    let trial_cells = |field: fn(Trial) -> u32| {
        let cell = |run: &RunSource| run.trial.map_or(Value::None, |trial| Value::Int(field(trial).into()));
        runs.clone().map(cell).collect()
    };
    let mut all = vec![column("run", "text", runs.clone().map(|run| text(&run.name)).collect())?];
    if has_trials {
        all.push(column("trial", "u32", trial_cells(|trial| trial.trial))?);
        all.push(column("replicate", "u32", trial_cells(|trial| trial.replicate))?);
    }
    all.extend(columns);
    DataFrame::new(runs.count(), all)
}

fn member(group: &Value, name: &str) -> Value {
    match group {
        Value::Group(members) => members.get(name).cloned().unwrap_or(Value::None),
        _ => Value::None,
    }
}

/// A column of a documented type; values of other types become empty cells.
fn column(name: &str, kind: &str, cells: Vec<Value>) -> PolarsResult<Column> {
    let series = match kind {
        "text" => {
            let text = |cell| if let Value::Text(text) = cell { Some(text) } else { None };
            Series::new(name.into(), cells.into_iter().map(text).collect::<Vec<Option<String>>>())
        }
        "f64" => Series::new(name.into(), cells.iter().map(Value::as_f64).collect::<Vec<_>>()),
        _ => {
            let int = |cell: &Value| if let Value::Int(int) = cell { Some(*int) } else { None };
            Series::new(name.into(), cells.iter().map(int).collect::<Vec<_>>())
                .strict_cast(&data_type(kind))?
        }
    };
    Ok(series.into())
}
