//! Positions that several ways lead to, held once (Monte-Carlo graph search, as in KataGo's notes: David J. Wu 2023, "Monte-Carlo
//! Graph Search from First Principles"; Czech et al. 2021).
//!
//! Moves count visits and positions hold values: `Q(s) = (v(s) − Σ N(s, a) · Q(s_a)) / (1 + Σ N(s, a))`. A descent recounts the
//! positions on its way; others learn when a descent comes through.
//!
//! Positions share a node where [`Game::state_key`](crate::board::Game::state_key) is the same. It holds the ply, so no way leads
//! in a circle. Whether a position is drawn by repetition may depend on the way to it even so: every descent asks the game,
//! and a move points to the position as the last descent found it. Such draws prove nothing. Proofs of wins and losses are
//! taken over from one way to another, as if no repetition could come between (the graph-history interaction problem,
//! Kishimoto and Müller 2004).

use std::collections::HashMap;

use super::Tree;
use super::node::NodeId;
use crate::network::Wdl;

/// What a tree holds beside its nodes to share them.
#[derive(Debug, Clone, Default)]
pub(in crate::search) struct Graph {
    nodes: HashMap<u64, NodeId>,
    /// Of each node: its key, and what its own evaluation said.
    keys: Vec<u64>,
    own: Vec<Wdl>,
}

impl Graph {
    pub(in crate::search) fn clear(&mut self) {
        self.nodes.clear();
        self.keys.clear();
        self.own.clear();
    }

    /// Notes a new node.
    pub(in crate::search) fn add(&mut self, key: u64, node: NodeId) {
        self.nodes.insert(key, node);
        self.keys.push(key);
        self.own.push(Wdl::default());
    }

    /// Notes a node that is a copy of another graph's.
    pub(in crate::search) fn add_copy(&mut self, from: &Self, source: NodeId, copy: NodeId) {
        self.add(from.keys[source as usize], copy);
        self.evaluated(copy, from.own(source));
    }

    /// Gives a node another key.
    pub(in crate::search) fn rekey(&mut self, node: NodeId, key: u64) {
        let before = std::mem::replace(&mut self.keys[node as usize], key);
        if self.find(before) == Some(node) {
            self.nodes.remove(&before);
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

    /// Keeps a node's own evaluation.
    pub(in crate::search) fn evaluated(&mut self, node: NodeId, wdl: Wdl) {
        self.own[node as usize] = wdl;
    }

    pub(in crate::search) fn own(&self, node: NodeId) -> Wdl {
        self.own[node as usize]
    }

    pub(in crate::search) fn bytes(&self) -> usize {
        let entry = size_of::<(u64, NodeId)>() + 1;
        self.nodes.capacity() * entry + size_of_val(&*self.keys) + size_of_val(&*self.own)
    }
}

impl Tree {
    /// Brings a node's tried moves up to what is known by now of the positions they lead to. `draw_value` is what a draw is worth
    /// to the node's side; proofs are taken over where the search uses them.
    pub(in crate::search) fn refresh(&mut self, node: NodeId, draw_value: f64, solver: bool) {
        for place in 0..self.branches(node).len() as u8 {
            let child = self.branch_mut(node, place).child;
            let below = self.node(child);
            if below.visits == 0 {
                continue;
            }
            let (value, proof) = (below.certain_or_mean(-draw_value), below.proof);
            let branch = self.branch_mut(node, place);
            branch.value_sum = -value * f64::from(branch.visits);
            if let Some(proof) = proof.filter(|_| solver) {
                self.prove(node, place, proof.for_opponent());
            }
        }
        if self.plies.is_some() {
            self.settle_moves_left(node);
        }
    }

    /// Counts one more visit of a node whose moves are fresh, and its value anew.
    pub(in crate::search) fn recount(&mut self, node: NodeId, draw_value: f64) {
        let own = self.graph.as_ref().map_or(Wdl::default(), |graph| graph.own(node));
        let (mut value, mut draw) = (own.value_with_draw_score(draw_value), f64::from(own.draw));
        for branch in self.branches(node) {
            let below = self.node(branch.child);
            value += branch.value_sum;
            draw += f64::from(branch.visits) * below.draw_share();
        }
        let of = &mut self.nodes[node as usize];
        of.visits += 1;
        if let Some(proof) = of.proof {
            value = f64::from(of.visits) * proof.value(draw_value);
            draw = f64::from(of.visits) * f64::from(proof.wdl().draw);
        }
        (of.value_sum, of.draw_sum) = (value, draw);
    }
}
