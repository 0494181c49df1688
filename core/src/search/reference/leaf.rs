//! New nodes of the reference search, and proven results.

use super::super::tablebases::probe;
use super::{Child, Node, Reference};
use crate::board::{Game, Move, Reason, Side};
use crate::network::{Batch, Evaluations, Evaluator, EvaluatorError, Quiescence, RowEvaluation, Wdl, power};

impl Reference<'_> {
    /// The node of the current position, `depth` plies below the root and one below `parent`, and whether it is new.
    pub(super) fn reach(
        &mut self,
        parent: usize,
        depth: u32,
        evaluator: &mut dyn Evaluator,
    ) -> Result<(usize, bool), EvaluatorError> {
        let two_fold = self.params.two_fold_draws && self.repetition(depth).is_some();
        let key = (self.game.state_key(), two_fold);
        if let Some(found) = self.shared.get(&key).filter(|_| self.params.graph) {
            return Ok((*found, false));
        }
        let node = self.create_node(parent, depth, evaluator)?;
        self.nodes.push(node);
        self.shared.insert(key, self.nodes.len() - 1);
        Ok((self.nodes.len() - 1, true))
    }

    fn create_node(
        &mut self,
        parent: usize,
        depth: u32,
        evaluator: &mut dyn Evaluator,
    ) -> Result<Node, EvaluatorError> {
        if let Some(outcome) = self.game.outcome_by_rules(self.game.position().has_legal_move()) {
            let side = self.game.position().side_to_move();
            let end = proven_node(outcome.score_for(side), self.draw_value(depth), 0.0);
            // In a graph other paths lead here without a repetition, so it proves nothing.
            let repeated = self.params.graph && outcome.reason == Reason::Threefold;
            return Ok(if repeated { Node { proven: None, repeated, ..end } } else { end });
        }
        if self.params.mate_in_one && has_mate(&self.game, &self.game.position().legal_moves()) {
            return Ok(proven_node(1, 0.0, 1.0));
        }
        let probed = self.tablebase.as_ref().map_or(Ok(None), |tablebase| probe(tablebase, &self.game))?;
        if let Some(proof) = probed {
            // Tablebases know the result but not its distance, so it is a ply less than at the parent.
            let plies = (self.estimate(parent, depth - 1).moves_left - 1.0).max(0.0);
            return Ok(proven_node(proof.value(0.0) as i8, self.draw_value(depth), plies));
        }
        if let Some(plies) = self.repetition(depth).filter(|_| self.params.two_fold_draws) {
            let draw = proven_node(0, self.draw_value(depth), plies.into());
            return Ok(Node { proven: None, repeated: true, ..draw });
        }
        self.expand(depth, evaluator)
    }

    /// Sets the result of a node that its moves prove, and its moves left: one ply more than after the shortest win, or after the
    /// longest move with another result.
    pub(super) fn solve(&mut self, id: usize) {
        let proven = self.solved(id);
        self.nodes[id].proven = proven;
        let Some(result) = proven else { return };
        let proving = self.nodes[id].children.iter().filter(|child| self.proven(child) == proven);
        let lengths = proving.filter_map(|child| child.node).map(|node| self.nodes[node].moves_left);
        let best = if result == 1 { lengths.reduce(f64::min) } else { lengths.reduce(f64::max) };
        self.nodes[id].moves_left = best.map_or(0.0, |plies| plies + 1.0);
    }

    /// A node is won if one move wins; otherwise its result is the best of its moves' once all are proven (Winands et al. 2008).
    fn solved(&self, id: usize) -> Option<i8> {
        let results = || self.nodes[id].children.iter().map(|child| self.proven(child));
        if results().any(|result| result == Some(1)) {
            return Some(1);
        }
        let all: Option<Vec<i8>> = results().collect();
        all.and_then(|results| results.into_iter().max())
    }

    /// Plies since the position last occurred, if it did at or after the root.
    fn repetition(&self, depth: u32) -> Option<u32> {
        let mut game = self.game.clone();
        let (key, last) = (game.key(), game.ply());
        (1..=depth).find(|plies| {
            game.take_back_to(last - *plies as usize);
            game.key() == key
        })
    }

    /// A node with the net's evaluation of the current position, and its first visit.
    pub(super) fn expand(
        &mut self,
        depth: u32,
        evaluator: &mut dyn Evaluator,
    ) -> Result<Node, EvaluatorError> {
        let (game, params) = (&self.game, self.params);
        let moves = game.position().legal_moves();
        let side: Side = game.position().side_to_move();
        let mut batch = Batch::default();
        evaluator.encoding().encode(game, &mut batch.binary, &mut batch.scalars);
        batch.legal = moves.iter().map(|mv| evaluator.encoding().policy_index(*mv, side)).collect();
        batch.legal_ends = vec![moves.len() as u32];
        batch.keys = vec![game.key()];
        batch.quiescence = vec![Quiescence::of_param(params.quiescence)];
        let has_mirror = params.average_mirror && batch.push_pair(evaluator.encoding());
        let (mut evaluations, mut policy) = (Evaluations::default(), Vec::new());
        evaluator.evaluate(&batch, &mut evaluations)?;
        self.evaluated += batch.len();
        let RowEvaluation { wdl, moves_left } = evaluations.row(&batch, 0, has_mirror, &mut policy);
        let at_root = params.root.policy_temperature.filter(|_| depth == 0);
        let priors = with_policy_temperature(&policy, at_root.unwrap_or(params.policy_temperature));
        let child = |(mv, prior): (&Move, f64)| Child {
            played: *mv,
            prior,
            noise: 0.0,
            visits: 0,
            deviation_sum: 0.0,
            node: None,
        };
        let mut children: Vec<Child> = moves.iter().zip(priors).map(child).collect();
        children.sort_by(|a, b| b.prior.total_cmp(&a.prior));
        let moves_left = match (&params.moves_left, moves_left) {
            (Some(_), Some(plies)) => f64::from(plies),
            (Some(_), None) => return Err(EvaluatorError::NoMovesLeft),
            (None, _) => 0.0,
        };
        Ok(Node { moves_left, moves_left_sum: moves_left, ..new_node(wdl, self.draw_value(depth), children) })
    }
}

/// A proven node, with its moves left in plies.
fn proven_node(result: i8, draw_value: f64, plies: f64) -> Node {
    let evaluation = [Wdl::LOSS, Wdl::DRAW, Wdl::WIN][(result + 1) as usize];
    let node = new_node(evaluation, draw_value, Vec::new());
    Node { proven: Some(result), moves_left: plies, moves_left_sum: plies, ..node }
}

fn new_node(evaluation: Wdl, draw_value: f64, children: Vec<Child>) -> Node {
    let own_value = f64::from(evaluation.value()) + f64::from(evaluation.draw) * draw_value;
    Node {
        visits: 1,
        value_sum: own_value,
        draw_sum: evaluation.draw.into(),
        evaluation,
        moves_left: 0.0,
        moves_left_sum: 0.0,
        own_value,
        mean_square: own_value * own_value,
        children,
        proven: None,
        repeated: false,
    }
}

/// Whether one of these legal moves mates, by trying all of them.
pub(super) fn has_mate(game: &Game, moves: &[Move]) -> bool {
    moves.iter().any(|mv| {
        let mut after = game.clone();
        after.play_unchecked(*mv);
        !after.position().has_legal_move() && after.position().is_check()
    })
}

/// `P^(1/T)`, normalised.
fn with_policy_temperature(priors: &[f32], temperature: f64) -> Vec<f64> {
    if temperature == 1.0 {
        return priors.iter().map(|prior| f64::from(*prior)).collect();
    }
    let largest = priors.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    let exponent = (1.0 / temperature) as f32;
    let powers: Vec<f32> = priors.iter().map(|prior| power(prior / largest, exponent)).collect();
    let total: f64 = powers.iter().copied().map(f64::from).sum();
    // Trees store priors as 32-bit floats.
    powers.into_iter().map(|power| f64::from(power / total as f32)).collect()
}
