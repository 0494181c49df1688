//! Positions that the reference reaches for the first time, and what is certain of them.

use super::super::tables::probe;
use super::{Child, Node, Reference};
use crate::board::{Game, Move, Reason, Side};
use crate::network::{Batch, Evaluations, Evaluator, EvaluatorError, Wdl};

impl Reference<'_> {
    /// The place of the present position, `depth` plies below the root, and whether it is new.
    pub(super) fn reach(
        &mut self,
        depth: u32,
        evaluator: &mut dyn Evaluator,
    ) -> Result<(usize, bool), EvaluatorError> {
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
    pub(super) fn solved(&self, at: usize) -> Option<i8> {
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
    pub(super) fn expand(&self, depth: u32, evaluator: &mut dyn Evaluator) -> Result<Node, EvaluatorError> {
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
pub(super) fn has_mate(game: &Game) -> bool {
    game.position().legal_moves().into_iter().any(|played| {
        let mut after = game.clone();
        after.play_unchecked(played);
        !after.position().has_legal_move() && after.position().is_check()
    })
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
