//! PUCT at the root: Dirichlet noise in the priors, forced playouts, and the move chosen by visits (Silver et al. 2018; Wu 2020).

use super::{Exploration, NoiseKind, ReferenceRule, RootSearch};
use crate::board::Move;
use crate::params::{Advice, advice};
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

    fn conflicts(&self, params: &SearchParams) -> Advice {
        let considers = params.root.considered != RootParams::default().considered;
        let improves = params.improved_policy != ImprovedPolicyParams::default();
        let gumbel_root = "belongs to the gumbel root; leave it out, or set root.rule to \"gumbel\"";
        let improved = "belongs to the gumbel root and to the improved tree rule; leave it out, or set root.rule to \"gumbel\" or \
            tree_rule to \"improved\"";
        advice([
            ("root.considered", considers, gumbel_root),
            ("improved_policy", improves && params.tree_rule != TreeRule::Improved, improved),
        ])
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
/// the most visited move that is not proven to lose, and then a single visit that remains.
fn pruned_visits(search: &Search, moves: &[RootMove]) -> Vec<RootMove> {
    let edge_visits = search.visits() - 1;
    let scale = search.exploration_scale(ROOT, search.visits());
    let preference = search.preference(ROOT, 0);
    let utility = |mv: &RootMove| Some(preference.as_ref()?.utility(mv.value?, mv.moves_left?));
    let score = |mv: &RootMove, visits| {
        let value = mv.value? + utility(mv).unwrap_or(0.0);
        Some(value + exploration(scale, mv.prior.into(), visits))
    };
    let may_be_played = |mv: &&RootMove| mv.proof != Some(Proof::Loss);
    // As where a move is chosen: the larger prior among equals, then the first.
    let more = |a: &RootMove, b: &RootMove| (b.visits, b.prior) > (a.visits, a.prior);
    let most_visited = moves.iter().filter(may_be_played).reduce(|a, b| if more(a, b) { b } else { a });
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

#[cfg(test)]
mod tests {
    use super::pruned_visits;
    use crate::board::{Game, Move, Rules};
    use crate::encoding::{Encoding, EncodingName, Orientation};
    use crate::network::fake::Uniform;
    use crate::search::Search;
    use crate::search::choice::RootMove;
    use crate::search::params::{RootParams, SearchParams};
    use crate::search::proof::Proof;

    fn root_move(uci: &str, visits: u32, prior: f32, value: f64) -> RootMove {
        let (standard_error, proof, moves_left) = (0.0, None, None);
        let played = Move::from_uci(uci).expect("a move");
        RootMove { played, visits, prior, value: Some(value), standard_error, proof, moves_left }
    }

    /// The visits that pruning leaves at a root with 101 visits, `c_puct` 1 and `forced_playouts` 2, so that U is
    /// √101 · P / (1 + n) and √(200 · P) visits of a move are forced.
    fn pruned(moves: &[RootMove]) -> Vec<u32> {
        let root = RootParams { forced_playouts: 2.0, ..RootParams::default() };
        let params = SearchParams { simulations: 101, c_puct: 1.0, root, ..SearchParams::default() };
        let mut search = Search::with_tablebases(Game::initial(), Rules { max_plies: 512 }, params, None);
        let mut evaluator = Uniform::new(Encoding::new(EncodingName::Dc0, Orientation::SideToMove));
        search.run(&mut evaluator).expect("fakes do not fail");
        assert_eq!(search.visits(), 101);
        pruned_visits(&search, moves).iter().map(|mv| mv.visits).collect()
    }

    #[test]
    fn forced_visits_are_pruned_down_to_the_score_of_the_most_visited_move() {
        // The limit is the first one's 0.5 + √101 · 0.5 / 61 = 0.5824.
        let best = root_move("e2e4", 60, 0.5, 0.5);
        // 0.2 + √101 · 0.2 / (1 + n) falls below it for n ≥ 5 (0.535, and 0.602 for 4); 6 visits are forced, so 5 stay of 8.
        let some = root_move("d2d4", 8, 0.2, 0.2);
        // −0.5 + √101 · 0.1 / (1 + n) is below it for any n; 4 visits are forced, so 1 of 5 stays, and a single one goes.
        let bad = root_move("a2a3", 5, 0.1, -0.5);
        // Of 20 visits only the 6 forced ones may go.
        let many = root_move("c2c4", 20, 0.2, -0.9);
        // √(200 · 0.01) is one visit, and its score without that is too high: 0.49 + √101 · 0.01 = 0.59.
        let good = root_move("g1f3", 1, 0.01, 0.49);
        let moves = [best, some, bad, many, good];
        assert_eq!(pruned(&moves), [60, 5, 0, 14, 1]);
    }

    #[test]
    fn a_move_that_is_proven_to_lose_is_not_the_limit_of_pruning() {
        let lost = RootMove { proof: Some(Proof::Loss), ..root_move("h2h4", 90, 0.2, -1.0) };
        let [best, bad] = [root_move("e2e4", 60, 0.5, 0.5), root_move("a2a3", 5, 0.1, -0.5)];
        assert_eq!(pruned(&[lost, best, bad])[1..], [60, 0]);
    }

    #[test]
    fn the_move_that_is_chosen_of_equally_visited_ones_is_the_limit_of_pruning() {
        // U is √101 · 0.2 / 31 = 0.065 for the second and √101 · 0.1 / (1 + n) for the others, of whose visits 4 are forced.
        let equal = ["e2e4", "d2d4", "g1f3"].map(|uci| root_move(uci, 30, 0.1, 0.5));
        let likely = RootMove { prior: 0.2, ..equal[1] };
        assert_eq!(pruned(&[equal[0], likely, equal[2]]), [26, 30, 26]);
        let worse = |mv: RootMove| RootMove { value: Some(0.4), ..mv };
        assert_eq!(pruned(&[worse(equal[0]), likely, worse(equal[2])]), [26, 30, 26]);
        assert_eq!(pruned(&[equal[0], worse(equal[1]), worse(equal[2])]), [30, 26, 26]);
    }
}
