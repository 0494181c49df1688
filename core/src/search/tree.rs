//! The tree: nodes, legal moves with their priors, and what was visited of them, in arrays of their own.
//!
//! Most moves of a search are never tried, so a move costs six bytes (itself and its prior) until it is; only then does it
//! get a [`Branch`]. A descent reads the branches of a node, which lie side by side, and one prior more.

mod blocks;
mod graph;
mod node;
mod plies_left;

pub(super) use graph::Graph;
pub(super) use node::{Branch, Node, NodeId, ROOT, State};
pub(super) use plies_left::PliesLeft;

use super::params::SearchParams;
use super::proof::Proof;
use crate::board::Move;
use blocks::Branches;

/// Invariants: a node's visits are 1 (its own evaluation) plus those of its branches, and more once it is proven, because
/// later descents end there; its first moves are the tried ones in the order of their first visit, and once there is one
/// the likeliest of the others comes next. At the root all others fall in prior.
#[derive(Debug, Clone, Default)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    pub(super) moves: Vec<Move>,
    pub(super) priors: Vec<f32>,
    pub(super) branches: Branches,
    /// What sharing positions needs; `None` where every move leads to a node of its own.
    pub(super) graph: Option<Graph>,
    /// Plies left at every node, if the search uses them.
    pub(super) plies: Option<PliesLeft>,
    /// For sorting: prior, place in move generation, move.
    sorted: Vec<(f32, u16, Move)>,
}

impl Tree {
    /// An empty tree, with what searches with these parameters hold of it.
    pub(super) fn new(params: &SearchParams) -> Self {
        let plies = params.moves_left.as_ref().map(|_| PliesLeft::default());
        Self { graph: params.graph.then(Graph::default), plies, ..Self::default() }
    }

    /// Forgets everything and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.moves.clear();
        self.priors.clear();
        self.branches.clear();
        if let Some(graph) = &mut self.graph {
            graph.clear();
        }
        if let Some(plies) = &mut self.plies {
            plies.clear();
        }
    }

    /// Adds a node that nothing points to yet; `key` finds it where positions are shared.
    pub(super) fn add_node(&mut self, state: State, proof: Option<Proof>, key: u64) -> NodeId {
        if let Some(graph) = &mut self.graph {
            graph.add(key, self.nodes.len() as NodeId);
        }
        self.nodes.push(Node {
            value_sum: 0.0,
            draw_sum: 0.0,
            visits: 0,
            first_edge: 0,
            first_branch: 0,
            edge_count: 0,
            branch_count: 0,
            state,
            proof,
        });
        (self.nodes.len() - 1) as NodeId
    }

    pub(super) fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node as usize]
    }

    /// The moves of a node.
    pub(super) fn moves(&self, node: NodeId) -> &[Move] {
        &self.moves[self.node(node).edges()]
    }

    /// The priors of its moves.
    pub(super) fn priors(&self, node: NodeId) -> &[f32] {
        &self.priors[self.node(node).edges()]
    }

    /// The first of its moves: those that were tried.
    pub(super) fn branches(&self, node: NodeId) -> &[Branch] {
        &self.branches.all[self.node(node).branches()]
    }

    /// One tried move of a node.
    pub(super) fn branch_mut(&mut self, node: NodeId, place: u8) -> &mut Branch {
        let first = self.node(node).first_branch as usize;
        &mut self.branches.all[first + usize::from(place)]
    }

    /// Gives a node its legal moves with their priors, in the order of move generation. Most nodes are never gone through, so
    /// [`Self::lead_with_likeliest`] waits for the first descent.
    pub(super) fn expand(&mut self, node: NodeId, moves: &[Move], priors: impl Iterator<Item = f32>) {
        let expanded = &mut self.nodes[node as usize];
        expanded.state = State::Expanded;
        expanded.first_edge = self.moves.len() as u32;
        expanded.edge_count = moves.len() as u8;
        self.moves.extend_from_slice(moves);
        self.priors.extend(priors);
        debug_assert_eq!(self.moves.len(), self.priors.len(), "one prior for each legal move");
    }

    /// Gives an expanded node its tried moves; for a tree that is put together from rows.
    pub(super) fn set_branches(&mut self, node: NodeId, branches: &[Branch]) {
        let first = self.branches.append(branches);
        let of = &mut self.nodes[node as usize];
        (of.first_branch, of.branch_count) = (first, branches.len() as u8);
    }

    /// Replaces the priors of a node's moves, in their order.
    pub(super) fn set_priors(&mut self, node: NodeId, priors: &[f32]) {
        let edges = self.node(node).edges();
        self.priors[edges].copy_from_slice(priors);
        self.sort_untried(node);
    }

    /// Replaces the priors of a node's moves by those of `moves`, its legal moves in the order of move generation.
    pub(super) fn renew_priors(&mut self, node: NodeId, moves: &[Move], priors: &[f32]) {
        let prior_of = |played: &Move| moves.iter().position(|of| of == played).map(|at| priors[at]);
        let renewed: Option<Vec<f32>> = self.moves(node).iter().map(prior_of).collect();
        self.set_priors(node, &renewed.expect("the tree has the legal moves of its position"));
    }

    /// Puts the likeliest move that was not tried before the others, which keep their order. Descents need no more of the order, and
    /// most nodes are left before a second move is tried.
    pub(super) fn lead_with_likeliest(&mut self, node: NodeId) {
        let of = self.node(node);
        let untried = of.edges().start + usize::from(of.branch_count)..of.edges().end;
        let priors = &self.priors[untried.clone()];
        let (mut best, mut most) = (0, f32::NEG_INFINITY);
        for (at, prior) in priors.iter().enumerate() {
            if *prior > most {
                (best, most) = (at, *prior);
            }
        }
        if best > 0 {
            let moved = untried.start..=untried.start + best;
            bring_to_front(&mut self.moves[moved.clone()]);
            bring_to_front(&mut self.priors[moved]);
        }
    }

    /// Sorts the moves that were not tried by falling prior; equal priors keep their order.
    pub(super) fn sort_untried(&mut self, node: NodeId) {
        let of = self.node(node);
        let untried = of.edges().start + usize::from(of.branch_count)..of.edges().end;
        let items = self.priors[untried.clone()].iter().zip(&self.moves[untried.clone()]);
        self.sorted.clear();
        self.sorted.extend((0..).zip(items).map(|(at, (prior, played))| (*prior, at, *played)));
        self.sorted.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for (place, (prior, _, played)) in untried.zip(&self.sorted) {
            (self.priors[place], self.moves[place]) = (*prior, *played);
        }
    }

    /// Makes the move at a place a tried one, and gives the place where it is from now on.
    pub(super) fn try_move(&mut self, node: NodeId, place: usize) -> u8 {
        let tried = self.node(node).branch_count;
        debug_assert!(place >= usize::from(tried), "the move was not tried before");
        let first = self.node(node).edges().start;
        let moved = first + usize::from(tried)..first + place + 1;
        bring_to_front(&mut self.moves[moved.clone()]);
        bring_to_front(&mut self.priors[moved]);
        let of = &mut self.nodes[node as usize];
        of.first_branch = self.branches.push(of.first_branch, tried);
        of.branch_count += 1;
        if node != ROOT {
            self.lead_with_likeliest(node);
        }
        tried
    }

    /// Notes a certain result of a tried move, and what follows from it for its node (MCTS-Solver, Winands et al. 2008): one
    /// winning move wins; once all moves are certain, the best of them is what the node is worth.
    pub(super) fn prove(&mut self, node: NodeId, place: u8, proof: Proof) {
        let branch = self.branch_mut(node, place);
        if branch.proof.is_some() {
            return;
        }
        branch.proof = Some(proof);
        let best = if proof == Proof::Win { Some(proof) } else { self.best_if_all_certain(node) };
        // A node that is won stays so whatever else is found of its moves.
        let known = &mut self.nodes[node as usize].proof;
        *known = best.or(*known);
    }

    fn best_if_all_certain(&self, node: NodeId) -> Option<Proof> {
        let branches = self.branches(node);
        let both = |best: Proof, branch: &Branch| branch.proof.map(|proof| best.max(proof));
        let all_tried = branches.len() == self.moves(node).len();
        all_tried.then(|| branches.iter().try_fold(Proof::Loss, both)).flatten()
    }

    /// Adds one visit to a node.
    pub(super) fn visit(&mut self, node: NodeId, value: f64, draw: f64) {
        let node = &mut self.nodes[node as usize];
        node.visits += 1;
        node.value_sum += value;
        node.draw_sum += draw;
    }

    /// The value of a node's own evaluation with a draw at `draw_value`: kept, or what is left of its sum without its branches'.
    /// For nodes that are not proven.
    pub(super) fn own_value(&self, node: NodeId, draw_value: f64) -> f64 {
        if let Some(graph) = &self.graph {
            return graph.own(node).value_with_draw_score(draw_value);
        }
        let below: f64 = self.branches(node).iter().map(|branch| branch.value_sum).sum();
        self.node(node).value_sum - below
    }

    /// What the tree takes of memory.
    pub(super) fn memory(&self) -> TreeMemory {
        let moves = size_of_val(&*self.moves) + size_of_val(&*self.priors);
        TreeMemory {
            nodes: self.nodes.len(),
            node_bytes: size_of_val(&*self.nodes),
            moves: self.moves.len(),
            move_bytes: moves + size_of_val(&*self.branches.all),
            graph_bytes: self.graph.as_ref().map_or(0, Graph::bytes),
            moves_left_bytes: self.plies.as_ref().map_or(0, PliesLeft::bytes),
        }
    }
}

/// Puts the last item before the others, which keep their order; mostly there are none.
fn bring_to_front<T: Copy>(items: &mut [T]) {
    if items.len() > 1 {
        let last = items[items.len() - 1];
        items.copy_within(..items.len() - 1, 1);
        items[0] = last;
    }
}

/// What a tree takes of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeMemory {
    /// Positions.
    pub nodes: usize,
    /// Their bytes.
    pub node_bytes: usize,
    /// Legal moves of all positions.
    pub moves: usize,
    /// Their bytes, with what is known of tried ones.
    pub move_bytes: usize,
    /// What sharing positions takes besides, about.
    pub graph_bytes: usize,
    /// What plies left take besides.
    pub moves_left_bytes: usize,
}

impl Node {
    fn edges(&self) -> std::ops::Range<usize> {
        let first = self.first_edge as usize;
        first..first + usize::from(self.edge_count)
    }

    fn branches(&self) -> std::ops::Range<usize> {
        let first = self.first_branch as usize;
        first..first + usize::from(self.branch_count)
    }
}

const _: () = assert!(
    size_of::<Node>() == 32 && size_of::<Branch>() == 24,
    "sizes that the memory of a search rests on"
);
