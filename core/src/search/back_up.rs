//! Evaluations into the tree, and values back up.

use super::Search;
use super::formulas::tempered;
use super::moves_left::check_moves_left;
use super::pending::Pending;
use super::tree::{NodeId, ROOT, State};
use crate::network::{Batch, Evaluations, EvaluatorError, Wdl};

impl Search {
    /// Expands the leaves gathered last and backs their values up; their rows of the batch start at `first_row`.
    ///
    /// # Errors
    /// If the search's `moves_left` needs what the evaluations do not say. The search has come to its end then.
    pub fn apply(
        &mut self,
        batch: &Batch,
        evaluations: &Evaluations,
        first_row: usize,
    ) -> Result<(), EvaluatorError> {
        let mut pending = std::mem::take(&mut self.pending);
        let applied = self.apply_from(&mut pending, batch, evaluations, first_row);
        self.pending = pending;
        applied
    }

    /// As [`apply`](Self::apply), for what [`gather_into`](Self::gather_into) left in `pending`.
    pub(super) fn apply_from(
        &mut self,
        pending: &mut Pending,
        batch: &Batch,
        evaluations: &Evaluations,
        first_row: usize,
    ) -> Result<(), EvaluatorError> {
        if self.tree.plies.is_some() {
            check_moves_left(pending, evaluations)?;
        }
        let (mut way_start, mut legal_start) = (0, 0);
        for (row, leaf) in (first_row..).zip(&pending.leaves) {
            let way = &pending.ways[way_start..leaf.way_end];
            let wdl = evaluations.wdl[row];
            let is_new = self.tree.node(leaf.node).state == State::InFlight;
            if is_new || leaf.node == ROOT {
                self.scratch.priors.clear();
                self.scratch.priors.extend_from_slice(&evaluations.policy[batch.legal_range(row)]);
                let temperature = self.policy_temperature(leaf.node);
                tempered(&mut self.scratch.priors, temperature);
                let legal = &pending.legal[legal_start..leaf.legal_end];
                if is_new {
                    self.tree.expand(leaf.node, legal, self.scratch.priors.iter().copied());
                    if let Some(graph) = &mut self.tree.graph {
                        graph.evaluated(leaf.node, wdl);
                    }
                    if let Some(plies) = &mut self.tree.plies {
                        plies.tell(leaf.node, evaluations.moves_left[row]);
                    }
                    self.back_up(way, leaf.node, wdl);
                } else {
                    self.tree.renew_priors(ROOT, legal, &self.scratch.priors);
                }
            } else {
                // Another way's evaluation of the shared position came first.
                self.climb_graph(way, leaf.node);
            }
            if leaf.node == ROOT {
                self.enter_root(wdl);
            }
            self.watch_gain();
            (way_start, legal_start) = (leaf.way_end, leaf.legal_end);
        }
        self.in_flight -= pending.len();
        pending.clear();
        Ok(())
    }

    pub(super) fn policy_temperature(&self, node: NodeId) -> f64 {
        let at_root = self.params.root.policy_temperature.filter(|_| node == ROOT);
        at_root.unwrap_or(self.params.policy_temperature)
    }

    /// Adds a result for the side to move at `node` to every node and edge on its way; the view changes at each step.
    /// Above a node that is proven, the proof counts instead.
    pub(super) fn back_up(&mut self, way: &[(NodeId, u8)], node: NodeId, wdl: Wdl) {
        let mut depth = way.len();
        let mut draw = f64::from(wdl.draw);
        let mut value = wdl.value_with_draw_score(self.draw_value(depth));
        self.tree.visit(node, value, draw);
        if self.tree.graph.is_some() {
            if self.tree.plies.is_some() {
                self.back_up_moves_left(&[], node);
            }
            return self.climb_graph(way, node);
        }
        let mut below = node;
        for (parent, place) in way.iter().rev().copied() {
            (value, depth) = (-value, depth - 1);
            self.tree.branch_mut(parent, place).visit(value);
            if self.params.solver {
                if let Some(proof) = self.tree.node(below).proof {
                    self.tree.prove(parent, place, proof.for_opponent());
                }
                if let Some(proof) = self.tree.node(parent).proof {
                    (value, draw) = (proof.value(self.draw_value(depth)), f64::from(proof.wdl().draw));
                }
            }
            self.tree.visit(parent, value, draw);
            below = parent;
        }
        if self.tree.plies.is_some() {
            self.back_up_moves_left(way, node);
        }
    }

    /// Where positions are shared: counts a visit of every move on the way to `node`, and recounts the positions above.
    pub(super) fn climb_graph(&mut self, way: &[(NodeId, u8)], node: NodeId) {
        let mut below = node;
        for (depth, (parent, place)) in way.iter().copied().enumerate().rev() {
            let value = -self.tree.node(below).certain_or_mean(self.draw_value(depth + 1));
            self.tree.branch_mut(parent, place).visit(value);
            let draw_value = self.draw_value(depth);
            self.tree.refresh(parent, draw_value, self.params.solver);
            self.tree.recount(parent, draw_value);
            if self.tree.plies.is_some() {
                self.tree.recount_moves_left(parent);
            }
            below = parent;
        }
    }
}
