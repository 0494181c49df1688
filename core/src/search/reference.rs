//! The search written to be read: recursive, one leaf at a time, nothing shared with the fast one but its parameters.
//!
//! With the same evaluator and the same noise it visits exactly the same moves as [`super::Search`] with one leaf in flight.
//! Each step names the equation it follows. Values are for the side to move.

use std::collections::HashMap;

use rand::RngExt;

use super::noise::RootNoise;
use super::params::{FirstPlay, FirstPlayParams, RootRule, SearchParams, TreeRule};
use super::tables::probe;
use crate::board::{Game, Move, Reason, Rules, Side, Tablebase};
use crate::network::{Batch, Evaluations, Evaluator, EvaluatorError, Wdl};
use crate::rng::Stream;

/// A position of the reference tree.
#[derive(Debug)]
pub struct Node {
    /// N(s): simulations that reached it.
    pub visits: u32,
    /// W(s): the sum of their values, draws at their worth.
    pub value_sum: f64,
    /// The sum of their P(draw).
    pub draw_sum: f64,
    /// Its own evaluation.
    pub evaluation: Wdl,
    /// v(s): the value of that, a draw at its worth.
    own_value: f64,
    /// Legal moves in falling order of the prior; empty where no net was asked.
    pub children: Vec<Child>,
    /// 1, 0 or −1 once the result is certain.
    pub certain: Option<i8>,
    /// Whether it counts as a draw because it repeats a position of the tree.
    repeated: bool,
}

/// A legal move of a [`Node`].
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
    /// The sum of the squares of its values.
    pub square_sum: f64,
    /// The place of the position it leads to, once visited.
    pub node: Option<usize>,
}

const ROOT: usize = 0;

/// What a visit brings to a position: its value for the side to move there, and P(draw).
#[derive(Clone, Copy)]
struct Brought {
    value: f64,
    draw: f64,
}

/// A search of one position.
pub struct Reference<'a> {
    game: Game,
    rules: Rules,
    params: &'a SearchParams,
    /// The positions reached; the first is the one searched.
    nodes: Vec<Node>,
    /// Where each position is found, if positions are shared.
    shared: HashMap<(u64, bool), usize>,
    tables: Option<Tablebase>,
    /// The moves of the root that may be searched; empty for all.
    allowed: Vec<Move>,
    /// Whether tried moves of the root are forced to have visits.
    forcing: bool,
}

impl<'a> Reference<'a> {
    /// Evaluates the root.
    pub fn new(
        game: &Game,
        rules: Rules,
        params: &'a SearchParams,
        evaluator: &mut dyn Evaluator,
    ) -> Result<Self, EvaluatorError> {
        let (nodes, shared) = (Vec::new(), HashMap::new());
        let (tables, allowed, forcing) = (None, Vec::new(), false);
        let mut search = Self { game: game.clone(), rules, params, nodes, shared, tables, allowed, forcing };
        let mut root = search.expand(0, evaluator)?;
        if params.mate_in_one && has_mate(game) {
            root.certain = Some(1);
        }
        search.nodes.push(root);
        Ok(search)
    }

    /// The position searched.
    pub fn root(&self) -> &Node {
        &self.nodes[ROOT]
    }

    /// All positions reached, the one searched first; [`Child::node`] gives a place among them.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Replaces the prior and the Gumbel sample of every move of the root.
    pub fn set_root(&mut self, of: impl Fn(Move) -> (f32, f64)) {
        let children = &mut self.nodes[ROOT].children;
        for child in &mut *children {
            let (prior, noise) = of(child.played);
            (child.prior, child.noise) = (f64::from(prior), noise);
        }
        children.sort_by(|a, b| b.prior.total_cmp(&a.prior));
    }

    /// Lets the search ask tables at new positions, and confines the root to some moves; none for all.
    pub fn ask(&mut self, tables: Option<Tablebase>, allowed: &[Move]) {
        self.tables = tables.filter(|_| self.params.ask_at_leaves());
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
            child.noise = scale * -(-uniform.max(f64::MIN_POSITIVE).ln()).ln();
        }
    }

    /// Forces visits as far as `forced_playouts` says.
    pub fn force_playouts(&mut self) {
        self.forcing = true;
    }

    /// Spends the budget.
    pub fn run(&mut self, evaluator: &mut dyn Evaluator) -> Result<(), EvaluatorError> {
        let open = self.root().children.iter().filter(|child| self.is_allowed(child)).count();
        let considered = self.params.root.considered.min(open as u32);
        let due = considered_visits(considered, self.params.simulations.saturating_sub(1));
        let mut looked_at = Vec::new();
        for due in due {
            let settled = self.params.stop_when_settled && self.is_settled();
            let full = self.nodes.len() >= self.params.max_nodes as usize;
            if self.root().certain.is_some() || settled || full || self.gained_little(&mut looked_at) {
                break;
            }
            let best = match self.params.root.rule {
                RootRule::Puct => self.select_puct(ROOT, 0),
                RootRule::Gumbel => self.select_gumbel(due),
            };
            self.simulate(ROOT, best, 0, evaluator)?;
        }
        Ok(())
    }

    /// Whether the most visited move would stay it if all simulations left went to the second.
    fn is_settled(&self) -> bool {
        let mut visits: Vec<u32> = self.root().children.iter().map(|child| child.visits).collect();
        visits.sort_unstable_by(|a, b| b.cmp(a));
        let second = visits.get(1).copied().unwrap_or(0);
        visits[0] > second + self.params.simulations - self.root().visits
    }

    /// Whether the shares of visits changed less than asked since the last look, after every interval of visits.
    fn gained_little(&self, looked_at: &mut Vec<u32>) -> bool {
        let Some(stop) = &self.params.stop_by_gain else { return false };
        let now: Vec<u32> = self.root().children.iter().map(|child| child.visits).collect();
        let (before, after) = (looked_at.iter().sum::<u32>(), now.iter().sum::<u32>());
        if after < before + stop.interval {
            return false;
        }
        let share = |visits: &u32, all: u32| f64::from(*visits) / f64::from(all);
        let pairs = looked_at.iter().zip(&now).filter(|(old, _)| **old > 0);
        let gain: f64 =
            pairs.map(|(old, new)| share(old, before) * (share(old, before) / share(new, after)).ln()).sum();
        *looked_at = now;
        before > 0 && gain / f64::from(after - before) < stop.minimum
    }

    /// What a draw is worth to the side to move at a depth.
    fn draw_value(&self, depth: u32) -> f64 {
        if depth.is_multiple_of(2) { self.params.draw_score } else { -self.params.draw_score }
    }

    /// What is certain, else the mean of the simulations: Q(s) = W(s) / N(s).
    fn value(&self, node: &Node, depth: u32) -> f64 {
        let certain = |result: i8| if result == 0 { self.draw_value(depth) } else { f64::from(result) };
        node.certain.map_or(node.value_sum / f64::from(node.visits), certain)
    }

    /// Q(s, a) for the side that makes the move: the child's value is the opponent's.
    fn q(&self, child: &Child, depth: u32) -> Option<f64> {
        child.node.map(|node| -self.value(&self.nodes[node], depth + 1))
    }

    /// A move's certain result for the side that makes it.
    fn certain(&self, child: &Child) -> Option<i8> {
        child.node.and_then(|node| self.nodes[node].certain).map(|result| -result)
    }

    /// One simulation through a move of a position: selection, expansion, evaluation, back-up.
    fn simulate(
        &mut self,
        at: usize,
        best: usize,
        depth: u32,
        evaluator: &mut dyn Evaluator,
    ) -> Result<Brought, EvaluatorError> {
        let child = &self.nodes[at].children[best];
        let (ply, visits) = (self.game.ply(), child.visits);
        // In a graph the same move may lead elsewhere: by another way the position may repeat one.
        let known = child.node.filter(|_| !self.params.graph);
        self.game.play_unchecked(child.played);
        let (below, is_new) = match known {
            Some(below) => (below, false),
            None => self.reach(depth + 1, evaluator)?,
        };
        self.nodes[at].children[best].node = Some(below);
        let brought = self.visit_below(below, is_new, visits, depth + 1, evaluator)?;
        self.game.take_back_to(ply);
        let q = if self.params.graph { self.known(below, depth + 1).value } else { brought.value };
        let child = &mut self.nodes[at].children[best];
        (child.visits, child.square_sum) = (child.visits + 1, child.square_sum + q * q);
        if self.params.solver {
            self.nodes[at].certain = self.solved(at);
        }
        Ok(self.count(at, Brought { value: -brought.value, ..brought }, depth))
    }

    /// What is known of a position so far.
    fn known(&self, at: usize, depth: u32) -> Brought {
        let node = &self.nodes[at];
        let mean = || node.draw_sum / f64::from(node.visits);
        let draw = node.certain.map_or_else(mean, |result| f64::from(i8::from(result == 0)));
        Brought { value: self.value(node, depth), draw }
    }

    /// What a visit of a position that the move to it was visited `visits` times before is worth to its side to move.
    fn visit_below(
        &mut self,
        at: usize,
        is_new: bool,
        visits: u32,
        depth: u32,
        evaluator: &mut dyn Evaluator,
    ) -> Result<Brought, EvaluatorError> {
        if self.params.graph && self.params.solver && !self.nodes[at].children.is_empty() {
            self.nodes[at].certain = self.solved(at);
        }
        let node = &self.nodes[at];
        if is_new {
            return Ok(self.known(at, depth));
        }
        if node.certain.is_some() || node.repeated {
            let known = self.known(at, depth);
            return Ok(visit(&mut self.nodes[at], known));
        }
        // Shared positions: a move to a position that other moves visited more often catches up (Wu 2023).
        if self.params.graph && visits < node.visits {
            return Ok(self.known(at, depth));
        }
        let next = match self.params.tree_rule {
            TreeRule::Puct => self.select_puct(at, depth),
            TreeRule::Improved => self.select_improved(at, depth),
        };
        self.simulate(at, next, depth, evaluator)
    }

    /// Counts a visit, with what is certain instead of what it brought. In a graph `Q(s) = (v(s) + Σ N(s, a) · Q(s, a)) / N(s)`
    /// (Wu 2023).
    fn count(&mut self, at: usize, brought: Brought, depth: u32) -> Brought {
        let brought = if self.nodes[at].certain.is_some() { self.known(at, depth) } else { brought };
        if !self.params.graph {
            return visit(&mut self.nodes[at], brought);
        }
        let node = &self.nodes[at];
        let (mut value, mut draw) = (node.own_value, f64::from(node.evaluation.draw));
        for child in &node.children {
            let Some(below) = child.node else { continue };
            let below = self.known(below, depth + 1);
            value -= f64::from(child.visits) * below.value;
            draw += f64::from(child.visits) * below.draw;
        }
        let node = &mut self.nodes[at];
        (node.visits, node.value_sum, node.draw_sum) = (node.visits + 1, value, draw);
        brought
    }

    /// argmax over a of `Q(s, a) + c · P(s, a) · √N(s) / (1 + N(s, a))`; the larger prior wins ties (Silver et al. 2018).
    fn select_puct(&self, at: usize, depth: u32) -> usize {
        let (node, params) = (&self.nodes[at], self.params);
        let at_root = depth == 0;
        let init = params.root.c_puct.filter(|_| at_root).unwrap_or(params.c_puct);
        let n = f64::from(node.visits);
        let c = init + params.c_puct_factor * ((n + params.c_puct_base + 1.0) / params.c_puct_base).ln();
        let first_play = params.root.first_play.as_ref().filter(|_| at_root).unwrap_or(&params.first_play);
        let untried = first_play_value(first_play, node);
        let mut best = (0, f64::NEG_INFINITY);
        for (at, child) in node.children.iter().enumerate() {
            let lost = params.solver && self.certain(child) == Some(-1);
            if lost || at_root && !self.is_allowed(child) {
                continue;
            }
            if at_root && self.forcing && self.is_forced(child, node.visits) {
                return at;
            }
            let q = self.q(child, depth).unwrap_or(untried);
            let u = c * n.sqrt() * child.prior / f64::from(1 + child.visits);
            if q + u > best.1 {
                best = (at, q + u);
            }
        }
        best.0
    }

    fn is_allowed(&self, child: &Child) -> bool {
        self.allowed.is_empty() || self.allowed.contains(&child.played)
    }

    /// `n_forced(c) = √(k · P(c) · Σ N)` for moves that were tried (Wu 2020, section 3.2).
    fn is_forced(&self, child: &Child, parent_visits: u32) -> bool {
        let all = f64::from(parent_visits - 1);
        let forced = (self.params.root.forced_playouts * child.prior * all).sqrt();
        child.visits > 0 && f64::from(child.visits) < forced
    }

    /// Of the moves with the visits that sequential halving asks for, argmax of `g(a) + logit(a) + σ(q(a))` (Danihelka et al.
    /// 2022, algorithm 2).
    fn select_gumbel(&self, due: u32) -> usize {
        let (root, scores) = (self.root(), self.scores());
        let open = |at: &usize| {
            let child = &root.children[*at];
            self.is_allowed(child) && self.certain(child) != Some(-1)
        };
        let scheduled = |at: &usize| open(at) && root.children[*at].visits == due;
        let all = 0..root.children.len();
        argmax(all.clone().filter(scheduled), &scores)
            .or_else(|| argmax(all.filter(open), &scores))
            .unwrap_or(0)
    }

    /// `g(a) + logit(a) + σ(completed q(a))`.
    fn scores(&self) -> Vec<f64> {
        let logits = self.improved_logits(self.root(), 0);
        logits.into_iter().zip(&self.root().children).map(|(logit, child)| logit + child.noise).collect()
    }

    /// argmax of `π'(a) − N(a) / (1 + Σ N)` (Danihelka et al. 2022, section 5).
    fn select_improved(&self, at: usize, depth: u32) -> usize {
        let node = &self.nodes[at];
        let policy = softmax(&self.improved_logits(node, depth));
        let all: u32 = node.children.iter().map(|child| child.visits).sum();
        let lag = |(share, child): (f64, &Child)| share - f64::from(child.visits) / f64::from(1 + all);
        let lags: Vec<f64> = policy.into_iter().zip(&node.children).map(lag).collect();
        let open = |at: &usize| self.certain(&node.children[*at]) != Some(-1);
        argmax((0..lags.len()).filter(open), &lags).unwrap_or(0)
    }

    /// `logit(a) + (c_visit + max N) · c_scale · q(a)`, q of unvisited moves completed by the mixed value (equation 8 and
    /// appendix D).
    fn improved_logits(&self, node: &Node, depth: u32) -> Vec<f64> {
        let params = &self.params.improved_policy;
        let visited = || node.children.iter().filter(|child| child.visits > 0);
        let total: f64 = visited().map(|child| f64::from(child.visits)).sum();
        let prior: f64 = visited().map(|child| child.prior).sum();
        let weighted: f64 = visited().map(|child| child.prior * self.q(child, depth).unwrap_or(0.0)).sum();
        let mixed = if prior > 0.0 {
            (node.own_value + total * weighted / prior) / (1.0 + total)
        } else {
            node.own_value
        };
        let mut q: Vec<f64> =
            node.children.iter().map(|child| self.q(child, depth).unwrap_or(mixed)).collect();
        if params.rescale {
            let low = q.iter().copied().fold(f64::INFINITY, f64::min);
            let high = q.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            q = q.into_iter().map(|q| (q - low) / (high - low).max(1e-8)).collect();
        }
        let most = visited().map(|child| child.visits).max().unwrap_or(0);
        let scale = (params.c_visit + f64::from(most)) * params.c_scale;
        let logit = |child: &Child| child.prior.max(f64::from(f32::MIN_POSITIVE)).ln();
        q.into_iter().zip(&node.children).map(|(q, child)| logit(child) + scale * q).collect()
    }

    /// The move that a Gumbel root plays: of the most visited ones, argmax of `g(a) + logit(a) + σ(q(a))`.
    pub fn gumbel_choice(&self) -> Move {
        let (root, scores) = (self.root(), self.scores());
        let most = root.children.iter().map(|child| child.visits).max();
        let best = argmax((0..scores.len()).filter(|at| Some(root.children[*at].visits) == most), &scores);
        root.children[best.unwrap_or(0)].played
    }

    /// The improved policy of the root, in the order of its children.
    pub fn improved_policy(&self) -> Vec<f64> {
        softmax(&self.improved_logits(self.root(), 0))
    }

    /// The place of the present position, `depth` plies below the root, and whether it is new.
    fn reach(&mut self, depth: u32, evaluator: &mut dyn Evaluator) -> Result<(usize, bool), EvaluatorError> {
        let two_fold = self.params.two_fold_draws && self.repeats(depth);
        let key = (self.game.state_key(), two_fold);
        if let Some(found) = self.shared.get(&key).filter(|_| self.params.graph) {
            return Ok((*found, false));
        }
        let node = self.look(depth, evaluator)?;
        self.nodes.push(node);
        self.shared.insert(key, self.nodes.len() - 1);
        Ok((self.nodes.len() - 1, true))
    }

    fn look(&self, depth: u32, evaluator: &mut dyn Evaluator) -> Result<Node, EvaluatorError> {
        if let Some(outcome) = self.game.outcome(&self.rules) {
            let side = self.game.position().side_to_move();
            let end = certain_node(outcome.score_for(side), self.draw_value(depth));
            // In a graph other ways lead here without a repetition, so it proves nothing.
            let repeated = self.params.graph && outcome.reason == Reason::Threefold;
            return Ok(if repeated { Node { certain: None, repeated, ..end } } else { end });
        }
        if self.params.mate_in_one && has_mate(&self.game) {
            return Ok(certain_node(1, 0.0));
        }
        if let Some(proof) = self.tables.as_ref().map_or(Ok(None), |tables| probe(tables, &self.game))? {
            return Ok(certain_node(proof.value(0.0) as i8, self.draw_value(depth)));
        }
        if self.params.two_fold_draws && self.repeats(depth) {
            let draw = certain_node(0, self.draw_value(depth));
            return Ok(Node { certain: None, repeated: true, ..draw });
        }
        self.expand(depth, evaluator)
    }

    /// A node is won by one winning move, and otherwise worth its best move once all are certain (Winands et al. 2008).
    fn solved(&self, at: usize) -> Option<i8> {
        let results = || self.nodes[at].children.iter().map(|child| self.certain(child));
        if results().any(|result| result == Some(1)) {
            return Some(1);
        }
        let all: Option<Vec<i8>> = results().collect();
        all.and_then(|results| results.into_iter().max())
    }

    /// Whether the position stood on the board at or after the root.
    fn repeats(&self, depth: u32) -> bool {
        let mut game = self.game.clone();
        let (key, last) = (game.key(), game.ply());
        (1..=depth as usize).any(|plies| {
            game.take_back_to(last - plies);
            game.key() == key
        })
    }

    /// Asks the net; the node has its first visit.
    fn expand(&self, depth: u32, evaluator: &mut dyn Evaluator) -> Result<Node, EvaluatorError> {
        let (game, params) = (&self.game, self.params);
        let moves = game.position().legal_moves();
        let side: Side = game.position().side_to_move();
        let mut batch = Batch::default();
        evaluator.encoding().encode(game, &mut batch.binary, &mut batch.scalars);
        batch.legal = moves.iter().map(|played| evaluator.encoding().policy_index(*played, side)).collect();
        batch.legal_ends = vec![moves.len() as u32];
        batch.keys = vec![game.key()];
        let mut answer = Evaluations::default();
        evaluator.evaluate(&batch, &mut answer)?;
        let at_root = params.root.policy_temperature.filter(|_| depth == 0);
        let priors = tempered(&answer.policy, at_root.unwrap_or(params.policy_temperature));
        let child = |(played, prior): (&Move, f64)| Child {
            played: *played,
            prior,
            noise: 0.0,
            visits: 0,
            square_sum: 0.0,
            node: None,
        };
        let mut children: Vec<Child> = moves.iter().zip(priors).map(child).collect();
        children.sort_by(|a, b| b.prior.total_cmp(&a.prior));
        Ok(new_node(answer.wdl[0], self.draw_value(depth), children))
    }
}

fn visit(node: &mut Node, brought: Brought) -> Brought {
    node.visits += 1;
    node.value_sum += brought.value;
    node.draw_sum += brought.draw;
    brought
}

fn certain_node(result: i8, draw_value: f64) -> Node {
    let evaluation = [Wdl::LOSS, Wdl::DRAW, Wdl::WIN][(result + 1) as usize];
    Node { certain: Some(result), ..new_node(evaluation, draw_value, Vec::new()) }
}

fn new_node(evaluation: Wdl, draw_value: f64, children: Vec<Child>) -> Node {
    let own_value = f64::from(evaluation.value()) + f64::from(evaluation.draw) * draw_value;
    Node {
        visits: 1,
        value_sum: own_value,
        draw_sum: evaluation.draw.into(),
        evaluation,
        own_value,
        children,
        certain: None,
        repeated: false,
    }
}

/// Whether some legal move mates, by trying all of them.
fn has_mate(game: &Game) -> bool {
    game.position().legal_moves().into_iter().any(|played| {
        let mut after = game.clone();
        after.play_unchecked(played);
        !after.position().has_legal_move() && after.position().is_check()
    })
}

/// The value of moves without a visit.
fn first_play_value(params: &FirstPlayParams, node: &Node) -> f64 {
    let parent = node.value_sum / f64::from(node.visits);
    let tried: f64 = node.children.iter().filter(|child| child.node.is_some()).map(|child| child.prior).sum();
    match params.kind {
        FirstPlay::Absolute => params.value,
        FirstPlay::Reduction => parent - params.value * tried.sqrt(),
        FirstPlay::Parent => parent,
    }
}

/// The visits that each descent's move must have so far: sequential halving (Karnin et al. 2013) as one list.
fn considered_visits(considered: u32, descents: u32) -> Vec<u32> {
    let phases = f64::from(considered.max(2)).log2().ceil();
    let (mut list, mut visits, mut left) = (Vec::new(), 0, considered.max(1));
    while list.len() < descents as usize {
        let passes = (f64::from(descents) / (phases * f64::from(left))).floor().max(1.0) as u32;
        for _ in 0..passes {
            list.extend(std::iter::repeat_n(visits, left as usize));
            visits += 1;
        }
        left = (left / 2).max(2).min(left);
    }
    list.truncate(descents as usize);
    list
}

/// `P^(1/T)`, normalised.
fn tempered(priors: &[f32], temperature: f64) -> Vec<f64> {
    if temperature == 1.0 {
        return priors.iter().map(|prior| f64::from(*prior)).collect();
    }
    let largest = f64::from(priors.iter().copied().fold(f32::MIN_POSITIVE, f32::max));
    let powers: Vec<f64> =
        priors.iter().map(|prior| (f64::from(*prior) / largest).powf(1.0 / temperature)).collect();
    let total: f64 = powers.iter().sum();
    // The tree holds priors as 32-bit floats.
    powers.into_iter().map(|power| f64::from((power / total) as f32)).collect()
}

fn softmax(logits: &[f64]) -> Vec<f64> {
    let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = logits.iter().map(|logit| (logit - largest).exp()).sum();
    logits.iter().map(|logit| (logit - largest).exp() / total).collect()
}

/// The first of the largest scores.
fn argmax(places: impl Iterator<Item = usize>, scores: &[f64]) -> Option<usize> {
    places.reduce(|a, b| if scores[b] > scores[a] { b } else { a })
}
