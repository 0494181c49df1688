//! What PUCT makes of the root's moves as they stand, for people who want to see it.

use super::Search;
use super::formulas::{exploration, first_play_value};
use super::params::RootRule;
use super::proof::Proof;
use super::tree::{Branch, ROOT};
use crate::board::Move;

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

impl Search {
    /// Every move of the root in the order of [`root_moves`](Self::root_moves); after its evaluation, with nothing in flight. `None`
    /// for a root with another rule.
    pub fn root_scores(&self) -> Option<Vec<RootScore>> {
        if self.params.root.rule != RootRule::Puct {
            return None;
        }
        let parent = self.tree.node(ROOT);
        let scale = self.exploration_scale(ROOT, parent.visits);
        let (priors, branches) = (self.tree.priors(ROOT), self.tree.branches(ROOT));
        let tried_prior = priors[..branches.len()].iter().map(|prior| f64::from(*prior)).sum();
        let first_play = first_play_value(self.first_play(ROOT), parent.value(), tried_prior);
        let moves = self.tree.moves(ROOT).iter().zip(priors).enumerate();
        let score = |(place, (played, prior)): (usize, (&Move, &f32))| {
            let branch = branches.get(place);
            let q = branch.map_or(first_play, |branch| self.value_of(branch));
            let u = exploration(scale, f64::from(*prior), branch.map_or(0, |branch| branch.visits));
            let plies = branch.map_or(0.0, |branch| self.plies_count(branch));
            let lost = branch.is_some_and(|branch| branch.proof == Some(Proof::Loss));
            let is_open = !lost && self.is_allowed(ROOT, place);
            RootScore { played: *played, q, u, plies, score: q + u + plies, is_open }
        };
        Some(moves.map(score).collect())
    }

    fn value_of(&self, branch: &Branch) -> f64 {
        let certain = branch.proof.map(|proof| proof.value(self.draw_value(0)));
        certain.unwrap_or_else(|| self.tried_value(branch, self.tree.node(ROOT).value()))
    }

    fn plies_count(&self, branch: &Branch) -> f64 {
        self.preference(ROOT, 0).map_or(0.0, |preference| self.utility(&preference, branch, 0))
    }
}
