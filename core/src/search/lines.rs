//! The best lines of a search (multi-PV).

use std::cmp::Reverse;

use super::Search;
use super::choice::{ChoiceParams, RootMove, rank};
use super::proof::Proof;
use super::tree::{NodeId, ROOT};
use crate::board::Move;

/// A move of the root with its principal variation.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The move with its statistics.
    pub first: RootMove,
    /// The principal variation: the move, the best answer, and so on as far as they were searched.
    pub moves: Vec<Move>,
    /// P(draw) after the move: proven, else the mean; the root's if the move has no visit.
    pub draw: f64,
}

impl Search {
    /// The best moves of the root, the best first (multi-PV); after its evaluation. Moves without a visit are omitted, but there
    /// is always one line.
    pub fn lines(&self, count: usize) -> Vec<Line> {
        let mut moves = self.playable();
        let best = self.best_move();
        moves.sort_by_key(|mv| Reverse((mv.played == best, rank(mv), mv.visits, sort_key(mv.prior))));
        let is_shown = |mv: &RootMove| mv.visits > 0 || mv.proof.is_some() || mv.played == best;
        moves.retain(is_shown);
        moves.truncate(count);
        moves.into_iter().map(|first| self.line(first)).collect()
    }

    fn line(&self, first: RootMove) -> Line {
        let node = self.child(first.played).unwrap_or(ROOT);
        Line { first, moves: self.line_moves(first.played), draw: self.tree.node(node).draw_share() }
    }

    /// The child that a visited move of the root leads to.
    fn child(&self, first: Move) -> Option<NodeId> {
        let index = self.tree.moves(ROOT).iter().position(|mv| *mv == first)?;
        self.tree.visited_edges(ROOT).get(index).map(|edge| edge.child)
    }

    /// The principal variation: the moves of the best line.
    pub fn principal_variation(&self) -> Vec<Move> {
        self.lines(1).swap_remove(0).moves
    }

    /// The move to play at temperature 0.
    fn best_move(&self) -> Move {
        // No random number is drawn at temperature 0.
        let mut unused = crate::rng::Seed { run: 0, step: 0 }.stream(0, crate::rng::Purpose::MoveChoice);
        self.choose(&ChoiceParams::default(), 0.0, &mut unused)
    }

    fn line_moves(&self, first: Move) -> Vec<Move> {
        let mut moves = vec![first];
        let mut node = self.child(first);
        while let Some((mv, child)) = node.and_then(|node| self.best_answer(node)) {
            moves.push(mv);
            node = Some(child);
        }
        moves
    }

    /// The best answer at a node: a proven win, else the most visited move that is not lost.
    fn best_answer(&self, node: NodeId) -> Option<(Move, NodeId)> {
        let edges = self.tree.moves(node).iter().zip(self.tree.visited_edges(node));
        let visited = edges.filter(|(_, edge)| edge.visits > 0);
        let rank = |proof: Option<Proof>| proof.map_or(1, |proof| proof as i8);
        let best = visited.min_by_key(|(_, edge)| Reverse((rank(edge.proof), edge.visits)));
        best.map(|(mv, edge)| (*mv, edge.child))
    }
}

/// Maps a prior to an integer of the same order; priors are not negative.
fn sort_key(prior: f32) -> u32 {
    prior.to_bits()
}
