//! The Gumbel root: planning with few simulations (Danihelka et al. 2022, "Policy improvement by planning with Gumbel").
//!
//! Some moves are drawn without replacement by the Gumbel-top-k trick, sequential halving (Karnin et al. 2013) spends the
//! simulations on them, and what the policy should learn follows from completed values instead of visits.

use rand::RngExt;

use super::params::RootParams;
use super::proof::Proof;
use super::tree::Edge;
use crate::rng::Stream;

/// What the rule keeps of one root.
#[derive(Debug, Clone, Default)]
pub(super) struct GumbelRoot {
    /// One sample for each edge, in their order; empty without noise.
    noise: Vec<f64>,
    halving: Halving,
}

impl GumbelRoot {
    /// For a root with `moves` legal moves and a budget of `descents` below it, without noise.
    pub(super) fn new(params: &RootParams, moves: usize, descents: u32) -> Self {
        Self { noise: Vec::new(), halving: Halving::new(params.considered.min(moves as u32), descents) }
    }

    /// Draws noise of a scale for every move.
    pub(super) fn draw(&mut self, moves: usize, scale: f64, stream: &mut Stream) {
        self.noise = (0..moves).map(|_| scale * standard_gumbel(stream)).collect();
    }

    /// Goes on to the next descent.
    pub(super) fn advance(&mut self) {
        self.halving.advance();
    }

    /// The edge that the next descent takes: of those with as many visits as the schedule asks for, the best.
    pub(super) fn select(&self, params: &RootParams, root: &RootView<'_>) -> usize {
        let due = self.halving.visits();
        self.best(params, root, |visits| visits == due)
            .or_else(|| self.best(params, root, |_| true))
            .unwrap_or(0)
    }

    /// The edge to play: of the most visited ones, the best.
    pub(super) fn choose(&self, params: &RootParams, root: &RootView<'_>) -> usize {
        let candidates = root.edges.iter().filter(|edge| edge.proof() != Some(Proof::Loss));
        let most = candidates.map(visits).max().unwrap_or(0);
        self.best(params, root, |visits| visits == most).unwrap_or(0)
    }

    /// argmax of `g + logit + σ(q)` over moves with fitting visits; proven losses are left out, a proven win is taken.
    fn best(&self, params: &RootParams, root: &RootView<'_>, fits: impl Fn(u32) -> bool) -> Option<usize> {
        let won = root.edges.iter().position(|edge| edge.proof() == Some(Proof::Win));
        let scores = improved_logits(params, root);
        let noise = |at: usize| self.noise.get(at).copied().unwrap_or(0.0);
        let candidates = (0..root.edges.len())
            .filter(|at| root.edges[*at].proof() != Some(Proof::Loss) && fits(visits(&root.edges[*at])));
        won.or_else(|| {
            candidates.max_by(|a, b| (scores[*a] + noise(*a)).total_cmp(&(scores[*b] + noise(*b))))
        })
    }
}

/// A root as the rule sees it.
pub(super) struct RootView<'a> {
    pub(super) edges: &'a [Edge],
    /// The net's own value of the root, in [−1, 1].
    pub(super) net_value: f64,
}

/// Visits of an edge, descents in flight included.
fn visits(edge: &Edge) -> u32 {
    edge.visits + u32::from(edge.in_flight)
}

/// The improved policy `softmax(logits + σ(completed q))` over the edges (section 4); sums to 1.
pub(super) fn improved_policy(params: &RootParams, root: &RootView<'_>) -> Vec<f64> {
    softmax(&improved_logits(params, root))
}

fn improved_logits(params: &RootParams, root: &RootView<'_>) -> Vec<f64> {
    let unvisited = mixed_value(root);
    let most = root.edges.iter().map(|edge| edge.visits).max().unwrap_or(0);
    let value = |edge: &Edge| edge_value(edge).unwrap_or(unvisited);
    root.edges.iter().map(|edge| logit(edge.prior) + sigma(params, most, value(edge))).collect()
}

/// The value of an edge that is proven or visited, in [−1, 1].
fn edge_value(edge: &Edge) -> Option<f64> {
    let mean = || (edge.visits > 0).then(|| edge.value_sum / f64::from(edge.visits));
    edge.proof().map(Proof::value).or_else(mean)
}

fn logit(prior: f32) -> f64 {
    f64::from(prior.max(f32::MIN_POSITIVE)).ln()
}

/// `σ(q) = (c_visit + max N) · c_scale · q` with q in [0, 1] (equation 8).
fn sigma(params: &RootParams, most_visits: u32, value: f64) -> f64 {
    (params.c_visit + f64::from(most_visits)) * params.c_scale * f64::midpoint(value, 1.0)
}

/// The value that completes unvisited moves: the net's own, mixed with the visited moves' by their priors (appendix D).
fn mixed_value(root: &RootView<'_>) -> f64 {
    let visited = root.edges.iter().filter(|edge| edge.visits > 0);
    let (mut prior, mut weighted, mut total) = (0.0, 0.0, 0.0);
    for edge in visited {
        prior += f64::from(edge.prior);
        weighted += f64::from(edge.prior) * edge_value(edge).unwrap_or(0.0);
        total += f64::from(edge.visits);
    }
    if prior > 0.0 { (root.net_value + total * weighted / prior) / (1.0 + total) } else { root.net_value }
}

fn softmax(logits: &[f64]) -> Vec<f64> {
    let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logits.iter().map(|logit| (logit - largest).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / total).collect()
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
    use super::{Halving, sigma, softmax, standard_gumbel};
    use crate::rng::{Purpose, Seed};
    use crate::search::{RootParams, RootRule};

    fn schedule(considered: u32, descents: u32) -> Vec<u32> {
        let mut halving = Halving::new(considered, descents);
        (0..descents)
            .map(|_| {
                let visits = halving.visits();
                halving.advance();
                visits
            })
            .collect()
    }

    #[test]
    fn halving_follows_the_published_schedule() {
        // 16 descents over 4 moves: 2 for each of 4, then 4 for each of 2 (the paper's figure 1).
        assert_eq!(schedule(4, 16), [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
        assert_eq!(schedule(1, 3), [0, 1, 2]);
        assert_eq!(schedule(16, 5), [0; 5]);
        assert_eq!(schedule(3, 7), [0, 0, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn worked_examples() {
        let params =
            RootParams { rule: RootRule::Gumbel, c_visit: 50.0, c_scale: 1.0, ..RootParams::default() };
        // (50 + 4) · 1 · (0.5 + 1) / 2
        assert!((sigma(&params, 4, 0.5) - 40.5).abs() < 1e-12);
        let even = softmax(&[1e3, 1e3]);
        assert_eq!(even, [0.5, 0.5]);
    }

    #[test]
    fn samples_have_the_distribution_s_mean() {
        let mut stream = Seed { run: 1, step: 1 }.stream(0, Purpose::RootNoise);
        let mean = (0..20_000).map(|_| standard_gumbel(&mut stream)).sum::<f64>() / 20_000.0;
        // Euler's constant; the standard error is π / √6 / √20000 = 0.009.
        assert!((mean - 0.5772).abs() < 0.04, "{mean}");
    }
}
