//! The tree: nodes and edges in two arrays, the edges of a node side by side.

use super::proof::Proof;
use crate::board::Move;

/// A node's place in [`Tree::nodes`].
pub(super) type NodeId = u32;
/// An edge's place in [`Tree::edges`].
pub(super) type EdgeId = u32;

pub(super) const ROOT: NodeId = 0;

/// How far a node's search is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Its evaluation is under way.
    InFlight,
    /// It has edges for all legal moves.
    Expanded,
    /// Its result was certain when it was reached, so that it needs no edges.
    Certain,
}

/// A position in the tree. Values are for the node's side to move.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) state: State,
    /// Its result, once certain.
    pub(super) proof: Option<Proof>,
    pub(super) visits: u32,
    pub(super) first_edge: EdgeId,
    pub(super) edge_count: u32,
    pub(super) value_sum: f64,
    pub(super) draw_sum: f64,
}

impl Node {
    fn new(proof: Option<Proof>) -> Self {
        let state = if proof.is_some() { State::Certain } else { State::InFlight };
        Self { state, proof, visits: 0, first_edge: 0, edge_count: 0, value_sum: 0.0, draw_sum: 0.0 }
    }

    /// Mean value for the side to move; only for visited nodes.
    pub(super) fn value(&self) -> f64 {
        self.value_sum / f64::from(self.visits)
    }
}

/// A legal move of a node. Values are for the side that makes the move.
#[derive(Debug, Clone)]
pub(super) struct Edge {
    pub(super) value_sum: f64,
    pub(super) prior: f32,
    pub(super) visits: u32,
    end: EdgeEnd,
    pub(super) in_flight: u16,
    pub(super) played: Move,
}

impl Edge {
    /// The node it leads to, once visited.
    pub(super) fn child(&self) -> Option<NodeId> {
        let child = self.end.0 & EdgeEnd::CHILD;
        (child != EdgeEnd::CHILD).then_some(child)
    }

    /// What is certain of the move, for the side that makes it.
    pub(super) fn proof(&self) -> Option<Proof> {
        match self.end.0 >> EdgeEnd::CHILD_BITS {
            0 => None,
            code => Some(Proof::of_score(code as i8 - 2)),
        }
    }
}

/// An edge's child (30 bits, all set for none) and above it what is proven of the move (0 nothing, 1 loss, 2 draw, 3 win):
/// together in one word, because a search reads edges more than anything else.
#[derive(Debug, Clone, Copy)]
struct EdgeEnd(u32);

impl EdgeEnd {
    const CHILD_BITS: u32 = 30;
    const CHILD: u32 = (1 << Self::CHILD_BITS) - 1;
    const NEW: Self = Self(Self::CHILD);

    fn set_child(&mut self, child: NodeId) {
        debug_assert!(child < Self::CHILD, "the tree has fewer nodes than simulations");
        self.0 = self.0 & !Self::CHILD | child;
    }

    fn set_proof(&mut self, proof: Proof) {
        self.0 = self.0 & Self::CHILD | (proof as u32 + 1) << Self::CHILD_BITS;
    }
}

/// Invariants: a node's visits are 1 (its own evaluation) plus those of its edges; edges are sorted by falling prior,
/// and the visited ones come first, because all unvisited moves of a node are worth the same.
#[derive(Debug, Clone, Default)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    pub(super) edges: Vec<Edge>,
}

impl Tree {
    /// Forgets everything and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.edges.clear();
    }

    /// Adds a node that nothing points to yet: with a certain result, or with an evaluation under way.
    pub(super) fn add_node(&mut self, proof: Option<Proof>) -> NodeId {
        self.nodes.push(Node::new(proof));
        (self.nodes.len() - 1) as NodeId
    }

    /// Adds the node that an edge leads to.
    pub(super) fn add_child(&mut self, edge: EdgeId, proof: Option<Proof>) -> NodeId {
        let child = self.add_node(proof);
        self.edges[edge as usize].end.set_child(child);
        child
    }

    /// Notes a certain result of a node's move, and what follows from it for the node (MCTS-Solver, Winands et al. 2008):
    /// one winning move wins; once all moves are certain, the best of them is what the node is worth.
    pub(super) fn prove_edge(&mut self, node: NodeId, edge: EdgeId, proof: Proof) {
        if self.edges[edge as usize].proof().is_some() {
            return;
        }
        self.edges[edge as usize].end.set_proof(proof);
        let best = if proof == Proof::Win { Some(proof) } else { self.worst_case(node) };
        self.nodes[node as usize].proof = best;
    }

    /// The best result of a node's moves, if all of them are certain.
    fn worst_case(&self, node: NodeId) -> Option<Proof> {
        let both = |best: Proof, proof: Option<Proof>| proof.map(|proof| best.max(proof));
        self.edges_of(node).iter().map(Edge::proof).try_fold(Proof::Loss, both)
    }

    /// The edges of a node.
    pub(super) fn edges_of(&self, node: NodeId) -> &[Edge] {
        let node = &self.nodes[node as usize];
        let first = node.first_edge as usize;
        &self.edges[first..first + node.edge_count as usize]
    }

    fn edges_of_mut(&mut self, node: NodeId) -> &mut [Edge] {
        let node = &self.nodes[node as usize];
        let first = node.first_edge as usize;
        &mut self.edges[first..first + node.edge_count as usize]
    }

    /// Gives a node its legal moves with their priors.
    pub(super) fn expand(&mut self, node: NodeId, moves: &[Move], priors: &[f32]) {
        debug_assert_eq!(moves.len(), priors.len(), "one prior for each legal move");
        let expanded = &mut self.nodes[node as usize];
        expanded.state = State::Expanded;
        expanded.first_edge = self.edges.len() as EdgeId;
        expanded.edge_count = moves.len() as u32;
        self.edges.extend(moves.iter().zip(priors).map(|(played, prior)| Edge {
            value_sum: 0.0,
            prior: *prior,
            visits: 0,
            end: EdgeEnd::NEW,
            in_flight: 0,
            played: *played,
        }));
        self.sort_by_prior(node);
    }

    /// Replaces the priors of a node without visited moves; `priors` in the order of its edges.
    pub(super) fn set_priors(&mut self, node: NodeId, priors: &[f32]) {
        let edges = self.edges_of_mut(node);
        debug_assert!(edges.iter().all(|edge| edge.visits == 0), "visited moves must stay in front");
        for (edge, prior) in edges.iter_mut().zip(priors) {
            edge.prior = *prior;
        }
        self.sort_by_prior(node);
    }

    /// A stable sort, so that equal priors keep the order of move generation.
    fn sort_by_prior(&mut self, node: NodeId) {
        self.edges_of_mut(node).sort_by(|a, b| b.prior.total_cmp(&a.prior));
    }

    /// Adds one visit to a node.
    pub(super) fn visit(&mut self, node: NodeId, value: f64, draw: f64) {
        let node = &mut self.nodes[node as usize];
        node.visits += 1;
        node.value_sum += value;
        node.draw_sum += draw;
    }
}
