//! The improved policy of the Gumbel rules (Danihelka et al. 2022, "Policy improvement by planning with Gumbel"), from priors and
//! completed Q.

use super::params::ImprovedPolicyParams;
use super::proof::Proof;
use super::tree::VisitedEdge;
use crate::board::Move;
use crate::math::{exp, ln};

/// A node as the rules see it. Values are for the side to move.
#[derive(Clone, Copy)]
pub(super) struct NodeView<'a> {
    /// The priors of all edges, the visited ones first.
    pub(super) priors: &'a [f32],
    /// The visited edges.
    pub(super) visited: &'a [VisitedEdge],
    /// The value of the node's own evaluation.
    pub(super) own_value: f64,
    /// The value of a proven draw.
    pub(super) draw_value: f64,
    /// The moves; empty below the root.
    pub(super) moves: &'a [Move],
    /// The moves that may be searched; empty for all.
    pub(super) allowed: &'a [Move],
}

impl NodeView<'_> {
    pub(super) fn edge(&self, index: usize) -> Option<&VisitedEdge> {
        self.visited.get(index)
    }

    pub(super) fn started(&self, index: usize) -> u32 {
        self.edge(index).map_or(0, VisitedEdge::started)
    }

    pub(super) fn proof(&self, index: usize) -> Option<Proof> {
        self.edge(index).and_then(|edge| edge.proof)
    }

    /// Whether an edge may be searched and is not proven to lose.
    pub(super) fn is_open(&self, index: usize) -> bool {
        self.is_allowed(index) && self.proof(index) != Some(Proof::Loss)
    }

    pub(super) fn is_allowed(&self, index: usize) -> bool {
        self.allowed.is_empty() || self.allowed.contains(&self.moves[index])
    }

    /// Q of an edge that is proven or visited.
    fn value(&self, index: usize) -> Option<f64> {
        self.edge(index)?.proven_or_mean(self.draw_value)
    }

    /// The mixed value, the Q of edges without one: the node's own value mixed with Q of the visited edges, weighted by their
    /// priors (appendix D).
    fn mixed_value(&self) -> f64 {
        let (mut visited_prior, mut weighted_q, mut visits) = (0.0, 0.0, 0.0);
        for (index, edge) in self.visited.iter().enumerate().filter(|(_, edge)| edge.visits > 0) {
            let prior = f64::from(self.priors[index]);
            visited_prior += prior;
            weighted_q += prior * self.value(index).unwrap_or(0.0);
            visits += f64::from(edge.visits);
        }
        if visited_prior > 0.0 {
            (self.own_value + visits * weighted_q / visited_prior) / (1.0 + visits)
        } else {
            self.own_value
        }
    }
}

/// Writes σ(completed Q) of all edges to `out`.
fn scaled_completed_q(params: &ImprovedPolicyParams, node: NodeView<'_>, out: &mut Vec<f64>) {
    let mixed = node.mixed_value();
    out.clear();
    out.extend((0..node.priors.len()).map(|index| node.value(index).unwrap_or(mixed)));
    if params.rescale {
        rescale(out);
    }
    let most = node.visited.iter().map(|edge| edge.visits).max().unwrap_or(0);
    let scale = (params.c_visit + f64::from(most)) * params.c_scale;
    for value in out {
        *value *= scale;
    }
}

/// Rescales values linearly to [0, 1]; equal values become 0.
fn rescale(values: &mut [f64]) {
    /// As in mctx.
    const EPSILON: f64 = 1e-8;
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    for value in values {
        *value = (*value - low) / (high - low).max(EPSILON);
    }
}

/// Writes the logits of the improved policy, `logit + σ(completed Q)` of all edges, to `out`.
pub(super) fn improved_logits(params: &ImprovedPolicyParams, node: NodeView<'_>, out: &mut Vec<f64>) {
    scaled_completed_q(params, node, out);
    for (value, prior) in out.iter_mut().zip(node.priors) {
        *value += ln(f64::from(prior.max(f32::MIN_POSITIVE)));
    }
}

/// Writes the improved policy `softmax(logits + σ(completed Q))` of all edges (section 4) to `out`; it sums to 1.
pub(super) fn improved_policy(params: &ImprovedPolicyParams, node: NodeView<'_>, out: &mut Vec<f64>) {
    improved_logits(params, node, out);
    softmax(out);
}

fn softmax(logits: &mut [f64]) {
    let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut total = 0.0;
    for logit in logits.iter_mut() {
        *logit = exp(*logit - largest);
        total += *logit;
    }
    for weight in logits {
        *weight /= total;
    }
}

/// The edge that the `improved` tree rule selects: the largest `π'(a) − n(a) / (1 + Σ n)` (section 5), except proven losses.
///
/// π' is the [`improved_policy`] but for last digits. Every descent computes it at every node, so as `P · e^σ` over its sum, without
/// logarithms and with one exponential for all unvisited edges, which share one Q.
pub(super) fn select_improved(
    params: &ImprovedPolicyParams,
    node: NodeView<'_>,
    scratch: &mut Vec<f64>,
) -> usize {
    scaled_completed_q(params, node, scratch);
    let largest = scratch.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (mut power, mut total) = (0.0, 0.0);
    for (index, (value, prior)) in scratch.iter_mut().zip(node.priors).enumerate() {
        if index <= node.visited.len() {
            power = exp(*value - largest);
        }
        *value = f64::from(prior.max(f32::MIN_POSITIVE)) * power;
        total += *value;
    }
    let edge_visits: u32 = node.visited.iter().map(VisitedEdge::started).sum();
    for (index, share) in scratch.iter_mut().enumerate() {
        *share = *share / total - f64::from(node.started(index)) / f64::from(1 + edge_visits);
    }
    best(scratch, |index| node.is_open(index)).unwrap_or(0)
}

/// The index of the largest score among those that pass `filter`; the first one wins ties.
pub(super) fn best(scores: &[f64], filter: impl Fn(usize) -> bool) -> Option<usize> {
    let indices = (0..scores.len()).filter(|index| filter(*index));
    indices.reduce(|a, b| if scores[b] > scores[a] { b } else { a })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{NodeView, VisitedEdge, improved_policy, scaled_completed_q};
    use crate::search::ImprovedPolicyParams;

    fn floats(value: &Value) -> Vec<f64> {
        value.as_array().expect("a list").iter().map(|number| number.as_f64().expect("a number")).collect()
    }

    #[test]
    fn completed_q_and_improved_policy_match_mctx() {
        let text = include_str!("../../../tests/data/mctx/gumbel_completed_q.json");
        let file: Value = serde_json::from_str(text).expect("JSON");
        let cases = file["cases"].as_array().expect("cases");
        assert!(cases.len() > 100);
        cases.iter().for_each(compare);
    }

    /// Sorts the moves as in a tree, the visited ones first.
    fn compare(case: &Value) {
        let (logits, visits, q) =
            (floats(&case["prior_logits"]), floats(&case["visits"]), floats(&case["q"]));
        let total: f64 = logits.iter().map(|logit| logit.exp()).sum();
        let mut order: Vec<usize> = (0..logits.len()).collect();
        order.sort_by_key(|index| visits[*index] == 0.0);
        let priors: Vec<f32> = order.iter().map(|index| (logits[*index].exp() / total) as f32).collect();
        let edge = |index: &usize| VisitedEdge {
            visits: visits[*index] as u32,
            value_sum: q[*index] * visits[*index],
            ..VisitedEdge::EMPTY
        };
        let visited: Vec<VisitedEdge> =
            order.iter().filter(|index| visits[**index] > 0.0).map(edge).collect();
        let own_value = case["raw_value"].as_f64().expect("a number");
        let node = NodeView {
            priors: &priors,
            visited: &visited,
            own_value,
            draw_value: 0.0,
            moves: &[],
            allowed: &[],
        };
        let params = ImprovedPolicyParams {
            c_visit: case["c_visit"].as_f64().expect("a number"),
            c_scale: case["c_scale"].as_f64().expect("a number"),
            rescale: case["rescale_q_to_unit_interval"].as_bool().expect("a truth value"),
        };
        let mut found = Vec::new();
        let close = |found: &[f64], name: &str| {
            let expected = floats(&case[name]);
            for (found, index) in found.iter().zip(&order) {
                // mctx computes with 32-bit floats.
                let largest = expected[*index].abs().max(1.0);
                assert!(
                    (found - expected[*index]).abs() <= 1e-5 * largest,
                    "{name}: {found} {}",
                    expected[*index]
                );
            }
        };
        scaled_completed_q(&params, node, &mut found);
        close(&found, "scaled_completed_q");
        improved_policy(&params, node, &mut found);
        close(&found, "improved_policy");
    }
}
