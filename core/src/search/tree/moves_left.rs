//! Moves left of every node of a tree, in plies.

use super::Tree;
use super::node::NodeId;
use crate::search::proof::Proof;

/// Moves left, in plies, that a tree keeps beside its nodes.
#[derive(Debug, Clone, Default)]
pub(in crate::search) struct MovesLeft {
    /// Of each node: from its own evaluation, or from its proof.
    own: Vec<f32>,
    /// Of each node: the sum over its visits.
    pub(in crate::search) sums: Vec<f64>,
}

impl MovesLeft {
    pub(in crate::search) fn clear(&mut self) {
        self.own.clear();
        self.sums.clear();
    }

    /// Sets a node's own number; the node may be new.
    #[cold]
    pub(in crate::search) fn set(&mut self, node: NodeId, plies: f32) {
        let count = self.own.len().max(node as usize + 1);
        self.own.resize(count, 0.0);
        self.sums.resize(count, 0.0);
        self.own[node as usize] = plies;
    }

    /// Sets a node's own number and the sum over its visits.
    pub(in crate::search) fn set_with_sum(&mut self, node: NodeId, plies: f32, sum: f64) {
        self.set(node, plies);
        self.sums[node as usize] = sum;
    }

    /// Adds a copy of another tree's node.
    pub(in crate::search) fn add_copy(&mut self, from: &Self, source: NodeId, copy: NodeId) {
        self.set_with_sum(copy, from.own(source), from.sum(source));
    }

    /// A node's own number, from its evaluation or its proof.
    pub(in crate::search) fn own(&self, node: NodeId) -> f32 {
        self.own[node as usize]
    }

    /// The sum over a node's visits.
    pub(in crate::search) fn sum(&self, node: NodeId) -> f64 {
        self.sums[node as usize]
    }

    pub(in crate::search) fn bytes(&self) -> usize {
        size_of_val(&*self.own) + size_of_val(&*self.sums)
    }
}

impl Tree {
    /// Moves left at a node, in plies: the proven number, else the mean; `None` before a visit, and if the tree does not keep
    /// them.
    pub(in crate::search) fn moves_left(&self, id: NodeId) -> Option<f64> {
        let (moves_left, node) = (self.moves_left.as_ref()?, self.node(id));
        match node.proof {
            Some(_) => Some(moves_left.own(id).into()),
            None => (node.visits > 0).then(|| moves_left.sum(id) / f64::from(node.visits)),
        }
    }

    /// Sets moves left of a node that its edges prove: one ply more than after its shortest win, or after its longest edge with
    /// another result.
    #[cold]
    pub(in crate::search) fn prove_moves_left(&mut self, node: NodeId) {
        let (Some(moves_left), Some(proof)) = (&self.moves_left, self.node(node).proof) else { return };
        let proving = self.visited_edges(node).iter().filter(|edge| edge.proof == Some(proof));
        let below = proving.map(|edge| moves_left.own(edge.child));
        let best = if proof == Proof::Win { below.reduce(f32::min) } else { below.reduce(f32::max) };
        if let (Some(best), Some(moves_left)) = (best, &mut self.moves_left) {
            moves_left.set(node, best + 1.0);
        }
    }

    /// In a graph: recomputes a node's sum of moves left from its children.
    #[cold]
    pub(in crate::search) fn recompute_moves_left(&mut self, id: NodeId) {
        let Some(moves_left) = &self.moves_left else { return };
        let own = f64::from(moves_left.own(id));
        let node = self.node(id);
        let sum = if node.proof.is_some() {
            f64::from(node.visits) * own
        } else {
            let below = |child| self.moves_left(child).unwrap_or(0.0) + 1.0;
            let visited = self.visited_edges(id).iter().filter(|edge| edge.visits > 0);
            own + visited.map(|edge| f64::from(edge.visits) * below(edge.child)).sum::<f64>()
        };
        if let Some(moves_left) = &mut self.moves_left {
            moves_left.sums[id as usize] = sum;
        }
    }
}
