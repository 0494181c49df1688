//! Results of perfect play instead of those that were played, as far as tablebases know them.
//!
//! After Leela Chess Zero's rescorer (`ApplySyzygyRescoring`): every position of a game that the tables cover is a known
//! point, and a position's result is that of the first known point at or after it. So a position before the tables is
//! worth what perfect play would have made of the ending that was reached, and one in them is worth what it is worth,
//! whatever was thrown away later. Positions after the last known point keep the game's own result.

use crate::board::{Game, Tablebase, TablebaseError, TablebaseResult};

/// The result of perfect play for the side to move in the game's present position, where the tables are certain of it.
///
/// With a running clock that takes DTZ tables. A win or loss is not certain once a position was repeated since the last
/// capture or pawn move, because a third time may come before the way is through.
pub(super) fn known(tables: &Tablebase, game: &Game) -> Result<Option<i8>, TablebaseError> {
    let outcome = tables.probe_with_clock(game.position())?.map(TablebaseResult::outcome);
    Ok(outcome.filter(|&outcome| outcome == 0 || !game.has_repeated()))
}

/// For each position of a game the result of the first known point at or after it, if there is one, for its side to move.
pub(super) fn carried_back(known: &[Option<i8>]) -> Vec<Option<i8>> {
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
    use super::carried_back;

    #[test]
    fn a_result_holds_back_to_the_known_point_before_it() {
        let known = [None, None, Some(1), None, Some(0), Some(-1), None];
        let expected = [Some(1), Some(-1), Some(1), Some(0), Some(0), Some(-1), None];
        assert_eq!(carried_back(&known), expected);
        assert_eq!(carried_back(&[None, None]), [None, None]);
    }
}
