//! When a search is done.

use super::Search;
use super::params::KldGain;
use super::tree::{ROOT, VisitedEdge};
use crate::math::ln;

/// The simulations of one move's search. The first is the root's own evaluation, unless a search of the same root continues.
#[derive(Debug, Clone, Default)]
pub(super) struct Budget {
    /// Visits that the root may have, kept ones included.
    visits: u32,
    /// Visits that the root had when the budget was set.
    kept: u32,
    /// Whether a root with kept visits is evaluated again, in a simulation that is not a visit.
    evaluates_again: bool,
    /// Visits whose simulations have started, kept ones included.
    started: u32,
    /// Whether a stopping rule or the engine has ended the search early.
    is_ended: bool,
    gain: GainTracker,
}

impl Budget {
    /// The budget of a new search, whose root may have kept visits but no evaluation yet.
    pub(super) fn new(simulations: u32, kept: u32) -> Self {
        let mut budget = Self { started: kept, ..Self::default() };
        budget.set(simulations, kept, false);
        budget
    }

    /// Sets the simulations for a root with `kept` visits, which may already be evaluated for this search.
    fn set(&mut self, simulations: u32, kept: u32, is_evaluated: bool) {
        self.kept = kept;
        self.evaluates_again = kept > 0 && !is_evaluated;
        self.visits = (kept - u32::from(self.evaluates_again)).saturating_add(simulations);
        (self.is_ended, self.gain) = (false, GainTracker::default());
    }

    /// Counts the start of a simulation. Returns whether it is a descent; the first is the root's own evaluation.
    pub(super) fn start(&mut self) -> bool {
        self.started += 1;
        self.started > 1
    }

    /// Whether all simulations have started.
    pub(super) fn is_started(&self) -> bool {
        self.started >= self.visits
    }

    /// Ends the search early.
    pub(super) fn end(&mut self) {
        self.is_ended = true;
    }

    /// Visits that the root may have, kept ones included.
    pub(super) fn visits(&self) -> u32 {
        self.visits
    }

    /// Visits that the root's edges may have: all but its own evaluation.
    pub(super) fn descents(&self) -> u32 {
        self.visits.saturating_sub(1)
    }

    /// Simulations spent when the root has this many visits.
    fn spent(&self, visits: u32) -> u32 {
        visits.saturating_sub(self.kept) + u32::from(self.evaluates_again)
    }
}

impl Search {
    /// Sets the simulations of this move's search from here on: the root's own evaluation unless already made, then descents.
    /// Visits so far come on top. A search that `kld_gain` ended goes on, and compares from here on. The reference engine searches
    /// again with all simulations together.
    pub fn set_budget(&mut self, simulations: u32) {
        self.budget.set(simulations, self.visits(), self.root.evaluation.is_some());
        self.prober.forget_hits();
    }

    /// The simulations after which the root has so many visits, those of earlier searches included.
    pub fn simulations_to(&self, visits: u32) -> u32 {
        let evaluates_again = self.visits() > 0 && self.root.evaluation.is_none();
        visits.saturating_sub(self.visits()) + u32::from(evaluates_again)
    }

    /// Simulations since the budget was set. The second evaluation of a root with kept visits counts from the start.
    pub fn spent(&self) -> u32 {
        self.budget.spent(self.visits())
    }

    /// Whether all simulations are done, or the search should stop early.
    pub fn is_done(&self) -> bool {
        self.root.evaluation.is_some() && (self.visits() >= self.budget.visits || self.should_stop())
    }

    /// Whether the engine or a stopping rule ended the search, the root is proven, or the tree is full.
    pub(super) fn should_stop(&self) -> bool {
        self.budget.is_ended || self.proof().is_some() || self.is_full() || self.is_settled()
    }

    /// Whether the tree has as many nodes as it may have, which ends the search.
    pub fn is_full(&self) -> bool {
        self.tree.nodes.len() >= self.params.max_nodes as usize
    }

    /// Smart pruning: whether the rest of the budget cannot change which of the moves that may be played is the most visited.
    fn is_settled(&self) -> bool {
        if !self.params.smart_pruning || self.visits() == 0 {
            return false;
        }
        let (most, second) = self.leaders();
        let [most, second] = [most, second].map(|leader| leader.map_or(0, |leader| leader.visits));
        most - second > self.budget.visits.saturating_sub(self.visits())
    }

    /// Ends the search if its KLD gain is too small.
    pub(super) fn check_gain(&mut self) {
        if let Some(stop) = &self.params.kld_gain
            && !self.tree.nodes.is_empty()
            && let Some(gain) = self.budget.gain.update(stop, self.tree.visited_edges(ROOT))
        {
            // A batch of leaves can hold several comparisons.
            self.budget.is_ended |= gain < stop.minimum;
        }
    }
}

/// KLD gain: the visits of the root's edges at the last comparison, in the order of their first visit.
#[derive(Debug, Clone, Default)]
struct GainTracker {
    visits: Vec<u32>,
    total: u32,
}

impl GainTracker {
    /// The gain per visit since the last comparison, once the interval is over.
    fn update(&mut self, stop: &KldGain, visited: &[VisitedEdge]) -> Option<f64> {
        let total: u32 = visited.iter().map(|edge| edge.visits).sum();
        if total < self.total.saturating_add(stop.interval) {
            return None;
        }
        let gain = (self.total > 0).then(|| self.divergence(visited, total) / f64::from(total - self.total));
        self.visits.clear();
        self.visits.extend(visited.iter().map(|edge| edge.visits));
        self.total = total;
        gain
    }

    /// KL(shares at the last comparison ‖ shares now), in nats. Visited edges keep their indices and never lose visits.
    fn divergence(&self, visited: &[VisitedEdge], total: u32) -> f64 {
        let share = |visits: u32, total: u32| f64::from(visits) / f64::from(total);
        let pairs = self.visits.iter().zip(visited).filter(|(before, _)| **before > 0);
        pairs
            .map(|(before, now)| (share(*before, self.total), share(now.visits, total)))
            .map(|(before, now)| before * ln(before / now))
            .sum()
    }
}
