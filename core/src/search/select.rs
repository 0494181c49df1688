//! Selection: which edge a descent takes from a node.

use super::Search;
use super::formulas::{c_puct, exploration, fpu_value, lowered_mean, mean_value};
use super::improved::{NodeView, select_improved};
use super::moves_left::Preference;
use super::params::{FpuParams, TreeRule, VirtualLossMode};
use super::proof::Proof;
use super::tree::{NodeId, ROOT, VisitedEdge};

impl Search {
    /// The index of the edge that a descent takes from a node `depth` plies below the root.
    pub(super) fn select(&mut self, node: NodeId, depth: usize) -> usize {
        let mut scratch = std::mem::take(&mut self.scratch.scores);
        let index = if node == ROOT {
            self.root.rule.select(self, &mut scratch)
        } else if self.params.tree_rule == TreeRule::Improved {
            select_improved(&self.params.improved_policy, self.view(node, depth), &mut scratch)
        } else if self.params.moves_left.is_some() {
            self.select_with_moves_left(node, depth)
        } else {
            self.select_by_puct(node, depth, |score, _| score)
        };
        self.scratch.scores = scratch;
        index
    }

    pub(super) fn view(&self, node: NodeId, depth: usize) -> NodeView<'_> {
        let draw_value = self.draw_value(depth);
        let own_value =
            if node == ROOT { self.root_own_value() } else { self.tree.own_value(node, draw_value) };
        let (priors, visited) = (self.tree.priors(node), self.tree.visited_edges(node));
        let (moves, allowed) =
            if node == ROOT { (self.tree.moves(ROOT), &*self.root.allowed) } else { (&[][..], &[][..]) };
        NodeView { priors, visited, own_value, draw_value, moves, allowed }
    }

    /// The draw score for the side to move `depth` plies below the root.
    pub(super) fn draw_value(&self, depth: usize) -> f64 {
        if depth.is_multiple_of(2) { self.params.draw_score } else { -self.params.draw_score }
    }

    /// The edge that PUCT takes from the root. Its own closure instantiates a separate copy of the loop; if the root shared one
    /// with [`select`](Self::select), neither would be inlined (3 % of a simulation's instructions).
    pub(super) fn select_puct_at_root(&self) -> usize {
        if self.params.moves_left.is_some() {
            self.select_with_moves_left(ROOT, 0)
        } else {
            self.select_by_puct(ROOT, 0, |score, _| score)
        }
    }

    /// The edge with the largest `Q + U`; the earlier one wins ties. Edges that are proven to lose are skipped.
    ///
    /// Unvisited edges share one Q and the one with the largest prior is first, so only the first that is allowed can be
    /// best. `adjust` may change the score of a visited edge.
    fn select_by_puct(&self, node: NodeId, depth: usize, adjust: impl Fn(f64, &VisitedEdge) -> f64) -> usize {
        let (priors, visited) = (self.tree.priors(node), self.tree.visited_edges(node));
        let parent = self.tree.node(node);
        let in_flight: u32 = visited.iter().map(|edge| u32::from(edge.in_flight)).sum();
        let scale = self.exploration_scale(node, parent.visits + in_flight);
        let (mut best, mut best_score, mut visited_prior) = (0, f64::NEG_INFINITY, 0.0);
        let visited_priors = &priors[..visited.len()];
        for (index, edge) in visited.iter().enumerate() {
            let prior = f64::from(visited_priors[index]);
            visited_prior += prior;
            if !self.is_allowed(node, index) {
                continue;
            }
            let score = match edge.proof {
                Some(Proof::Loss) => continue,
                Some(proof) => proof.value(self.draw_value(depth)),
                None => self.edge_value(edge, parent.value()),
            } + exploration(scale, prior, edge.started());
            let score = adjust(score, edge);
            if score > best_score {
                (best, best_score) = (index, score);
            }
        }
        let unvisited = (visited.len()..priors.len()).find(|index| self.is_allowed(node, *index));
        if let Some(index) = unvisited {
            let q = fpu_value(self.fpu_params(node), parent.value(), visited_prior);
            if q + exploration(scale, f64::from(priors[index]), 0) > best_score {
                best = index;
            }
        }
        best
    }

    /// As [`select_by_puct`](Self::select_by_puct) with moves-left utility; separate because few searches use it.
    #[cold]
    fn select_with_moves_left(&self, node: NodeId, depth: usize) -> usize {
        let preference = self.preference(node, depth);
        let utility = |edge: &VisitedEdge| {
            preference.as_ref().map_or(0.0, |preference| self.utility(preference, edge, depth))
        };
        self.select_by_puct(node, depth, |score, edge| score + utility(edge))
    }

    /// The moves-left utility of a visited edge; 0 before its first visit is backed up.
    pub(super) fn utility(&self, preference: &Preference<'_>, edge: &VisitedEdge, depth: usize) -> f64 {
        let value = edge.proven_or_mean(self.draw_value(depth));
        let value_and_plies = value.zip(self.tree.moves_left(edge.child));
        value_and_plies.map_or(0.0, |(q, plies)| preference.utility(q, plies))
    }

    /// `c_puct · √N`.
    pub(super) fn exploration_scale(&self, node: NodeId, parent_visits: u32) -> f64 {
        let params = &self.params;
        let init = if node == ROOT { params.root.c_puct.unwrap_or(params.c_puct) } else { params.c_puct };
        c_puct(init, params.c_puct_factor, params.c_puct_base, parent_visits)
            * f64::from(parent_visits).sqrt()
    }

    /// The parameters of first-play urgency at a node.
    pub(super) fn fpu_params(&self, node: NodeId) -> &FpuParams {
        let at_root = self.params.root.fpu.as_ref().filter(|_| node == ROOT);
        at_root.unwrap_or(&self.params.fpu)
    }

    /// Q of a visited edge that is not proven, with virtual loss.
    pub(super) fn edge_value(&self, edge: &VisitedEdge, parent_value: f64) -> f64 {
        // Most edges have no descent in flight, and no loss then.
        if let (0, Some(mean)) = (edge.in_flight, edge.mean()) {
            return mean;
        }
        let (in_flight, loss) = (u32::from(edge.in_flight), self.params.virtual_loss);
        match self.params.virtual_loss_mode {
            VirtualLossMode::Loss => mean_value(edge.value_sum, edge.visits, in_flight, loss),
            VirtualLossMode::Visit => {
                lowered_mean(edge.mean().unwrap_or(parent_value), edge.visits, in_flight, loss)
            }
        }
    }
}
