//! Replaces game results by tablebase results where tablebases cover the game.
//!
//! After Leela Chess Zero's rescorer (`ApplySyzygyRescoring`): every position of a game that the tablebases cover is a known
//! point, and a position's result is that of the first known point at or after it. So a position before the tablebases gets
//! the perfect-play result of the ending that was reached, and a position in them gets its own, whatever mistakes followed.
//! Positions after the last known point keep the game's result.

use crate::board::{Game, Tablebase, TablebaseError, TablebaseResult};

/// The result of perfect play for the side to move in the game's current position, if the tablebases are certain of it.
///
/// If the fifty-move clock is above 0, this needs DTZ tables. A win or loss is not certain once a position has been repeated
/// since the last capture or pawn move, because a third occurrence may come before the win is reached.
pub(super) fn known_result(tablebases: &Tablebase, game: &Game) -> Result<Option<i8>, TablebaseError> {
    let outcome = tablebases.probe_with_clock(game.position())?.map(TablebaseResult::outcome);
    Ok(outcome.filter(|&outcome| outcome == 0 || !game.has_repeated()))
}

/// For each position of a game, the result of the first known point at or after it, for the side to move; `None` if there is
/// none.
pub(super) fn carry_back(known: &[Option<i8>]) -> Vec<Option<i8>> {
    let mut results = known.to_vec();
    let mut next = None;
    for result in results.iter_mut().rev() {
        next = result.or(next.map(|result: i8| -result));
        *result = next;
    }
    results
}

#[cfg(test)]
mod tests {
    use super::carry_back;

    #[test]
    fn a_known_result_is_carried_back_to_the_previous_known_point() {
        let known = [None, None, Some(1), None, Some(0), Some(-1), None];
        let expected = [Some(1), Some(-1), Some(1), Some(0), Some(0), Some(-1), None];
        assert_eq!(carry_back(&known), expected);
        assert_eq!(carry_back(&[None, None]), [None, None]);
    }
}
