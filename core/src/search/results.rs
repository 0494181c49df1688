//! The results of a search at its root.

use super::Search;
use super::choice::{ChoiceParams, RootMove, Target, rank};
use super::proof::Proof;
use super::root::RootScore;
use super::tree::{ROOT, TreeMemory, VisitedEdge};
use crate::board::Move;
use crate::network::PositionValue;
use crate::rng::Stream;

impl Search {
    /// The position's result for the side to move, if the solver proved it.
    pub fn proof(&self) -> Option<Proof> {
        self.tree.nodes.first().and_then(|root| root.proof)
    }

    /// The move to play. A `puct` root draws it by `visits^(1/temperature)`; a `gumbel` root, whose noise was drawn before the
    /// search, takes the best of its most visited moves at any temperature.
    pub fn choose(&self, params: &ChoiceParams, temperature: f64, stream: &mut Stream) -> Move {
        self.root.rule.choose(self, params, temperature, stream)
    }

    /// The policy target of the root: shares of all its moves that sum to 1.
    ///
    /// The rule of the root weighs the moves; only those that may be played have a share. So nothing that is not allowed is
    /// taught, nothing but proven wins where there is one, and no proven loss where something else is left. Where the rule
    /// gives these moves no weight, they share by their priors before noise.
    pub fn policy_target(&self) -> Vec<Target> {
        let moves: Vec<RootMove> = self.root_moves().map(|mv| self.without_closed_visits(mv)).collect();
        let mut weights = self.root.rule.target_weights(self, &moves);
        let best = moves.iter().filter(|mv| self.root.allows(mv.played)).map(rank).max().unwrap_or(0);
        let is_candidate = |mv: &RootMove| self.root.allows(mv.played) && rank(mv) == best;
        if !moves.iter().zip(&weights).any(|(mv, weight)| is_candidate(mv) && *weight > 0.0) {
            let prior = |mv: &RootMove| f64::from(self.prior_of(mv.played).max(f32::MIN_POSITIVE));
            weights = moves.iter().map(prior).collect();
        }
        for (mv, weight) in moves.iter().zip(&mut weights) {
            *weight *= f64::from(u8::from(is_candidate(mv)));
        }
        let total: f64 = weights.iter().sum();
        let target = |(mv, weight): (&RootMove, f64)| Target {
            played: mv.played,
            visits: mv.visits,
            share: weight / total,
        };
        moves.iter().zip(weights).map(target).collect()
    }

    /// The root's moves with their priors before exploration noise; none before its evaluation.
    pub fn priors(&self) -> &[(Move, f32)] {
        &self.root.priors
    }

    /// The prior of a move of the root before exploration noise.
    fn prior_of(&self, played: Move) -> f32 {
        self.root.priors.iter().find(|(mv, _)| *mv == played).map_or(0.0, |(_, prior)| *prior)
    }

    /// A move of the root; one that is not allowed has no visits, which tree reuse may have brought.
    fn without_closed_visits(&self, mv: RootMove) -> RootMove {
        if self.root.allows(mv.played) { mv } else { RootMove { visits: 0, ..mv } }
    }

    /// The PUCT scores of the root's moves in the order of [`root_moves`](Self::root_moves); after its evaluation, with no leaf in
    /// flight. `None` for a root with another rule.
    pub fn root_scores(&self) -> Option<Vec<RootScore>> {
        self.root.rule.scores(self)
    }

    /// The root's value: proven, else the mean of all simulations; after at least one.
    pub fn root_value(&self) -> PositionValue {
        let root = self.tree.node(ROOT);
        if let Some(proof) = root.proof {
            return PositionValue { value: proof.value(0.0), draw: proof.wdl().draw.into() };
        }
        let draw = root.draw_sum / f64::from(root.visits);
        PositionValue { value: root.value() - draw * self.draw_value(0), draw }
    }

    /// The root's value with the draw score: proven, else the mean of all simulations; after at least one.
    pub(super) fn root_score(&self) -> f64 {
        self.tree.node(ROOT).proven_or_mean(self.draw_value(0))
    }

    /// The net's own value of the root.
    ///
    /// # Panics
    /// If the root is not evaluated yet.
    pub fn net_value(&self) -> PositionValue {
        self.root.evaluation.expect("the root was evaluated").into()
    }

    /// The net's own value of the root with the draw score.
    pub(super) fn root_own_value(&self) -> f64 {
        let PositionValue { value, draw } = self.net_value();
        value + draw * self.draw_value(0)
    }

    /// Moves left at the root, in plies: proven, else the mean of all simulations. `None` before the first, and in searches without
    /// `moves_left`.
    pub fn moves_left(&self) -> Option<f64> {
        if self.visits() > 0 { self.tree.moves_left(ROOT) } else { None }
    }

    /// The memory that the tree uses now.
    pub fn memory(&self) -> TreeMemory {
        self.tree.memory()
    }

    /// Every legal move of the root with its statistics, the visited ones first.
    pub fn root_moves(&self) -> impl Iterator<Item = RootMove> {
        (0..self.root_move_count()).map(|index| self.root_move(index))
    }

    /// The two moves of the root with the most visits, of equal ones the first, among those that may be played: moves that are closed or
    /// proven to lose are no rivals.
    pub fn leaders(&self) -> (Option<RootMove>, Option<RootMove>) {
        let visited = if self.tree.nodes.is_empty() { &[][..] } else { self.tree.visited_edges(ROOT) };
        let visits = |index: usize| visited.get(index).map_or(0, |edge| edge.visits);
        let is_lost = |index: usize| visited.get(index).is_some_and(|edge| edge.proof == Some(Proof::Loss));
        let moves = if visited.is_empty() { &[][..] } else { self.tree.moves(ROOT) };
        let (mut most, mut second) = (None, None);
        for index in 0..self.root_move_count() {
            if is_lost(index) || moves.get(index).is_some_and(|mv| !self.root.allows(*mv)) {
                continue;
            }
            if most.is_none_or(|most| visits(index) > visits(most)) {
                (most, second) = (Some(index), most);
            } else if second.is_none_or(|second| visits(index) > visits(second)) {
                second = Some(index);
            }
        }
        (most.map(|index| self.root_move(index)), second.map(|index| self.root_move(index)))
    }

    fn root_move_count(&self) -> usize {
        self.tree.nodes.first().map_or(0, |root| root.edge_count.into())
    }

    fn root_move(&self, index: usize) -> RootMove {
        let edge = self.tree.visited_edges(ROOT).get(index);
        let proof = edge.and_then(|edge| edge.proof);
        RootMove {
            played: self.tree.moves(ROOT)[index],
            visits: edge.map_or(0, |edge| edge.visits),
            prior: self.tree.priors(ROOT)[index],
            value: edge.and_then(|edge| edge.proven_or_mean(self.draw_value(0))),
            standard_error: edge.filter(|_| proof.is_none()).map_or(0.0, VisitedEdge::standard_error),
            proof,
            moves_left: edge.and_then(|edge| self.tree.moves_left(edge.child)),
        }
    }
}
