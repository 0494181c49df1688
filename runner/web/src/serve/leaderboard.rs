//! The leaderboard of a sweep, for its page.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::library::{Found, Library};
use super::status::{self, Locks};
use dc0_runs::sweep::board::{Board, Row};
use dc0_runs::sweep::events::Measured;
use dc0_runs::sweep::observation::{Direction, TrialState};

/// Trials that are shown.
const SHOWN: usize = 200;

/// The message for a sweep without a readable journal.
const UNREAD: &str = "nothing has happened in the sweep yet, or its trials.jsonl cannot be read";

/// Everything about a sweep; `error` says what cannot be read now.
pub(super) fn leaderboard(library: &Library, sweep: &Found) -> Value {
    let locks = Locks::read();
    let mut value = status::sweep_summary(library, sweep, &locks);
    let trials = library.trials(sweep);
    let board = library.board(sweep);
    let board = board.as_deref().map(Result::as_ref);
    let ended = board.and_then(Result::ok).map(ended).unwrap_or_default();
    let running: Vec<Value> = trials
        .iter()
        .filter(|run| run.trial().is_none_or(|number| !ended.contains(&number)))
        .map(|run| status::summary(library, run, &locks))
        .filter(|summary| ["running", "cut"].iter().any(|state| summary["state"] == *state))
        .collect();
    value["running"] = Value::Array(running);
    match board {
        Some(Ok(board)) => add_board(&mut value, board, &trials),
        Some(Err(cause)) => value["error"] = cause.as_str().into(),
        None => value["error"] = UNREAD.into(),
    }
    value
}

/// The trials that have ended, whose runs need not be read.
fn ended(board: &Board) -> BTreeSet<u32> {
    let is_ended =
        |row: &&Row| [TrialState::Complete, TrialState::Pruned, TrialState::Failed].contains(&row.state);
    board.rows.iter().filter(is_ended).map(|row| row.trial).collect()
}

fn add_board(value: &mut Value, board: &Board, trials: &[Found]) {
    let mut runs: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
    for run in trials {
        runs.entry(run.trial().unwrap_or(u32::MAX)).or_default().push(&run.path);
    }
    let runs_of = |row: &Row| runs.get(&row.trial).map(Vec::as_slice).unwrap_or_default();
    value["objective"] = board.objective.clone().into();
    value["direction"] = if board.direction == Direction::Maximize { "maximize" } else { "minimize" }.into();
    value["rows"] = board.rows.iter().take(SHOWN).map(|trial| row(runs_of(trial), trial)).collect();
    value["all"] = board.rows.len().into();
    value["importances"] = json!(board.importances);
}

fn row(runs: &[&str], row: &Row) -> Value {
    let point: Vec<Value> = row.point.iter().map(|(name, value)| json!([name, value.to_string()])).collect();
    json!({
        "trial": row.trial, "state": row.state.name(), "point": point, "replicates": row.replicates, "at": row.at,
        "value": row.result.map(ends),
        "to_the_best": row.difference.filter(|difference| difference.interval().is_some()).map(ends),
        "seconds": row.spent.seconds, "because": row.because, "runs": runs,
    })
}

/// A value with the ends of its interval.
fn ends(measured: Measured) -> [f64; 3] {
    [measured.value, measured.low, measured.high]
}
