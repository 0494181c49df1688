//! Tree reuse: the part of a tree that is kept for the next move.

use std::collections::HashMap;

use super::tree::{Graph, MovesLeft, NodeId, Tree};

impl Tree {
    /// Copies the part below a node into an empty tree, where the node is the root.
    pub(super) fn copy_below(&self, node: NodeId, into: &mut Self) {
        into.clear();
        into.graph = self.graph.as_ref().map(|_| Graph::default());
        into.moves_left = self.moves_left.as_ref().map(|_| MovesLeft::default());
        // Nodes are appended in the order in which they are copied, so the new tree is its own queue.
        let mut sources = Vec::new();
        let mut shared = HashMap::new();
        self.copy_node(node, into, &mut sources);
        let mut next = 0;
        while next < sources.len() {
            self.copy_edges(sources[next], next as NodeId, into);
            for index in 0..into.nodes[next].visited_count {
                let child = into.edge_mut(next as NodeId, index).child;
                let copied = shared.get(&child).copied();
                let copy = copied.unwrap_or_else(|| self.copy_node(child, into, &mut sources));
                if self.graph.is_some() {
                    shared.insert(child, copy);
                }
                into.edge_mut(next as NodeId, index).child = copy;
            }
            next += 1;
        }
    }

    fn copy_node(&self, source: NodeId, into: &mut Self, sources: &mut Vec<NodeId>) -> NodeId {
        let copy = sources.len() as NodeId;
        sources.push(source);
        into.nodes.push(self.node(source).clone());
        if let (Some(from), Some(to)) = (&self.graph, &mut into.graph) {
            to.add_copy(from, source, copy);
        }
        if let (Some(from), Some(to)) = (&self.moves_left, &mut into.moves_left) {
            to.add_copy(from, source, copy);
        }
        copy
    }

    fn copy_edges(&self, source: NodeId, copy: NodeId, into: &mut Self) {
        let first_edge = into.moves.len() as u32;
        into.moves.extend_from_slice(self.moves(source));
        into.priors.extend_from_slice(self.priors(source));
        let first_visited = into.visited.append(self.visited_edges(source));
        let copy = &mut into.nodes[copy as usize];
        (copy.first_edge, copy.first_visited) = (first_edge, first_visited);
    }

    /// Exchanges the draw scores of the two players, as the root is now the other player's. `at_root` is the old value of a draw
    /// for the side to move at the root.
    pub(super) fn flip_draw_values(&mut self, at_root: f64) {
        if at_root == 0.0 {
            return;
        }
        let mut draw_values = vec![at_root; self.nodes.len()];
        for node in 0..self.nodes.len() {
            let own = draw_values[node];
            self.nodes[node].value_sum -= 2.0 * own * self.nodes[node].draw_sum;
            for index in 0..self.nodes[node].visited_count {
                let child = self.edge_mut(node as NodeId, index).child as usize;
                draw_values[child] = -own;
                let draws = self.nodes[child].draw_sum;
                self.edge_mut(node as NodeId, index).value_sum -= 2.0 * own * draws;
            }
        }
    }
}
