//! The evaluation of single positions, as the search uses it.

use crate::board::{KnownMove, Position};

/// Evaluates the position that a search is at.
///
/// The search reports every move that it plays and takes back, so that an evaluator can keep what it knows of the pieces up to date
/// in place of counting it again, as an efficiently updatable net does. A pass (the null move) is not reported: the pieces stay the
/// same, and [`evaluate`](Self::evaluate) is given the position with the side to move.
pub trait StaticEvaluator: Send {
    /// Forgets all moves and begins at a position.
    fn reset(&mut self, position: &Position);

    /// A legal move was played from `before`, the position that the evaluator is at, and led to `after`.
    fn push(&mut self, before: &Position, mv: KnownMove, after: &Position);

    /// The last move that was pushed is taken back.
    fn pop(&mut self);

    /// The evaluation in centipawns for the side to move of the current position, which is not over. Beyond ±30,000 it is cut.
    fn evaluate(&mut self, position: &Position) -> i32;

    /// What it is, for messages and identities of players, such as `"material"`.
    fn name(&self) -> &str;
}
