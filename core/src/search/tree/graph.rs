//! Transpositions as shared nodes (Monte-Carlo graph search, as in KataGo's notes: David J. Wu 2023, "Monte-Carlo Graph Search
//! from First Principles"; Czech et al. 2021).
//!
//! Edges count visits and nodes hold values: `Q(s) = (v(s) − Σ N(s, a) · Q(s_a)) / (1 + Σ N(s, a))`. A descent recomputes the
//! nodes on its path; other nodes are updated when a descent passes through them.
//!
//! Positions share a node if they have the same [`Game::state_key`](crate::board::Game::state_key). The key includes the ply, so
//! the graph has no cycles. Whether a position is drawn by repetition may still depend on the path to it: every descent asks
//! the game, and an edge points to the node that the last descent found. Such draws prove nothing. Proven wins and losses are
//! shared by all paths, as if no repetition could intervene (the graph-history interaction problem, Kishimoto and Müller 2004).

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::Tree;
use super::node::NodeId;
use crate::network::Wdl;

/// Keys are hashes already.
#[derive(Debug, Clone, Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write(&mut self, _: &[u8]) {
        unreachable!("a key is a u64");
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The data that a graph search keeps beside the nodes of its tree.
#[derive(Debug, Clone, Default)]
pub(in crate::search) struct Graph {
    nodes: HashMap<u64, NodeId, BuildHasherDefault<KeyHasher>>,
    /// The key of each node.
    keys: Vec<u64>,
    /// Each node's own evaluation.
    evaluations: Vec<Wdl>,
    /// The mean square of each node's values: of its own evaluation and, by their visits, of the nodes below it.
    mean_squares: Vec<f64>,
}

impl Graph {
    pub(in crate::search) fn clear(&mut self) {
        self.nodes.clear();
        self.keys.clear();
        self.evaluations.clear();
        self.mean_squares.clear();
    }

    /// Adds a new node.
    pub(in crate::search) fn add(&mut self, key: u64, node: NodeId) {
        self.nodes.insert(key, node);
        self.keys.push(key);
        self.evaluations.push(Wdl::default());
        self.mean_squares.push(0.0);
    }

    /// Adds a copy of another graph's node.
    pub(in crate::search) fn add_copy(&mut self, from: &Self, source: NodeId, copy: NodeId) {
        self.add(from.keys[source as usize], copy);
        self.set_evaluation(copy, from.evaluation(source));
        self.set_mean_square(copy, from.mean_squares[source as usize]);
    }

    /// Gives a node another key.
    pub(in crate::search) fn rekey(&mut self, node: NodeId, key: u64) {
        let old = std::mem::replace(&mut self.keys[node as usize], key);
        if self.find(old) == Some(node) {
            self.nodes.remove(&old);
        }
        self.nodes.insert(key, node);
    }

    pub(in crate::search) fn key(&self, node: NodeId) -> u64 {
        self.keys[node as usize]
    }

    /// The node of a position, if it has one.
    pub(in crate::search) fn find(&self, key: u64) -> Option<NodeId> {
        self.nodes.get(&key).copied()
    }

    /// Sets a node's own evaluation.
    pub(in crate::search) fn set_evaluation(&mut self, node: NodeId, wdl: Wdl) {
        self.evaluations[node as usize] = wdl;
    }

    /// A node's own evaluation.
    pub(in crate::search) fn evaluation(&self, node: NodeId) -> Wdl {
        self.evaluations[node as usize]
    }

    /// The mean square of a node's values.
    pub(in crate::search) fn mean_square(&self, node: NodeId) -> f64 {
        self.mean_squares[node as usize]
    }

    /// Sets the mean square of a node's values.
    pub(in crate::search) fn set_mean_square(&mut self, node: NodeId, mean_square: f64) {
        self.mean_squares[node as usize] = mean_square;
    }

    pub(in crate::search) fn bytes(&self) -> usize {
        let entry = size_of::<(u64, NodeId)>() + 1;
        let lists =
            size_of_val(&*self.keys) + size_of_val(&*self.evaluations) + size_of_val(&*self.mean_squares);
        self.nodes.capacity() * entry + lists
    }
}

impl Tree {
    /// Updates a node's visited edges from their children. `draw_value` is for the node's side to move; proven results are
    /// used only with the `solver`.
    pub(in crate::search) fn refresh(&mut self, node: NodeId, draw_value: f64, solver: bool) {
        for index in 0..self.node(node).visited_count {
            self.refresh_edge(node, index, draw_value, solver);
        }
        if self.moves_left.is_some() {
            self.prove_moves_left(node);
        }
    }

    /// Updates a visited edge from its child, as [`refresh`](Self::refresh) does, but for moves left.
    #[inline]
    pub(in crate::search) fn refresh_edge(&mut self, node: NodeId, index: u8, draw_value: f64, solver: bool) {
        let first = self.node(node).first_visited as usize;
        let edge = &mut self.visited.all[first + usize::from(index)];
        let child = &self.nodes[edge.child as usize];
        if child.visits == 0 {
            return;
        }
        let (value, visits) = (child.proven_or_mean(-draw_value), f64::from(edge.visits));
        let mean_square = self.graph.as_ref().map_or(0.0, |graph| graph.mean_square(edge.child));
        edge.value_sum = -value * visits;
        edge.deviation_sum = (visits * (mean_square - value * value).max(0.0)) as f32;
        if let Some(proof) = child.proof.filter(|_| solver) {
            self.prove(node, index, proof.for_opponent());
        }
    }

    /// Adds a visit to a node, and recomputes its sums from its children. Edges of other paths may wait for their next descent.
    pub(in crate::search) fn recompute(&mut self, node: NodeId, draw_value: f64) {
        let own = self.graph.as_ref().map_or(Wdl::default(), |graph| graph.evaluation(node));
        let (mut value, mut draw) = (own.value_with_draw_score(draw_value), f64::from(own.draw));
        let mut square = value * value;
        for edge in self.visited_edges(node) {
            let (child, visits) = (self.node(edge.child), f64::from(edge.visits));
            value +=
                if child.visits > 0 { -child.proven_or_mean(-draw_value) * visits } else { edge.value_sum };
            draw += visits * child.draw_share();
            square += visits * self.mean_square(edge.child);
        }
        let reached = &mut self.nodes[node as usize];
        reached.visits += 1;
        let visits = f64::from(reached.visits);
        if let Some(proof) = reached.proof {
            let result = proof.value(draw_value);
            (value, draw) = (visits * result, visits * f64::from(proof.wdl().draw));
            square = visits * result * result;
        }
        (reached.value_sum, reached.draw_sum) = (value, draw);
        if let Some(graph) = &mut self.graph {
            graph.set_mean_square(node, square / visits);
        }
    }

    fn mean_square(&self, node: NodeId) -> f64 {
        self.graph.as_ref().map_or(0.0, |graph| graph.mean_square(node))
    }
}
