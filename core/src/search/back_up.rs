//! Applying evaluations: leaves are expanded, and their values backed up.

use super::Search;
use super::formulas::apply_policy_temperature;
use super::moves_left::check_moves_left;
use super::pending::Pending;
use super::tree::{NodeId, ROOT, State};
use crate::network::{Batch, Evaluations, EvaluatorError, RowEvaluation, Wdl};

impl Search {
    /// Expands the leaves gathered last and backs their values up; their rows of the batch start at `first_row`.
    ///
    /// # Errors
    /// If the search's `moves_left` is set and the evaluations have no moves left. The search cannot continue then.
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
        if self.tree.moves_left.is_some() {
            check_moves_left(pending, evaluations)?;
        }
        let (mut row, mut path_start, mut legal_start) = (first_row, 0, 0);
        for leaf in &pending.leaves {
            let path = &pending.paths[path_start..leaf.path_end];
            let RowEvaluation { wdl, moves_left: plies } =
                evaluations.row(batch, row, leaf.has_mirror, &mut self.scratch.priors);
            let is_new = self.tree.node(leaf.node).state == State::Evaluating;
            if is_new || leaf.node == ROOT {
                let temperature = self.policy_temperature(leaf.node);
                apply_policy_temperature(&mut self.scratch.priors, temperature);
                let legal = &pending.legal[legal_start..leaf.legal_end];
                if is_new {
                    self.tree.expand(leaf.node, legal, self.scratch.priors.iter().copied());
                    if let Some(graph) = &mut self.tree.graph {
                        graph.set_evaluation(leaf.node, wdl);
                    }
                    if let (Some(moves_left), Some(plies)) = (&mut self.tree.moves_left, plies) {
                        moves_left.set(leaf.node, plies);
                    }
                    self.back_up(path, leaf.node, wdl);
                } else {
                    self.tree.set_priors_by_move(ROOT, legal, &self.scratch.priors);
                }
            } else {
                // The evaluation through another path to the shared node came first.
                self.back_up_graph(path);
            }
            if leaf.node == ROOT {
                self.enter_root(wdl);
            }
            self.check_gain();
            row += 1 + usize::from(leaf.has_mirror);
            (path_start, legal_start) = (leaf.path_end, leaf.legal_end);
        }
        self.in_flight -= pending.len();
        pending.clear();
        Ok(())
    }

    pub(super) fn policy_temperature(&self, node: NodeId) -> f64 {
        let at_root = self.params.root.policy_temperature.filter(|_| node == ROOT);
        at_root.unwrap_or(self.params.policy_temperature)
    }

    /// Backs up a result for the side to move at `node` along its path, changing sign at every ply. Above a proven node, the
    /// proven result is backed up instead.
    pub(super) fn back_up(&mut self, path: &[(NodeId, u8)], node: NodeId, wdl: Wdl) {
        let mut depth = path.len();
        let mut draw = f64::from(wdl.draw);
        let mut value = wdl.value_with_draw_score(self.draw_value(depth));
        self.tree.visit(node, value, draw);
        if let Some(graph) = &mut self.tree.graph {
            graph.set_mean_square(node, value * value);
            if self.tree.moves_left.is_some() {
                self.back_up_moves_left(&[], node);
            }
            return self.back_up_graph(path);
        }
        let mut child = node;
        for (parent, index) in path.iter().rev().copied() {
            (value, depth) = (-value, depth - 1);
            self.tree.edge_mut(parent, index).visit(value);
            if self.params.solver {
                if let Some(proof) = self.tree.node(child).proof {
                    self.tree.prove(parent, index, proof.for_opponent());
                }
                if let Some(proof) = self.tree.node(parent).proof {
                    (value, draw) = (proof.value(self.draw_value(depth)), f64::from(proof.wdl().draw));
                }
            }
            self.tree.visit(parent, value, draw);
            child = parent;
        }
        if self.tree.moves_left.is_some() {
            self.back_up_moves_left(path, node);
        }
    }

    /// In a graph: adds a visit to every edge on a path, and recomputes these edges and their nodes from its end. The descent has
    /// updated the nodes' other edges.
    pub(super) fn back_up_graph(&mut self, path: &[(NodeId, u8)]) {
        for (depth, (parent, index)) in path.iter().copied().enumerate().rev() {
            self.tree.edge_mut(parent, index).count_visit();
            let draw_value = self.draw_value(depth);
            self.tree.refresh_edge(parent, index, draw_value, self.params.solver);
            self.tree.recompute(parent, draw_value);
            if self.tree.moves_left.is_some() {
                self.tree.prove_moves_left(parent);
                self.tree.recompute_moves_left(parent);
            }
        }
    }
}
