//! `VerboseMoveStats`: what the search knows of each root move, in the format of Leela Chess Zero, which analysis programs read
//! (`Search::GetVerboseStats` in `src/search/classic/search.cc`).

use dc0_core::board::Move;
use dc0_core::encoding::leela_index;
use dc0_core::search::{RootScore, Search, TreeRow};

use super::notation::Notation;

/// The `info string` lines of a search that has a visit: its moves, the most visited last, and the root itself. Values are those
/// of the search, without calibration, so that Q and U add up.
pub(super) fn move_stats(search: &Search, notation: Notation) -> Vec<String> {
    let rows = search.root_rows();
    let Some((root, moves)) = rows.split_first() else { return Vec::new() };
    let scores = search.root_scores().unwrap_or_default();
    let score = |row: &TreeRow| scores.iter().find(|score| score.played.packed() == row.played);
    let mut moves: Vec<(&TreeRow, Option<&RootScore>)> = moves.iter().map(|row| (row, score(row))).collect();
    let sum = |score: Option<&RootScore>| score.map_or(0.0, |score| score.score);
    moves.sort_by(|(a, a_score), (b, b_score)| {
        a.visits.cmp(&b.visits).then(sum(*a_score).total_cmp(&sum(*b_score)))
    });
    let visited_prior = moves.iter().filter(|(row, _)| row.visits > 0).map(|(row, _)| row.prior).sum();
    let position = search.game().position();
    let mut lines: Vec<String> = moves
        .iter()
        .filter_map(|(row, score)| {
            let played = Move::from_packed(row.played)?;
            let index = usize::from(leela_index(played, position));
            let head = head(&notation.text(position, played), index, row.visits, row.prior);
            Some(format!("{head}{}{}{}", values(row, *score), next(*score), evaluation(row)))
        })
        .collect();
    let head = head("node", moves.len(), root.visits, visited_prior);
    lines.push(format!("{head}{}{}", values(root, None), evaluation(root)));
    lines.iter().map(|line| format!("info string {}", line.trim_end())).collect()
}

/// The move with its index among Leela's, its visits, those in flight, of which a search that is over has none, and the prior.
fn head(label: &str, index: usize, visits: u32, prior: f32) -> String {
    let decimals = if prior >= 0.999_95 { 1 } else { 2 };
    format!("{label:<5} ({index:<4}) N: {visits:>7} (+ 0) (P: {:>5.decimals$}%) ", 100.0 * prior)
}

/// P(win) − P(loss), P(draw), moves left and Q; before the first visit only the Q that the next descent would assume.
fn values(row: &TreeRow, score: Option<&RootScore>) -> String {
    if row.node == TreeRow::NO_NODE {
        let q = score.map_or("-.-----".to_owned(), |score| format!("{:.5}", score.q));
        return format!("(WL:  -.-----) (D: -.---) (M:  -.-) (Q: {q:>8}) ");
    }
    let plies = if row.moves_left < 0.0 { "-.-".to_owned() } else { format!("{:.1}", row.moves_left) };
    let (balance, draw, q) = (row.win - row.loss, row.draw, row.q);
    format!("(WL: {balance:>8.5}) (D: {draw:>5.3}) (M: {plies:>4}) (Q: {q:>8.5}) ")
}

/// U and the sum by which the next descent would select; a Gumbel root has none.
fn next(score: Option<&RootScore>) -> String {
    score.map_or("(U: -.-----) (S:  -.-----) ".to_owned(), |score| {
        format!("(U: {:>6.5}) (S: {:>8.5}) ", score.u, score.score)
    })
}

/// The net's own value, and whether the result is proven.
fn evaluation(row: &TreeRow) -> String {
    if row.node == TreeRow::NO_NODE {
        return "(V:  -.----) ".to_owned();
    }
    let proven = if row.proof == "none" { "" } else { "(T) " };
    format!("(V: {:>7.4}) {proven}", row.net_q)
}
