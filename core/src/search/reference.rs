//! The search written to be read: recursive, one leaf at a time, nothing shared with the fast one but its parameters.
//!
//! With the same evaluator it visits exactly the same moves as [`super::Search`] with one leaf in flight.

use super::params::{FirstPlay, SearchParams};
use crate::board::{Game, Move, Rules};
use crate::network::{Batch, Evaluations, Evaluator, EvaluatorError};

/// A position of the reference tree; values are for its side to move.
#[derive(Debug)]
pub struct Node {
    /// Simulations that reached it.
    pub visits: u32,
    /// Sum of their values.
    pub value_sum: f64,
    /// Legal moves in falling order of the prior; empty where the result was certain from the start.
    pub children: Vec<Child>,
    /// 1, 0 or −1 once the result is certain.
    pub certain: Option<i8>,
}

impl Node {
    /// What is certain, else the mean of the simulations.
    pub fn value(&self) -> f64 {
        self.certain.map_or(self.value_sum / f64::from(self.visits), f64::from)
    }
}

/// A legal move of a [`Node`].
#[derive(Debug)]
pub struct Child {
    /// The move.
    pub played: Move,
    /// Its prior P.
    pub prior: f64,
    /// The position it leads to, once visited.
    pub node: Option<Box<Node>>,
}

impl Child {
    /// N(s, a).
    pub fn visits(&self) -> u32 {
        self.node.as_ref().map_or(0, |node| node.visits)
    }

    /// The move's certain result for the side that makes it.
    fn certain(&self) -> Option<i8> {
        self.node.as_ref().and_then(|node| node.certain).map(|result| -result)
    }

    /// Q(s, a) for the side that makes the move: the child's value is the opponent's. Certain losses are no choice.
    fn q(&self, params: &SearchParams) -> Option<f64> {
        if params.solver && self.certain() == Some(-1) {
            return Some(f64::NEG_INFINITY);
        }
        self.node.as_ref().map(|node| -node.value())
    }
}

/// Searches the present position of a game and returns the root.
pub fn search(
    game: &Game,
    rules: &Rules,
    params: &SearchParams,
    evaluator: &mut dyn Evaluator,
) -> Result<Node, EvaluatorError> {
    let mut game = game.clone();
    let (mut root, _) = expand(&game, rules, evaluator)?;
    root.certain = (params.mate_in_one && has_mate(&game)).then_some(1);
    while root.visits < params.simulations && root.certain.is_none() {
        simulate(&mut root, &mut game, rules, params, evaluator)?;
    }
    Ok(root)
}

/// One simulation from `node`: selection, expansion, evaluation, back-up. Returns the value for `node`'s side to move.
fn simulate(
    node: &mut Node,
    game: &mut Game,
    rules: &Rules,
    params: &SearchParams,
    evaluator: &mut dyn Evaluator,
) -> Result<f64, EvaluatorError> {
    if let Some(certain) = node.certain {
        return Ok(visit(node, f64::from(certain)));
    }
    let best = select(node, params);
    let child = &mut node.children[best];
    let ply = game.ply();
    game.play_unchecked(child.played);
    let value = if let Some(below) = &mut child.node {
        simulate(below, game, rules, params, evaluator)?
    } else {
        let (below, value) = reach(game, rules, params, evaluator)?;
        child.node = Some(Box::new(below));
        value
    };
    game.take_back_to(ply);
    if params.solver {
        node.certain = solved(node);
    }
    let value = node.certain.map_or(-value, f64::from);
    Ok(visit(node, value))
}

fn visit(node: &mut Node, value: f64) -> f64 {
    node.visits += 1;
    node.value_sum += value;
    value
}

/// A node is won by one winning move, and otherwise worth its best move once all are certain.
fn solved(node: &Node) -> Option<i8> {
    if node.children.iter().any(|child| child.certain() == Some(1)) {
        return Some(1);
    }
    let all: Option<Vec<i8>> = node.children.iter().map(Child::certain).collect();
    all.and_then(|results| results.into_iter().max())
}

/// argmax over a of `Q(s, a) + c_puct · P(s, a) · √N(s) / (1 + N(s, a))`; the larger prior wins ties.
fn select(node: &Node, params: &SearchParams) -> usize {
    let visited: f64 =
        node.children.iter().filter(|child| child.node.is_some()).map(|child| child.prior).sum();
    let unvisited_q = match params.first_play.kind {
        FirstPlay::Absolute => params.first_play.value,
        FirstPlay::Reduction => {
            node.value_sum / f64::from(node.visits) - params.first_play.value * visited.sqrt()
        }
    };
    let mut best = (0, f64::NEG_INFINITY);
    for (at, child) in node.children.iter().enumerate() {
        let q = child.q(params).unwrap_or(unvisited_q);
        let u = params.c_puct * child.prior * f64::from(node.visits).sqrt() / f64::from(1 + child.visits());
        if q + u > best.1 {
            best = (at, q + u);
        }
    }
    best.0
}

/// A node below the root that is reached for the first time.
fn reach(
    game: &Game,
    rules: &Rules,
    params: &SearchParams,
    evaluator: &mut dyn Evaluator,
) -> Result<(Node, f64), EvaluatorError> {
    let wins = params.mate_in_one && game.outcome(rules).is_none() && has_mate(game);
    if wins { Ok(certain_node(1)) } else { expand(game, rules, evaluator) }
}

/// Whether some legal move mates, by trying all of them.
fn has_mate(game: &Game) -> bool {
    game.position().legal_moves().into_iter().any(|played| {
        let mut after = game.clone();
        after.play_unchecked(played);
        !after.position().has_legal_move() && after.position().is_check()
    })
}

fn certain_node(result: i8) -> (Node, f64) {
    let value = f64::from(result);
    (Node { visits: 1, value_sum: value, children: Vec::new(), certain: Some(result) }, value)
}

/// A new node with its first visit, and its value for the side to move.
fn expand(game: &Game, rules: &Rules, evaluator: &mut dyn Evaluator) -> Result<(Node, f64), EvaluatorError> {
    if let Some(outcome) = game.outcome(rules) {
        return Ok(certain_node(outcome.score_for(game.position().side_to_move())));
    }
    let moves = game.position().legal_moves();
    let side = game.position().side_to_move();
    let mut batch = Batch::default();
    evaluator.encoding().encode(game, &mut batch.binary, &mut batch.scalars);
    batch.legal = moves.iter().map(|played| evaluator.encoding().policy_index(*played, side)).collect();
    batch.legal_ends = vec![moves.len() as u32];
    batch.keys = vec![game.key()];
    let mut answer = Evaluations::default();
    evaluator.evaluate(&batch, &mut answer)?;
    let child =
        |(played, prior): (&Move, &f32)| Child { played: *played, prior: f64::from(*prior), node: None };
    let mut children: Vec<Child> = moves.iter().zip(&answer.policy).map(child).collect();
    children.sort_by(|a, b| b.prior.total_cmp(&a.prior));
    let value = f64::from(answer.wdl[0].value());
    Ok((Node { visits: 1, value_sum: value, children, certain: None }, value))
}
