//! Tree reuse: the part of a tree that is kept for the next move.

use std::collections::HashMap;

use super::Search;
use super::tree::{Graph, MovesLeft, NodeId, ROOT, State, Tree};

impl Search {
    /// Removes the nodes below `root`, where the game stands now, that were drawn because they repeat a position of the tree, and
    /// repeat none below `root`. Leela Chess Zero does so, too (`EnsureNodeTwoFoldCorrectForDepth`). A graph needs no such step: its
    /// descents ask the game again.
    pub(super) fn remove_old_repetitions(&mut self, root: NodeId) {
        let is_repeated = |node: &NodeId| self.tree.node(*node).state == State::Repeated;
        let repeated: Vec<NodeId> = (0..self.tree.nodes.len() as NodeId).filter(is_repeated).collect();
        if repeated.is_empty() {
            return;
        }
        let parents = self.tree.parents();
        let root_ply = self.game.ply();
        for node in repeated {
            let Some(path) = self.tree.path_between(root, node, &parents) else { continue };
            for (parent, index) in &path {
                self.game.play_unchecked(self.tree.moves(*parent)[usize::from(*index)]);
            }
            let is_draw = self.is_two_fold_draw(path.len());
            self.game.take_back_to(root_ply);
            if !is_draw {
                self.tree.remove_leaf(&path);
            }
        }
    }
}

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

    /// The parent of each node; the root's own number for the root.
    fn parents(&self) -> Vec<NodeId> {
        let mut parents = vec![ROOT; self.nodes.len()];
        for parent in 0..self.nodes.len() as NodeId {
            for edge in self.visited_edges(parent) {
                parents[edge.child as usize] = parent;
            }
        }
        parents
    }

    /// The edges from one node down to another; `None` if that is not below it.
    fn path_between(&self, top: NodeId, node: NodeId, parents: &[NodeId]) -> Option<Vec<(NodeId, u8)>> {
        let (mut path, mut below) = (Vec::new(), node);
        while below != top {
            if below == ROOT {
                return None;
            }
            let parent = parents[below as usize];
            let index = self.visited_edges(parent).iter().position(|edge| edge.child == below)?;
            path.push((parent, index as u8));
            below = parent;
        }
        path.reverse();
        Some(path)
    }

    /// Removes the node that a path leads to, whose visits all had the same value: no node above it counts them any more, and its edge
    /// is unvisited again.
    fn remove_leaf(&mut self, path: &[(NodeId, u8)]) {
        let Some(((parent, last), above)) = path.split_last() else { return };
        let edge = self.edge_mut(*parent, *last).clone();
        let (visits, mut value_sum) = (edge.visits, edge.value_sum);
        let draw_sum = self.node(edge.child).draw_sum;
        let mut plies_sum = self.moves_left.as_ref().map_or(0.0, |moves_left| moves_left.sum(edge.child));
        let mut count_off = |tree: &mut Self, node: NodeId, value_sum: f64| {
            let counted = &mut tree.nodes[node as usize];
            counted.visits -= visits;
            counted.value_sum -= value_sum;
            counted.draw_sum -= draw_sum;
            plies_sum += f64::from(visits);
            if let Some(moves_left) = &mut tree.moves_left {
                moves_left.sums[node as usize] -= plies_sum;
            }
        };
        count_off(self, *parent, value_sum);
        for (node, index) in above.iter().rev() {
            value_sum = -value_sum;
            self.edge_mut(*node, *index).remove_visits(visits, value_sum);
            count_off(self, *node, value_sum);
        }
        self.remove_visited_edge(*parent, *last);
    }

    /// Exchanges the draw scores of the two players, as the root is now the other player's. `at_root` is the old value of a draw
    /// for the side to move at the root. Deviations keep the old player's view.
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
