//! A net in integers as an [`Evaluator`].

use std::sync::Arc;

use super::accumulator::{Accumulated, FirstLayer};
use super::blocks::Outputs;
use super::instructions::{Dispatch, Instructions, Set, Work};
use super::net::{Head, NnueNet};
use crate::encoding::{Encoding, PolicyIndex};
use crate::network::{Batch, Evaluations, Evaluator, EvaluatorError, expected_result, moves_left, softmax};

/// Evaluates the rows of batches one after the other on one thread. Each row's sums are updated from those of the row at the same
/// place in the batch before, which is most often of the same game. The evaluations do not depend on it.
#[derive(Debug)]
pub struct NnueEvaluator {
    net: Arc<NnueNet>,
    dispatch: Dispatch,
    rows: Vec<Row>,
    scratch: Scratch,
}

/// The sums of a row's position.
#[derive(Debug)]
struct Row {
    sums: Accumulated,
    /// Those of the policy's own first layer.
    policy: Option<Accumulated>,
}

/// Memory for one row.
#[derive(Debug)]
pub(super) struct Scratch {
    outputs: Vec<Outputs>,
    /// Those of the policy's own first layer.
    policy_outputs: Vec<Outputs>,
    hidden: Vec<f32>,
    /// The outputs of the value head.
    pub(super) value: Vec<f32>,
    moves_left: f32,
}

impl NnueEvaluator {
    /// An evaluator with the processor's fastest instructions.
    pub fn new(net: Arc<NnueNet>) -> Self {
        Self::with_instructions(net, Instructions::fastest())
    }

    /// An evaluator with other instructions, to compare them; the fastest ones if the processor lacks these.
    pub fn with_instructions(net: Arc<NnueNet>, instructions: Instructions) -> Self {
        let scratch = Scratch::new(&net);
        Self { net, dispatch: Dispatch::to(instructions), rows: Vec::new(), scratch }
    }

    /// Evaluates all rows without quiescence.
    pub(crate) fn evaluate_at_once(
        &mut self,
        batch: &Batch,
        out: &mut Evaluations,
    ) -> Result<(), EvaluatorError> {
        out.clear();
        out.policy.resize(batch.legal.len(), 0.0);
        let missing = batch.len().saturating_sub(self.rows.len());
        self.rows.extend((0..missing).map(|_| Row {
            sums: self.net.first.empty(),
            policy: self.net.policy_first.as_ref().map(FirstLayer::empty),
        }));
        self.dispatch.run(AllRows { evaluator: self, batch, out })
    }

    #[inline(always)]
    fn rows<S: Set>(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
        let planes = self.net.encoding.binary_count();
        for (row, known) in self.rows[..batch.len()].iter_mut().enumerate() {
            let pieces = batch.binary[row * planes..].first_chunk();
            let pieces = pieces.expect("an nnue's encoding begins with the pieces");
            self.net.first.update(&mut known.sums, pieces);
            let legal = batch.legal_range(row);
            if let (Some(first), Some(sums), false) =
                (&self.net.policy_first, &mut known.policy, legal.is_empty())
            {
                first.update(sums, pieces);
            }
            let policy = &mut out.policy[legal.clone()];
            let (legal, moves) = (&batch.legal[legal], self.net.moves(pieces));
            let is_finite = self.scratch.evaluate::<S>(&self.net, known, moves, legal, policy);
            let wdl = expected_result(self.net.value_head, &mut self.scratch.value).filter(|_| is_finite);
            out.wdl.push(wdl.ok_or(EvaluatorError::NotFinite { row })?);
            if self.net.moves_left.is_some() {
                let plies = moves_left(self.scratch.moves_left).ok_or(EvaluatorError::NotFinite { row })?;
                out.moves_left.push(plies);
            }
        }
        Ok(())
    }
}

/// The evaluation of a whole batch.
struct AllRows<'a> {
    evaluator: &'a mut NnueEvaluator,
    batch: &'a Batch,
    out: &'a mut Evaluations,
}

impl Work for AllRows<'_> {
    type Output = Result<(), EvaluatorError>;

    #[inline(always)]
    fn run<S: Set>(self) -> Self::Output {
        self.evaluator.rows::<S>(self.batch, self.out)
    }
}

impl Scratch {
    pub(super) fn new(net: &NnueNet) -> Self {
        let hidden = |head: &Head| head.hidden.outputs();
        let widest = hidden(&net.value).max(net.moves_left.as_ref().map_or(0, hidden));
        Self {
            outputs: vec![Outputs::ZERO; net.first.width() / 64],
            policy_outputs: net
                .policy_first
                .as_ref()
                .map_or(Vec::new(), |first| vec![Outputs::ZERO; first.width() / 64]),
            hidden: vec![0.0; widest],
            value: vec![0.0; net.value.last.outputs()],
            moves_left: 0.0,
        }
    }

    /// Computes the value head of a position.
    #[inline(always)]
    pub(super) fn evaluate_value<S: Set>(&mut self, net: &NnueNet, sums: &Accumulated) {
        net.first.outputs(sums, &mut self.outputs);
        run::<S>(&net.value, &self.outputs, &mut self.hidden, &mut self.value);
    }

    /// Computes all heads of a position, with the number of each policy index among the possible moves; returns whether its policy is
    /// finite.
    #[inline(always)]
    fn evaluate<S: Set>(
        &mut self,
        net: &NnueNet,
        row: &Row,
        moves: &[u16],
        legal: &[PolicyIndex],
        policy: &mut [f32],
    ) -> bool {
        self.evaluate_value::<S>(net, &row.sums);
        let outputs = match (&net.policy_first, &row.policy) {
            (Some(first), Some(sums)) if !legal.is_empty() => {
                first.outputs(sums, &mut self.policy_outputs);
                &self.policy_outputs
            }
            _ => &self.outputs,
        };
        for (logit, index) in policy.iter_mut().zip(legal) {
            let number = moves[usize::from(index.get())];
            *logit = net.policy.output::<S>(usize::from(number), outputs);
        }
        if let Some(head) = &net.moves_left {
            run::<S>(head, &self.outputs, &mut self.hidden, std::slice::from_mut(&mut self.moves_left));
        }
        softmax(policy)
    }
}

#[inline(always)]
fn run<S: Set>(head: &Head, inputs: &[Outputs], hidden: &mut [f32], last: &mut [f32]) {
    let hidden = &mut hidden[..head.hidden.outputs()];
    for (output, value) in hidden.iter_mut().enumerate() {
        *value = head.hidden.output::<S>(output, inputs).max(0.0);
    }
    head.last.run(hidden, last);
}

impl Evaluator for NnueEvaluator {
    fn encoding(&self) -> &Encoding {
        &self.net.encoding
    }

    fn evaluate(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
        batch.refuse_quiescence()?;
        self.evaluate_at_once(batch, out)
    }
}
