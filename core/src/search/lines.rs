//! What a search found, move by move: the best lines.

use std::cmp::Reverse;

use super::Search;
use super::choice::{ChoiceParams, Visited, rank};
use super::proof::Proof;
use super::tree::{NodeId, ROOT};
use crate::board::Move;

/// A move of the root with what the search expects to follow.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The move with its statistics.
    pub first: Visited,
    /// The move, and the best answers in turn as far as they were searched.
    pub moves: Vec<Move>,
    /// P(draw) behind the move: what is proven, else the mean; the root's where the move has no visit.
    pub draw: f64,
}

impl Search {
    /// The best moves of the root, the best first (multi-PV); after its evaluation. Moves without a visit are left out, but
    /// there is always one line.
    pub fn lines(&self, count: usize) -> Vec<Line> {
        let mut moves = self.playable();
        let best = self.best_move();
        moves.sort_by_key(|of| Reverse((of.played == best, rank(of), of.visits, ordered(of.prior))));
        let worth_showing = |of: &Visited| of.visits > 0 || of.proof.is_some() || of.played == best;
        moves.retain(worth_showing);
        moves.truncate(count);
        moves.into_iter().map(|first| self.line(first)).collect()
    }

    fn line(&self, first: Visited) -> Line {
        let reached = self.child(first.played).unwrap_or(ROOT);
        Line { first, moves: self.line_of(first.played), draw: self.tree.node(reached).draw_share() }
    }

    /// The node behind a tried move of the root.
    fn child(&self, first: Move) -> Option<NodeId> {
        let place = self.tree.moves(ROOT).iter().position(|of| *of == first)?;
        self.tree.branches(ROOT).get(place).map(|of| of.child)
    }

    /// The best line: its moves.
    pub fn principal_variation(&self) -> Vec<Move> {
        self.lines(1).swap_remove(0).moves
    }

    /// The move to play where nothing is left to chance.
    fn best_move(&self) -> Move {
        // No random number is drawn at temperature 0.
        let mut unused = crate::rng::Seed { run: 0, step: 0 }.stream(0, crate::rng::Purpose::MoveChoice);
        self.choose(&ChoiceParams::default(), 0.0, &mut unused)
    }

    fn line_of(&self, first: Move) -> Vec<Move> {
        let mut moves = vec![first];
        let mut reached = self.child(first);
        while let Some((played, child)) = reached.and_then(|node| self.best_below(node)) {
            moves.push(played);
            reached = Some(child);
        }
        moves
    }

    /// The best answer at a node: a proven win, else what is not lost and was visited most.
    fn best_below(&self, node: NodeId) -> Option<(Move, NodeId)> {
        let tried =
            self.tree.moves(node).iter().zip(self.tree.branches(node)).filter(|(_, of)| of.visits > 0);
        let rank = |proof: Option<Proof>| proof.map_or(1, |proof| proof as i8);
        let best = tried.min_by_key(|(_, of)| Reverse((rank(of.proof), of.visits)));
        best.map(|(played, of)| (*played, of.child))
    }
}

/// Priors as integers of the same order; they are not negative.
fn ordered(prior: f32) -> u32 {
    prior.to_bits()
}
