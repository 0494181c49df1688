//! The Gumbel rules: planning with few simulations (Danihelka et al. 2022, "Policy improvement by planning with Gumbel").
//!
//! Some moves are drawn without replacement by the Gumbel-top-k trick, sequential halving (Karnin et al. 2013) spends the
//! simulations on them, and what the policy should learn follows from completed values instead of visits.

use rand::RngExt;

use super::params::ImprovedPolicyParams;
use super::proof::Proof;
use super::tree::Branch;
use crate::board::Move;
use crate::rng::Stream;

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
    fn branch(&self, place: usize) -> Option<&Branch> {
        self.branches.get(place)
    }

    fn started(&self, place: usize) -> u32 {
        self.branch(place).map_or(0, Branch::started)
    }

    fn proof(&self, place: usize) -> Option<Proof> {
        self.branch(place).and_then(|branch| branch.proof)
    }

    /// Whether a move may be searched and is not proven to lose.
    fn is_open(&self, place: usize) -> bool {
        self.is_allowed(place) && self.proof(place) != Some(Proof::Loss)
    }

    fn is_allowed(&self, place: usize) -> bool {
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
fn improved_logits(params: &ImprovedPolicyParams, node: NodeView<'_>, out: &mut Vec<f64>) {
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
fn best(scores: &[f64], fits: impl Fn(usize) -> bool) -> Option<usize> {
    let fitting = (0..scores.len()).filter(|place| fits(*place));
    fitting.reduce(|a, b| if scores[b] > scores[a] { b } else { a })
}

/// What the rule keeps of one root.
#[derive(Debug, Clone, Default)]
pub(super) struct GumbelRoot {
    /// One sample for each move, in their order; empty without noise.
    noise: Vec<f64>,
    halving: Halving,
}

impl GumbelRoot {
    /// Starts a root with `considered` moves to consider and a budget of `descents` below it, without noise.
    pub(super) fn start(&mut self, considered: u32, descents: u32) {
        self.noise.clear();
        self.halving = Halving::new(considered, descents);
    }

    /// Draws noise of a scale for every move.
    pub(super) fn draw(&mut self, moves: usize, scale: f64, stream: &mut Stream) {
        self.noise.clear();
        self.noise.extend((0..moves).map(|_| scale * standard_gumbel(stream)));
    }

    /// The sample of a move; 0 without noise.
    pub(super) fn noise(&self, place: usize) -> f64 {
        self.noise.get(place).copied().unwrap_or(0.0)
    }

    /// Replaces the samples of all moves.
    pub(super) fn set_noise(&mut self, noise: impl Iterator<Item = f64>) {
        self.noise.clear();
        self.noise.extend(noise);
    }

    /// Follows a move that went from one place to an earlier one.
    pub(super) fn moved(&mut self, from: usize, to: usize) {
        if !self.noise.is_empty() {
            self.noise[to..=from].rotate_right(1);
        }
    }

    /// Goes on to the next descent.
    pub(super) fn advance(&mut self) {
        self.halving.advance();
    }

    /// The move that the next descent takes: of those with as many visits as the schedule asks for, the best.
    pub(super) fn select(
        &self,
        params: &ImprovedPolicyParams,
        root: NodeView<'_>,
        scratch: &mut Vec<f64>,
    ) -> usize {
        self.score(params, root, scratch);
        let due = self.halving.visits();
        let scheduled = best(scratch, |place| root.is_open(place) && root.started(place) == due);
        scheduled.or_else(|| best(scratch, |place| root.is_open(place))).unwrap_or(0)
    }

    /// The move to play: a proven win, else the best of the most visited ones; a proven loss only where all are.
    pub(super) fn choose(
        &self,
        params: &ImprovedPolicyParams,
        root: NodeView<'_>,
        scratch: &mut Vec<f64>,
    ) -> usize {
        self.score(params, root, scratch);
        let visits = |place: usize| root.branch(place).map_or(0, |branch| branch.visits);
        let most = (0..root.priors.len()).filter(|place| root.is_open(*place)).map(visits).max();
        let won = (0..root.priors.len()).find(|place| root.proof(*place) == Some(Proof::Win));
        let most_visited = || best(scratch, |place| root.is_open(place) && Some(visits(place)) == most);
        won.or_else(most_visited).or_else(|| best(scratch, |place| root.is_allowed(place))).unwrap_or(0)
    }

    /// `g + logit + σ(q)` of all moves.
    fn score(&self, params: &ImprovedPolicyParams, root: NodeView<'_>, out: &mut Vec<f64>) {
        improved_logits(params, root, out);
        for (score, noise) in out.iter_mut().zip(&self.noise) {
            *score += noise;
        }
    }
}

/// A sample of the Gumbel distribution with location 0 and scale 1: −ln(−ln u).
fn standard_gumbel(stream: &mut Stream) -> f64 {
    let uniform: f64 = stream.random();
    -(-uniform.max(f64::MIN_POSITIVE).ln()).ln()
}

/// Sequential halving as the visits that each descent's move must have so far.
///
/// Every phase gives each move still considered the same number of descents, then drops half of them; at least two stay.
/// Because the best of a phase go on, "the best among moves with this many visits" names them without a list.
#[derive(Debug, Clone, Default)]
struct Halving {
    descents: u32,
    phases: u32,
    considered: u32,
    /// Visits of each considered move so far.
    visits: u32,
    /// Moves that got their descent of the present pass.
    place: u32,
    /// Passes left in the phase, the present one included.
    passes: u32,
}

impl Halving {
    fn new(considered: u32, descents: u32) -> Self {
        let considered = considered.max(1);
        let phases = considered.next_power_of_two().ilog2().max(1);
        let mut halving = Self { descents, phases, considered, visits: 0, place: 0, passes: 0 };
        halving.passes = halving.passes_of_phase();
        halving
    }

    fn passes_of_phase(&self) -> u32 {
        (self.descents / (self.phases * self.considered)).max(1)
    }

    fn visits(&self) -> u32 {
        self.visits
    }

    fn advance(&mut self) {
        self.place += 1;
        if self.place < self.considered {
            return;
        }
        (self.place, self.visits) = (0, self.visits + 1);
        self.passes -= 1;
        if self.passes == 0 {
            self.considered = (self.considered / 2).max(2).min(self.considered);
            self.passes = self.passes_of_phase();
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{Branch, Halving, NodeView, improved_policy, scaled_values, standard_gumbel};
    use crate::rng::{Purpose, Seed};
    use crate::search::ImprovedPolicyParams;

    fn schedule(considered: u32, descents: u32) -> Vec<u32> {
        let mut halving = Halving::new(considered, descents);
        let mut next = || {
            let visits = halving.visits();
            halving.advance();
            visits
        };
        (0..descents).map(|_| next()).collect()
    }

    fn oracle(text: &str) -> Vec<Value> {
        let file: Value = serde_json::from_str(text).expect("JSON");
        file["cases"].as_array().expect("cases").clone()
    }

    fn floats(value: &Value) -> Vec<f64> {
        value.as_array().expect("a list").iter().map(|number| number.as_f64().expect("a number")).collect()
    }

    #[test]
    fn halving_gives_the_visits_of_mctx() {
        let cases = oracle(include_str!("../../../tests/data/mctx/gumbel_considered_visits.json"));
        assert!(cases.len() > 50);
        for case in cases {
            let number = |name: &str| case[name].as_u64().expect("a number") as u32;
            let expected: Vec<u32> =
                floats(&case["considered_visits"]).into_iter().map(|visits| visits as u32).collect();
            assert_eq!(schedule(number("max_considered_actions"), number("simulations")), expected, "{case}");
        }
    }

    #[test]
    fn completed_values_and_the_improved_policy_are_those_of_mctx() {
        let cases = oracle(include_str!("../../../tests/data/mctx/gumbel_completed_q.json"));
        assert!(cases.len() > 100);
        for case in cases {
            compare(&case);
        }
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

    #[test]
    fn samples_have_the_distribution_s_mean() {
        let mut stream = Seed { run: 1, step: 1 }.stream(0, Purpose::RootNoise);
        let mean = (0..20_000).map(|_| standard_gumbel(&mut stream)).sum::<f64>() / 20_000.0;
        // Euler's constant; the standard error is π / √6 / √20000 = 0.009.
        assert!((mean - 0.5772).abs() < 0.04, "{mean}");
    }
}
