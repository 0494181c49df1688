//! PUCT at the root: noise in the priors, forced playouts, and visits that decide the move (Silver et al. 2018; Wu 2020).

use super::{Exploration, ReferenceRule, RootSearch};
use crate::board::Move;
use crate::rng::Stream;
use crate::search::Search;
use crate::search::choice::{ChoiceParams, Visited, choose_move, visit_shares};
use crate::search::formulas::{exploration, first_play_value, forced_visits, noisy_prior};
use crate::search::params::SearchParams;
use crate::search::proof::Proof;
use crate::search::reference::Reference;
use crate::search::tree::{Branch, ROOT, Tree};

/// The rule at one root.
#[derive(Debug, Clone, Default)]
pub(super) struct Puct {
    /// Whether tried moves are forced to have visits.
    forces: bool,
}

impl RootSearch for Puct {
    fn title(&self) -> &'static str {
        "PUCT"
    }

    fn add_noise(&mut self, tree: &mut Tree, exploration: &Exploration<'_>, stream: &mut Stream) {
        let Some(noise) = exploration.dirichlet.filter(|_| exploration.is_full) else { return };
        let priors = tree.priors(ROOT);
        let sample = noise.sample(priors.len(), stream);
        let mixed =
            |(prior, noisy): (&f32, &f64)| noisy_prior(f64::from(*prior), *noisy, noise.fraction) as f32;
        let priors: Vec<f32> = priors.iter().zip(&sample).map(mixed).collect();
        tree.set_priors(ROOT, &priors);
    }

    fn force_playouts(&mut self, params: &SearchParams) {
        self.forces = params.root.forced_playouts > 0.0;
    }

    fn select(&self, search: &Search, _scratch: &mut Vec<f64>) -> usize {
        let forced = if self.forces { first_forced(search) } else { None };
        forced.unwrap_or_else(|| search.select_puct_at_root())
    }

    fn choose(&self, search: &Search, params: &ChoiceParams, temperature: f64, stream: &mut Stream) -> Move {
        choose_move(&search.playable(), params, temperature, stream)
    }

    fn policy_target(&self, search: &Search, moves: &[Visited]) -> Vec<f64> {
        if self.forces { visit_shares(&without_forced_visits(search, moves)) } else { visit_shares(moves) }
    }

    fn scores(&self, search: &Search) -> Option<Vec<RootScore>> {
        Some(scores(search))
    }

    fn for_reference(&self, _params: &SearchParams, _open: u32) -> ReferenceRule {
        Box::new(|reference, _| reference.select_puct(0, 0))
    }

    fn brief(&self, _moves: &[Move], reference: &mut Reference<'_>) {
        if self.forces {
            reference.force_playouts();
        }
    }

    fn boxed_clone(&self) -> Box<dyn RootSearch> {
        Box::new(self.clone())
    }
}

/// The first tried move with fewer visits than it must have (Wu 2020, section 3.2).
fn first_forced(search: &Search) -> Option<usize> {
    let (priors, branches) = (search.tree.priors(ROOT), search.tree.branches(ROOT));
    let all = search.visits() - 1;
    let is_forced = |index: &usize| {
        let branch = &branches[*index];
        let forced = forced_visits(search.params.root.forced_playouts, priors[*index].into(), all);
        let is_open = search.is_allowed(ROOT, *index) && branch.proof != Some(Proof::Loss);
        is_open && branch.visits > 0 && f64::from(branch.started()) < forced
    };
    (0..branches.len()).find(is_forced)
}

/// Takes away visits that only forcing can explain (Wu 2020, section 3.2): as many of a move's forced ones as leave its
/// PUCT score below that of the most visited move, and a single one that is left.
fn without_forced_visits(search: &Search, moves: &[Visited]) -> Vec<Visited> {
    let all = search.visits() - 1;
    let scale = search.exploration_scale(ROOT, search.visits());
    let preference = search.preference(ROOT, 0);
    let utility = |of: &Visited| Some(preference.as_ref()?.utility(of.value?, of.moves_left?));
    let score = |of: &Visited, visits| {
        let value = of.value? + utility(of).unwrap_or(0.0);
        Some(value + exploration(scale, of.prior.into(), visits))
    };
    let most = moves.iter().max_by_key(|of| of.visits);
    let bar = most.and_then(|of| score(of, of.visits));
    let pruned = |of: &Visited| {
        let forced = forced_visits(search.params.root.forced_playouts, of.prior.into(), all) as u32;
        let floor = of.visits.saturating_sub(forced);
        let kept = (floor..of.visits).find(|visits| score(of, *visits) < bar).unwrap_or(of.visits);
        Visited { visits: if kept == 1 && of.visits > 1 { 0 } else { kept }, ..*of }
    };
    let is_most = |of: &Visited| most.is_some_and(|most| most.played == of.played);
    moves.iter().map(|of| if is_most(of) { *of } else { pruned(of) }).collect()
}

/// A move of the root as PUCT would see it if the search went on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RootScore {
    /// The move.
    pub played: Move,
    /// Q in [−1, 1] for the side to move: what is proven, else the mean, else the first-play value.
    pub q: f64,
    /// `U = c · P · √N / (1 + n)`.
    pub u: f64,
    /// What plies left count for; 0 unless the search's `moves_left` is set.
    pub plies: f64,
    /// `Q + U + plies`; the largest of the open moves is next.
    pub score: f64,
    /// Whether the move may be taken: it is allowed and not proven to lose.
    pub is_open: bool,
}

fn scores(search: &Search) -> Vec<RootScore> {
    let parent = search.tree.node(ROOT);
    let scale = search.exploration_scale(ROOT, parent.visits);
    let (priors, branches) = (search.tree.priors(ROOT), search.tree.branches(ROOT));
    let tried_prior = priors[..branches.len()].iter().map(|prior| f64::from(*prior)).sum();
    let first_play = first_play_value(search.first_play(ROOT), parent.value(), tried_prior);
    let value = |branch: &Branch| {
        let certain = branch.proof.map(|proof| proof.value(search.draw_value(0)));
        certain.unwrap_or_else(|| search.tried_value(branch, parent.value()))
    };
    let preference = search.preference(ROOT, 0);
    let utility = |branch| preference.as_ref().map_or(0.0, |of| search.utility(of, branch, 0));
    let moves = search.tree.moves(ROOT).iter().zip(priors).enumerate();
    let score = |(index, (played, prior)): (usize, (&Move, &f32))| {
        let branch = branches.get(index);
        let q = branch.map_or(first_play, value);
        let u = exploration(scale, f64::from(*prior), branch.map_or(0, |branch| branch.visits));
        let plies = branch.map_or(0.0, utility);
        let lost = branch.is_some_and(|branch| branch.proof == Some(Proof::Loss));
        let is_open = !lost && search.is_allowed(ROOT, index);
        RootScore { played: *played, q, u, plies, score: q + u + plies, is_open }
    };
    moves.map(score).collect()
}
