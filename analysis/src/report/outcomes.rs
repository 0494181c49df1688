//! Counts of stored games by result and reason.

use crate::database::Database;
use crate::error::AnalysisError;

/// The number of an iteration's games with the same result and reason.
pub(super) struct OutcomeCount {
    pub(super) run: String,
    pub(super) iteration: u32,
    pub(super) result: i8,
    pub(super) reason: String,
    pub(super) games: f64,
}

/// The counts of all games.
pub(super) fn outcome_counts(database: &Database) -> Result<Vec<OutcomeCount>, AnalysisError> {
    let statement = "select run, iteration, result, reason, count(*) as games from games \
        group by run, iteration, result, reason order by run, iteration, result, reason";
    let answer = database.fetch(statement)?;
    let (runs, reasons) = (answer.texts("run")?, answer.texts("reason")?);
    let (iterations, results) = (answer.numbers("iteration")?, answer.numbers("result")?);
    let games = answer.numbers("games")?;
    let row = |index: usize| OutcomeCount {
        run: runs[index].clone(),
        iteration: iterations[index] as u32,
        result: results[index] as i8,
        reason: reasons[index].clone(),
        games: games[index],
    };
    Ok((0..answer.len()).map(row).collect())
}
