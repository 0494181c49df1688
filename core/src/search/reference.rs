//! The reference search, written to be read: recursive, one leaf at a time, sharing only the parameters with the fast one.
//!
//! With the same evaluator and the same noise it visits exactly the same moves as [`super::Search`] with one leaf in flight.
//! Each step names its equation. `select` has the rules of selection, and `leaf` expands new positions. Values are for the side
//! to move.

use std::collections::HashMap;

use rand::RngExt;

use super::noise::RootNoise;
use super::params::{SearchParams, TreeRule};
use crate::board::{Game, Move, Tablebase};
use crate::math::ln;
use crate::network::{Evaluator, EvaluatorError, Wdl};
use crate::rng::Stream;

mod leaf;
mod select;
mod trace;

pub use trace::{Choice, End, Leaf, NodeUpdate, ScoredMove, Simulation};

use leaf::has_mate;
pub(super) use select::considered_visits;
use trace::Trace;

/// A node of the reference tree.
#[derive(Debug)]
pub struct Node {
    /// N(s): simulations that reached it.
    pub visits: u32,
    /// W(s): the sum of their values, with the draw score.
    pub value_sum: f64,
    /// The sum of their P(draw).
    pub draw_sum: f64,
    /// Its own evaluation.
    pub evaluation: Wdl,
    /// m(s): moves left, in plies, from its own evaluation or its proof; this and the sum are 0 unless the search's `moves_left` is
    /// set.
    pub moves_left: f64,
    /// The sum of moves left over all simulations that reached it.
    pub moves_left_sum: f64,
    /// v(s): the value of its own evaluation, with the draw score.
    own_value: f64,
    /// In a graph, the mean square of its values: of its own evaluation and, by their visits, of its children's.
    pub mean_square: f64,
    /// Edges in falling order of the prior; empty if no evaluation was needed.
    pub children: Vec<Child>,
    /// 1, 0 or −1 once the result is proven.
    pub proven: Option<i8>,
    /// Whether it counts as a draw because it repeats a position of the tree.
    repeated: bool,
}

/// An edge of a [`Node`]: a legal move.
#[derive(Debug)]
pub struct Child {
    /// The move.
    pub played: Move,
    /// P(s, a).
    pub prior: f64,
    /// Its Gumbel sample; 0 without noise.
    noise: f64,
    /// N(s, a).
    pub visits: u32,
    /// The sum of the squared deviations of its values from their mean.
    pub deviation_sum: f64,
    /// The index of the child node, once visited.
    pub node: Option<usize>,
}

const ROOT: usize = 0;

/// What a visit backs up to a node: the value for its side to move, P(draw), and moves left in plies.
#[derive(Clone, Copy)]
struct BackedUp {
    value: f64,
    draw: f64,
    moves_left: f64,
}

/// A search of one position.
pub struct Reference<'a> {
    game: Game,
    params: &'a SearchParams,
    /// The nodes; the first is the root.
    nodes: Vec<Node>,
    /// The node of each position, for graph search.
    shared: HashMap<(u64, bool), usize>,
    tablebase: Option<Tablebase>,
    /// The moves of the root that may be searched; empty for all.
    allowed: Vec<Move>,
    /// Whether forced playouts are on.
    forces: bool,
    /// The record of the simulations, if it was asked for.
    trace: Option<Trace>,
    /// Rows that the net evaluated.
    evaluated: usize,
}

impl<'a> Reference<'a> {
    /// Evaluates the root.
    pub fn new(
        game: &Game,
        params: &'a SearchParams,
        evaluator: &mut dyn Evaluator,
    ) -> Result<Self, EvaluatorError> {
        let (nodes, shared) = (Vec::new(), HashMap::new());
        let (tablebase, allowed, forces, trace) = (None, Vec::new(), false, None);
        let game = game.clone();
        let evaluated = 0;
        let mut search = Self { game, params, nodes, shared, tablebase, allowed, forces, trace, evaluated };
        let root = search.expand(0, evaluator)?;
        search.nodes.push(root);
        Ok(search)
    }

    /// The root.
    pub fn root(&self) -> &Node {
        &self.nodes[ROOT]
    }

    /// All nodes, the root first; [`Child::node`] is an index of this slice.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The number of rows that the net evaluated.
    pub(super) fn evaluated(&self) -> usize {
        self.evaluated
    }

    /// Replaces the priors of the root's moves.
    pub fn set_priors(&mut self, moves: &[Move], priors: &[f32]) {
        for (mv, prior) in moves.iter().zip(priors) {
            self.root_child(*mv).prior = f64::from(*prior);
        }
        self.nodes[ROOT].children.sort_by(|a, b| b.prior.total_cmp(&a.prior));
    }

    /// Replaces the Gumbel sample of a move of the root.
    pub fn set_noise(&mut self, mv: Move, noise: f64) {
        self.root_child(mv).noise = noise;
    }

    fn root_child(&mut self, mv: Move) -> &mut Child {
        let mut children = self.nodes[ROOT].children.iter_mut();
        children.find(|child| child.played == mv).expect("a legal move of the root")
    }

    /// Sets the tablebase that is probed at new positions, and the moves that the root is restricted to; none for all.
    pub fn set_tablebase_and_allowed(&mut self, tablebase: Option<Tablebase>, allowed: &[Move]) {
        self.tablebase = tablebase.filter(|_| self.params.probe_at_leaves());
        self.allowed = allowed.to_vec();
    }

    /// Mixes Dirichlet noise into the root's priors: `(1 − ε) · P + ε · η` (Silver et al. 2018, Methods).
    pub fn add_noise(&mut self, noise: &RootNoise, stream: &mut Stream) {
        let children = &mut self.nodes[ROOT].children;
        let sample = noise.sample(children.len(), stream);
        for (child, eta) in children.iter_mut().zip(sample) {
            child.prior = f64::from(((1.0 - noise.fraction) * child.prior + noise.fraction * eta) as f32);
        }
        children.sort_by(|a, b| b.prior.total_cmp(&a.prior));
    }

    /// Draws g(a) = −ln(−ln u) times a scale for every move of the root (Danihelka et al. 2022, section 2).
    pub fn add_gumbel_noise(&mut self, scale: f64, stream: &mut Stream) {
        for child in &mut self.nodes[ROOT].children {
            let uniform: f64 = stream.random();
            child.noise = scale * -ln(-ln(uniform.max(f64::MIN_POSITIVE)));
        }
    }

    /// Turns forced playouts on.
    pub fn force_playouts(&mut self) {
        self.forces = true;
    }

    /// Spends the budget.
    pub fn run(&mut self, evaluator: &mut dyn Evaluator) -> Result<(), EvaluatorError> {
        let is_allowed = |child: &&Child| self.is_allowed(child);
        let open: Vec<Move> =
            self.root().children.iter().filter(is_allowed).map(|child| child.played).collect();
        if self.params.mate_in_one && has_mate(&self.game, &open) {
            let root = &mut self.nodes[ROOT];
            (root.proven, root.moves_left) = (Some(1), 1.0);
        }
        let rule = self.params.root.rule.root_search().for_reference(self.params, open.len() as u32);
        let mut last_visits = Vec::new();
        for descent in 0..self.params.simulations.saturating_sub(1) as usize {
            let settled = self.params.smart_pruning && self.is_settled();
            let full = self.nodes.len() >= self.params.max_nodes as usize;
            if self.root().proven.is_some() || settled || full || self.gained_little(&mut last_visits) {
                break;
            }
            let choice = rule(self, descent);
            let index = self.record_choice(choice);
            self.simulate(ROOT, index, 0, evaluator)?;
            self.end_simulation();
        }
        Ok(())
    }

    /// Smart pruning: whether the most visited of the moves that may be played would remain so if all simulations left went to the second.
    fn is_settled(&self) -> bool {
        let is_rival = |child: &&Child| self.is_allowed(child) && self.proven(child) != Some(-1);
        let mut visits: Vec<u32> =
            self.root().children.iter().filter(is_rival).map(|child| child.visits).collect();
        visits.sort_unstable_by(|a, b| b.cmp(a));
        let [first, second] = [0, 1].map(|rank| visits.get(rank).copied().unwrap_or(0));
        first > second + self.params.simulations - self.root().visits
    }

    /// Whether the KLD gain per visit of the last interval was below the minimum; checked at the end of every interval.
    fn gained_little(&self, last_visits: &mut Vec<u32>) -> bool {
        let Some(stop) = &self.params.kld_gain else { return false };
        let now: Vec<u32> = self.root().children.iter().map(|child| child.visits).collect();
        let (before, after) = (last_visits.iter().sum::<u32>(), now.iter().sum::<u32>());
        if after < before + stop.interval {
            return false;
        }
        let share = |visits: &u32, all: u32| f64::from(*visits) / f64::from(all);
        let pairs = last_visits.iter().zip(&now).filter(|(old, _)| **old > 0);
        let gain: f64 =
            pairs.map(|(old, new)| share(old, before) * ln(share(old, before) / share(new, after))).sum();
        *last_visits = now;
        before > 0 && gain / f64::from(after - before) < stop.minimum
    }

    /// The draw score for the side to move at a depth.
    fn draw_value(&self, depth: u32) -> f64 {
        if depth.is_multiple_of(2) { self.params.draw_score } else { -self.params.draw_score }
    }

    /// The proven value, else the mean of the simulations: Q(s) = W(s) / N(s).
    fn value(&self, node: &Node, depth: u32) -> f64 {
        let proven = |result: i8| if result == 0 { self.draw_value(depth) } else { f64::from(result) };
        node.proven.map_or(node.value_sum / f64::from(node.visits), proven)
    }

    /// Q(s, a) for the side that makes the move: the child's value is the opponent's.
    fn q(&self, child: &Child, depth: u32) -> Option<f64> {
        child.node.map(|node| -self.value(&self.nodes[node], depth + 1))
    }

    /// A move's proven result for the side that makes it.
    fn proven(&self, child: &Child) -> Option<i8> {
        child.node.and_then(|node| self.nodes[node].proven).map(|result| -result)
    }

    /// One simulation through an edge of a node: selection, expansion, evaluation, back-up.
    fn simulate(
        &mut self,
        id: usize,
        index: usize,
        depth: u32,
        evaluator: &mut dyn Evaluator,
    ) -> Result<BackedUp, EvaluatorError> {
        let child = &self.nodes[id].children[index];
        let (ply, visits) = (self.game.ply(), child.visits);
        // In a graph the same move may lead elsewhere: on another path the position may repeat one.
        let known = child.node.filter(|_| !self.params.graph);
        let mean_before = self.q(child, depth);
        self.game.play_unchecked(child.played);
        let (child_id, is_new) = match known {
            Some(child_id) => (child_id, false),
            None => self.reach(id, depth + 1, evaluator)?,
        };
        self.nodes[id].children[index].node = Some(child_id);
        let backed_up = self.visit_child(child_id, is_new, visits, depth + 1, evaluator)?;
        self.game.take_back_to(ply);
        let value =
            if self.params.graph { self.estimate(child_id, depth + 1).value } else { backed_up.value };
        let q = -value;
        let child = &mut self.nodes[id].children[index];
        child.visits += 1;
        // Welford 1962.
        let mean = mean_before.map_or(q, |mean| mean + (q - mean) / f64::from(child.visits));
        child.deviation_sum += (q - mean_before.unwrap_or(q)) * (q - mean);
        if self.params.solver {
            self.solve(id);
        }
        let flipped =
            BackedUp { value: -backed_up.value, moves_left: backed_up.moves_left + 1.0, ..backed_up };
        let backed_up = self.update(id, flipped, depth);
        self.record_update(id, backed_up, depth);
        Ok(backed_up)
    }

    /// The proven or mean value of a node, with P(draw) and moves left.
    fn estimate(&self, id: usize, depth: u32) -> BackedUp {
        let node = &self.nodes[id];
        let mean = |sum: f64| sum / f64::from(node.visits);
        let (draw, moves_left) = match node.proven {
            Some(result) => (f64::from(i8::from(result == 0)), node.moves_left),
            None => (mean(node.draw_sum), mean(node.moves_left_sum)),
        };
        BackedUp { value: self.value(node, depth), draw, moves_left }
    }

    /// Visits a node through an edge that had `visits` visits, and returns what is backed up for its side to move.
    fn visit_child(
        &mut self,
        id: usize,
        is_new: bool,
        visits: u32,
        depth: u32,
        evaluator: &mut dyn Evaluator,
    ) -> Result<BackedUp, EvaluatorError> {
        if self.params.graph && self.params.solver && !self.nodes[id].children.is_empty() {
            self.solve(id);
        }
        let node = &self.nodes[id];
        if is_new {
            self.record_leaf(id, depth, End::New);
            return Ok(self.estimate(id, depth));
        }
        if node.proven.is_some() || node.repeated {
            let estimate = self.estimate(id, depth);
            let backed_up = visit(&mut self.nodes[id], estimate);
            self.record_leaf(id, depth, End::Repeated);
            return Ok(backed_up);
        }
        // Transpositions: an edge with fewer visits than its child catches up (Wu 2023).
        if self.params.graph && visits < node.visits {
            self.record_leaf(id, depth, End::Shared);
            return Ok(self.estimate(id, depth));
        }
        let choice = match self.params.tree_rule {
            TreeRule::Puct => self.select_puct(id, depth),
            TreeRule::Improved => self.select_improved(id, depth),
        };
        let index = self.record_choice(choice);
        self.simulate(id, index, depth, evaluator)
    }

    /// Adds a visit to a node, with the proven value instead of the one backed up if there is one. In a graph `Q(s) = (v(s) +
    /// Σ N(s, a) · Q(s, a)) / N(s)` (Wu 2023).
    fn update(&mut self, id: usize, backed_up: BackedUp, depth: u32) -> BackedUp {
        let backed_up = if self.nodes[id].proven.is_some() { self.estimate(id, depth) } else { backed_up };
        if !self.params.graph {
            return visit(&mut self.nodes[id], backed_up);
        }
        let node = &self.nodes[id];
        let (mut value, mut draw) = (node.own_value, f64::from(node.evaluation.draw));
        let mut moves_left = node.moves_left;
        let mut square = node.own_value * node.own_value;
        for child in &node.children {
            let Some(child_id) = child.node else { continue };
            let (estimate, visits) = (self.estimate(child_id, depth + 1), f64::from(child.visits));
            value -= visits * estimate.value;
            draw += visits * estimate.draw;
            moves_left += visits * (estimate.moves_left + 1.0);
            square += visits * self.nodes[child_id].mean_square;
        }
        let proven = self.nodes[id].proven.map(|_| backed_up.value);
        let node = &mut self.nodes[id];
        (node.visits, node.value_sum, node.draw_sum) = (node.visits + 1, value, draw);
        node.moves_left_sum = moves_left;
        node.mean_square = proven.map_or(square / f64::from(node.visits), |value| value * value);
        backed_up
    }
}

fn visit(node: &mut Node, backed_up: BackedUp) -> BackedUp {
    node.visits += 1;
    node.value_sum += backed_up.value;
    node.draw_sum += backed_up.draw;
    node.moves_left_sum += backed_up.moves_left;
    backed_up
}
