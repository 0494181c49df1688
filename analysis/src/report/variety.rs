//! How different the games of an iteration are from each other.

use crate::database::Iteration;
use crate::error::AnalysisError;

/// How different the games of an iteration are.
pub(super) struct Variety {
    pub(super) run: String,
    pub(super) iteration: u32,
    /// Different positions as a share of all.
    pub(super) positions: f64,
    /// Different beginnings as a share of all games.
    pub(super) beginnings: f64,
}

/// Plies of a beginning. No pawn promotes in so few, so UCI text of them is 39 letters at most. Chosen.
pub(super) const BEGINNING: usize = 8;

/// A position's letters up to the side to move: without castling rights, en passant and clocks.
const PLACEMENT: &str = "substr(fen, 1, strpos(fen, ' ') + 1)";

/// Of each iteration.
pub(super) fn varieties(iterations: &[Iteration]) -> Result<Vec<Variety>, AnalysisError> {
    let letters = 5 * BEGINNING - 1;
    let beginning = format!("substr(uci(moves), 1, {letters})");
    let variety = |of: &Iteration| {
        Ok(Variety {
            run: of.run.clone(),
            iteration: of.number,
            positions: different(of, "positions", PLACEMENT)?,
            beginnings: different(of, "games", &beginning)?,
        })
    };
    iterations.iter().map(variety).collect()
}

/// The share of a table's rows in which an expression is different; no number where there are none.
fn different(of: &Iteration, table: &str, expression: &str) -> Result<f64, AnalysisError> {
    let statement =
        format!("select count(*) as all_of_them, count(distinct {expression}) as different from {table}");
    let answer = of.database.ask(&statement)?;
    let number =
        |column| Ok::<_, AnalysisError>(answer.numbers(column)?.first().copied().unwrap_or(f64::NAN));
    Ok(number("different")? / number("all_of_them")?)
}
