//! A sweep's trials side by side, as its page shows them.

use serde_json::{Value, json};

use super::library::{Found, Library};
use super::status;
use crate::run::RunError;
use crate::sweep::board::{Board, Row};
use crate::sweep::folder::SweepFolder;
use crate::sweep::told::Direction;

/// Trials that are shown.
const SHOWN: usize = 200;

/// Everything about a sweep; what cannot be read just now is said in `error`.
pub(super) fn leaderboard(library: &Library, sweep: &Found) -> Value {
    let mut told = status::sweep_summary(library, sweep);
    let trials = library.trials(sweep);
    let running: Vec<Value> = trials
        .iter()
        .map(|run| status::summary(library, run))
        .filter(|summary| ["running", "cut"].iter().any(|state| summary["state"] == *state))
        .collect();
    told["running"] = Value::Array(running);
    match board(sweep) {
        Ok(board) => {
            told["objective"] = board.objective.clone().into();
            told["direction"] =
                if board.direction == Direction::Maximize { "maximize" } else { "minimize" }.into();
            told["rows"] = board.rows.iter().take(SHOWN).map(|of| row(&trials, of)).collect();
            told["all"] = board.rows.len().into();
            told["importances"] = json!(board.importances);
        }
        Err(error) => told["error"] = error.to_string().into(),
    }
    told
}

fn board(sweep: &Found) -> Result<Board, RunError> {
    let (params, trials) = SweepFolder::read(sweep.folder.root())?;
    Ok(Board::new(&params, &trials))
}

fn row(runs: &[Found], row: &Row) -> Value {
    let number = format!("{:04}-", row.trial);
    let own: Vec<&str> =
        runs.iter().filter(|run| run.name().starts_with(&number)).map(|run| run.path.as_str()).collect();
    let point: Vec<Value> = row.point.iter().map(|(name, value)| json!([name, value.to_string()])).collect();
    json!({
        "trial": row.trial, "state": row.state.word(), "point": point, "replicates": row.replicates, "at": row.at,
        "value": row.result.map(|result| [result.value, result.low, result.high]),
        "seconds": row.spent.seconds, "because": row.because, "runs": own,
    })
}
