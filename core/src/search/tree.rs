//! The tree as arrays: nodes, edges with their moves and priors, and the statistics of visited edges.
//!
//! Most edges are never visited, so an edge costs six bytes, its move and its prior, until its first visit; then it gets a
//! [`VisitedEdge`]. A descent reads the visited edges of a node, which are contiguous, and one more prior.

mod graph;
mod moves_left;
mod node;
mod visited_edges;

pub(super) use graph::Graph;
pub(super) use moves_left::MovesLeft;
pub(super) use node::{Node, NodeId, ROOT, State, VisitedEdge};

use super::params::SearchParams;
use super::proof::Proof;
use crate::board::Move;
use visited_edges::VisitedEdges;

/// Invariants: a node's visits are 1 (its own evaluation) plus those of its visited edges, and more once it is proven, because
/// later descents end there. Its first edges are the visited ones in the order of their first visit; if there are any, the
/// unvisited edge with the largest prior is next. At the root all unvisited edges are sorted by falling prior.
#[derive(Debug, Clone, Default)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    pub(super) moves: Vec<Move>,
    pub(super) priors: Vec<f32>,
    pub(super) visited: VisitedEdges,
    /// Transpositions in a graph search; `None` in a tree, where every edge leads to its own node.
    pub(super) graph: Option<Graph>,
    /// Moves left at every node, if the search uses them.
    pub(super) moves_left: Option<MovesLeft>,
    /// Buffer for sorting: prior, index before, move.
    sorted: Vec<(f32, u16, Move)>,
}

impl Tree {
    /// An empty tree for searches with these parameters.
    pub(super) fn new(params: &SearchParams) -> Self {
        let moves_left = params.moves_left.as_ref().map(|_| MovesLeft::default());
        Self { graph: params.graph.then(Graph::default), moves_left, ..Self::default() }
    }

    /// Removes everything and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.moves.clear();
        self.priors.clear();
        self.visited.clear();
        if let Some(graph) = &mut self.graph {
            graph.clear();
        }
        if let Some(moves_left) = &mut self.moves_left {
            moves_left.clear();
        }
    }

    /// Adds a node that no edge leads to yet; in a graph, `key` finds it.
    pub(super) fn add_node(&mut self, state: State, proof: Option<Proof>, key: u64) -> NodeId {
        if let Some(graph) = &mut self.graph {
            graph.add(key, self.nodes.len() as NodeId);
        }
        self.nodes.push(Node {
            value_sum: 0.0,
            draw_sum: 0.0,
            visits: 0,
            first_edge: 0,
            first_visited: 0,
            edge_count: 0,
            visited_count: 0,
            state,
            proof,
        });
        (self.nodes.len() - 1) as NodeId
    }

    pub(super) fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node as usize]
    }

    /// The moves of a node's edges.
    pub(super) fn moves(&self, node: NodeId) -> &[Move] {
        &self.moves[self.node(node).edges()]
    }

    /// The priors of a node's edges.
    pub(super) fn priors(&self, node: NodeId) -> &[f32] {
        &self.priors[self.node(node).edges()]
    }

    /// The visited edges of a node, which are its first.
    pub(super) fn visited_edges(&self, node: NodeId) -> &[VisitedEdge] {
        &self.visited.all[self.node(node).visited_edges()]
    }

    /// A visited edge of a node.
    pub(super) fn edge_mut(&mut self, node: NodeId, index: u8) -> &mut VisitedEdge {
        let first = self.node(node).first_visited as usize;
        &mut self.visited.all[first + usize::from(index)]
    }

    /// Gives a node its legal moves with their priors, in the order of move generation. Few nodes are ever visited again, so
    /// [`Self::put_likeliest_first`] is left to the first descent.
    pub(super) fn expand(&mut self, node: NodeId, moves: &[Move], priors: impl Iterator<Item = f32>) {
        let expanded = &mut self.nodes[node as usize];
        expanded.state = State::Expanded;
        expanded.first_edge = self.moves.len() as u32;
        expanded.edge_count = u8::try_from(moves.len()).expect("16 pieces a side have fewer moves");
        self.moves.extend_from_slice(moves);
        self.priors.extend(priors);
        debug_assert_eq!(self.moves.len(), self.priors.len(), "one prior for each legal move");
    }

    /// Gives an expanded node its visited edges; for a tree that is rebuilt from rows.
    pub(super) fn set_visited_edges(&mut self, node: NodeId, visited: &[VisitedEdge]) {
        let first = self.visited.append(visited);
        let node = &mut self.nodes[node as usize];
        (node.first_visited, node.visited_count) = (first, visited.len() as u8);
    }

    /// Replaces the priors of a node's edges, in their order.
    pub(super) fn set_priors(&mut self, node: NodeId, priors: &[f32]) {
        let edges = self.node(node).edges();
        self.priors[edges].copy_from_slice(priors);
        self.sort_unvisited(node);
    }

    /// Replaces the priors of a node's edges by those of `moves`, its legal moves in any order.
    pub(super) fn set_priors_by_move(&mut self, node: NodeId, moves: &[Move], priors: &[f32]) {
        let prior_of = |mv: &Move| moves.iter().position(|other| other == mv).map(|index| priors[index]);
        let priors: Option<Vec<f32>> = self.moves(node).iter().map(prior_of).collect();
        self.set_priors(node, &priors.expect("the tree has the legal moves of its position"));
    }

    /// Moves the unvisited edge with the largest prior before the others, which keep their order. Descents need no more
    /// than that, and most nodes never get a second visited edge.
    pub(super) fn put_likeliest_first(&mut self, node: NodeId) {
        let expanded = self.node(node);
        let unvisited = expanded.edges().start + usize::from(expanded.visited_count)..expanded.edges().end;
        let priors = &self.priors[unvisited.clone()];
        let (mut best, mut most) = (0, f32::NEG_INFINITY);
        for (index, prior) in priors.iter().enumerate() {
            if *prior > most {
                (best, most) = (index, *prior);
            }
        }
        if best > 0 {
            let moved = unvisited.start..=unvisited.start + best;
            bring_to_front(&mut self.moves[moved.clone()]);
            bring_to_front(&mut self.priors[moved]);
        }
    }

    /// Sorts the unvisited edges by falling prior; equal priors keep their order.
    pub(super) fn sort_unvisited(&mut self, node: NodeId) {
        let expanded = self.node(node);
        let unvisited = expanded.edges().start + usize::from(expanded.visited_count)..expanded.edges().end;
        let items = self.priors[unvisited.clone()].iter().zip(&self.moves[unvisited.clone()]);
        self.sorted.clear();
        self.sorted.extend((0..).zip(items).map(|(index, (prior, mv))| (*prior, index, *mv)));
        self.sorted.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for (index, (prior, _, mv)) in unvisited.zip(&self.sorted) {
            (self.priors[index], self.moves[index]) = (*prior, *mv);
        }
    }

    /// Makes an edge a visited one, and returns its new index.
    pub(super) fn add_visited_edge(&mut self, id: NodeId, index: usize) -> u8 {
        let visited = self.node(id).visited_count;
        debug_assert!(index >= usize::from(visited), "the edge has no visit");
        let first = self.node(id).edges().start;
        let moved = first + usize::from(visited)..first + index + 1;
        bring_to_front(&mut self.moves[moved.clone()]);
        bring_to_front(&mut self.priors[moved]);
        let node = &mut self.nodes[id as usize];
        node.first_visited = self.visited.push(node.first_visited, visited);
        node.visited_count += 1;
        if id != ROOT {
            self.put_likeliest_first(id);
        }
        visited
    }

    /// Makes a visited edge an unvisited one.
    pub(super) fn remove_visited_edge(&mut self, id: NodeId, index: u8) {
        let (node, index) = (self.node(id), usize::from(index));
        let (first, visited) = (node.edges().start, node.visited_edges());
        let moved = first + index..first + visited.len();
        self.moves[moved.clone()].rotate_left(1);
        self.priors[moved].rotate_left(1);
        self.visited.all[visited.start + index..visited.end].rotate_left(1);
        self.nodes[id as usize].visited_count -= 1;
        self.put_likeliest_first(id);
    }

    /// Records the proven result of a visited edge, and what follows for its node (MCTS-Solver, Winands et al. 2008): one
    /// winning edge proves a win; once all edges are proven, the best of them is the node's result.
    pub(super) fn prove(&mut self, node: NodeId, index: u8, proof: Proof) {
        let edge = self.edge_mut(node, index);
        if edge.proof.is_some() {
            return;
        }
        edge.proof = Some(proof);
        let best = if proof == Proof::Win { Some(proof) } else { self.best_if_all_proven(node) };
        // A won node stays won whatever is proven of its other edges.
        let proof = &mut self.nodes[node as usize].proof;
        *proof = best.or(*proof);
    }

    fn best_if_all_proven(&self, node: NodeId) -> Option<Proof> {
        let visited = self.visited_edges(node);
        let better = |best: Proof, edge: &VisitedEdge| edge.proof.map(|proof| best.max(proof));
        let all_visited = visited.len() == self.moves(node).len();
        all_visited.then(|| visited.iter().try_fold(Proof::Loss, better)).flatten()
    }

    /// Adds one visit to a node.
    pub(super) fn visit(&mut self, node: NodeId, value: f64, draw: f64) {
        let node = &mut self.nodes[node as usize];
        node.visits += 1;
        node.value_sum += value;
        node.draw_sum += draw;
    }

    /// The value of a node's own evaluation with a draw at `draw_value`: stored in a graph, and in a tree the node's sum minus
    /// those of its visited edges. For nodes that are not proven.
    pub(super) fn own_value(&self, node: NodeId, draw_value: f64) -> f64 {
        if let Some(graph) = &self.graph {
            return graph.evaluation(node).value_with_draw_score(draw_value);
        }
        let below: f64 = self.visited_edges(node).iter().map(|edge| edge.value_sum).sum();
        self.node(node).value_sum - below
    }

    /// The memory that the tree uses.
    pub(super) fn memory(&self) -> TreeMemory {
        let moves = size_of_val(&*self.moves) + size_of_val(&*self.priors);
        TreeMemory {
            nodes: self.nodes.len(),
            node_bytes: size_of_val(&*self.nodes),
            moves: self.moves.len(),
            move_bytes: moves + size_of_val(&*self.visited.all),
            graph_bytes: self.graph.as_ref().map_or(0, Graph::bytes),
            moves_left_bytes: self.moves_left.as_ref().map_or(0, MovesLeft::bytes),
        }
    }
}

/// Moves the last item before the others, which keep their order; mostly it is the only one.
fn bring_to_front<T: Copy>(items: &mut [T]) {
    if items.len() > 1 {
        let last = items[items.len() - 1];
        items.copy_within(..items.len() - 1, 1);
        items[0] = last;
    }
}

/// The memory that a tree uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeMemory {
    /// Nodes.
    pub nodes: usize,
    /// Bytes of the nodes.
    pub node_bytes: usize,
    /// Edges of all nodes.
    pub moves: usize,
    /// Bytes of the edges, with the statistics of visited ones.
    pub move_bytes: usize,
    /// Bytes of the transpositions of a graph search, about.
    pub graph_bytes: usize,
    /// Bytes of moves left.
    pub moves_left_bytes: usize,
}

impl Node {
    fn edges(&self) -> std::ops::Range<usize> {
        let first = self.first_edge as usize;
        first..first + usize::from(self.edge_count)
    }

    fn visited_edges(&self) -> std::ops::Range<usize> {
        let first = self.first_visited as usize;
        first..first + usize::from(self.visited_count)
    }
}

const _: () = assert!(
    size_of::<Node>() == 32 && size_of::<VisitedEdge>() == 24,
    "the memory of a search depends on these sizes"
);
