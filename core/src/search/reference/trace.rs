//! What the reference search did, step by step, for people who want to see it: nothing is kept unless it is asked for.
//!
//! Every number here is the one that the search itself used; nothing is worked out again.

use super::{Brought, Reference};
use crate::board::Move;
use crate::network::Wdl;

/// A simulation as it happened. The first one is the root's own evaluation, which takes no way.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulation {
    /// The choice at each position on the way, the root's first.
    pub choices: Vec<Choice>,
    /// Where it ended.
    pub leaf: Leaf,
    /// What it brought to each position, from the leaf up to the root.
    pub back_up: Vec<Counted>,
}

/// How a position's next move was selected.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Plies below the root.
    pub depth: u32,
    /// N(s): simulations that had reached the position before.
    pub visits: u32,
    /// Every legal move, in falling order of the prior.
    pub moves: Vec<Scored>,
    /// The place of the move taken.
    pub chosen: usize,
}

/// A legal move as the rule saw it.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// The move.
    pub played: Move,
    /// P(s, a).
    pub prior: f64,
    /// N(s, a).
    pub visits: u32,
    /// Q(s, a) for the side that makes the move, in [−1, 1]; what the rule took it for where the move has no visit.
    pub q: f64,
    /// The parts of the score by name. PUCT has `u` = `c · P · √N(s) / (1 + N(s, a))` and `plies`, what plies left count for, beside Q
    /// (Silver et al. 2018). A Gumbel root has `noise`, the sample g, and `improved` = `logit + σ(Q)` (Danihelka et al. 2022, algorithm
    /// 2); the improved tree rule `policy`, π', less `share` = `N(s, a) / (1 + Σ N)` (section 5).
    pub terms: [(&'static str, f64); 2],
    /// What they come to; the largest is taken.
    pub score: f64,
    /// Whether the move may be taken: it is allowed and not proven to lose.
    pub is_open: bool,
    /// Whether the move is taken whatever its score, because it has fewer visits than `forced_playouts` asks for.
    pub is_forced: bool,
}

/// Where a simulation ended, seen by the side to move there.
#[derive(Debug, Clone, PartialEq)]
pub struct Leaf {
    /// Plies below the root.
    pub depth: u32,
    /// Why it ended.
    pub end: End,
    /// P(win), P(draw) and P(loss): the net's answer, or what is certain.
    pub evaluation: Wdl,
    /// What the simulation brings from here, draws at their worth.
    pub value: f64,
    /// The legal moves with their priors, the likeliest first; none where no net was asked.
    pub priors: Vec<(Move, f64)>,
}

/// Why a simulation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// A new position, which the net was asked about.
    New,
    /// A position whose result is certain: 1, 0 or −1 for its side to move.
    Certain(i8),
    /// A position that counts as a draw because it repeats one of the tree.
    Repeated,
    /// A position that other ways had reached more often than this move; its value is taken as it stands.
    Shared,
}

/// What a simulation brought to a position, seen by the side to move there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Counted {
    /// Plies below the root.
    pub depth: u32,
    /// The value brought, draws at their worth.
    pub value: f64,
    /// N(s) with this simulation.
    pub visits: u32,
    /// W(s) / N(s) with this simulation.
    pub mean: f64,
    /// The position's result, if it is certain: 1, 0 or −1.
    pub certain: Option<i8>,
}

/// What is kept of the first simulations.
#[derive(Debug)]
pub(super) struct Trace {
    /// Simulations that are kept at most.
    most: usize,
    /// Those that have ended.
    ended: Vec<Simulation>,
    choices: Vec<Choice>,
    leaf: Option<Leaf>,
    back_up: Vec<Counted>,
}

impl Trace {
    fn is_full(&self) -> bool {
        self.ended.len() >= self.most
    }

    /// Closes the simulation that has come back to the root.
    fn close(&mut self) {
        if let Some(leaf) = self.leaf.take() {
            let (choices, back_up) = (std::mem::take(&mut self.choices), std::mem::take(&mut self.back_up));
            self.ended.push(Simulation { choices, leaf, back_up });
        }
    }
}

impl Reference<'_> {
    /// Keeps the first simulations, the root's evaluation among them, for [`simulations`](Self::simulations); before
    /// [`run`](Self::run).
    pub fn watch(&mut self, most: usize) {
        let (ended, choices, back_up) = <_>::default();
        self.trace = Some(Trace { most, ended, choices, leaf: None, back_up });
        self.tell_leaf(super::ROOT, 0, End::New);
        self.tell_root();
    }

    /// The simulations that were kept.
    pub fn simulations(&self) -> &[Simulation] {
        self.trace.as_ref().map_or(&[], |trace| &trace.ended)
    }

    /// Notes a choice, and gives the place of the move taken.
    pub(super) fn taken(&mut self, choice: Choice) -> usize {
        let chosen = choice.chosen;
        if let Some(trace) = self.trace.as_mut().filter(|trace| !trace.is_full()) {
            trace.choices.push(choice);
        }
        chosen
    }

    /// Notes where a simulation ended.
    pub(super) fn tell_leaf(&mut self, at: usize, depth: u32, end: End) {
        if self.trace.as_ref().is_none_or(Trace::is_full) {
            return;
        }
        let (node, value) = (&self.nodes[at], self.known(at, depth).value);
        let priors = node.children.iter().map(|child| (child.played, child.prior)).collect();
        let end = match node.certain {
            Some(result) => End::Certain(result),
            None if node.repeated => End::Repeated,
            None => end,
        };
        let leaf = Leaf { depth, end, evaluation: node.evaluation, value, priors };
        self.tell(|trace| trace.leaf = Some(leaf));
        if end != End::Shared {
            self.tell_count(at, Brought { value, draw: 0.0, moves_left: 0.0 }, depth);
        }
    }

    /// Notes what came to a position.
    pub(super) fn tell_count(&mut self, at: usize, brought: Brought, depth: u32) {
        let node = &self.nodes[at];
        let mean = node.value_sum / f64::from(node.visits);
        let counted =
            Counted { depth, value: brought.value, visits: node.visits, mean, certain: node.certain };
        self.tell(|trace| trace.back_up.push(counted));
    }

    /// Notes that a simulation has come back to the root.
    pub(super) fn tell_root(&mut self) {
        self.tell(Trace::close);
    }

    fn tell(&mut self, note: impl FnOnce(&mut Trace)) {
        if let Some(trace) = self.trace.as_mut().filter(|trace| !trace.is_full()) {
            note(trace);
        }
    }
}
