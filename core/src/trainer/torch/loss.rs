//! The losses and the other metrics of a batch.

use tch::{Kind, TchError, Tensor};

use super::batch::TrainingBatch;
use crate::network::MOVES_LEFT_SCALE;
use crate::network::torch::Heads;
use crate::trainer::TrainParams;

/// The logit of a padding move: its probability is exactly 0, and unlike minus infinity it stays finite when multiplied by a
/// target of 0.
const PADDING_LOGIT: f64 = -1e9;

/// Sums over the rows of a batch; scalars on the device.
#[derive(Debug)]
pub(super) struct LossSums {
    /// Σ −Σ share · ln policy over the rows with a policy target.
    pub(super) policy: Tensor,
    /// Over all rows: Σ −Σ target · ln wdl, or Σ (tanh x − value)² for a scalar head (AlphaZero 2018, equation 1).
    pub(super) value: Tensor,
    /// Σ of the Huber loss of moves left over the rows whose game was played to its end; 0 without that head.
    pub(super) moves_left: Tensor,
    /// Rows whose likeliest move is (one of) the most visited.
    pub(super) top_moves: Tensor,
}

/// Where the moves-left loss turns from square to linear, in units of [`MOVES_LEFT_SCALE`]: 10 plies, as in Leela's training
/// (`lczero-training`, `tfprocess.py`).
const HUBER_DELTA: f64 = 10.0 / MOVES_LEFT_SCALE;

impl LossSums {
    /// The losses of a net's outputs against a batch's targets.
    pub(super) fn new(heads: &Heads, batch: &TrainingBatch) -> Result<Self, TchError> {
        let logits = heads.policy.f_gather(1, &batch.legal, false)?;
        let logits = logits.f_masked_fill(&batch.padding, PADDING_LOGIT)?;
        Ok(Self {
            policy: cross_entropy(&logits, &batch.shares)?,
            value: value_loss(&heads.value, &batch.wdl)?,
            moves_left: match &heads.moves_left {
                Some(numbers) => moves_left_loss(numbers, batch)?,
                None => Tensor::f_zeros([0i64; 0].as_slice(), (Kind::Float, logits.device()))?,
            },
            top_moves: top_moves(&logits, &batch.shares)?,
        })
    }

    /// The sums in field order and `more`, as one vector on the device.
    pub(super) fn stacked(self, more: Option<Tensor>) -> Result<Tensor, TchError> {
        let sums = [self.policy, self.value, self.moves_left, self.top_moves];
        Tensor::f_stack(&sums.into_iter().chain(more).collect::<Vec<_>>(), 0)?.f_detach()
    }

    /// The loss that is minimised: the weighted sum of means, the policy's over rows with a policy target and moves left over
    /// rows whose game was played to its end.
    pub(super) fn total(&self, batch: &TrainingBatch, params: &TrainParams) -> Result<Tensor, TchError> {
        let policy = params.policy_weight / batch.policy_rows.max(1) as f64;
        let value = params.value_weight / batch.rows as f64;
        let moves_left = params.moves_left_weight / batch.ended_rows.max(1) as f64;
        let total = self.policy.f_mul_scalar(policy)?.f_add(&self.value.f_mul_scalar(value)?)?;
        total.f_add(&self.moves_left.f_mul_scalar(moves_left)?)
    }
}

/// −Σ target · ln softmax(logits).
fn cross_entropy(logits: &Tensor, targets: &Tensor) -> Result<Tensor, TchError> {
    logits.f_log_softmax(1, Kind::Float)?.f_mul(targets)?.f_sum(Kind::Float)?.f_neg()
}

/// `numbers` are `[B, 3]` logits or `[B, 1]` before tanh; `wdl` `[B, 3]` sums to each row's weight.
fn value_loss(numbers: &Tensor, wdl: &Tensor) -> Result<Tensor, TchError> {
    if numbers.size()[1] == 3 {
        return cross_entropy(numbers, wdl);
    }
    let weight = wdl.f_sum_dim_intlist([1i64].as_slice(), true, Kind::Float)?;
    let difference = wdl.f_narrow(1, 0, 1)?.f_sub(&wdl.f_narrow(1, 2, 1)?)?;
    // A row of weight 0 has a difference of 0, so any divisor will do.
    let target = difference.f_div(&weight.f_clamp_min(f64::from(f32::MIN_POSITIVE))?)?;
    numbers.f_tanh()?.f_sub(&target)?.f_square()?.f_mul(&weight)?.f_sum(Kind::Float)
}

/// Huber 1964 on plies / 20, divided by delta, so that its slope is at most 1.
fn moves_left_loss(numbers: &Tensor, batch: &TrainingBatch) -> Result<Tensor, TchError> {
    let predicted = numbers.f_squeeze_dim(1)?.f_softplus()?;
    let target = batch.plies_left.f_div_scalar(MOVES_LEFT_SCALE)?;
    let loss = predicted.f_huber_loss(&target, tch::Reduction::None, HUBER_DELTA)?;
    loss.f_mul(&batch.ended)?.f_div_scalar(HUBER_DELTA)?.f_sum(Kind::Float)
}

fn top_moves(logits: &Tensor, shares: &Tensor) -> Result<Tensor, TchError> {
    let share = shares.f_gather(1, &logits.f_argmax(1, true)?, false)?;
    let most = shares.f_amax(1, true)?;
    share.f_eq_tensor(&most)?.f_logical_and(&most.f_gt(0.0)?)?.f_sum(Kind::Float)
}

/// Sums over samples as plain numbers, for means over any number of batches.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Totals {
    rows: f64,
    policy_rows: f64,
    ended_rows: f64,
    policy: f64,
    value: f64,
    moves_left: f64,
    top_moves: f64,
    policy_entropy: f64,
}

/// Means over samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Means {
    /// Cross-entropy of the policy, in nats.
    pub(super) policy_loss: f64,
    /// Cross-entropy of win, draw and loss in nats, or the squared error of a scalar head.
    pub(super) value_loss: f64,
    /// Huber loss of moves left; 0 without that head.
    pub(super) moves_left_loss: f64,
    /// Share of rows whose likeliest move is the most visited.
    pub(super) policy_accuracy: f64,
    /// Entropy of the policy targets, in nats: the least possible `policy_loss`.
    pub(super) policy_entropy: f64,
}

impl Totals {
    /// The totals of one batch, from the values of its [`LossSums`] in field order.
    pub(super) fn new([policy, value, moves_left, top_moves]: [f64; 4], batch: &TrainingBatch) -> Self {
        Self {
            rows: batch.rows as f64,
            policy_rows: batch.policy_rows as f64,
            ended_rows: batch.ended_rows as f64,
            policy,
            value,
            moves_left,
            top_moves,
            policy_entropy: batch.policy_entropy,
        }
    }

    /// Adds another batch's totals.
    pub(super) fn add(&mut self, other: &Self) {
        *self =
            Self::from_numbers(std::array::from_fn(|index| self.numbers()[index] + other.numbers()[index]));
    }

    /// The means; 0 where there is nothing to average.
    pub(super) fn means(&self) -> Means {
        let (rows, policy_rows) = (self.rows.max(1.0), self.policy_rows.max(1.0));
        Means {
            policy_loss: self.policy / policy_rows,
            value_loss: self.value / rows,
            moves_left_loss: self.moves_left / self.ended_rows.max(1.0),
            policy_accuracy: self.top_moves / policy_rows,
            policy_entropy: self.policy_entropy / policy_rows,
        }
    }

    /// The fields in order, as stored in the training state.
    pub(super) fn numbers(&self) -> [f64; 8] {
        let Self { rows, policy_rows, ended_rows, policy, value, moves_left, top_moves, policy_entropy } =
            *self;
        [rows, policy_rows, ended_rows, policy, value, moves_left, top_moves, policy_entropy]
    }

    /// The reverse of [`Totals::numbers`].
    pub(super) fn from_numbers(numbers: [f64; 8]) -> Self {
        let [rows, policy_rows, ended_rows, policy, value, moves_left, top_moves, policy_entropy] = numbers;
        Self { rows, policy_rows, ended_rows, policy, value, moves_left, top_moves, policy_entropy }
    }
}
