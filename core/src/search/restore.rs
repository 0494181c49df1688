//! Rebuilds a search from the rows of its tree.

use thiserror::Error;

use super::rows::{PROOF_NAMES, TreeRow};
use super::tree::{Node, NodeId, ROOT, State, Tree, VisitedEdge};
use super::{Proof, Search};
use crate::board::Move;
use crate::network::Wdl;

/// The rows are not a tree that a search can continue.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("row {row} of the tree of search {search}: {fault}")]
pub struct TreeFault {
    /// The search.
    pub search: u32,
    /// The faulty row.
    pub row: u32,
    /// What is wrong, and how to fix it.
    pub fault: String,
}

fn fault(row: &TreeRow, fault: impl Into<String>) -> TreeFault {
    TreeFault { search: row.search, row: row.row, fault: fault.into() }
}

impl Search {
    /// Gives this search, which has not begun, a tree that [`Search::rows`] returned for a search of the same game, with
    /// `untried` edges. It continues as after tree reuse: the root is evaluated again, and the budget comes on top of the visits
    /// so far. Sums and proofs are those of the earlier search's `graph`, `solver`, `draw_score` and `two_fold_draws`, which must
    /// be this search's, too; the rows do not say all of them.
    pub fn restore(mut self, rows: &[TreeRow]) -> Result<Self, TreeFault> {
        let Some((root, moves)) = rows.split_first() else { return Ok(self) };
        if root.depth != 0 || root.node != ROOT {
            return Err(fault(root, "is not the root; rows must be all of one search, in their order"));
        }
        self.add_nodes(root, moves)?;
        let mut left = moves;
        while let Some(first) = left.first() {
            let (own, rest) = left.split_at(left.iter().take_while(|row| row.parent == first.parent).count());
            self.expand_from(first.parent, own)?;
            left = rest;
        }
        self.check_against_game(root, moves)?;
        self.reset_root();
        Ok(self)
    }

    /// Adds every node once, in the order of their numbers.
    fn add_nodes(&mut self, root: &TreeRow, moves: &[TreeRow]) -> Result<(), TreeFault> {
        let mut nodes: Vec<&TreeRow> = moves.iter().filter(|row| row.node != TreeRow::NO_NODE).collect();
        nodes.sort_by_key(|row| row.node);
        if self.tree.graph.is_none()
            && let Some([_, row]) = nodes.array_windows().find(|[one, other]| one.node == other.node)
        {
            return Err(fault(
                row,
                format!("leads to node {}, as another row does; only `graph` searches share nodes", row.node),
            ));
        }
        nodes.dedup_by_key(|row| row.node);
        for (number, row) in (0..).zip(std::iter::once(root).chain(nodes)) {
            if row.node != number {
                return Err(fault(row, format!("leads to node {}, but no row leads to {number}", row.node)));
            }
            let proof = proof_of(row)?;
            let proof = if number == ROOT { proof } else { proof.map(Proof::for_opponent) };
            // The number is a placeholder for the key, which `check_against_game` computes.
            let id = self.tree.add_node(State::Repeated, proof, u64::from(number));
            let sign = if number == ROOT { 1.0 } else { -1.0 };
            let node: &mut Node = &mut self.tree.nodes[id as usize];
            node.visits = row.node_visits;
            (node.value_sum, node.draw_sum) = (f64::from(sign) * row.value_sum, row.draw_sum);
            if proof.is_some() {
                node.state = State::Proven;
            }
            let own = self.own_evaluation_in(row, sign);
            if let Some(graph) = &mut self.tree.graph {
                graph.set_evaluation(id, own);
                graph.set_mean_square(id, f64::from(row.square_sum) / f64::from(row.visits.max(1)));
            }
            self.restore_moves_left(id, row)?;
        }
        Ok(())
    }

    /// Sets a node's moves left, if the search uses them.
    fn restore_moves_left(&mut self, node: NodeId, row: &TreeRow) -> Result<(), TreeFault> {
        let Some(moves_left) = &mut self.tree.moves_left else { return Ok(()) };
        if row.net_moves_left < 0.0 && row.node_visits > 0 {
            let need = "has no moves left, which the search's `moves_left` needs; go on from a search with `moves_left`, \
                        leave it out, or start a new search";
            return Err(fault(row, need));
        }
        moves_left.set_with_sum(node, row.net_moves_left.max(0.0), row.moves_left_sum.max(0.0));
        Ok(())
    }

    /// A node's own evaluation, from its row.
    fn own_evaluation_in(&self, row: &TreeRow, sign: f32) -> Wdl {
        let plain = sign * row.net_q - row.net_d * self.draw_value(row.depth.into()) as f32;
        Wdl::from_value(plain, row.net_d)
    }

    /// Gives a node the edges of its rows.
    fn expand_from(&mut self, parent: NodeId, own: &[TreeRow]) -> Result<(), TreeFault> {
        let first = &own[0];
        let node = self.tree.nodes.get(parent as usize);
        if node.is_none_or(|node| node.state == State::Expanded) {
            return Err(fault(
                first,
                format!("belongs to node {parent}, which does not exist or has its moves already"),
            ));
        }
        let moves: Option<Vec<Move>> = own.iter().map(|row| Move::from_packed(row.played)).collect();
        let moves = moves.ok_or_else(|| fault(first, "a move of this node is not a packed move"))?;
        self.tree.expand(parent, &moves, own.iter().map(|row| row.prior));
        let visited = own.iter().take_while(|row| row.node != TreeRow::NO_NODE).count();
        if let Some(row) = own[visited..].iter().find(|row| row.node != TreeRow::NO_NODE) {
            return Err(fault(row, "is a visited move after an unvisited one; rows must be in their order"));
        }
        let mut visited: Vec<VisitedEdge> =
            own[..visited].iter().map(|row| self.restored_edge(row)).collect();
        let wins = |edge: &VisitedEdge| edge.proof == Some(Proof::Win);
        let proves = visited.iter().any(wins)
            || visited.len() == own.len() && visited.iter().all(|edge| edge.proof.is_some());
        if proves && self.tree.node(parent).proof.is_none() {
            if self.tree.graph.is_none() {
                let unproven = format!(
                    "the moves of node {parent} prove it, but it is not proven; go on with `solver` false"
                );
                return Err(fault(first, unproven));
            }
            // Another path has proven a child. The parent learns of it, and is proven, on its next visit.
            for edge in &mut visited {
                edge.proof = None;
            }
        }
        self.tree.set_visited_edges(parent, &visited);
        Ok(())
    }

    fn restored_edge(&self, row: &TreeRow) -> VisitedEdge {
        let child = self.tree.node(row.node);
        let mean = |sum: f64| sum / f64::from(row.node_visits.max(1));
        // In a tree an edge and its child have the same sum; in a graph the edge has a share of the child's.
        let value_sum = if row.visits == row.node_visits {
            row.value_sum
        } else {
            mean(row.value_sum) * f64::from(row.visits)
        };
        let proof = child.proof.map(Proof::for_opponent).filter(|_| self.params.solver);
        let squares_of_mean = value_sum * value_sum / f64::from(row.visits.max(1));
        VisitedEdge {
            value_sum,
            deviation_sum: (f64::from(row.square_sum) - squares_of_mean) as f32,
            visits: row.visits,
            child: row.node,
            in_flight: 0,
            proof,
        }
    }

    /// Replays the game through the tree: the moves of every node must be the legal ones. Sets the keys of a graph's nodes.
    fn check_against_game(&mut self, root: &TreeRow, moves: &[TreeRow]) -> Result<(), TreeFault> {
        let mut tree = Tree::new(&self.params);
        std::mem::swap(&mut tree, &mut self.tree);
        let mut rows_to = vec![root; tree.nodes.len()];
        for row in moves.iter().filter(|row| row.node != TreeRow::NO_NODE) {
            rows_to[row.node as usize] = row;
        }
        let root_ply = self.game.ply();
        let mut checked = vec![false; tree.nodes.len()];
        let mut stack = vec![(ROOT, root_ply, None)];
        while let Some((node, ply, mv)) = stack.pop() {
            self.game.take_back_to(ply);
            if let Some(mv) = mv {
                self.game.play_unchecked(mv);
            }
            if std::mem::replace(&mut checked[node as usize], true) {
                continue;
            }
            let ply = self.game.ply();
            self.check_node(&mut tree, node, rows_to[node as usize], ply - root_ply)?;
            let visited = tree.moves(node).iter().zip(tree.visited_edges(node));
            stack.extend(visited.map(|(mv, edge)| (edge.child, ply, Some(*mv))));
        }
        self.game.take_back_to(root_ply);
        self.tree = tree;
        Ok(())
    }

    fn check_node(
        &self,
        tree: &mut Tree,
        node: NodeId,
        row: &TreeRow,
        depth: usize,
    ) -> Result<(), TreeFault> {
        let (mut own, mut legal) = (tree.moves(node).to_vec(), self.game.position().legal_moves());
        own.sort_unstable();
        legal.sort_unstable();
        if tree.node(node).state == State::Expanded && own != legal {
            let fen = self.game.position().fen();
            return Err(fault(
                row,
                format!(
                    "the moves of node {node} are not the {} legal ones of {fen}; rows must include untried moves, \
                     and the game must be the one that was searched",
                    legal.len()
                ),
            ));
        }
        let key = self.state_key(depth);
        // In a graph this path need not be the one that repeats a position.
        let repeats = match &tree.graph {
            Some(_) => row.draw == 1.0,
            None => self.game.plies_since_repetition().is_some(),
        };
        if tree.node(node).state == State::Repeated && !repeats {
            return Err(fault(row, format!("node {node} has no moves; rows must include untried moves")));
        }
        let below: u32 = tree.visited_edges(node).iter().map(|edge| edge.visits).sum();
        let Node { state, proof, visits, .. } = *tree.node(node);
        if state == State::Expanded && proof.is_none() && visits != below + 1 {
            return Err(fault(row, format!("node {node} has {visits} visits, its moves {below}")));
        }
        if let Some(graph) = &mut tree.graph {
            graph.rekey(node, key);
        }
        Ok(())
    }
}

fn proof_of(row: &TreeRow) -> Result<Option<Proof>, TreeFault> {
    let found = PROOF_NAMES.iter().find(|(name, _)| *name == row.proof);
    found
        .map(|(_, proof)| *proof)
        .ok_or_else(|| fault(row, format!("`proof` is \"{}\", which is not known", row.proof)))
}
