//! The root: its noise, its rule, and what a search says when it is done.

use super::Search;
use super::choice::{ChoiceParams, Target, Visited, choose_move, visit_shares};
use super::formulas::{exploration, forced_visits, noisy_prior};
use super::gumbel::improved_policy;
use super::noise::RootNoise;
use super::params::RootRule;
use super::proof::Proof;
use super::tree::{Branch, ROOT, State, TreeMemory};
use crate::board::Move;
use crate::network::Wdl;
use crate::rng::Stream;

impl Search {
    /// Readies a root that was just evaluated for this move's descents.
    pub(super) fn enter_root(&mut self, evaluation: Wdl) {
        self.root_evaluation = Some(evaluation);
        self.tree.sort_untried(ROOT);
        self.restrict_root_by_tables();
        let moves = self.tree.moves(ROOT);
        let open = if self.allowed.is_empty() { moves.len() } else { self.allowed.len() };
        let considered = self.params.root.considered.min(open as u32);
        self.gumbel.start(considered, self.budget.saturating_sub(1));
        if !self.params.mate_in_one || self.proof().is_some() {
            return;
        }
        let mate = self.game.position().mate_in_one(moves);
        if let Some(place) = moves.iter().position(|played| Some(*played) == mate) {
            let place = self.tree.try_move(ROOT, place);
            let child = self.tree.add_node(State::Certain, Some(Proof::Loss), 0);
            self.tree.branch_mut(ROOT, place).child = child;
            self.tree.prove(ROOT, place, Proof::Win);
            if let Some(plies) = &mut self.tree.plies {
                plies.tell(child, 0.0);
            }
            self.tree.settle_moves_left(ROOT);
        }
    }

    /// Forces visits of the root's tried moves in this move's search, as far as `forced_playouts` says.
    pub fn force_playouts(&mut self) {
        self.forcing = self.params.root.forced_playouts > 0.0 && self.params.root.rule == RootRule::Puct;
    }

    /// Draws Gumbel noise of a scale for the root's moves; after the root's evaluation, before any descent.
    pub fn add_gumbel_noise(&mut self, scale: f64, stream: &mut Stream) {
        debug_assert!(self.root_evaluation.is_some(), "the root was evaluated");
        self.gumbel.draw(self.tree.moves(ROOT).len(), scale, stream);
    }

    /// Mixes Dirichlet noise into the root's priors; after the root's evaluation, before this move's descents.
    pub fn add_noise(&mut self, noise: &RootNoise, stream: &mut Stream) {
        debug_assert!(self.root_evaluation.is_some(), "the root was evaluated");
        let priors = self.tree.priors(ROOT);
        let sample = noise.sample(priors.len(), stream);
        let mixed =
            |(prior, noisy): (&f32, &f64)| noisy_prior(f64::from(*prior), *noisy, noise.fraction) as f32;
        let priors: Vec<f32> = priors.iter().zip(&sample).map(mixed).collect();
        self.tree.set_priors(ROOT, &priors);
    }

    /// The position's result for the side to move, if the solver proved it.
    pub fn proof(&self) -> Option<Proof> {
        self.tree.nodes.first().and_then(|root| root.proof)
    }

    /// The move to play. The `puct` root draws it by `visits^(1/temperature)`; the `gumbel` root has drawn its noise
    /// before and takes the best of its most visited moves whatever the temperature.
    pub fn choose(&self, params: &ChoiceParams, temperature: f64, stream: &mut Stream) -> Move {
        match self.params.root.rule {
            RootRule::Puct => choose_move(&self.playable(), params, temperature, stream),
            RootRule::Gumbel => self.gumbel_choice(),
        }
    }

    /// The move that a `gumbel` root plays.
    pub(super) fn gumbel_choice(&self) -> Move {
        let (root, mut scores) = (self.view(ROOT, 0), Vec::new());
        let place = self.gumbel.choose(&self.params.improved_policy, root, &mut scores);
        self.tree.moves(ROOT)[place]
    }

    /// What the policy should learn of the root: shares of all its moves that sum to 1.
    pub fn policy_target(&self) -> Vec<Target> {
        let may_be_played = |seen: &Visited| self.allowed.is_empty() || self.allowed.contains(&seen.played);
        let counted = |seen: Visited| if may_be_played(&seen) { seen } else { Visited { visits: 0, ..seen } };
        let moves: Vec<Visited> = self.root_moves().map(counted).collect();
        let shares = match self.params.root.rule {
            RootRule::Puct if self.forcing => visit_shares(&self.without_forced_visits(&moves)),
            RootRule::Puct => visit_shares(&moves),
            RootRule::Gumbel => {
                let mut shares = Vec::new();
                improved_policy(&self.params.improved_policy, self.view(ROOT, 0), &mut shares);
                shares
            }
        };
        let target =
            |(seen, share): (&Visited, f64)| Target { played: seen.played, visits: seen.visits, share };
        moves.iter().zip(shares).map(target).collect()
    }

    /// Takes away visits that only forcing can explain (Wu 2020, section 3.2): as many of a move's forced ones as leave its
    /// PUCT score below that of the most visited move, and a single one that is left.
    fn without_forced_visits(&self, moves: &[Visited]) -> Vec<Visited> {
        let all = self.visits() - 1;
        let scale = self.exploration_scale(ROOT, self.visits());
        let preference = self.preference(ROOT, 0);
        let utility = |of: &Visited| Some(preference.as_ref()?.utility(of.value?, of.moves_left?));
        let score = |of: &Visited, visits| {
            let value = of.value? + utility(of).unwrap_or(0.0);
            Some(value + exploration(scale, of.prior.into(), visits))
        };
        let most = moves.iter().max_by_key(|of| of.visits);
        let bar = most.and_then(|of| score(of, of.visits));
        let pruned = |of: &Visited| {
            let forced = forced_visits(self.params.root.forced_playouts, of.prior.into(), all) as u32;
            let floor = of.visits.saturating_sub(forced);
            let kept = (floor..of.visits).find(|visits| score(of, *visits) < bar).unwrap_or(of.visits);
            Visited { visits: if kept == 1 && of.visits > 1 { 0 } else { kept }, ..*of }
        };
        let is_most = |of: &Visited| most.is_some_and(|most| most.played == of.played);
        moves.iter().map(|of| if is_most(of) { *of } else { pruned(of) }).collect()
    }

    /// The root's value in [−1, 1] for the side to move as P(win) − P(loss), and its P(draw): what is proven, else the mean
    /// of all simulations; after at least one.
    pub fn root_value(&self) -> (f64, f64) {
        let root = self.tree.node(ROOT);
        if let Some(proof) = root.proof {
            return (proof.value(0.0), f64::from(proof.wdl().draw));
        }
        let draw = root.draw_sum / f64::from(root.visits);
        (root.value() - draw * self.draw_value(0), draw)
    }

    /// The net's own value of the root in [−1, 1] for the side to move, and its P(draw).
    ///
    /// # Panics
    /// Before the root's evaluation.
    pub fn net_value(&self) -> (f64, f64) {
        let wdl = self.root_evaluation.expect("the root was evaluated");
        (f64::from(wdl.value()), f64::from(wdl.draw))
    }

    /// The same with a draw at its worth to the side to move.
    pub(super) fn root_own_value(&self) -> f64 {
        let (value, draw) = self.net_value();
        value + draw * self.draw_value(0)
    }

    /// What the tree takes of memory now.
    pub fn memory(&self) -> TreeMemory {
        self.tree.memory()
    }

    /// Every legal move of the root with its statistics, the tried ones first.
    pub fn root_moves(&self) -> impl Iterator<Item = Visited> {
        let moves = self.tree.moves(ROOT).iter().zip(self.tree.priors(ROOT));
        moves.enumerate().map(|(place, (played, prior))| {
            let branch = self.tree.branches(ROOT).get(place);
            let proof = branch.and_then(|branch| branch.proof);
            let certain = proof.map(|proof| proof.value(self.draw_value(0)));
            Visited {
                played: *played,
                visits: branch.map_or(0, |branch| branch.visits),
                prior: *prior,
                value: certain.or_else(|| branch.and_then(Branch::mean)),
                standard_error: branch.filter(|_| proof.is_none()).map_or(0.0, Branch::standard_error),
                proof,
                moves_left: branch.and_then(|branch| self.tree.moves_left(branch.child)),
            }
        })
    }
}
