//! The Gumbel root: planning with few simulations (Danihelka et al. 2022, "Policy improvement by planning with Gumbel").
//!
//! Moves are drawn without replacement by the Gumbel-top-k trick, sequential halving (Karnin et al. 2013) spends the simulations
//! on them, and the policy target comes from completed Q instead of visits.

use rand::RngExt;

use super::{Exploration, NoiseKind, ReferenceRule, RootSearch};
use crate::board::Move;
use crate::math::ln;
use crate::params::{Advice, advice};
use crate::rng::Stream;
use crate::search::Search;
use crate::search::choice::{ChoiceParams, RootMove};
use crate::search::improved::{NodeView, best, improved_logits, improved_policy};
use crate::search::params::{ImprovedPolicyParams, SearchParams};
use crate::search::proof::Proof;
use crate::search::reference::{Reference, considered_visits};
use crate::search::tree::{ROOT, Tree};

/// The rule at one root.
#[derive(Debug, Clone, Default)]
pub(super) struct Gumbel {
    /// One Gumbel sample for each move, in their order; empty without noise.
    noise: Vec<f64>,
    halving: SequentialHalving,
}

impl RootSearch for Gumbel {
    fn title(&self) -> &'static str {
        "sequential halving (Gumbel)"
    }

    fn plans_ahead(&self) -> bool {
        true
    }

    fn noise(&self) -> NoiseKind {
        NoiseKind::Gumbel
    }

    fn draws_moves(&self) -> bool {
        false
    }

    fn conflicts(&self, params: &SearchParams) -> Advice {
        let puct_only = "applies to PUCT only; leave it out, or set root.rule to \"puct\"";
        let fresh =
            "a gumbel root starts every move with a fresh tree; leave it out, or set root.rule to \"puct\"";
        let whole = "a gumbel root needs its whole budget; leave it out, or set root.rule to \"puct\"";
        let collisions =
            "a gumbel root ends a batch at its first collision; leave it out, or set root.rule to \"puct\"";
        let puct_root = "belongs to the puct root; leave it out, or set root.rule to \"puct\"";
        advice([
            ("moves_left", params.moves_left.is_some(), puct_only),
            ("reuse_tree", params.reuse_tree, fresh),
            ("smart_pruning", params.smart_pruning, whole),
            ("kld_gain", params.kld_gain.is_some(), whole),
            ("max_collisions", params.max_collisions.is_some_and(|most| most > 1), collisions),
            ("root.forced_playouts", params.root.forced_playouts > 0.0, puct_root),
            ("root.c_puct", params.root.c_puct.is_some(), puct_root),
            ("root.fpu", params.root.fpu.is_some(), puct_root),
        ])
    }

    fn begin(&mut self, params: &SearchParams, open: u32, descents: u32) {
        self.noise.clear();
        self.halving = SequentialHalving::new(params.root.considered.min(open), descents);
    }

    fn add_noise(&mut self, tree: &mut Tree, exploration: &Exploration<'_>, stream: &mut Stream) {
        self.noise.clear();
        let sample = |_| exploration.gumbel * standard_gumbel(stream);
        self.noise.extend((0..tree.moves(ROOT).len()).map(sample));
    }

    /// The best of the moves with as many visits as the schedule requires.
    fn select(&self, search: &Search, scratch: &mut Vec<f64>) -> usize {
        let root = search.view(ROOT, 0);
        self.score(&search.params.improved_policy, root, scratch);
        let due = self.halving.visits();
        let scheduled = best(scratch, |index| root.is_open(index) && root.started(index) == due);
        scheduled.or_else(|| best(scratch, |index| root.is_open(index))).unwrap_or(0)
    }

    fn advance(&mut self) {
        self.halving.advance();
    }

    fn moved(&mut self, from: usize, to: usize) {
        if !self.noise.is_empty() {
            self.noise[to..=from].rotate_right(1);
        }
    }

    /// A proven win, else the best of the most visited moves; a proven loss only if all are. The noise was drawn before the search,
    /// so the temperature has no effect.
    fn choose(&self, search: &Search, _: &ChoiceParams, _temperature: f64, _: &mut Stream) -> Move {
        let (root, mut scores) = (search.view(ROOT, 0), Vec::new());
        self.score(&search.params.improved_policy, root, &mut scores);
        let visits = |index: usize| root.edge(index).map_or(0, |edge| edge.visits);
        let most = (0..root.priors.len()).filter(|index| root.is_open(*index)).map(visits).max();
        let won = (0..root.priors.len()).find(|index| root.proof(*index) == Some(Proof::Win));
        let most_visited = || best(&scores, |index| root.is_open(index) && Some(visits(index)) == most);
        let allowed = || best(&scores, |index| root.is_allowed(index));
        let index = won.or_else(most_visited).or_else(allowed).unwrap_or(0);
        root.moves[index]
    }

    /// The improved policy. Among proven wins, whose values are equal, it leaves the policy's own proportions.
    fn target_weights(&self, search: &Search, _: &[RootMove]) -> Vec<f64> {
        let mut weights = Vec::new();
        improved_policy(&search.params.improved_policy, search.view(ROOT, 0), &mut weights);
        weights
    }

    fn for_reference(&self, params: &SearchParams, open: u32) -> ReferenceRule {
        let descents = params.simulations.saturating_sub(1);
        let due = considered_visits(params.root.considered.min(open), descents);
        Box::new(move |reference, descent| reference.select_gumbel(due[descent]))
    }

    fn configure_reference(&self, moves: &[Move], reference: &mut Reference<'_>) {
        for (mv, noise) in moves.iter().zip(&self.noise) {
            reference.set_noise(*mv, *noise);
        }
    }

    fn boxed_clone(&self) -> Box<dyn RootSearch> {
        Box::new(self.clone())
    }
}

impl Gumbel {
    /// Writes `g + logit + σ(completed Q)` of all moves to `out`.
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
    -ln(-ln(uniform.max(f64::MIN_POSITIVE)))
}

/// Sequential halving as the number of visits that the move of each descent must already have.
///
/// Every phase gives each move still considered the same number of descents, then drops half of the moves; at least two stay.
/// As the best of a phase survive, "the best among moves with this many visits" identifies them without a list.
#[derive(Debug, Clone, Default)]
struct SequentialHalving {
    descents: u32,
    phases: u32,
    considered: u32,
    /// Visits of each considered move so far.
    visits: u32,
    /// Moves that had their descent in the current pass.
    done: u32,
    /// Passes left in the phase, the current one included.
    passes: u32,
}

impl SequentialHalving {
    fn new(considered: u32, descents: u32) -> Self {
        let considered = considered.max(1);
        let phases = considered.next_power_of_two().ilog2().max(1);
        let mut halving = Self { descents, phases, considered, visits: 0, done: 0, passes: 0 };
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
        self.done += 1;
        if self.done < self.considered {
            return;
        }
        (self.done, self.visits) = (0, self.visits + 1);
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

    use super::{SequentialHalving, standard_gumbel};
    use crate::rng::{Purpose, Seed};

    fn schedule(considered: u32, descents: u32) -> Vec<u32> {
        let mut halving = SequentialHalving::new(considered, descents);
        let mut next = || {
            let visits = halving.visits();
            halving.advance();
            visits
        };
        (0..descents).map(|_| next()).collect()
    }

    #[test]
    fn sequential_halving_matches_mctx() {
        let text = include_str!("../../../../tests/data/mctx/gumbel_considered_visits.json");
        let file: Value = serde_json::from_str(text).expect("JSON");
        let cases = file["cases"].as_array().expect("cases");
        assert!(cases.len() > 50);
        for case in cases {
            let number = |value: &Value| value.as_u64().expect("a number") as u32;
            let expected = case["considered_visits"].as_array().expect("a list");
            let expected: Vec<u32> = expected.iter().map(number).collect();
            let (considered, descents) =
                (number(&case["max_considered_actions"]), number(&case["simulations"]));
            assert_eq!(schedule(considered, descents), expected, "{case}");
        }
    }

    #[test]
    fn gumbel_samples_have_the_right_mean() {
        let mut stream = Seed { run: 1, step: 1 }.stream(0, Purpose::RootNoise);
        let mean = (0..20_000).map(|_| standard_gumbel(&mut stream)).sum::<f64>() / 20_000.0;
        // Euler's constant; the standard error is π / √6 / √20000 = 0.009.
        assert!((mean - 0.5772).abs() < 0.04, "{mean}");
    }
}
