//! Declares the tables, each column once.

use super::records::{
    AnswerRow, HeaderRow, MatchGameRow, PredictionRow, PuzzleRow, Reject, RejectRow, Scores, TrainingRow,
    ValidationRow,
};
use super::row::table;
use crate::board::{Ending, Fault, GameResult, Move, PgnEnd, Side};
use crate::search::{LineRow, TreeRow};
use crate::selfplay::{GameRow, PositionRow};

table! {
    GameRow is "games" version 2, key (game: u32), check game_fault {
        game: u32 as Plain,
        network: String as Dictionary,
        start_fen: String as Dictionary,
        moves: Vec<u16> as Dictionary,
        opening_plies: u16 as Dictionary,
        result: GameResult as Dictionary,
        reason: Ending as Dictionary,
    }
}

table! {
    HeaderRow is "headers" version 1, key (game: u32), check header_fault {
        game: u32 as Plain,
        source: String as Dictionary,
        number: u32 as Deltas,
        line: u32 as Deltas,
        event: String as Dictionary,
        site: String as Lengths,
        date: String as Dictionary,
        round: String as Dictionary,
        white: String as Dictionary,
        black: String as Dictionary,
        white_elo: u16 as Dictionary,
        black_elo: u16 as Dictionary,
        time_control: String as Dictionary,
        termination: String as Dictionary,
        eco: String as Dictionary,
        result: String as Dictionary,
        clocks: Scores as Dictionary,
        evals: Scores as Dictionary,
    }
}

table! {
    RejectRow is "rejects" version 2, key (reject: u32), check unchecked {
        reject: u32 as Deltas,
        source: String as Dictionary,
        number: u32 as Deltas,
        line: u32 as Deltas,
        reason: Reject as Dictionary,
        detail: String as Lengths,
    }
}

table! {
    PositionRow is "positions" version 2, key (game: u32, ply: u16), check position_fault {
        game: u32 as Plain,
        ply: u16 as Deltas,
        fen: String as Lengths,
        played: u16 as Dictionary,
        legal: u16 as Dictionary,
        moves: Vec<u16> as Plain,
        visits: Vec<u32> as Dictionary,
        target: Vec<u16> as Dictionary,
        root_q: f32 as ByteColumns,
        root_d: f32 as ByteColumns,
        net_q: f32 as ByteColumns,
        net_d: f32 as ByteColumns,
        simulations: u32 as Plain,
        full: bool as Plain,
        policy_surprise: f32 as ByteColumns since 2 or f32::NAN,
        result: i8 as Dictionary,
    }
}

table! {
    MatchGameRow is "matches" version 2, key (game: u32), check match_game_fault {
        game: u32 as Plain,
        pair: u32 as Plain,
        first: String as Dictionary,
        second: String as Dictionary,
        first_is_white: bool as Plain,
        start_fen: String as Dictionary,
        moves: Vec<u16> as Dictionary,
        opening_plies: u16 as Dictionary,
        plies: u16 as Dictionary,
        scores: Scores as ByteColumns since 2,
        depths: Vec<u16> as Dictionary since 2,
        seconds: Vec<f32> as ByteColumns since 2,
        score: f64 as Dictionary,
        result: GameResult as Dictionary,
        reason: Ending as Dictionary,
        detail: String as Dictionary since 2,
    }
}

table! {
    PuzzleRow is "puzzles" version 1, key (puzzle: u32, simulations: u32), check puzzle_fault {
        puzzle: u32 as Plain,
        simulations: u32 as Dictionary,
        id: String as Dictionary,
        fen: String as Dictionary,
        right: Vec<u16> as Dictionary,
        played: u16 as Dictionary,
        solved: bool as Plain,
        solved_from: u32 as Dictionary,
        policy_solved: bool as Plain,
        prior: f32 as Plain,
        q: f32 as Plain,
        proof: String as Dictionary,
    }
}

table! {
    AnswerRow is "answers" version 1, key (puzzle: u32), check answer_fault {
        puzzle: u32 as Plain,
        player: String as Dictionary,
        id: String as Dictionary,
        fen: String as Dictionary,
        right: Vec<u16> as Dictionary,
        played: u16 as Dictionary,
        solved: bool as Plain,
        score: f32 as Plain,
        depth: u16 as Dictionary,
        nodes: f64 as Plain,
        milliseconds: f32 as Plain,
        reason: String as Dictionary,
        detail: String as Dictionary,
    }
}

table! {
    TrainingRow is "training" version 2, key (update: u32), check unchecked {
        update: u32 as Plain,
        learning_rate: f64 as Dictionary,
        loss: f64 as Plain,
        policy_loss: f64 as Plain,
        value_loss: f64 as Plain,
        moves_left_loss: f64 as Plain,
        policy_accuracy: f64 as Plain,
        policy_entropy: f64 as Plain,
        gradient_norm: f64 as Plain,
        soft_policy_loss: f64 as Plain since 2 or 0.0,
        reply_loss: f64 as Plain since 2 or 0.0,
        material_loss: f64 as Plain since 2 or 0.0,
        policy_top_three: f64 as Plain since 2 or f64::NAN,
        brier: f64 as Plain since 2 or f64::NAN,
        weight_norm: f64 as Plain since 2 or f64::NAN,
    }
}

table! {
    ValidationRow is "validation" version 2, key (update: u32), check unchecked {
        update: u32 as Plain,
        loss: f64 as Plain,
        policy_loss: f64 as Plain,
        value_loss: f64 as Plain,
        moves_left_loss: f64 as Plain,
        policy_accuracy: f64 as Plain,
        policy_entropy: f64 as Plain,
        soft_policy_loss: f64 as Plain since 2 or 0.0,
        reply_loss: f64 as Plain since 2 or 0.0,
        material_loss: f64 as Plain since 2 or 0.0,
        policy_top_three: f64 as Plain since 2 or f64::NAN,
        brier: f64 as Plain since 2 or f64::NAN,
        calibration_error: f64 as Plain since 2 or f64::NAN,
        batch_norm_gap: f64 as Plain since 2 or f64::NAN,
    }
}

table! {
    PredictionRow is "predictions" version 1, key (source: u32, game: u32, ply: u16), check prediction_fault {
        source: u32 as Dictionary,
        iteration: u32 as Dictionary,
        game: u32 as Plain,
        ply: u16 as Deltas,
        fen: String as Lengths,
        likeliest: u16 as Dictionary,
        prior: f32 as ByteColumns,
        rank: u16 as Dictionary,
        policy_loss: f32 as ByteColumns,
        target_entropy: f32 as ByteColumns,
        q: f32 as ByteColumns,
        d: f32 as ByteColumns,
        target_q: f32 as ByteColumns,
        target_d: f32 as ByteColumns,
        value_loss: f32 as ByteColumns,
        score: f32 as Dictionary,
        brier: f32 as ByteColumns,
        moves_left: f32 as ByteColumns,
        plies_left: f32 as Dictionary,
    }
}

table! {
    LineRow is "searches" version 1, key (search: u32, line: u16), check line_fault {
        search: u32 as Plain,
        line: u16 as Dictionary,
        start_fen: String as Dictionary,
        moves: Vec<u16> as Dictionary,
        fen: String as Lengths,
        simulations: u32 as Plain,
        played: u16 as Dictionary,
        visits: u32 as Plain,
        prior: f32 as Plain,
        q: f32 as Plain,
        proof: String as Dictionary,
        pv: Vec<u16> as Dictionary,
    }
}

table! {
    TreeRow is "trees" version 1, key (search: u32, row: u32), check tree_fault {
        search: u32 as Dictionary,
        row: u32 as Deltas,
        parent: u32 as Dictionary,
        node: u32 as Deltas,
        depth: u16 as Dictionary,
        played: u16 as Dictionary,
        visits: u32 as Deltas,
        node_visits: u32 as Deltas,
        value_sum: f64 as ByteColumns,
        square_sum: f32 as ByteColumns,
        draw_sum: f64 as ByteColumns,
        q: f32 as ByteColumns,
        win: f32 as ByteColumns,
        draw: f32 as ByteColumns,
        loss: f32 as ByteColumns,
        prior: f32 as ByteColumns,
        net_q: f32 as ByteColumns,
        net_d: f32 as ByteColumns,
        moves_left: f32 as ByteColumns,
        moves_left_sum: f64 as ByteColumns,
        net_moves_left: f32 as ByteColumns,
        proof: String as Dictionary,
    }
}

/// For tables in which any value is valid.
fn unchecked<R>(_: &R) -> Option<String> {
    None
}

fn game_fault(row: &GameRow) -> Option<String> {
    unknown_move(&row.moves).or_else(|| opening_fault(row.opening_plies, row.moves.len()))
}

fn header_fault(row: &HeaderRow) -> Option<String> {
    match PgnEnd::from_symbol(&row.result) {
        Some(PgnEnd::Result(_)) => {}
        _ => return Some(format!("`result` is \"{}\", expected 1-0, 0-1 or 1/2-1/2", row.result)),
    }
    let below = row.clocks.0.iter().find(|clock| **clock < 0.0);
    below.map(|clock| format!("`clocks` has {clock}, expected seconds"))
}

fn position_fault(row: &PositionRow) -> Option<String> {
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

fn prediction_fault(row: &PredictionRow) -> Option<String> {
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

fn line_fault(row: &LineRow) -> Option<String> {
    if row.pv.first() != Some(&row.played) {
        return Some("`pv` does not begin with `played`".to_owned());
    }
    unknown_move(&row.moves)
        .or_else(|| unknown_move(&row.pv))
        .or_else(|| range_fault(-1.0, "q", row.q))
        .or_else(|| range_fault(0.0, "prior", row.prior))
        .or_else(|| proof_fault(&row.proof))
}

fn tree_fault(row: &TreeRow) -> Option<String> {
    if (row.depth == 0) != (row.row == 0) {
        return Some(format!("`depth` is {}; the first row, and only it, is the root", row.depth));
    }
    unknown_move(&[row.played])
        .or_else(|| range_fault(-1.0, "q", row.q))
        .or_else(|| range_fault(-1.0, "net_q", row.net_q))
        .or_else(|| range_fault(0.0, "prior", row.prior))
        .or_else(|| range_fault(0.0, "draw", row.draw))
        .or_else(|| plies_fault("moves_left", row.moves_left))
        .or_else(|| plies_fault("net_moves_left", row.net_moves_left))
        .or_else(|| proof_fault(&row.proof))
}

fn puzzle_fault(row: &PuzzleRow) -> Option<String> {
    if row.solved != row.right.contains(&row.played) {
        return Some(format!("`solved` is {}, which does not fit `right` and `played`", row.solved));
    }
    unknown_move(&row.right)
        .or_else(|| unknown_move(&[row.played]))
        .or_else(|| range_fault(-1.0, "q", row.q))
        .or_else(|| range_fault(0.0, "prior", row.prior))
        .or_else(|| proof_fault(&row.proof))
}

fn answer_fault(row: &AnswerRow) -> Option<String> {
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

fn match_game_fault(row: &MatchGameRow) -> Option<String> {
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
