//! Checks the stored rows of a game of lc0 against the rules of chess and against each other.

use super::params::Lc0Params;
use super::replay::ending;
use crate::import::format::{opening_fault, reason_fault, result_fault};
use crate::store::legality::{positions_fault, replayed};
use crate::store::{GameRow, HeaderRow, PositionRow};

/// How far |q| + d may be above 1 by rounding.
const ROUNDING: f32 = 1e-5;

/// What contradicts the rules of chess, or another row, in an imported game, if anything.
pub(super) fn fault(
    row: &GameRow,
    header: &HeaderRow,
    positions: &[PositionRow],
    params: &Lc0Params,
) -> Option<String> {
    let game = match replayed(&row.start_fen, &row.moves) {
        Ok(game) => game,
        Err(fault) => return Some(fault),
    };
    result_fault(row, header, &game)
        .or_else(|| reason_fault(row, ending(&game, row.result, &header.termination)))
        .or_else(|| opening_fault(row, params.skip_plies))
        .or_else(|| positions_fault(&game, row, positions))
        .or_else(|| {
            let fault = |row: &PositionRow| Some(format!("ply {}: {}", row.ply, search_fault(row)?));
            positions.iter().find_map(fault)
        })
}

/// What contradicts the search of a position, if anything.
fn search_fault(row: &PositionRow) -> Option<String> {
    if !row.full {
        return Some("`full` is false, expected true".to_owned());
    }
    let visits: u64 = row.visits.iter().map(|visits| u64::from(*visits)).sum();
    if visits + 1 != u64::from(row.simulations) {
        let simulations = row.simulations;
        return Some(format!("`visits` sum to {visits}, expected one less than {simulations} simulations"));
    }
    let values = [("root", row.root_q, row.root_d), ("net", row.net_q, row.net_d)];
    // NaN fails too.
    let is_possible = |q: f32, d: f32| d >= 0.0 && q.abs() + d <= 1.0 + ROUNDING;
    let (name, q, d) = values.into_iter().find(|(_, q, d)| !is_possible(*q, *d))?;
    Some(format!("`{name}_q` is {q} and `{name}_d` {d}, and |q| + d must be at most 1"))
}
