//! Diversity: how much the games of an iteration differ from each other.

use crate::database::Iteration;
use crate::error::AnalysisError;

/// The diversity of an iteration's games.
pub(super) struct Diversity {
    pub(super) run: String,
    pub(super) iteration: u32,
    /// Distinct positions as a share of all positions.
    pub(super) positions: f64,
    /// Distinct openings, each a start with its first plies, as a share of all games.
    pub(super) openings: f64,
}

/// The plies that count as the opening. Chosen.
pub(super) const OPENING_PLIES: usize = 8;

/// A FEN up to the side to move, without castling rights, en passant and clocks.
const PLACEMENT: &str = "substr(fen, 1, strpos(fen, ' ') + 1)";

/// The diversity of each iteration.
pub(super) fn diversities(iterations: &[Iteration]) -> Result<Vec<Diversity>, AnalysisError> {
    let opening = format!("(start_fen, moves[1:{OPENING_PLIES}])");
    let diversity = |iteration: &Iteration| {
        Ok(Diversity {
            run: iteration.run.clone(),
            iteration: iteration.number,
            positions: distinct_share(iteration, "positions", PLACEMENT)?,
            openings: distinct_share(iteration, "games", &opening)?,
        })
    };
    iterations.iter().map(diversity).collect()
}

/// The number of distinct values of an expression as a share of a table's rows; NaN if there are none.
fn distinct_share(iteration: &Iteration, table: &str, expression: &str) -> Result<f64, AnalysisError> {
    let statement =
        format!("select count(*) as row_count, count(distinct {expression}) as unique_values from {table}");
    let answer = iteration.database.fetch(&statement)?;
    let number =
        |column| Ok::<_, AnalysisError>(answer.numbers(column)?.first().copied().unwrap_or(f64::NAN));
    Ok(number("unique_values")? / number("row_count")?)
}
