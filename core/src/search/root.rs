//! The root: its noise, its rule, and what a search says when it is done.

use super::Search;
use super::choice::{Target, Visited, choose_move, visit_shares};
use super::formulas::noisy_prior;
use super::gumbel::{GumbelRoot, RootView, improved_policy};
use super::noise::RootNoise;
use super::params::RootRule;
use super::proof::Proof;
use super::tree::{Edge, EdgeId, ROOT};
use crate::board::Move;
use crate::network::Wdl;
use crate::rng::Stream;

impl Search {
    /// Notes the root's evaluation, after its expansion, and a mate on the board.
    pub(super) fn enter_root(&mut self, evaluation: Wdl) {
        let legal: Vec<Move> = self.tree.edges_of(ROOT).iter().map(|edge| edge.played).collect();
        self.root_evaluation = Some(evaluation);
        self.gumbel = GumbelRoot::new(&self.params.root, legal.len(), self.params.simulations - 1);
        let mate = self.params.mate_in_one.then(|| self.game.position().mate_in_one(&legal)).flatten();
        if let Some(at) = legal.iter().position(|played| Some(*played) == mate) {
            let edge = self.tree.nodes[ROOT as usize].first_edge + at as EdgeId;
            self.tree.prove_edge(ROOT, edge, Proof::Win);
        }
    }

    /// The edge of the root that the next descent takes by the `gumbel` rule.
    pub(super) fn select_at_root(&self) -> EdgeId {
        let at = self.gumbel.select(&self.params.root, &self.root_view());
        self.tree.nodes[ROOT as usize].first_edge + at as EdgeId
    }

    fn root_view(&self) -> RootView<'_> {
        RootView { edges: self.tree.edges_of(ROOT), net_value: self.net_value().0 }
    }

    /// Draws Gumbel noise of a scale for the root's moves; right after the root's own evaluation, before any descent.
    pub fn add_gumbel_noise(&mut self, scale: f64, stream: &mut Stream) {
        debug_assert_eq!(self.visits(), 1, "only the root itself was evaluated");
        self.gumbel.draw(self.tree.edges_of(ROOT).len(), scale, stream);
    }

    /// Mixes Dirichlet noise into the root's priors; right after the root's own evaluation, before any descent.
    pub fn add_noise(&mut self, noise: &RootNoise, stream: &mut Stream) {
        debug_assert_eq!(self.visits(), 1, "only the root itself was evaluated");
        let edges = self.tree.edges_of(ROOT);
        let sample = noise.sample(edges.len(), stream);
        let mixed =
            |(edge, noisy): (&Edge, &f64)| noisy_prior(f64::from(edge.prior), *noisy, noise.fraction) as f32;
        let priors: Vec<f32> = edges.iter().zip(&sample).map(mixed).collect();
        self.tree.set_priors(ROOT, &priors);
    }

    /// The move to play. The `puct` root draws it by `visits^(1/temperature)`; the `gumbel` root has drawn its noise
    /// before and takes the best of its most visited moves whatever the temperature.
    pub fn choose(&self, temperature: f64, stream: &mut Stream) -> Move {
        match self.params.root.rule {
            RootRule::Puct => choose_move(&self.root_moves().collect::<Vec<_>>(), temperature, stream),
            RootRule::Gumbel => {
                let root = self.root_view();
                root.edges[self.gumbel.choose(&self.params.root, &root)].played
            }
        }
    }

    /// What the policy should learn of the root: shares of its moves that sum to 1, in falling order of the prior.
    pub fn policy_target(&self) -> Vec<Target> {
        let moves: Vec<Visited> = self.root_moves().collect();
        let shares = match self.params.root.rule {
            RootRule::Puct => visit_shares(&moves),
            RootRule::Gumbel => improved_policy(&self.params.root, &self.root_view()),
        };
        let target =
            |(seen, share): (&Visited, f64)| Target { played: seen.played, visits: seen.visits, share };
        moves.iter().zip(shares).map(target).collect()
    }

    /// The root's value in [−1, 1] for the side to move, and its P(draw): what is proven, else the mean of all
    /// simulations; after at least one.
    pub fn root_value(&self) -> (f64, f64) {
        let root = &self.tree.nodes[ROOT as usize];
        let mean = || (root.value(), root.draw_sum / f64::from(root.visits));
        root.proof.map_or_else(mean, |proof| (proof.value(), f64::from(proof.wdl().draw)))
    }

    /// The net's own value of the root in [−1, 1] for the side to move, and its P(draw).
    ///
    /// # Panics
    /// Before the root's evaluation.
    pub fn net_value(&self) -> (f64, f64) {
        let wdl = self.root_evaluation.expect("the root was evaluated");
        (f64::from(wdl.value()), f64::from(wdl.draw))
    }

    /// Every legal move of the root with its statistics, in falling order of the prior.
    pub fn root_moves(&self) -> impl Iterator<Item = Visited> {
        self.tree.edges_of(ROOT).iter().map(|edge| Visited {
            played: edge.played,
            visits: edge.visits,
            prior: edge.prior,
            value: match edge.proof() {
                Some(proof) => Some(proof.value()),
                None => (edge.visits > 0).then(|| edge.value_sum / f64::from(edge.visits)),
            },
            proof: edge.proof(),
        })
    }

    /// The position's result for the side to move, if the solver proved it.
    pub fn proof(&self) -> Option<Proof> {
        self.tree.nodes.first().and_then(|root| root.proof)
    }
}
