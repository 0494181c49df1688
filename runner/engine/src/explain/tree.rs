//! The tree, reduced to the moves worth showing.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use dc0_core::board::{Game, Move};
use dc0_core::search::TreeRow;

use super::study::Study;

/// A move of the tree with the moves shown below it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TreeNode {
    pub(super) mv: Move,
    pub(super) san: String,
    /// Plies from the root.
    pub(super) depth: u16,
    pub(super) visits: u32,
    /// Visits of the position it leads to: more than `visits` where other paths lead there, too.
    pub(super) node_visits: u32,
    /// For the side to move at the root, in [−1, 1].
    pub(super) q: f64,
    /// The net's value of the position it leads to, for the side to move at the root.
    pub(super) net_q: f64,
    pub(super) prior: f32,
    /// "win", "draw" or "loss" for the side to move at the root, if proven.
    pub(super) proof: Option<&'static str>,
    pub(super) below: Branches,
}

/// The moves of a position that are shown, the most visited first, and counts of the others.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Branches {
    pub(super) shown: Vec<TreeNode>,
    /// Visited moves that are left out, and their visits.
    pub(super) others: u32,
    pub(super) other_visits: u32,
}

/// Selects the moves of a study's tree that are shown.
pub(super) fn tree(study: &Study) -> Branches {
    let rows = study.search.rows(0, false);
    let mut below: BTreeMap<u32, Vec<&TreeRow>> = BTreeMap::new();
    for row in rows.iter().skip(1) {
        below.entry(row.parent).or_default().push(row);
    }
    for moves in below.values_mut() {
        moves.sort_by(|a, b| order(a).cmp(&order(b)).then(b.prior.total_cmp(&a.prior)));
    }
    let params = &study.params;
    let least = (params.share * f64::from(study.search.visits())).ceil().max(1.0) as u32;
    let selection = Selection { below, most: params.top as usize, depth: params.depth as u16, least };
    selection.branches(0, 1, &mut study.game().clone())
}

/// Proven wins come first, then the most visited moves.
fn order(row: &TreeRow) -> (bool, Reverse<u32>) {
    (row.proof != "win", Reverse(row.visits))
}

struct Selection<'a> {
    below: BTreeMap<u32, Vec<&'a TreeRow>>,
    most: usize,
    depth: u16,
    /// Visits that a move needs.
    least: u32,
}

impl Selection<'_> {
    fn branches(&self, node: u32, depth: u16, game: &mut Game) -> Branches {
        let Some(rows) = self.below.get(&node).filter(|_| depth <= self.depth) else {
            return Branches::default();
        };
        let count = rows
            .iter()
            .take(self.most)
            .take_while(|row| row.visits >= self.least || row.proof == "win")
            .count();
        // At least one root move is shown.
        let count = if depth == 1 { count.max(1).min(rows.len()) } else { count };
        let (shown, others) = rows.split_at(count);
        Branches {
            shown: shown.iter().map(|row| self.node(row, depth, game)).collect(),
            others: others.len() as u32,
            other_visits: others.iter().map(|row| row.visits).sum(),
        }
    }

    fn node(&self, row: &TreeRow, depth: u16, game: &mut Game) -> TreeNode {
        let mv = Move::from_packed(row.played).expect("a row of a search has its move");
        let san = game.position().san(mv);
        // Rows are for the side that makes the move: the root's at odd depths.
        let is_own = depth % 2 == 1;
        let sign = if is_own { 1.0 } else { -1.0 };
        let proof = match (row.proof.as_str(), is_own) {
            ("draw", _) => Some("draw"),
            ("win", true) | ("loss", false) => Some("win"),
            ("win", false) | ("loss", true) => Some("loss"),
            _ => None,
        };
        let ply = game.ply();
        game.play_unchecked(mv);
        let below = self.branches(row.node, depth + 1, game);
        game.take_back_to(ply);
        let (q, net_q) = (sign * f64::from(row.q), sign * f64::from(row.net_q));
        let (visits, node_visits) = (row.visits, row.node_visits);
        TreeNode { mv, san, depth, visits, node_visits, q, net_q, prior: row.prior, proof, below }
    }
}
