//! When a search is done.

use super::Search;
use super::params::GainStop;
use super::tree::{Branch, ROOT};

impl Search {
    /// Changes the simulations of this move's search; before its first one. Visits that were kept come on top.
    pub fn set_budget(&mut self, simulations: u32) {
        // A kept root was visited by its first evaluation; its second one is a simulation without a visit.
        self.budget = (self.visits().max(1) - 1).saturating_add(simulations);
    }

    /// Lets a search that has begun go on for some simulations more than it was given.
    pub fn extend(&mut self, simulations: u32) {
        self.budget = self.budget.saturating_add(simulations);
    }

    /// Whether all simulations are done, or there is a reason to end before.
    pub fn is_done(&self) -> bool {
        self.root_evaluation.is_some() && (self.visits() >= self.budget || self.has_reason_to_end())
    }

    /// Whether the solver left nothing to search, the tree is full, or a stopping rule says that enough is known.
    pub(super) fn has_reason_to_end(&self) -> bool {
        self.is_complete
            || self.proof().is_some()
            || self.tree.nodes.len() >= self.params.max_nodes as usize
            || self.gain.is_spent
            || self.is_settled()
    }

    /// Whether the rest of the budget cannot change which move is the most visited.
    fn is_settled(&self) -> bool {
        if !self.params.stop_when_settled || self.visits() == 0 {
            return false;
        }
        let (mut most, mut second) = (0, 0);
        for visits in self.tree.branches(ROOT).iter().map(|branch| branch.visits) {
            (most, second) = (most.max(visits), second.max(most.min(visits)));
        }
        most - second > self.budget - self.visits().min(self.budget)
    }

    /// Looks at what the last simulations changed, if that can end the search.
    pub(super) fn watch_gain(&mut self) {
        if let Some(stop) = &self.params.stop_by_gain
            && !self.tree.nodes.is_empty()
        {
            self.gain.look(stop, self.tree.branches(ROOT));
        }
    }
}

/// The root's visits at the last look, in the order in which its moves were first tried.
#[derive(Debug, Clone, Default)]
pub(super) struct GainWatch {
    visits: Vec<u32>,
    total: u32,
    pub(super) is_spent: bool,
}

impl GainWatch {
    fn look(&mut self, stop: &GainStop, branches: &[Branch]) {
        let total: u32 = branches.iter().map(|branch| branch.visits).sum();
        if total < self.total.saturating_add(stop.interval) {
            return;
        }
        if self.total > 0 {
            let gain = self.divergence(branches, total) / f64::from(total - self.total);
            self.is_spent = gain < stop.minimum;
        }
        self.visits.clear();
        self.visits.extend(branches.iter().map(|branch| branch.visits));
        self.total = total;
    }

    /// KL(shares at the last look ‖ shares now), in nats; moves keep their places, and no visit is lost.
    fn divergence(&self, branches: &[Branch], total: u32) -> f64 {
        let share = |visits: u32, of: u32| f64::from(visits) / f64::from(of);
        let pairs = self.visits.iter().zip(branches).filter(|(before, _)| **before > 0);
        pairs
            .map(|(before, now)| (share(*before, self.total), share(now.visits, total)))
            .map(|(before, now)| before * (before / now).ln())
            .sum()
    }
}
