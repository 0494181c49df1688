//! Checks the stored rows of an imported game against the rules of chess and against each other.

use super::params::PgnParams;
use super::parse::ending;
use super::value::value_of;
use crate::board::{Ending, Side};
use crate::import::format::{opening_fault, reason_fault, result_fault};
use crate::store::legality::{positions_fault, replayed};
use crate::store::{GameRow, HeaderRow, PositionRow};

/// What contradicts the rules of chess, or another row, in an imported game, if anything.
pub(super) fn fault(
    row: &GameRow,
    header: &HeaderRow,
    positions: &[PositionRow],
    params: &PgnParams,
) -> Option<String> {
    let game = match replayed(&row.start_fen, &row.moves) {
        Ok(game) => game,
        Err(fault) => return Some(fault),
    };
    result_fault(row, header, &game)
        .or_else(|| reason_fault(row, ending(&game, row.result, &header.termination)))
        .or_else(|| opening_fault(row, untrained_plies(row, header, params)))
        .or_else(|| length_fault(row, header))
        .or_else(|| positions_fault(&game, row, positions))
        .or_else(|| positions.iter().find_map(|position| target_fault(row, header, position, params)))
}

/// Plies at the start that are not trained on. A game that dc0 wrote says itself how many no search chose.
fn untrained_plies(row: &GameRow, header: &HeaderRow, params: &PgnParams) -> u32 {
    let is_of_dc0 = Ending::from_name(&header.termination).is_some();
    if is_of_dc0 { params.skip_plies.max(row.opening_plies.into()) } else { params.skip_plies }
}

fn length_fault(row: &GameRow, header: &HeaderRow) -> Option<String> {
    let plies = row.moves.len();
    let lists = [("clocks", &header.clocks), ("evals", &header.evals)];
    let (name, list) = lists.into_iter().find(|(_, list)| ![0, plies].contains(&list.0.len()))?;
    Some(format!("`{name}` of its headers has {} items, but the game has {plies} plies", list.0.len()))
}

/// A position teaches the move played, and the value of its evaluation or result.
fn target_fault(
    row: &GameRow,
    header: &HeaderRow,
    position: &PositionRow,
    params: &PgnParams,
) -> Option<String> {
    let in_ply = |fault: String| Some(format!("ply {}: {fault}", position.ply));
    if (&position.moves[..], &position.target[..]) != (&[position.played][..], &[u16::MAX][..]) {
        return in_ply("its policy target is not the move played alone".to_owned());
    }
    if position.full != params.policy_targets {
        return in_ply(format!("`full` is {}, expected {}", position.full, params.policy_targets));
    }
    let eval = usize::from(position.ply).checked_sub(1).and_then(|before| header.note(before).eval);
    let side = if position.fen.contains(" w ") { Side::White } else { Side::Black };
    let expected = value_of(eval, row.result, side, params);
    let found = [(position.root_q, position.root_d), (position.net_q, position.net_d)];
    if found.iter().any(|found| *found != expected) {
        return in_ply(format!(
            "its values are {found:?}, but {} is {expected:?}",
            if eval.is_some() { "its evaluation" } else { "the result" }
        ));
    }
    None
}
