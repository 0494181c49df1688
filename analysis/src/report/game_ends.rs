//! How the games of self-play ended, counted.

use crate::database::Database;
use crate::error::AnalysisError;

/// Games that ended alike.
pub(super) struct Ended {
    pub(super) run: String,
    pub(super) iteration: u32,
    pub(super) result: i8,
    pub(super) reason: String,
    pub(super) games: f64,
}

/// All ends of all games.
pub(super) fn ends(database: &Database) -> Result<Vec<Ended>, AnalysisError> {
    let statement = "select run, iteration, result, reason, count(*) as games from games \
        group by run, iteration, result, reason order by run, iteration, result, reason";
    let answer = database.ask(statement)?;
    let (runs, reasons) = (answer.texts("run")?, answer.texts("reason")?);
    let (iterations, results) = (answer.numbers("iteration")?, answer.numbers("result")?);
    let games = answer.numbers("games")?;
    let row = |at: usize| Ended {
        run: runs[at].clone(),
        iteration: iterations[at] as u32,
        result: results[at] as i8,
        reason: reasons[at].clone(),
        games: games[at],
    };
    Ok((0..answer.len()).map(row).collect())
}
