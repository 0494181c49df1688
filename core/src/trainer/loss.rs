//! The losses and what is measured beside them.

use tch::{Kind, Tensor};

use super::batch::TrainingBatch;
use crate::network::torch::Heads;

/// The logit of a move that is only filled up: its probability is exactly 0, and unlike minus infinity it stays finite
/// when multiplied with a target of 0.
const NO_MOVE_LOGIT: f64 = -1e9;

/// Sums over the rows of a batch; scalars on the device.
#[derive(Debug)]
pub(super) struct LossSums {
    /// Σ −Σ share · ln policy over the rows with a policy target.
    pub(super) policy: Tensor,
    /// Σ −Σ target · ln wdl over all rows.
    pub(super) value: Tensor,
    /// Rows whose likeliest move is (one of) the most visited.
    pub(super) top_moves: Tensor,
}

/// Compares a net's answers with a batch's targets.
pub(super) fn sums(heads: &Heads, batch: &TrainingBatch) -> LossSums {
    let logits = heads.policy.gather(1, &batch.legal, false).masked_fill(&batch.padding, NO_MOVE_LOGIT);
    let policy = -(logits.log_softmax(1, Kind::Float) * &batch.shares).sum(Kind::Float);
    let value = -(heads.wdl.log_softmax(1, Kind::Float) * &batch.wdl).sum(Kind::Float);
    LossSums { policy, value, top_moves: top_moves(&logits, &batch.shares) }
}

fn top_moves(logits: &Tensor, shares: &Tensor) -> Tensor {
    let guessed = shares.gather(1, &logits.argmax(1, true), false);
    let most = shares.amax(1, true);
    guessed.eq_tensor(&most).logical_and(&most.gt(0.0)).sum(Kind::Float)
}

/// The loss that gradients are taken of: weighted means, the policy's over the rows with a policy target.
pub(super) fn total(sums: &LossSums, batch: &TrainingBatch, policy_weight: f64, value_weight: f64) -> Tensor {
    let policy_scale = policy_weight / batch.policy_rows.max(1) as f64;
    let value_scale = value_weight / batch.rows as f64;
    &sums.policy * policy_scale + &sums.value * value_scale
}

/// Sums over samples as plain numbers, for means over any number of batches.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Totals {
    rows: f64,
    policy_rows: f64,
    policy: f64,
    value: f64,
    top_moves: f64,
    policy_entropy: f64,
}

/// Means over samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Means {
    /// Cross-entropy of the policy, in nats.
    pub(super) policy_loss: f64,
    /// Cross-entropy of win, draw and loss, in nats.
    pub(super) value_loss: f64,
    /// Share of rows whose likeliest move is the most visited.
    pub(super) policy_accuracy: f64,
    /// Entropy of the policy targets, in nats: the least possible `policy_loss`.
    pub(super) policy_entropy: f64,
}

impl Totals {
    /// Of one batch, from the values of its [`LossSums`] in their order.
    pub(super) fn new([policy, value, top_moves]: [f64; 3], batch: &TrainingBatch) -> Self {
        Self {
            rows: batch.rows as f64,
            policy_rows: batch.policy_rows as f64,
            policy,
            value,
            top_moves,
            policy_entropy: batch.policy_entropy,
        }
    }

    /// Adds another batch's.
    pub(super) fn add(&mut self, other: &Self) {
        *self = Self::from_numbers(std::array::from_fn(|at| self.numbers()[at] + other.numbers()[at]));
    }

    /// The means; 0 where there is nothing to average.
    pub(super) fn means(&self) -> Means {
        let (rows, policy_rows) = (self.rows.max(1.0), self.policy_rows.max(1.0));
        Means {
            policy_loss: self.policy / policy_rows,
            value_loss: self.value / rows,
            policy_accuracy: self.top_moves / policy_rows,
            policy_entropy: self.policy_entropy / policy_rows,
        }
    }

    /// The fields in their order, as the training state stores them.
    pub(super) fn numbers(&self) -> [f64; 6] {
        [self.rows, self.policy_rows, self.policy, self.value, self.top_moves, self.policy_entropy]
    }

    /// The reverse of [`Totals::numbers`].
    pub(super) fn from_numbers(
        [rows, policy_rows, policy, value, top_moves, policy_entropy]: [f64; 6],
    ) -> Self {
        Self { rows, policy_rows, policy, value, top_moves, policy_entropy }
    }
}
