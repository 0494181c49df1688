//! What makes a row of a table impossible.

use super::{
    AnswerRow, GameRow, HeaderRow, LineRow, MatchGameRow, PositionRow, PredictionRow, PuzzleRow, TreeRow,
};
use crate::board::{Fault, Move, PgnEnd, Side};

/// For tables in which any value is valid.
pub(super) fn unchecked<R>(_: &R) -> Option<String> {
    None
}

pub(super) fn game_fault(row: &GameRow) -> Option<String> {
    unknown_move(&row.moves).or_else(|| opening_fault(row.opening_plies, row.moves.len()))
}

pub(super) fn header_fault(row: &HeaderRow) -> Option<String> {
    match PgnEnd::from_symbol(&row.result) {
        Some(PgnEnd::Result(_)) => {}
        _ => return Some(format!("`result` is \"{}\", expected 1-0, 0-1 or 1/2-1/2", row.result)),
    }
    let below = row.clocks.0.iter().find(|clock| **clock < 0.0);
    below.map(|clock| format!("`clocks` has {clock}, expected seconds"))
}

pub(super) fn position_fault(row: &PositionRow) -> Option<String> {
    let moves = row.moves.len();
    for (name, length) in [("visits", row.visits.len()), ("target", row.target.len())] {
        if length != moves {
            return Some(format!("`moves` and `{name}` have different lengths, {moves} and {length}"));
        }
    }
    if moves > row.legal as usize {
        return Some(format!("`moves` has {moves} moves, but only {} are legal", row.legal));
    }
    if row.moves.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Some("`moves` is not in ascending order".to_owned());
    }
    if row.visits.iter().zip(&row.target).any(|(visits, target)| *visits == 0 && *target == 0) {
        return Some("a move has neither visits nor a share of `target`".to_owned());
    }
    unknown_move(&row.moves)
        .or_else(|| unknown_move(&[row.played]))
        .or_else(|| range_fault(-1.0, "root_q", row.root_q))
        .or_else(|| range_fault(0.0, "root_d", row.root_d))
        .or_else(|| range_fault(-1.0, "net_q", row.net_q))
        .or_else(|| range_fault(0.0, "net_d", row.net_d))
        .or_else(|| surprise_fault(row.policy_surprise))
        .or_else(|| result_fault(row.result))
}

/// It is a divergence; NaN where it is not known.
fn surprise_fault(surprise: f32) -> Option<String> {
    let is_wrong = surprise < 0.0 || surprise.is_infinite();
    is_wrong
        .then(|| format!("`policy_surprise` is {surprise}, expected a finite number of at least 0, or NaN"))
}

pub(super) fn prediction_fault(row: &PredictionRow) -> Option<String> {
    if (row.rank == 0) != row.policy_loss.is_nan() {
        let PredictionRow { rank, policy_loss, .. } = row;
        return Some(format!(
            "`rank` is {rank} and `policy_loss` {policy_loss}; without a policy target they are 0 and NaN"
        ));
    }
    if row.score.is_nan() != row.brier.is_nan()
        || ![0.0, 0.5, 1.0].contains(&row.score) && !row.score.is_nan()
    {
        return Some(format!(
            "`score` is {} and `brier` {}; expected 0, 0.5 or 1 and a number, or NaN and NaN",
            row.score, row.brier
        ));
    }
    unknown_move(&[row.likeliest])
        .or_else(|| range_fault(0.0, "prior", row.prior))
        .or_else(|| range_fault(-1.0, "q", row.q))
        .or_else(|| range_fault(0.0, "d", row.d))
        .or_else(|| range_fault(-1.0, "target_q", row.target_q))
        .or_else(|| range_fault(0.0, "target_d", row.target_d))
        .or_else(|| below_zero("policy_loss", row.policy_loss))
        .or_else(|| below_zero("target_entropy", row.target_entropy))
        .or_else(|| below_zero("value_loss", row.value_loss))
        .or_else(|| below_zero("brier", row.brier))
        .or_else(|| below_zero("moves_left", row.moves_left))
        .or_else(|| below_zero("plies_left", row.plies_left))
}

/// NaN stands for what is not known.
fn below_zero(name: &str, value: f32) -> Option<String> {
    (value < 0.0).then(|| format!("`{name}` is {value}, expected at least 0, or NaN"))
}

pub(super) fn line_fault(row: &LineRow) -> Option<String> {
    if row.pv.first() != Some(&row.played) {
        return Some("`pv` does not begin with `played`".to_owned());
    }
    unknown_move(&row.moves)
        .or_else(|| unknown_move(&row.pv))
        .or_else(|| range_fault(-1.0, "q", row.q))
        .or_else(|| range_fault(0.0, "prior", row.prior))
        .or_else(|| proof_fault(&row.proof))
}

pub(super) fn tree_fault(row: &TreeRow) -> Option<String> {
    if (row.depth == 0) != (row.row == 0) {
        return Some(format!("`depth` is {}; the first row, and only it, is the root", row.depth));
    }
    unknown_move(&[row.played])
        .or_else(|| range_fault(-1.0, "q", row.q))
        .or_else(|| range_fault(-1.0, "net_q", row.net_q))
        .or_else(|| range_fault(0.0, "net_d", row.net_d))
        .or_else(|| range_fault(0.0, "prior", row.prior))
        .or_else(|| range_fault(0.0, "win", row.win))
        .or_else(|| range_fault(0.0, "draw", row.draw))
        .or_else(|| range_fault(0.0, "loss", row.loss))
        .or_else(|| plies_fault("moves_left", row.moves_left))
        .or_else(|| plies_fault("net_moves_left", row.net_moves_left))
        .or_else(|| proof_fault(&row.proof))
}

pub(super) fn puzzle_fault(row: &PuzzleRow) -> Option<String> {
    if row.solved != row.right.contains(&row.played) {
        return Some(format!("`solved` is {}, which does not fit `right` and `played`", row.solved));
    }
    unknown_move(&row.right)
        .or_else(|| unknown_move(&[row.played]))
        .or_else(|| range_fault(-1.0, "q", row.q))
        .or_else(|| range_fault(0.0, "prior", row.prior))
        .or_else(|| proof_fault(&row.proof))
}

pub(super) fn answer_fault(row: &AnswerRow) -> Option<String> {
    let has_move = row.played != AnswerRow::NO_MOVE;
    if row.solved != (has_move && row.right.contains(&row.played)) {
        return Some(format!("`solved` is {}, which does not fit `right` and `played`", row.solved));
    }
    if has_move != row.reason.is_empty() || has_move != row.detail.is_empty() {
        let expected =
            if has_move { "be empty, because there is a move" } else { "say why there is no move" };
        return Some(format!(
            "`reason` and `detail` are {:?}, and have to {expected}",
            (&row.reason, &row.detail)
        ));
    }
    let milliseconds = if row.milliseconds.is_nan() { 0.0 } else { row.milliseconds.into() };
    unknown_move(&row.right)
        .or_else(|| unknown_move(&[row.played]))
        .or_else(|| unknown_reason(&row.reason))
        .or_else(|| amount_fault("nodes", row.nodes))
        .or_else(|| amount_fault("milliseconds", milliseconds))
}

fn unknown_reason(reason: &str) -> Option<String> {
    let is_known = reason.is_empty() || Fault::from_name(reason).is_some();
    (!is_known).then(|| format!("`reason` is \"{reason}\", expected one of {}", Fault::NAMES.join(", ")))
}

fn amount_fault(name: &str, amount: f64) -> Option<String> {
    let is_one = amount.is_finite() && amount >= 0.0;
    (!is_one).then(|| format!("`{name}` is {amount}, expected a number of at least 0"))
}

fn plies_fault(name: &str, plies: f32) -> Option<String> {
    let known = plies >= 0.0 || plies == TreeRow::UNKNOWN;
    (!known).then(|| format!("`{name}` is {plies}, expected plies, or {} if unknown", TreeRow::UNKNOWN))
}

fn proof_fault(name: &str) -> Option<String> {
    let known = ["none", "win", "draw", "loss"];
    (!known.contains(&name)).then(|| format!("`proof` is \"{name}\", expected one of {}", known.join(", ")))
}

pub(super) fn match_game_fault(row: &MatchGameRow) -> Option<String> {
    let plies = row.moves.len();
    if row.plies as usize != plies {
        return Some(format!("`plies` is {}, but `moves` has {plies} moves", row.plies));
    }
    let first = if row.first_is_white { Side::White } else { Side::Black };
    if row.score != f64::from(row.result.score_for(first) + 1) / 2.0 {
        return Some(format!(
            "`score` is {}, which does not fit `result` = {} with first_is_white = {}",
            row.score,
            row.result.score_for(Side::White),
            row.first_is_white
        ));
    }
    let lengths =
        [("scores", row.scores.0.len()), ("depths", row.depths.len()), ("seconds", row.seconds.len())];
    let is_wrong = |(_, length): &(&str, usize)| ![0, plies].contains(length);
    if let Some((name, length)) = lengths.into_iter().find(is_wrong) {
        return Some(format!("`{name}` has {length} items, but the game has {plies} plies"));
    }
    unknown_move(&row.moves).or_else(|| opening_fault(row.opening_plies, plies))
}

fn unknown_move(moves: &[u16]) -> Option<String> {
    let unknown = moves.iter().find(|packed| Move::from_packed(**packed).is_none())?;
    Some(format!("{unknown} is not a packed move; its promotion {} is not in 0..=4", unknown >> 12))
}

fn opening_fault(opening_plies: u16, plies: usize) -> Option<String> {
    let too_long = opening_plies as usize > plies;
    too_long.then(|| format!("`opening_plies` is {opening_plies}, but the game has {plies} plies"))
}

fn result_fault(result: i8) -> Option<String> {
    (!(-1..=1).contains(&result)).then(|| format!("`result` is {result}, expected -1, 0 or 1"))
}

/// The fault of a value outside `lowest..=1`. Sums of many terms may exceed a bound by a rounding error, which is tolerated.
fn range_fault(lowest: f32, name: &str, value: f32) -> Option<String> {
    const ROUNDING: f32 = 1e-5;
    let inside = value >= lowest - ROUNDING && value <= 1.0 + ROUNDING;
    (!inside).then(|| format!("`{name}` is {value}, expected {lowest} to 1"))
}
