//! The Gumbel root: planning with few simulations (Danihelka et al. 2022, "Policy improvement by planning with Gumbel").
//!
//! Some moves are drawn without replacement by the Gumbel-top-k trick, sequential halving (Karnin et al. 2013) spends the
//! simulations on them, and what the policy should learn follows from completed values instead of visits.

use rand::RngExt;

use super::{Exploration, ReferenceRule, RootSearch};
use crate::board::Move;
use crate::rng::Stream;
use crate::search::Search;
use crate::search::choice::{ChoiceParams, Visited};
use crate::search::improved::{NodeView, best, improved_logits, improved_policy};
use crate::search::params::{ImprovedPolicyParams, SearchParams};
use crate::search::proof::Proof;
use crate::search::reference::{Reference, considered_visits};
use crate::search::tree::{ROOT, Tree};

/// The rule at one root.
#[derive(Debug, Clone, Default)]
pub(super) struct Gumbel {
    /// One sample for each move, in their order; empty without noise.
    noise: Vec<f64>,
    halving: Halving,
}

impl RootSearch for Gumbel {
    fn title(&self) -> &'static str {
        "sequential halving (Gumbel)"
    }

    fn plans_ahead(&self) -> bool {
        true
    }

    fn conflicts(&self, params: &SearchParams) -> Vec<(&'static str, String)> {
        let puct_only = "counts in PUCT only; leave it out, or set root.rule to \"puct\"";
        let fresh =
            "a gumbel root starts every move with a fresh tree; leave it out, or set root.rule to \"puct\"";
        let whole = "a gumbel root needs its whole budget; leave it out, or set root.rule to \"puct\"";
        let puct_root = "belongs to the puct root; leave it out, or set root.rule to \"puct\"";
        let conflicts = [
            (params.moves_left.is_some(), "moves_left", puct_only),
            (params.reuse_tree, "reuse_tree", fresh),
            (params.stop_when_settled, "stop_when_settled", whole),
            (params.stop_by_gain.is_some(), "stop_by_gain", whole),
            (params.root.forced_playouts > 0.0, "root.forced_playouts", puct_root),
        ];
        let set = conflicts.into_iter().filter(|(is_set, ..)| *is_set);
        set.map(|(_, path, advice)| (path, advice.to_owned())).collect()
    }

    fn begin(&mut self, params: &SearchParams, open: u32, descents: u32) {
        self.noise.clear();
        self.halving = Halving::new(params.root.considered.min(open), descents);
    }

    fn add_noise(&mut self, tree: &mut Tree, exploration: &Exploration<'_>, stream: &mut Stream) {
        self.noise.clear();
        let sample = |_| exploration.gumbel * standard_gumbel(stream);
        self.noise.extend((0..tree.moves(ROOT).len()).map(sample));
    }

    /// Of the moves with as many visits as the schedule asks for, the best.
    fn select(&self, search: &Search, scratch: &mut Vec<f64>) -> usize {
        let root = search.view(ROOT, 0);
        self.score(&search.params.improved_policy, root, scratch);
        let due = self.halving.visits();
        let scheduled = best(scratch, |place| root.is_open(place) && root.started(place) == due);
        scheduled.or_else(|| best(scratch, |place| root.is_open(place))).unwrap_or(0)
    }

    fn advance(&mut self) {
        self.halving.advance();
    }

    fn moved(&mut self, from: usize, to: usize) {
        if !self.noise.is_empty() {
            self.noise[to..=from].rotate_right(1);
        }
    }

    /// A proven win, else the best of the most visited moves; a proven loss only where all are. The noise was drawn before, so the
    /// temperature is without effect.
    fn choose(&self, search: &Search, _: &ChoiceParams, _temperature: f64, _: &mut Stream) -> Move {
        let (root, mut scores) = (search.view(ROOT, 0), Vec::new());
        self.score(&search.params.improved_policy, root, &mut scores);
        let visits = |place: usize| root.branch(place).map_or(0, |branch| branch.visits);
        let most = (0..root.priors.len()).filter(|place| root.is_open(*place)).map(visits).max();
        let won = (0..root.priors.len()).find(|place| root.proof(*place) == Some(Proof::Win));
        let most_visited = || best(&scores, |place| root.is_open(place) && Some(visits(place)) == most);
        let allowed = || best(&scores, |place| root.is_allowed(place));
        let place = won.or_else(most_visited).or_else(allowed).unwrap_or(0);
        root.moves[place]
    }

    fn policy_target(&self, search: &Search, _: &[Visited]) -> Vec<f64> {
        let mut shares = Vec::new();
        improved_policy(&search.params.improved_policy, search.view(ROOT, 0), &mut shares);
        shares
    }

    fn for_reference(&self, params: &SearchParams, open: u32) -> ReferenceRule {
        let descents = params.simulations.saturating_sub(1);
        let due = considered_visits(params.root.considered.min(open), descents);
        Box::new(move |reference, descent| reference.select_gumbel(due[descent]))
    }

    fn brief(&self, moves: &[Move], reference: &mut Reference<'_>) {
        for (played, noise) in moves.iter().zip(&self.noise) {
            reference.set_noise(*played, *noise);
        }
    }

    fn boxed_clone(&self) -> Box<dyn RootSearch> {
        Box::new(self.clone())
    }
}

impl Gumbel {
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

    use super::{Halving, standard_gumbel};
    use crate::rng::{Purpose, Seed};

    fn schedule(considered: u32, descents: u32) -> Vec<u32> {
        let mut halving = Halving::new(considered, descents);
        let mut next = || {
            let visits = halving.visits();
            halving.advance();
            visits
        };
        (0..descents).map(|_| next()).collect()
    }

    #[test]
    fn halving_gives_the_visits_of_mctx() {
        let text = include_str!("../../../../tests/data/mctx/gumbel_considered_visits.json");
        let file: Value = serde_json::from_str(text).expect("JSON");
        let cases = file["cases"].as_array().expect("cases");
        assert!(cases.len() > 50);
        for case in cases {
            let number = |of: &Value| of.as_u64().expect("a number") as u32;
            let expected = case["considered_visits"].as_array().expect("a list");
            let expected: Vec<u32> = expected.iter().map(number).collect();
            let (considered, descents) =
                (number(&case["max_considered_actions"]), number(&case["simulations"]));
            assert_eq!(schedule(considered, descents), expected, "{case}");
        }
    }

    #[test]
    fn samples_have_the_distribution_s_mean() {
        let mut stream = Seed { run: 1, step: 1 }.stream(0, Purpose::RootNoise);
        let mean = (0..20_000).map(|_| standard_gumbel(&mut stream)).sum::<f64>() / 20_000.0;
        // Euler's constant; the standard error is π / √6 / √20000 = 0.009.
        assert!((mean - 0.5772).abs() < 0.04, "{mean}");
    }
}
