//! The tree: nodes and edges in two arrays, the edges of a node side by side.

use crate::board::Move;
use crate::network::Wdl;

/// A node's place in [`Tree::nodes`].
pub(super) type NodeId = u32;
/// An edge's place in [`Tree::edges`].
pub(super) type EdgeId = u32;

pub(super) const ROOT: NodeId = 0;
const NO_CHILD: NodeId = NodeId::MAX;

/// What is known of a node's position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum State {
    /// Its evaluation is under way.
    InFlight,
    /// It has edges for all legal moves.
    Expanded,
    /// The game ends here, with this result for the side to move.
    Terminal(Wdl),
}

/// A position in the tree. Values are for the node's side to move.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) state: State,
    pub(super) visits: u32,
    pub(super) first_edge: EdgeId,
    pub(super) edge_count: u32,
    pub(super) value_sum: f64,
    pub(super) draw_sum: f64,
}

impl Node {
    fn new(state: State) -> Self {
        Self { state, visits: 0, first_edge: 0, edge_count: 0, value_sum: 0.0, draw_sum: 0.0 }
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
    child: NodeId,
    pub(super) in_flight: u16,
    pub(super) played: Move,
}

impl Edge {
    pub(super) fn child(&self) -> Option<NodeId> {
        (self.child != NO_CHILD).then_some(self.child)
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

    /// Adds a node that nothing points to yet.
    pub(super) fn add_node(&mut self, state: State) -> NodeId {
        self.nodes.push(Node::new(state));
        (self.nodes.len() - 1) as NodeId
    }

    /// Adds the node that an edge leads to.
    pub(super) fn add_child(&mut self, edge: EdgeId, state: State) -> NodeId {
        let child = self.add_node(state);
        self.edges[edge as usize].child = child;
        child
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
            child: NO_CHILD,
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
