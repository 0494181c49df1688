//! When a search is done.

use super::Search;
use super::params::GainStop;
use super::tree::{Branch, ROOT};

/// The simulations of one move's search. The first is the root's own evaluation, unless the search of the same root goes on.
#[derive(Debug, Clone)]
pub(super) struct Budget {
    /// Visits that the root may have, those from before included.
    visits: u32,
    /// Visits that it had before.
    kept: u32,
    /// Whether it had some and is evaluated again nevertheless: a simulation that is no visit.
    evaluates_again: bool,
    /// Simulations begun that are visits, with those that were kept.
    started: u32,
    /// Whether a stopping rule or the engine has ended the search before its time.
    is_ended: bool,
    gain: GainWatch,
}

impl Budget {
    /// The simulations of a new search, whose root may have visits from before but no evaluation yet.
    pub(super) fn new(simulations: u32, kept: u32) -> Self {
        let (started, is_ended, gain) = (kept, false, GainWatch::default());
        let mut budget = Self { visits: 0, kept, evaluates_again: false, started, is_ended, gain };
        budget.set(simulations, kept, false);
        budget
    }

    /// Gives simulations to a root with some visits, which may have the evaluation that a search begins with.
    fn set(&mut self, simulations: u32, kept: u32, is_evaluated: bool) {
        self.kept = kept;
        self.evaluates_again = kept > 0 && !is_evaluated;
        self.visits = (kept - u32::from(self.evaluates_again)).saturating_add(simulations);
    }

    /// Counts a simulation that begins, and tells whether it is a descent: the first one is the root's own evaluation.
    pub(super) fn start(&mut self) -> bool {
        self.started += 1;
        self.started > 1
    }

    /// Whether all simulations have begun.
    pub(super) fn is_started(&self) -> bool {
        self.started >= self.visits
    }

    /// Ends the search before its time.
    pub(super) fn end(&mut self) {
        self.is_ended = true;
    }

    /// Visits that the root may have, those from before included.
    pub(super) fn visits(&self) -> u32 {
        self.visits
    }

    /// Visits that the root's moves may have: all but its own evaluation.
    pub(super) fn descents(&self) -> u32 {
        self.visits.saturating_sub(1)
    }

    /// Simulations that brought the root to its visits.
    fn spent(&self, visits: u32) -> u32 {
        visits.saturating_sub(self.kept) + u32::from(self.evaluates_again)
    }
}

impl Search {
    /// Gives this move's search its simulations from here on: the root's own evaluation unless it was made, then descents. Visits so
    /// far come on top.
    pub fn set_budget(&mut self, simulations: u32) {
        self.budget.set(simulations, self.visits(), self.root.evaluation.is_some());
    }

    /// Simulations since the budget was set. A second evaluation of a root with visits counts from the start.
    pub fn spent(&self) -> u32 {
        self.budget.spent(self.visits())
    }

    /// Whether all simulations are done, or there is a reason to end before.
    pub fn is_done(&self) -> bool {
        self.root.evaluation.is_some() && (self.visits() >= self.budget.visits || self.has_reason_to_end())
    }

    /// Whether the engine or a stopping rule says that enough is known, the solver left nothing to search, or the tree is full.
    pub(super) fn has_reason_to_end(&self) -> bool {
        self.budget.is_ended
            || self.proof().is_some()
            || self.tree.nodes.len() >= self.params.max_nodes as usize
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
        most - second > self.budget.visits.saturating_sub(self.visits())
    }

    /// Looks at what the last simulations changed, if that can end the search.
    pub(super) fn watch_gain(&mut self) {
        if let Some(stop) = &self.params.stop_by_gain
            && !self.tree.nodes.is_empty()
            && let Some(gain) = self.budget.gain.look(stop, self.tree.branches(ROOT))
        {
            self.budget.is_ended = gain < stop.minimum;
        }
    }
}

/// The root's visits at the last look, in the order in which its moves were first tried.
#[derive(Debug, Clone, Default)]
struct GainWatch {
    visits: Vec<u32>,
    total: u32,
}

impl GainWatch {
    /// What a visit gained since the last look, once the interval is over.
    fn look(&mut self, stop: &GainStop, branches: &[Branch]) -> Option<f64> {
        let total: u32 = branches.iter().map(|branch| branch.visits).sum();
        if total < self.total.saturating_add(stop.interval) {
            return None;
        }
        let gain = (self.total > 0).then(|| self.divergence(branches, total) / f64::from(total - self.total));
        self.visits.clear();
        self.visits.extend(branches.iter().map(|branch| branch.visits));
        self.total = total;
        gain
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
