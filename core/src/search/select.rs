//! Which move a descent takes from a node.

use super::Search;
use super::formulas::{c_puct, exploration, first_play_value, mean_value};
use super::improved::{NodeView, select_improved};
use super::moves_left::Preference;
use super::params::{FirstPlayParams, InFlight, TreeRule};
use super::proof::Proof;
use super::tree::{Branch, NodeId, ROOT};

impl Search {
    /// The place of the move that a descent takes from a node `depth` plies below the root.
    pub(super) fn select(&mut self, node: NodeId, depth: usize) -> usize {
        let mut scratch = std::mem::take(&mut self.scratch.scores);
        let place = if node == ROOT {
            self.root.rule.select(self, &mut scratch)
        } else if self.params.tree_rule == TreeRule::Improved {
            select_improved(&self.params.improved_policy, self.view(node, depth), &mut scratch)
        } else if self.params.moves_left.is_some() {
            self.select_by_plies(node, depth)
        } else {
            self.select_by_puct(node, depth, |score, _| score)
        };
        self.scratch.scores = scratch;
        place
    }

    pub(super) fn view(&self, node: NodeId, depth: usize) -> NodeView<'_> {
        let draw_value = self.draw_value(depth);
        let own_value =
            if node == ROOT { self.root_own_value() } else { self.tree.own_value(node, draw_value) };
        let (priors, branches) = (self.tree.priors(node), self.tree.branches(node));
        let (moves, allowed) =
            if node == ROOT { (self.tree.moves(ROOT), &*self.root.allowed) } else { (&[][..], &[][..]) };
        NodeView { priors, branches, own_value, draw_value, moves, allowed }
    }

    /// What a draw is worth to the side to move `depth` plies below the root.
    pub(super) fn draw_value(&self, depth: usize) -> f64 {
        if depth.is_multiple_of(2) { self.params.draw_score } else { -self.params.draw_score }
    }

    /// The move that PUCT takes from the root. A closure of its own gives it a loop of its own, which is compiled for the root; shared
    /// with [`select`](Self::select), neither would be inlined (3 % of a simulation's instructions).
    pub(super) fn select_puct_at_root(&self) -> usize {
        if self.params.moves_left.is_some() {
            self.select_by_plies(ROOT, 0)
        } else {
            self.select_by_puct(ROOT, 0, |score, _| score)
        }
    }

    /// The move with the largest `Q + U`; the earlier one wins ties. Moves that are proven to lose are passed over.
    ///
    /// Untried moves are worth the same and the likeliest leads them, so only the first that is allowed can be best.
    /// `adjusted` has the last word on the score of a tried move.
    fn select_by_puct(&self, node: NodeId, depth: usize, adjusted: impl Fn(f64, &Branch) -> f64) -> usize {
        let (priors, branches) = (self.tree.priors(node), self.tree.branches(node));
        let parent = self.tree.node(node);
        let in_flight: u32 = branches.iter().map(|branch| u32::from(branch.in_flight)).sum();
        let scale = self.exploration_scale(node, parent.visits + in_flight);
        let (mut best, mut best_score, mut tried_prior) = (0, f64::NEG_INFINITY, 0.0);
        let of_tried = &priors[..branches.len()];
        for (place, branch) in branches.iter().enumerate() {
            let prior = f64::from(of_tried[place]);
            tried_prior += prior;
            if !self.is_allowed(node, place) {
                continue;
            }
            let score = match branch.proof {
                Some(Proof::Loss) => continue,
                Some(proof) => proof.value(self.draw_value(depth)),
                None => self.tried_value(branch, parent.value()),
            } + exploration(scale, prior, branch.started());
            let score = adjusted(score, branch);
            if score > best_score {
                (best, best_score) = (place, score);
            }
        }
        let untried = (branches.len()..priors.len()).find(|place| self.is_allowed(node, *place));
        if let Some(place) = untried {
            let first_play = first_play_value(self.first_play(node), parent.value(), tried_prior);
            if first_play + exploration(scale, f64::from(priors[place]), 0) > best_score {
                best = place;
            }
        }
        best
    }

    /// As [`select_by_puct`](Self::select_by_puct) where plies left count; apart from it, because few searches come here.
    #[cold]
    fn select_by_plies(&self, node: NodeId, depth: usize) -> usize {
        let preference = self.preference(node, depth);
        let utility = |branch: &Branch| preference.as_ref().map_or(0.0, |of| self.utility(of, branch, depth));
        self.select_by_puct(node, depth, |score, branch| score + utility(branch))
    }

    /// What counts beside the value of a tried move, once it was visited.
    pub(super) fn utility(&self, preference: &Preference<'_>, branch: &Branch, depth: usize) -> f64 {
        let certain = branch.proof.map(|proof| proof.value(self.draw_value(depth)));
        let value = certain.or_else(|| branch.mean());
        let known = value.zip(self.tree.moves_left(branch.child));
        known.map_or(0.0, |(q, plies)| preference.utility(q, plies))
    }

    /// `c_puct · √N`.
    pub(super) fn exploration_scale(&self, node: NodeId, parent_visits: u32) -> f64 {
        let params = &self.params;
        let init = if node == ROOT { params.root.c_puct.unwrap_or(params.c_puct) } else { params.c_puct };
        c_puct(init, params.c_puct_factor, params.c_puct_base, parent_visits)
            * f64::from(parent_visits).sqrt()
    }

    pub(super) fn first_play(&self, node: NodeId) -> &FirstPlayParams {
        let at_root = self.params.root.first_play.as_ref().filter(|_| node == ROOT);
        at_root.unwrap_or(&self.params.first_play)
    }

    pub(super) fn tried_value(&self, branch: &Branch, parent_value: f64) -> f64 {
        let in_flight = u32::from(branch.in_flight);
        match self.params.in_flight {
            InFlight::Loss => {
                mean_value(branch.value_sum, branch.visits, in_flight, self.params.virtual_loss)
            }
            InFlight::Visit => branch.mean().unwrap_or(parent_value),
        }
    }
}
