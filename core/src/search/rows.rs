//! Trees as rows of a table, one for each edge.

use super::Search;
use super::proof::Proof;
use super::tree::{NodeId, ROOT, State, VisitedEdge};
use crate::board::Move;

/// An edge of a searched tree, or its root. Values are for the side that makes the move; the root's, in the first row, are for
/// its side to move.
#[derive(Debug, Clone, PartialEq)]
pub struct TreeRow {
    /// The number of the search, as a table may hold several.
    pub search: u32,
    /// The row's number within the search.
    pub row: u32,
    /// The node that the move is made at; 0 for the root itself.
    pub parent: u32,
    /// The node that it leads to, 0 for the root; [`TreeRow::NO_NODE`] if the edge has no visit.
    pub node: u32,
    /// Plies from the root to `node`.
    pub depth: u16,
    /// The move as `board::Move` packs it; 0 for the root.
    pub played: u16,
    /// N: simulations that made the move.
    pub visits: u32,
    /// Simulations that reached `node`: more than `visits` if several edges lead to it.
    pub node_visits: u32,
    /// W: the sum of `node`'s values.
    pub value_sum: f64,
    /// The sum of the squares of the move's values.
    pub square_sum: f32,
    /// The sum of `node`'s P(draw).
    pub draw_sum: f64,
    /// Q: proven, else the mean, with the draw score.
    pub q: f32,
    /// P(win): proven, else the mean.
    pub win: f32,
    /// P(draw).
    pub draw: f32,
    /// P(loss).
    pub loss: f32,
    /// P: the prior, noise included; 1 for the root.
    pub prior: f32,
    /// V: the value of `node`'s own evaluation, with the draw score; the proven value if it is proven.
    pub net_q: f32,
    /// P(draw) of that evaluation.
    pub net_d: f32,
    /// M: moves left at `node`, in plies: proven, else the mean; [`TreeRow::UNKNOWN`] without a visit, and in searches without
    /// `moves_left`, as are the next two.
    pub moves_left: f32,
    /// The sum of moves left over `node`'s visits.
    pub moves_left_sum: f64,
    /// Moves left from `node`'s own evaluation; the proven number if it is proven.
    pub net_moves_left: f32,
    /// "win", "draw" or "loss" if that is proven, else "none".
    pub proof: String,
}

impl TreeRow {
    /// Stands for no node.
    pub const NO_NODE: u32 = u32::MAX;
    /// Stands for an unknown number of moves left.
    pub const UNKNOWN: f32 = -1.0;
}

/// The name of a proof in rows.
pub(super) fn proof_name(proof: Option<Proof>) -> &'static str {
    proof.map_or("none", Proof::name)
}

/// The names of all proofs.
pub(super) const PROOF_NAMES: [(&str, Option<Proof>); 4] =
    [("none", None), ("loss", Some(Proof::Loss)), ("draw", Some(Proof::Draw)), ("win", Some(Proof::Win))];

/// The columns of an edge that do not depend on its visits.
#[derive(Clone, Copy)]
struct Edge {
    parent: NodeId,
    depth: u16,
    mv: Option<Move>,
    prior: f32,
}

impl Search {
    /// The tree as rows: the root, then the edges of every node, node by node; those without a visit only if `untried`. No leaf
    /// may be in flight.
    pub fn rows(&self, search: u32, untried: bool) -> Vec<TreeRow> {
        let mut rows = self.root_row();
        // In a graph an edge may have left a node that no other leads to, so the rows follow the edges instead of the nodes.
        let mut numbers = vec![TreeRow::NO_NODE; self.tree.nodes.len()];
        let mut reached = Vec::new();
        if !rows.is_empty() {
            numbers[ROOT as usize] = ROOT;
            reached.push((ROOT, 0));
        }
        let mut next = 0;
        while let Some((parent, depth)) = reached.get(next).copied() {
            for mut row in self.edge_rows(parent, depth + 1, untried) {
                if row.node != TreeRow::NO_NODE {
                    let number = &mut numbers[row.node as usize];
                    if *number == TreeRow::NO_NODE {
                        *number = reached.len() as u32;
                        reached.push((row.node, depth + 1));
                    }
                    row.node = *number;
                }
                row.parent = next as u32;
                rows.push(row);
            }
            next += 1;
        }
        numbered(rows, search)
    }

    /// The rows of the root and its edges, those without a visit included; none before the root's first visit. No leaf may be in
    /// flight.
    pub fn root_rows(&self) -> Vec<TreeRow> {
        let mut rows = self.root_row();
        if !rows.is_empty() {
            rows.extend(self.edge_rows(ROOT, 1, true));
        }
        numbered(rows, 0)
    }

    /// The row of the root, if there is one.
    fn root_row(&self) -> Vec<TreeRow> {
        let edge = Edge { parent: ROOT, depth: 0, mv: None, prior: 1.0 };
        self.tree.nodes.first().map(|_| self.node_row(edge, ROOT, None)).into_iter().collect()
    }

    /// The rows of a node's edges.
    fn edge_rows(&self, parent: NodeId, depth: u16, untried: bool) -> impl Iterator<Item = TreeRow> {
        let moves = self.tree.moves(parent).iter().zip(self.tree.priors(parent));
        moves.enumerate().filter_map(move |(index, (mv, prior))| {
            let edge = Edge { parent, depth, mv: Some(*mv), prior: *prior };
            match self.tree.visited_edges(parent).get(index) {
                Some(visited) => Some(self.node_row(edge, visited.child, Some(visited))),
                None => untried.then(|| unvisited_row(edge)),
            }
        })
    }

    /// The row of a node and the edge that leads to it, for the side that made the move.
    fn node_row(&self, edge: Edge, id: NodeId, visited: Option<&VisitedEdge>) -> TreeRow {
        let node = self.tree.node(id);
        let depth = edge.depth.into();
        let draw_value = self.draw_value(depth);
        let sign = if visited.is_some() { -1.0 } else { 1.0 };
        let proof = if visited.is_some() { node.proof.map(Proof::for_opponent) } else { node.proof };
        let known = node.visits > 0 || node.proof.is_some();
        let value = if known { node.proven_or_mean(draw_value) } else { 0.0 };
        let draw = node.draw_share();
        let plain = sign * (value - draw * draw_value);
        let (own, own_draw) = self.own_evaluation(id, draw_value);
        let share = |probability: f64| if known { probability as f32 } else { 0.0 };
        let moves_left = self.tree.moves_left.as_ref().filter(|_| known);
        let unknown = TreeRow::UNKNOWN;
        TreeRow {
            node: id,
            visits: visited.map_or(node.visits, |visited| visited.visits),
            node_visits: node.visits,
            value_sum: sign * node.value_sum,
            square_sum: visited.map_or(0.0, VisitedEdge::square_sum),
            draw_sum: node.draw_sum,
            q: (sign * value) as f32,
            win: share(0.5 * (1.0 - draw + plain)),
            draw: share(draw),
            loss: share(0.5 * (1.0 - draw - plain)),
            net_q: (sign * own) as f32,
            net_d: own_draw as f32,
            moves_left: self.tree.moves_left(id).map_or(unknown, |plies| plies as f32),
            moves_left_sum: moves_left.map_or(unknown.into(), |moves_left| moves_left.sum(id)),
            net_moves_left: moves_left.map_or(unknown, |moves_left| moves_left.own(id)),
            proof: proof_name(proof).to_owned(),
            ..unvisited_row(edge)
        }
    }

    /// A node's own evaluation: its value with a draw at `draw_value`, and its P(draw).
    fn own_evaluation(&self, id: NodeId, draw_value: f64) -> (f64, f64) {
        let node = self.tree.node(id);
        if let Some(proof) = node.proof {
            return (proof.value(draw_value), f64::from(proof.wdl().draw));
        }
        if node.visits == 0 {
            return (0.0, 0.0);
        }
        if node.state != State::Expanded {
            return (node.value(), node.draw_share());
        }
        if let Some(graph) = &self.tree.graph {
            let wdl = graph.evaluation(id);
            return (wdl.value_with_draw_score(draw_value), wdl.draw.into());
        }
        let draw_sum = |edge: &VisitedEdge| self.tree.node(edge.child).draw_sum;
        let below: f64 = self.tree.visited_edges(id).iter().map(draw_sum).sum();
        (self.tree.own_value(id, draw_value), node.draw_sum - below)
    }
}

fn numbered(mut rows: Vec<TreeRow>, search: u32) -> Vec<TreeRow> {
    for (number, row) in (0..).zip(&mut rows) {
        (row.search, row.row) = (search, number);
    }
    rows
}

fn unvisited_row(edge: Edge) -> TreeRow {
    TreeRow {
        search: 0,
        row: 0,
        parent: edge.parent,
        node: TreeRow::NO_NODE,
        depth: edge.depth,
        played: edge.mv.map_or(0, Move::packed),
        visits: 0,
        node_visits: 0,
        value_sum: 0.0,
        square_sum: 0.0,
        draw_sum: 0.0,
        q: 0.0,
        win: 0.0,
        draw: 0.0,
        loss: 0.0,
        prior: edge.prior,
        net_q: 0.0,
        net_d: 0.0,
        moves_left: TreeRow::UNKNOWN,
        moves_left_sum: TreeRow::UNKNOWN.into(),
        net_moves_left: TreeRow::UNKNOWN,
        proof: proof_name(None).to_owned(),
    }
}
