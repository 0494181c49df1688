//! The part of a tree that is kept for the next move.

use std::collections::HashMap;

use super::tree::{Graph, NodeId, PliesLeft, Tree};

impl Tree {
    /// Copies the part below a node into an empty tree, where the node is the root.
    pub(super) fn copy_below(&self, node: NodeId, into: &mut Self) {
        into.clear();
        into.graph = self.graph.as_ref().map(|_| Graph::default());
        into.plies = self.plies.as_ref().map(|_| PliesLeft::default());
        // Nodes are appended in the order in which they are copied, so the queue is the new tree itself.
        let mut sources = Vec::new();
        let mut shared = HashMap::new();
        self.copy_node(node, into, &mut sources);
        let mut at = 0;
        while at < sources.len() {
            self.copy_moves(sources[at], at as NodeId, into);
            for place in 0..into.nodes[at].branch_count {
                let child = into.branch_mut(at as NodeId, place).child;
                let known = shared.get(&child).copied();
                let copy = known.unwrap_or_else(|| self.copy_node(child, into, &mut sources));
                if self.graph.is_some() {
                    shared.insert(child, copy);
                }
                into.branch_mut(at as NodeId, place).child = copy;
            }
            at += 1;
        }
    }

    fn copy_node(&self, source: NodeId, into: &mut Self, sources: &mut Vec<NodeId>) -> NodeId {
        let copy = sources.len() as NodeId;
        sources.push(source);
        into.nodes.push(self.node(source).clone());
        if let (Some(from), Some(to)) = (&self.graph, &mut into.graph) {
            to.add_copy(from, source, copy);
        }
        if let (Some(from), Some(to)) = (&self.plies, &mut into.plies) {
            to.add_copy(from, source, copy);
        }
        copy
    }

    fn copy_moves(&self, source: NodeId, copy: NodeId, into: &mut Self) {
        let first_edge = into.moves.len() as u32;
        into.moves.extend_from_slice(self.moves(source));
        into.priors.extend_from_slice(self.priors(source));
        let first_branch = into.branches.append(self.branches(source));
        let of = &mut into.nodes[copy as usize];
        (of.first_edge, of.first_branch) = (first_edge, first_branch);
    }

    /// Makes draws worth to each player what they were worth to the other. `at_root` is what a draw was worth at the root.
    pub(super) fn turn_draw_values(&mut self, at_root: f64) {
        if at_root == 0.0 {
            return;
        }
        let mut worth = vec![at_root; self.nodes.len()];
        for node in 0..self.nodes.len() {
            let own = worth[node];
            self.nodes[node].value_sum -= 2.0 * own * self.nodes[node].draw_sum;
            for place in 0..self.nodes[node].branch_count {
                let child = self.branch_mut(node as NodeId, place).child as usize;
                worth[child] = -own;
                let draws = self.nodes[child].draw_sum;
                self.branch_mut(node as NodeId, place).value_sum -= 2.0 * own * draws;
            }
        }
    }
}
