//! Plies left in the game, node by node, beside a tree.

use super::Tree;
use super::node::NodeId;
use crate::search::proof::Proof;

/// What a tree holds of plies left, beside its nodes.
#[derive(Debug, Clone, Default)]
pub(in crate::search) struct PliesLeft {
    /// Of each node: its own evaluation's, or those of its proof.
    known: Vec<f32>,
    /// The sum over its visits.
    pub(in crate::search) sums: Vec<f64>,
}

impl PliesLeft {
    pub(in crate::search) fn clear(&mut self) {
        self.known.clear();
        self.sums.clear();
    }

    /// Notes what is known of a node, which may be new.
    #[cold]
    pub(in crate::search) fn tell(&mut self, node: NodeId, plies: f32) {
        let count = self.known.len().max(node as usize + 1);
        self.known.resize(count, 0.0);
        self.sums.resize(count, 0.0);
        self.known[node as usize] = plies;
    }

    /// Notes a node with its visits.
    pub(in crate::search) fn put(&mut self, node: NodeId, plies: f32, sum: f64) {
        self.tell(node, plies);
        self.sums[node as usize] = sum;
    }

    /// Notes a node that is a copy of another tree's.
    pub(in crate::search) fn add_copy(&mut self, from: &Self, source: NodeId, copy: NodeId) {
        self.put(copy, from.known(source), from.sum(source));
    }

    pub(in crate::search) fn known(&self, node: NodeId) -> f32 {
        self.known[node as usize]
    }

    pub(in crate::search) fn sum(&self, node: NodeId) -> f64 {
        self.sums[node as usize]
    }

    pub(in crate::search) fn bytes(&self) -> usize {
        size_of_val(&*self.known) + size_of_val(&*self.sums)
    }
}

impl Tree {
    /// Plies left at a node: what its proof says, else the mean; `None` before a visit, and where the tree does not hold them.
    pub(in crate::search) fn moves_left(&self, node: NodeId) -> Option<f64> {
        let (plies, of) = (self.plies.as_ref()?, self.node(node));
        match of.proof {
            Some(_) => Some(plies.known(node).into()),
            None => (of.visits > 0).then(|| plies.sum(node) / f64::from(of.visits)),
        }
    }

    /// Finds the plies left of a node that its moves prove: one more than the shortest of its wins, or the longest of what it has
    /// otherwise.
    #[cold]
    pub(in crate::search) fn settle_moves_left(&mut self, node: NodeId) {
        let (Some(plies), Some(proof)) = (&self.plies, self.node(node).proof) else { return };
        let proving = self.branches(node).iter().filter(|branch| branch.proof == Some(proof));
        let below = proving.map(|branch| plies.known(branch.child));
        let best = if proof == Proof::Win { below.reduce(f32::min) } else { below.reduce(f32::max) };
        if let (Some(best), Some(plies)) = (best, &mut self.plies) {
            plies.tell(node, best + 1.0);
        }
    }

    /// Where positions are shared: finds the sum over a node's visits anew, as the positions below have it by now.
    #[cold]
    pub(in crate::search) fn recount_moves_left(&mut self, node: NodeId) {
        let Some(plies) = &self.plies else { return };
        let known = f64::from(plies.known(node));
        let of = self.node(node);
        let sum = if of.proof.is_some() {
            f64::from(of.visits) * known
        } else {
            let below = |child| self.moves_left(child).unwrap_or(0.0) + 1.0;
            let moves = self.branches(node).iter().filter(|of| of.visits > 0);
            known + moves.map(|of| f64::from(of.visits) * below(of.child)).sum::<f64>()
        };
        if let Some(plies) = &mut self.plies {
            plies.sums[node as usize] = sum;
        }
    }
}
