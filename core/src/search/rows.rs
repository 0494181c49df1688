//! Trees as rows of a table: one row a move, whatever the search; and searches made of such rows again.

use super::Search;
use super::proof::Proof;
use super::tree::{Branch, NodeId, ROOT, State};
use crate::board::Move;

/// A move in a searched tree. Values are for the side that makes it; those of the first row, the root's, for the root's side to
/// move.
#[derive(Debug, Clone, PartialEq)]
pub struct TreeRow {
    /// The search, where a table holds several.
    pub search: u32,
    /// The row's number within the search.
    pub row: u32,
    /// The position the move is made in; of the root itself 0.
    pub parent: u32,
    /// The position it leads to, 0 for the root; [`TreeRow::NO_NODE`] if it was not tried.
    pub node: u32,
    /// Plies from the root to `node`.
    pub depth: u16,
    /// The move as `board::Move` packs it; 0 for the root.
    pub played: u16,
    /// N: simulations that made the move.
    pub visits: u32,
    /// Simulations that reached `node`: more than `visits` where several moves lead to it.
    pub node_visits: u32,
    /// W: the sum of `node`'s values.
    pub value_sum: f64,
    /// The sum of the squares of the move's values.
    pub square_sum: f32,
    /// The sum of `node`'s P(draw).
    pub draw_sum: f64,
    /// Q: what is proven, else the mean, draws at their worth.
    pub q: f32,
    /// P(win): what is proven, else the mean.
    pub win: f32,
    /// P(draw).
    pub draw: f32,
    /// P(loss).
    pub loss: f32,
    /// P: the prior, noise included; 1 for the root.
    pub prior: f32,
    /// V: the value of `node`'s own evaluation, draws at their worth; of a proven position what is proven.
    pub net_q: f32,
    /// P(draw) of that evaluation.
    pub net_d: f32,
    /// M: the plies left of the game at `node`: what is proven, else the mean; [`TreeRow::UNKNOWN`] without a visit, and in searches
    /// without `moves_left`, as the next two.
    pub moves_left: f32,
    /// The sum of `node`'s plies left.
    pub moves_left_sum: f64,
    /// The plies left that `node`'s own evaluation said; of a proven position what is proven.
    pub net_moves_left: f32,
    /// "win", "draw" or "loss" where that is certain, else "none".
    pub proof: String,
}

impl TreeRow {
    /// In place of a node where there is none.
    pub const NO_NODE: u32 = u32::MAX;
    /// In place of plies left that nobody knows.
    pub const UNKNOWN: f32 = -1.0;
}

/// The word that rows have for a proof.
pub(super) fn proof_word(proof: Option<Proof>) -> &'static str {
    match proof {
        None => "none",
        Some(Proof::Loss) => "loss",
        Some(Proof::Draw) => "draw",
        Some(Proof::Win) => "win",
    }
}

/// All words for proofs.
pub(super) const PROOF_WORDS: [(&str, Option<Proof>); 4] =
    [("none", None), ("loss", Some(Proof::Loss)), ("draw", Some(Proof::Draw)), ("win", Some(Proof::Win))];

/// A place in the tree as rows name it.
#[derive(Clone, Copy)]
struct Place {
    parent: NodeId,
    depth: u16,
    played: Option<Move>,
    prior: f32,
}

impl Search {
    /// The tree as rows: the root, then the moves of every position, position by position; those that were never tried too if
    /// `untried`. No leaf may be in flight.
    pub fn rows(&self, search: u32, untried: bool) -> Vec<TreeRow> {
        let mut rows = Vec::new();
        if self.tree.nodes.is_empty() {
            return rows;
        }
        let mut depths = vec![0u16; self.tree.nodes.len()];
        rows.push(self.node_row(Place { parent: ROOT, depth: 0, played: None, prior: 1.0 }, ROOT, None));
        for parent in 0..self.tree.nodes.len() as NodeId {
            let depth = depths[parent as usize] + 1;
            let moves = self.tree.moves(parent).iter().zip(self.tree.priors(parent));
            for (at, (played, prior)) in moves.enumerate() {
                let place = Place { parent, depth, played: Some(*played), prior: *prior };
                match self.tree.branches(parent).get(at) {
                    Some(branch) => {
                        depths[branch.child as usize] = depth;
                        rows.push(self.node_row(place, branch.child, Some(branch)));
                    }
                    None if untried => rows.push(untried_row(place)),
                    None => {}
                }
            }
        }
        for (number, row) in (0..).zip(&mut rows) {
            (row.search, row.row) = (search, number);
        }
        rows
    }

    /// The row of a position, seen by the side that moved to it.
    fn node_row(&self, place: Place, node: NodeId, branch: Option<&Branch>) -> TreeRow {
        let of = self.tree.node(node);
        let depth = place.depth.into();
        let draw_value = self.draw_value(depth);
        let sign = if branch.is_some() { -1.0 } else { 1.0 };
        let proof = if branch.is_some() { of.proof.map(Proof::for_opponent) } else { of.proof };
        let known = of.visits > 0 || of.proof.is_some();
        let value = if known { of.certain_or_mean(draw_value) } else { 0.0 };
        let draw = of.draw_share();
        let plain = sign * (value - draw * draw_value);
        let (own, own_draw) = self.own_evaluation(node, draw_value);
        let share = |of: f64| if known { of as f32 } else { 0.0 };
        let plies = self.tree.plies.as_ref().filter(|_| known);
        let unknown = TreeRow::UNKNOWN;
        TreeRow {
            node,
            visits: branch.map_or(of.visits, |branch| branch.visits),
            node_visits: of.visits,
            value_sum: sign * of.value_sum,
            square_sum: branch.map_or(0.0, |branch| branch.square_sum),
            draw_sum: of.draw_sum,
            q: (sign * value) as f32,
            win: share(0.5 * (1.0 - draw + plain)),
            draw: share(draw),
            loss: share(0.5 * (1.0 - draw - plain)),
            net_q: (sign * own) as f32,
            net_d: own_draw as f32,
            moves_left: self.tree.moves_left(node).map_or(unknown, |plies| plies as f32),
            moves_left_sum: plies.map_or(unknown.into(), |plies| plies.sum(node)),
            net_moves_left: plies.map_or(unknown, |plies| plies.known(node)),
            proof: proof_word(proof).to_owned(),
            ..untried_row(place)
        }
    }

    /// A node's own evaluation: its value with a draw at `draw_value`, and its P(draw).
    fn own_evaluation(&self, node: NodeId, draw_value: f64) -> (f64, f64) {
        let of = self.tree.node(node);
        if let Some(proof) = of.proof {
            return (proof.value(draw_value), f64::from(proof.wdl().draw));
        }
        if of.visits == 0 {
            return (0.0, 0.0);
        }
        if of.state != State::Expanded {
            return (of.value(), of.draw_share());
        }
        if let Some(graph) = &self.tree.graph {
            let wdl = graph.own(node);
            return (wdl.value_with_draw_score(draw_value), wdl.draw.into());
        }
        let below: f64 = self.tree.branches(node).iter().map(|of| self.tree.node(of.child).draw_sum).sum();
        (self.tree.own_value(node, draw_value), of.draw_sum - below)
    }
}

fn untried_row(place: Place) -> TreeRow {
    TreeRow {
        search: 0,
        row: 0,
        parent: place.parent,
        node: TreeRow::NO_NODE,
        depth: place.depth,
        played: place.played.map_or(0, Move::packed),
        visits: 0,
        node_visits: 0,
        value_sum: 0.0,
        square_sum: 0.0,
        draw_sum: 0.0,
        q: 0.0,
        win: 0.0,
        draw: 0.0,
        loss: 0.0,
        prior: place.prior,
        net_q: 0.0,
        net_d: 0.0,
        moves_left: TreeRow::UNKNOWN,
        moves_left_sum: TreeRow::UNKNOWN.into(),
        net_moves_left: TreeRow::UNKNOWN,
        proof: proof_word(None).to_owned(),
    }
}
