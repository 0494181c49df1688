//! What a search says of its root.

use super::Search;
use super::choice::{ChoiceParams, Target, Visited};
use super::proof::Proof;
use super::root::RootScore;
use super::tree::{Branch, ROOT, TreeMemory};
use crate::board::Move;
use crate::rng::Stream;

impl Search {
    /// The position's result for the side to move, if the solver proved it.
    pub fn proof(&self) -> Option<Proof> {
        self.tree.nodes.first().and_then(|root| root.proof)
    }

    /// The move to play. The `puct` root draws it by `visits^(1/temperature)`; the `gumbel` root has drawn its noise
    /// before and takes the best of its most visited moves whatever the temperature.
    pub fn choose(&self, params: &ChoiceParams, temperature: f64, stream: &mut Stream) -> Move {
        self.root.rule.choose(self, params, temperature, stream)
    }

    /// What the policy should learn of the root: shares of all its moves that sum to 1.
    pub fn policy_target(&self) -> Vec<Target> {
        let counted = |seen: Visited| {
            if self.root.allows(seen.played) { seen } else { Visited { visits: 0, ..seen } }
        };
        let moves: Vec<Visited> = self.root_moves().map(counted).collect();
        let shares = self.root.rule.policy_target(self, &moves);
        let target =
            |(seen, share): (&Visited, f64)| Target { played: seen.played, visits: seen.visits, share };
        moves.iter().zip(shares).map(target).collect()
    }

    /// Every move of the root in the order of [`root_moves`](Self::root_moves) as a `puct` root sees it; after its evaluation, with
    /// nothing in flight. `None` for a root with another rule.
    pub fn root_scores(&self) -> Option<Vec<RootScore>> {
        self.root.rule.scores(self)
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
        let wdl = self.root.evaluation.expect("the root was evaluated");
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
