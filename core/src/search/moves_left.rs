//! Moves left: the preference for short wins and long losses among moves of similar value (the moves-left utility of Leela Chess
//! Zero, `MEvaluator` in its `src/search/classic/search.cc`).

use super::Search;
use super::formulas::moves_left_utility;
use super::params::MovesLeftParams;
use super::pending::Pending;
use super::tree::NodeId;
use crate::network::{Evaluations, EvaluatorError};

/// The moves-left utility at a node.
pub(super) struct Preference<'a> {
    params: &'a MovesLeftParams,
    /// Moves left at the node, in plies.
    plies: f64,
}

impl Preference<'_> {
    /// The utility of a move with value `q` after which this many plies are left.
    pub(super) fn utility(&self, q: f64, plies: f64) -> f64 {
        moves_left_utility(self.params, q, plies - self.plies)
    }
}

/// Rejects evaluations without moves left.
#[cold]
pub(super) fn check_moves_left(pending: &Pending, evaluations: &Evaluations) -> Result<(), EvaluatorError> {
    let is_missing = evaluations.moves_left.is_empty() && !pending.is_empty();
    if is_missing { Err(EvaluatorError::NoMovesLeft) } else { Ok(()) }
}

impl Search {
    /// The moves-left utility at a node, if the search uses it and the node is clearly won or lost.
    pub(super) fn preference(&self, id: NodeId, depth: usize) -> Option<Preference<'_>> {
        let params = self.params.moves_left.as_ref()?;
        let node = self.tree.node(id);
        // Whether a game is decided does not depend on the draw score.
        let plain = node.value() - node.draw_share() * self.draw_value(depth);
        let plies = self.tree.moves_left(id).filter(|_| plain.abs() > params.threshold)?;
        Some(Preference { params, plies })
    }

    /// Sets moves left of a new node that needs no evaluation, reached from `parent`: so many plies, else one less than at the parent.
    #[cold]
    pub(super) fn set_new_moves_left(&mut self, parent: NodeId, node: NodeId, plies: Option<f32>) {
        let below = || (self.tree.moves_left(parent).unwrap_or(0.0) - 1.0).max(0.0) as f32;
        let plies = plies.unwrap_or_else(below);
        if let Some(moves_left) = &mut self.tree.moves_left {
            moves_left.set(node, plies);
        }
    }

    /// Backs up moves left along the path to `node`, after its value was backed up: one ply more with each step up, and above a
    /// proven node from its proven number.
    #[cold]
    pub(super) fn back_up_moves_left(&mut self, path: &[(NodeId, u8)], node: NodeId) {
        let Some(moves_left) = &mut self.tree.moves_left else { return };
        let mut plies = f64::from(moves_left.own(node));
        moves_left.sums[node as usize] += plies;
        for (parent, _) in path.iter().rev().copied() {
            plies += 1.0;
            if self.tree.node(parent).proof.is_some() {
                self.tree.prove_moves_left(parent);
                plies = self.tree.moves_left(parent).unwrap_or(plies);
            }
            if let Some(moves_left) = &mut self.tree.moves_left {
                moves_left.sums[parent as usize] += plies;
            }
        }
    }
}
