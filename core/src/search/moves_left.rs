//! Plies left in the game, node by node: short wins and long losses before others of the same value (the moves-left utility of
//! Leela Chess Zero, `MEvaluator` in its `src/search/classic/search.cc`).

use super::Search;
use super::formulas::moves_left_utility;
use super::params::MovesLeftParams;
use super::pending::Pending;
use super::tree::{NodeId, State};
use crate::network::{Evaluations, EvaluatorError};

/// A node's preference among its moves of equal value.
pub(super) struct Preference<'a> {
    params: &'a MovesLeftParams,
    /// Plies left at the node.
    plies: f64,
}

impl Preference<'_> {
    /// What counts beside the value `q` of a move after which some plies are left.
    pub(super) fn utility(&self, q: f64, plies: f64) -> f64 {
        moves_left_utility(self.params, q, plies - self.plies)
    }
}

/// Refuses evaluations that do not say what a preference needs.
#[cold]
pub(super) fn check_moves_left(pending: &Pending, evaluations: &Evaluations) -> Result<(), EvaluatorError> {
    let is_missing = evaluations.moves_left.is_empty() && !pending.is_empty();
    if is_missing { Err(EvaluatorError::NoMovesLeft) } else { Ok(()) }
}

impl Search {
    /// What a node prefers among its moves, if the search has such a preference and the node is clearly won or lost.
    pub(super) fn preference(&self, node: NodeId, depth: usize) -> Option<Preference<'_>> {
        let params = self.params.moves_left.as_ref()?;
        let of = self.tree.node(node);
        // Whether a game is decided does not depend on what a draw is worth.
        let plain = of.value() - of.draw_share() * self.draw_value(depth);
        let plies = self.tree.moves_left(node).filter(|_| plain.abs() > params.threshold)?;
        Some(Preference { params, plies })
    }

    /// Notes the plies left of a node just reached from `parent`, unless a net is asked.
    #[cold]
    pub(super) fn note_moves_left(&mut self, parent: NodeId, node: NodeId) {
        let state = self.tree.node(node).state;
        if state == State::InFlight {
            return;
        }
        let position = self.game.position();
        let is_over = self.game.outcome_given(!self.scratch.legal.is_empty(), &self.rules).is_some();
        let mates = || self.params.mate_in_one && position.mate_in_one(&self.scratch.legal).is_some();
        let plies = if is_over {
            0.0
        } else if state == State::Repeated {
            // As if the same moves led to the next repetition.
            self.game.plies_since_repetition().unwrap_or(0) as f64
        } else if mates() {
            1.0
        } else {
            // Tables know the result and not the way to it, so nothing changes by the move.
            (self.tree.moves_left(parent).unwrap_or(0.0) - 1.0).max(0.0)
        };
        if let Some(known) = &mut self.tree.plies {
            known.tell(node, plies as f32);
        }
    }

    /// Counts the plies left of a visit of every node on the way to `node`, after its value was backed up: one more with each step
    /// up, and above a proof those of the proof.
    #[cold]
    pub(super) fn back_up_moves_left(&mut self, way: &[(NodeId, u8)], node: NodeId) {
        let Some(plies) = &mut self.tree.plies else { return };
        let mut left = f64::from(plies.known(node));
        plies.sums[node as usize] += left;
        for (parent, _) in way.iter().rev().copied() {
            left += 1.0;
            if self.tree.node(parent).proof.is_some() {
                self.tree.settle_moves_left(parent);
                left = self.tree.moves_left(parent).unwrap_or(left);
            }
            if let Some(plies) = &mut self.tree.plies {
                plies.sums[parent as usize] += left;
            }
        }
    }
}
