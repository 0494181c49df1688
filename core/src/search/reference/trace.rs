//! The record of a reference search, step by step, for explanations. Nothing is recorded unless it is asked for.
//!
//! Every number here is the one that the search itself used; nothing is recomputed.

use super::{BackedUp, Reference};
use crate::board::Move;
use crate::network::Wdl;

/// A recorded simulation. The first one is the root's own evaluation, whose path is empty.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulation {
    /// The choice at each node of the path, the root's first.
    pub choices: Vec<Choice>,
    /// The leaf.
    pub leaf: Leaf,
    /// The updates of the back-up, from the leaf to the root.
    pub back_up: Vec<NodeUpdate>,
}

/// Selection at a node.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Plies below the root.
    pub depth: u32,
    /// N(s) before this simulation.
    pub visits: u32,
    /// Every legal move, in falling order of the prior.
    pub moves: Vec<ScoredMove>,
    /// The index of the selected move.
    pub chosen: usize,
}

/// A legal move with the score that selection used.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredMove {
    /// The move.
    pub played: Move,
    /// P(s, a).
    pub prior: f64,
    /// N(s, a).
    pub visits: u32,
    /// Q(s, a) for the side that makes the move, in [−1, 1]; first-play urgency or completed Q if the move has no visit.
    pub q: f64,
    /// The terms of the score by name. PUCT adds `u` = `c · P · √N(s) / (1 + N(s, a))` and `plies`, the moves-left utility, to Q
    /// (Silver et al. 2018). A Gumbel root has `noise`, the sample g, and `improved` = `logit + σ(Q)` (Danihelka et al. 2022,
    /// algorithm 2); the improved tree rule `policy`, π', minus `share` = `N(s, a) / (1 + Σ N)` (section 5).
    pub terms: [(&'static str, f64); 2],
    /// The score; the largest is selected.
    pub score: f64,
    /// Whether the move may be selected: it is allowed and not proven to lose.
    pub is_open: bool,
    /// Whether the move is selected whatever its score, because it has fewer visits than forced playouts require.
    pub is_forced: bool,
}

/// The leaf of a simulation, for the side to move there.
#[derive(Debug, Clone, PartialEq)]
pub struct Leaf {
    /// Plies below the root.
    pub depth: u32,
    /// Why it ended.
    pub end: End,
    /// P(win), P(draw) and P(loss): the net's evaluation, or the proven result.
    pub evaluation: Wdl,
    /// The value that is backed up from here, with the draw score.
    pub value: f64,
    /// The legal moves with their priors, the likeliest first; empty if no evaluation was needed.
    pub priors: Vec<(Move, f64)>,
}

/// Why a simulation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// A new position, which the net evaluated.
    New,
    /// A position with a proven result: 1, 0 or −1 for its side to move.
    Certain(i8),
    /// A position that counts as a draw because it repeats one of the tree.
    Repeated,
    /// A transposition with more visits than the edge to it; its current value is backed up.
    Shared,
}

/// The update of a node in a back-up, for the side to move there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NodeUpdate {
    /// Plies below the root.
    pub depth: u32,
    /// The value backed up, with the draw score.
    pub value: f64,
    /// N(s) with this simulation.
    pub visits: u32,
    /// W(s) / N(s) with this simulation.
    pub mean: f64,
    /// The node's proven result, if any: 1, 0 or −1.
    pub proven: Option<i8>,
}

/// The record of the first simulations.
#[derive(Debug)]
pub(super) struct Trace {
    /// The most simulations to record.
    limit: usize,
    /// Those that have ended.
    ended: Vec<Simulation>,
    choices: Vec<Choice>,
    leaf: Option<Leaf>,
    back_up: Vec<NodeUpdate>,
}

impl Trace {
    fn is_full(&self) -> bool {
        self.ended.len() >= self.limit
    }

    /// Ends the simulation that was backed up to the root.
    fn end_simulation(&mut self) {
        if let Some(leaf) = self.leaf.take() {
            let (choices, back_up) = (std::mem::take(&mut self.choices), std::mem::take(&mut self.back_up));
            self.ended.push(Simulation { choices, leaf, back_up });
        }
    }
}

impl Reference<'_> {
    /// Records the first simulations, the root's evaluation included, for [`simulations`](Self::simulations); before
    /// [`run`](Self::run).
    pub fn record_simulations(&mut self, limit: usize) {
        let (ended, choices, back_up) = <_>::default();
        self.trace = Some(Trace { limit, ended, choices, leaf: None, back_up });
        self.record_leaf(super::ROOT, 0, End::New);
        self.end_simulation();
    }

    /// The recorded simulations.
    pub fn simulations(&self) -> &[Simulation] {
        self.trace.as_ref().map_or(&[], |trace| &trace.ended)
    }

    /// Records a choice, and returns the index of the selected move.
    pub(super) fn record_choice(&mut self, choice: Choice) -> usize {
        let chosen = choice.chosen;
        if let Some(trace) = self.trace.as_mut().filter(|trace| !trace.is_full()) {
            trace.choices.push(choice);
        }
        chosen
    }

    /// Records the leaf of a simulation.
    pub(super) fn record_leaf(&mut self, id: usize, depth: u32, end: End) {
        if self.trace.as_ref().is_none_or(Trace::is_full) {
            return;
        }
        let (node, value) = (&self.nodes[id], self.estimate(id, depth).value);
        let priors = node.children.iter().map(|child| (child.played, child.prior)).collect();
        let end = match node.proven {
            Some(result) => End::Certain(result),
            None if node.repeated => End::Repeated,
            None => end,
        };
        let leaf = Leaf { depth, end, evaluation: node.evaluation, value, priors };
        self.record(|trace| trace.leaf = Some(leaf));
        if end != End::Shared {
            self.record_update(id, BackedUp { value, draw: 0.0, moves_left: 0.0 }, depth);
        }
    }

    /// Records the update of a node.
    pub(super) fn record_update(&mut self, id: usize, backed_up: BackedUp, depth: u32) {
        let node = &self.nodes[id];
        let mean = node.value_sum / f64::from(node.visits);
        let update =
            NodeUpdate { depth, value: backed_up.value, visits: node.visits, mean, proven: node.proven };
        self.record(|trace| trace.back_up.push(update));
    }

    /// Records the end of a simulation.
    pub(super) fn end_simulation(&mut self) {
        self.record(Trace::end_simulation);
    }

    fn record(&mut self, entry: impl FnOnce(&mut Trace)) {
        if let Some(trace) = self.trace.as_mut().filter(|trace| !trace.is_full()) {
            entry(trace);
        }
    }
}
