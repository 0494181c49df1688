//! The improved policy of the Gumbel rules (Danihelka et al. 2022, "Policy improvement by planning with Gumbel"): priors and the
//! values that a search found, those of moves without a visit completed.

use super::params::ImprovedPolicyParams;
use super::proof::Proof;
use super::tree::Branch;
use crate::board::Move;

/// A node as the rules see it. Values are for the side to move.
#[derive(Clone, Copy)]
pub(super) struct NodeView<'a> {
    /// The priors of all moves, the tried ones first.
    pub(super) priors: &'a [f32],
    /// The tried moves.
    pub(super) branches: &'a [Branch],
    /// The value of the node's own evaluation.
    pub(super) own_value: f64,
    /// What a certain draw is worth.
    pub(super) draw_value: f64,
    /// The moves, of a root only.
    pub(super) moves: &'a [Move],
    /// Those of them that may be searched; empty for all.
    pub(super) allowed: &'a [Move],
}

impl NodeView<'_> {
    pub(super) fn branch(&self, place: usize) -> Option<&Branch> {
        self.branches.get(place)
    }

    pub(super) fn started(&self, place: usize) -> u32 {
        self.branch(place).map_or(0, Branch::started)
    }

    pub(super) fn proof(&self, place: usize) -> Option<Proof> {
        self.branch(place).and_then(|branch| branch.proof)
    }

    /// Whether a move may be searched and is not proven to lose.
    pub(super) fn is_open(&self, place: usize) -> bool {
        self.is_allowed(place) && self.proof(place) != Some(Proof::Loss)
    }

    pub(super) fn is_allowed(&self, place: usize) -> bool {
        self.allowed.is_empty() || self.allowed.contains(&self.moves[place])
    }

    /// The value of a move that is proven or visited.
    fn value(&self, place: usize) -> Option<f64> {
        let branch = self.branch(place)?;
        branch.proof.map(|proof| proof.value(self.draw_value)).or_else(|| branch.mean())
    }

    /// The value that completes moves without one: the node's own, mixed with the visited moves' by their priors
    /// (appendix D).
    fn mixed_value(&self) -> f64 {
        let (mut prior, mut weighted, mut total) = (0.0, 0.0, 0.0);
        for (place, branch) in self.branches.iter().enumerate().filter(|(_, branch)| branch.visits > 0) {
            let own = f64::from(self.priors[place]);
            prior += own;
            weighted += own * self.value(place).unwrap_or(0.0);
            total += f64::from(branch.visits);
        }
        if prior > 0.0 { (self.own_value + total * weighted / prior) / (1.0 + total) } else { self.own_value }
    }
}

/// σ of the completed values of all moves, into `out`.
fn scaled_values(params: &ImprovedPolicyParams, node: NodeView<'_>, out: &mut Vec<f64>) {
    let mixed = node.mixed_value();
    out.clear();
    out.extend((0..node.priors.len()).map(|place| node.value(place).unwrap_or(mixed)));
    if params.rescale {
        stretch(out);
    }
    let most = node.branches.iter().map(|branch| branch.visits).max().unwrap_or(0);
    let scale = (params.c_visit + f64::from(most)) * params.c_scale;
    for value in out {
        *value *= scale;
    }
}

/// Maps values linearly onto [0, 1]; values that are all alike become 0.
fn stretch(values: &mut [f64]) {
    /// As in mctx.
    const EPSILON: f64 = 1e-8;
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    for value in values {
        *value = (*value - low) / (high - low).max(EPSILON);
    }
}

/// `logits + σ(completed q)` of all moves, into `out`: the logits of the improved policy.
pub(super) fn improved_logits(params: &ImprovedPolicyParams, node: NodeView<'_>, out: &mut Vec<f64>) {
    scaled_values(params, node, out);
    for (value, prior) in out.iter_mut().zip(node.priors) {
        *value += f64::from(prior.max(f32::MIN_POSITIVE)).ln();
    }
}

/// The improved policy `softmax(logits + σ(completed q))` over all moves (section 4), into `out`; sums to 1.
pub(super) fn improved_policy(params: &ImprovedPolicyParams, node: NodeView<'_>, out: &mut Vec<f64>) {
    improved_logits(params, node, out);
    softmax(out);
}

fn softmax(logits: &mut [f64]) {
    let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut total = 0.0;
    for logit in logits.iter_mut() {
        *logit = (*logit - largest).exp();
        total += *logit;
    }
    for weight in logits {
        *weight /= total;
    }
}

/// The move that the `improved` tree rule selects: the largest `π'(a) − n(a) / (1 + Σ n)` (section 5), proven losses left out.
pub(super) fn select_improved(
    params: &ImprovedPolicyParams,
    node: NodeView<'_>,
    scratch: &mut Vec<f64>,
) -> usize {
    improved_policy(params, node, scratch);
    let all: u32 = node.branches.iter().map(Branch::started).sum();
    for (place, share) in scratch.iter_mut().enumerate() {
        *share -= f64::from(node.started(place)) / f64::from(1 + all);
    }
    best(scratch, |place| node.is_open(place)).unwrap_or(0)
}

/// The first of the largest scores that `fits` lets through.
pub(super) fn best(scores: &[f64], fits: impl Fn(usize) -> bool) -> Option<usize> {
    let fitting = (0..scores.len()).filter(|place| fits(*place));
    fitting.reduce(|a, b| if scores[b] > scores[a] { b } else { a })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{Branch, NodeView, improved_policy, scaled_values};
    use crate::search::ImprovedPolicyParams;

    fn floats(value: &Value) -> Vec<f64> {
        value.as_array().expect("a list").iter().map(|number| number.as_f64().expect("a number")).collect()
    }

    #[test]
    fn completed_values_and_the_improved_policy_are_those_of_mctx() {
        let text = include_str!("../../../tests/data/mctx/gumbel_completed_q.json");
        let file: Value = serde_json::from_str(text).expect("JSON");
        let cases = file["cases"].as_array().expect("cases");
        assert!(cases.len() > 100);
        cases.iter().for_each(compare);
    }

    /// Moves are put in the order of a tree: the tried ones first.
    fn compare(case: &Value) {
        let (logits, visits, q) =
            (floats(&case["prior_logits"]), floats(&case["visits"]), floats(&case["q"]));
        let total: f64 = logits.iter().map(|logit| logit.exp()).sum();
        let mut order: Vec<usize> = (0..logits.len()).collect();
        order.sort_by_key(|at| visits[*at] == 0.0);
        let priors: Vec<f32> = order.iter().map(|at| (logits[*at].exp() / total) as f32).collect();
        let branch = |at: &usize| Branch {
            visits: visits[*at] as u32,
            value_sum: q[*at] * visits[*at],
            ..Branch::EMPTY
        };
        let branches: Vec<Branch> = order.iter().filter(|at| visits[**at] > 0.0).map(branch).collect();
        let own_value = case["raw_value"].as_f64().expect("a number");
        let node = NodeView {
            priors: &priors,
            branches: &branches,
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
            for (found, at) in found.iter().zip(&order) {
                // The oracle calculates with 32-bit floats.
                let largest = expected[*at].abs().max(1.0);
                assert!((found - expected[*at]).abs() <= 1e-5 * largest, "{name}: {found} {}", expected[*at]);
            }
        };
        scaled_values(&params, node, &mut found);
        close(&found, "scaled_completed_q");
        improved_policy(&params, node, &mut found);
        close(&found, "improved_policy");
    }
}
