//! A search made again of the rows of its tree.

use thiserror::Error;

use super::rows::{PROOF_WORDS, TreeRow};
use super::tree::{Branch, Node, NodeId, ROOT, State, Tree};
use super::{Proof, Search};
use crate::board::Move;
use crate::network::Wdl;

/// Rows are not a tree that a search could go on with.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("row {row} of the tree of search {search}: {fault}")]
pub struct TreeFault {
    /// The search.
    pub search: u32,
    /// The row at fault.
    pub row: u32,
    /// What is wrong, and what to do.
    pub fault: String,
}

fn fault(row: &TreeRow, fault: impl Into<String>) -> TreeFault {
    TreeFault { search: row.search, row: row.row, fault: fault.into() }
}

impl Search {
    /// This search, which has not begun, with the tree that [`Search::rows`] gave of one of the same game, moves that were not tried
    /// included. It goes on like one whose tree was kept: the root is evaluated again, and the budget comes on top of the visits so far.
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
        self.start_over();
        Ok(self)
    }

    /// Adds every node once, in the order of their numbers.
    fn add_nodes(&mut self, root: &TreeRow, moves: &[TreeRow]) -> Result<(), TreeFault> {
        let mut places: Vec<&TreeRow> = moves.iter().filter(|row| row.node != TreeRow::NO_NODE).collect();
        places.sort_by_key(|row| row.node);
        places.dedup_by_key(|row| row.node);
        for (number, row) in (0..).zip(std::iter::once(root).chain(places)) {
            if row.node != number {
                return Err(fault(row, format!("leads to node {}, but no row leads to {number}", row.node)));
            }
            let proof = proof_of(row)?;
            let seen = if number == ROOT { proof } else { proof.map(Proof::for_opponent) };
            // Kept apart from its key, which the walk over the game finds.
            let node = self.tree.add_node(State::Repeated, seen, u64::from(number));
            let sign = if number == ROOT { 1.0 } else { -1.0 };
            let of: &mut Node = &mut self.tree.nodes[node as usize];
            of.visits = row.node_visits;
            (of.value_sum, of.draw_sum) = (f64::from(sign) * row.value_sum, row.draw_sum);
            if seen.is_some() {
                of.state = State::Certain;
            }
            let own = self.own_of(row, sign);
            if let Some(graph) = &mut self.tree.graph {
                graph.evaluated(node, own);
            }
            self.put_moves_left(node, row)?;
        }
        Ok(())
    }

    /// Gives a node its plies left, if the search uses them.
    fn put_moves_left(&mut self, node: NodeId, row: &TreeRow) -> Result<(), TreeFault> {
        let Some(plies) = &mut self.tree.plies else { return Ok(()) };
        if row.net_moves_left < 0.0 && row.node_visits > 0 {
            let need = "has no plies left, which the search's `moves_left` needs; go on from a search with `moves_left`, \
                        leave it out, or begin anew";
            return Err(fault(row, need));
        }
        plies.put(node, row.net_moves_left.max(0.0), row.moves_left_sum.max(0.0));
        Ok(())
    }

    /// A node's own evaluation as its row has it.
    fn own_of(&self, row: &TreeRow, sign: f32) -> Wdl {
        let plain = sign * row.net_q - row.net_d * self.draw_value(row.depth.into()) as f32;
        Wdl::from_value(plain, row.net_d)
    }

    /// Gives a node the moves of its rows.
    fn expand_from(&mut self, parent: NodeId, own: &[TreeRow]) -> Result<(), TreeFault> {
        let first = &own[0];
        let known = self.tree.nodes.get(parent as usize);
        if known.is_none_or(|node| node.state == State::Expanded) {
            return Err(fault(
                first,
                format!("belongs to node {parent}, which is no node or has its moves already"),
            ));
        }
        let moves: Option<Vec<Move>> = own.iter().map(|row| Move::from_packed(row.played)).collect();
        let moves = moves.ok_or_else(|| fault(first, "a move of this node is not a packed move"))?;
        self.tree.expand(parent, &moves, own.iter().map(|row| row.prior));
        let tried = own.iter().take_while(|row| row.node != TreeRow::NO_NODE).count();
        if let Some(row) = own[tried..].iter().find(|row| row.node != TreeRow::NO_NODE) {
            return Err(fault(row, "is a tried move behind one that was not; rows must be in their order"));
        }
        let branches: Vec<Branch> = own[..tried].iter().map(|row| self.branch_of(row)).collect();
        self.tree.set_branches(parent, &branches);
        Ok(())
    }

    fn branch_of(&self, row: &TreeRow) -> Branch {
        let below = self.tree.node(row.node);
        let mean = |sum: f64| sum / f64::from(row.node_visits.max(1));
        // A tree has the same sum on both ends of a move; a graph takes it from the position.
        let value_sum = if row.visits == row.node_visits {
            row.value_sum
        } else {
            mean(row.value_sum) * f64::from(row.visits)
        };
        let proof = below.proof.map(Proof::for_opponent).filter(|_| self.params.solver);
        Branch {
            value_sum,
            square_sum: row.square_sum,
            visits: row.visits,
            child: row.node,
            in_flight: 0,
            proof,
        }
    }

    /// Walks the game through the tree: the moves of every node must be the legal ones. Finds the keys of shared positions.
    fn check_against_game(&mut self, root: &TreeRow, moves: &[TreeRow]) -> Result<(), TreeFault> {
        let mut tree = Tree::new(&self.params);
        std::mem::swap(&mut tree, &mut self.tree);
        let mut rows_to = vec![root; tree.nodes.len()];
        for row in moves.iter().filter(|row| row.node != TreeRow::NO_NODE) {
            rows_to[row.node as usize] = row;
        }
        let root_ply = self.game.ply();
        let mut checked = vec![false; tree.nodes.len()];
        let mut way = vec![(ROOT, root_ply, None)];
        while let Some((node, ply, played)) = way.pop() {
            self.game.take_back_to(ply);
            if let Some(played) = played {
                self.game.play_unchecked(played);
            }
            if std::mem::replace(&mut checked[node as usize], true) {
                continue;
            }
            let ply = self.game.ply();
            self.check_node(&mut tree, node, (rows_to[node as usize], ply - root_ply))?;
            let tried = tree.moves(node).iter().zip(tree.branches(node));
            way.extend(tried.map(|(played, branch)| (branch.child, ply, Some(*played))));
        }
        self.game.take_back_to(root_ply);
        self.tree = tree;
        Ok(())
    }

    fn check_node(
        &self,
        tree: &mut Tree,
        node: NodeId,
        (row, depth): (&TreeRow, usize),
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
        // In a graph the way here need not be the one that repeats a position.
        let repeats = match &tree.graph {
            Some(_) => row.draw == 1.0,
            None => self.game.plies_since_repetition().is_some(),
        };
        if tree.node(node).state == State::Repeated && !repeats {
            return Err(fault(row, format!("node {node} has no moves; rows must include untried moves")));
        }
        let below: u32 = tree.branches(node).iter().map(|branch| branch.visits).sum();
        let of = tree.node(node);
        if of.state == State::Expanded && of.proof.is_none() && of.visits != below + 1 {
            return Err(fault(row, format!("node {node} has {} visits, its moves {below}", of.visits)));
        }
        if let Some(graph) = &mut tree.graph {
            graph.rekey(node, key);
        }
        Ok(())
    }
}

fn proof_of(row: &TreeRow) -> Result<Option<Proof>, TreeFault> {
    let known = PROOF_WORDS.iter().find(|(word, _)| *word == row.proof);
    known
        .map(|(_, proof)| *proof)
        .ok_or_else(|| fault(row, format!("`proof` is \"{}\", which is not known", row.proof)))
}
