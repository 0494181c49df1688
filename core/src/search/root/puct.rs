//! PUCT at the root: Dirichlet noise in the priors, forced playouts, and the move chosen by visits (Silver et al. 2018; Wu 2020).

use super::{Exploration, NoiseKind, ReferenceRule, RootSearch};
use crate::board::Move;
use crate::rng::Stream;
use crate::search::Search;
use crate::search::choice::{ChoiceParams, RootMove, choose_move};
use crate::search::formulas::{exploration, forced_visits, fpu_value, noisy_prior};
use crate::search::params::{ImprovedPolicyParams, RootParams, SearchParams, TreeRule};
use crate::search::proof::Proof;
use crate::search::reference::Reference;
use crate::search::tree::{ROOT, Tree, VisitedEdge};

/// The rule at one root.
#[derive(Debug, Clone, Default)]
pub(super) struct Puct {
    /// Whether forced playouts are on.
    forces: bool,
}

impl RootSearch for Puct {
    fn title(&self) -> &'static str {
        "PUCT"
    }

    fn noise(&self) -> NoiseKind {
        NoiseKind::Dirichlet
    }

    fn draws_moves(&self) -> bool {
        true
    }

    fn conflicts(&self, params: &SearchParams) -> Vec<(&'static str, String)> {
        let considers = params.root.considered != RootParams::default().considered;
        let improves = params.improved_policy != ImprovedPolicyParams::default();
        let gumbel_root = "belongs to the gumbel root; leave it out, or set root.rule to \"gumbel\"";
        let improved = "belongs to the gumbel root and to the improved tree rule; leave it out, or set root.rule to \"gumbel\" or \
            tree_rule to \"improved\"";
        let conflicts = [
            (considers, "root.considered", gumbel_root),
            (improves && params.tree_rule != TreeRule::Improved, "improved_policy", improved),
        ];
        let set = conflicts.into_iter().filter(|(is_set, ..)| *is_set);
        set.map(|(_, path, advice)| (path, advice.to_owned())).collect()
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

    fn target_weights(&self, search: &Search, moves: &[RootMove]) -> Vec<f64> {
        let visits = |moves: &[RootMove]| moves.iter().map(|mv| f64::from(mv.visits)).collect();
        if self.forces { visits(&pruned_visits(search, moves)) } else { visits(moves) }
    }

    fn scores(&self, search: &Search) -> Option<Vec<RootScore>> {
        Some(scores(search))
    }

    fn for_reference(&self, _params: &SearchParams, _open: u32) -> ReferenceRule {
        Box::new(|reference, _| reference.select_puct(0, 0))
    }

    fn configure_reference(&self, _moves: &[Move], reference: &mut Reference<'_>) {
        if self.forces {
            reference.force_playouts();
        }
    }

    fn boxed_clone(&self) -> Box<dyn RootSearch> {
        Box::new(self.clone())
    }
}

/// The first visited move with fewer visits than forced playouts require (Wu 2020, section 3.2).
fn first_forced(search: &Search) -> Option<usize> {
    let (priors, visited) = (search.tree.priors(ROOT), search.tree.visited_edges(ROOT));
    let edge_visits = search.visits() - 1;
    let is_forced = |index: &usize| {
        let edge = &visited[*index];
        let forced = forced_visits(search.params.root.forced_playouts, priors[*index].into(), edge_visits);
        let is_open = search.is_allowed(ROOT, *index) && edge.proof != Some(Proof::Loss);
        is_open && edge.visits > 0 && f64::from(edge.started()) < forced
    };
    (0..visited.len()).find(is_forced)
}

/// Policy target pruning (Wu 2020, section 3.2): removes as many of a move's forced visits as keep its PUCT score below that of
/// the most visited move, and then a single visit that remains.
fn pruned_visits(search: &Search, moves: &[RootMove]) -> Vec<RootMove> {
    let edge_visits = search.visits() - 1;
    let scale = search.exploration_scale(ROOT, search.visits());
    let preference = search.preference(ROOT, 0);
    let utility = |mv: &RootMove| Some(preference.as_ref()?.utility(mv.value?, mv.moves_left?));
    let score = |mv: &RootMove, visits| {
        let value = mv.value? + utility(mv).unwrap_or(0.0);
        Some(value + exploration(scale, mv.prior.into(), visits))
    };
    let most_visited = moves.iter().max_by_key(|mv| mv.visits);
    let limit = most_visited.and_then(|mv| score(mv, mv.visits));
    let prune = |mv: &RootMove| {
        let forced = forced_visits(search.params.root.forced_playouts, mv.prior.into(), edge_visits) as u32;
        let floor = mv.visits.saturating_sub(forced);
        let kept = (floor..mv.visits).find(|visits| score(mv, *visits) < limit).unwrap_or(mv.visits);
        RootMove { visits: if kept == 1 && mv.visits > 1 { 0 } else { kept }, ..*mv }
    };
    let is_most_visited = |mv: &RootMove| most_visited.is_some_and(|most| most.played == mv.played);
    moves.iter().map(|mv| if is_most_visited(mv) { *mv } else { prune(mv) }).collect()
}

/// The PUCT score of a root move for the next descent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RootScore {
    /// The move.
    pub played: Move,
    /// Q in [−1, 1] for the side to move: proven, else the mean, else first-play urgency.
    pub q: f64,
    /// `U = c · P · √N / (1 + n)`.
    pub u: f64,
    /// Moves-left utility; 0 unless the search's `moves_left` is set.
    pub plies: f64,
    /// `Q + U + plies`; the open move with the largest score is next.
    pub score: f64,
    /// Whether the move may be selected: it is allowed and not proven to lose.
    pub is_open: bool,
}

fn scores(search: &Search) -> Vec<RootScore> {
    let parent = search.tree.node(ROOT);
    let scale = search.exploration_scale(ROOT, parent.visits);
    let (priors, visited) = (search.tree.priors(ROOT), search.tree.visited_edges(ROOT));
    let visited_prior = priors[..visited.len()].iter().map(|prior| f64::from(*prior)).sum();
    let unvisited_q = fpu_value(search.fpu_params(ROOT), parent.value(), visited_prior);
    let value = |edge: &VisitedEdge| {
        let proven = edge.proof.map(|proof| proof.value(search.draw_value(0)));
        proven.unwrap_or_else(|| search.edge_value(edge, parent.value()))
    };
    let preference = search.preference(ROOT, 0);
    let utility = |edge| preference.as_ref().map_or(0.0, |preference| search.utility(preference, edge, 0));
    let moves = search.tree.moves(ROOT).iter().zip(priors).enumerate();
    let score = |(index, (mv, prior)): (usize, (&Move, &f32))| {
        let edge = visited.get(index);
        let q = edge.map_or(unvisited_q, value);
        let u = exploration(scale, f64::from(*prior), edge.map_or(0, |edge| edge.visits));
        let plies = edge.map_or(0.0, utility);
        let lost = edge.is_some_and(|edge| edge.proof == Some(Proof::Loss));
        let is_open = !lost && search.is_allowed(ROOT, index);
        RootScore { played: *mv, q, u, plies, score: q + u + plies, is_open }
    };
    moves.map(score).collect()
}
