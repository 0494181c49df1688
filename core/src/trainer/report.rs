//! What training says of itself: rows of the curve, validations and a summary.

use super::loss::{Means, Totals};
use super::params::TrainParams;

/// The mean over some neighbouring updates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrainingRow {
    /// Updates done.
    pub update: u32,
    /// Learning rate of the last update.
    pub learning_rate: f64,
    /// The weighted sum of both losses.
    pub loss: f64,
    /// Cross-entropy of the policy over legal moves, in nats.
    pub policy_loss: f64,
    /// Cross-entropy of win, draw and loss, in nats.
    pub value_loss: f64,
    /// Share of positions whose likeliest move is the most visited, in [0, 1].
    pub policy_accuracy: f64,
    /// Entropy of the policy targets in nats; `policy_loss − policy_entropy` is the divergence KL(target, policy).
    pub policy_entropy: f64,
    /// L2 norm of the gradient before clipping.
    pub gradient_norm: f64,
}

/// A look at held-out games, with the running statistics of batch norm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ValidationRow {
    /// Updates done.
    pub update: u32,
    /// The weighted sum of both losses.
    pub loss: f64,
    /// Cross-entropy of the policy over legal moves, in nats.
    pub policy_loss: f64,
    /// Cross-entropy of win, draw and loss, in nats.
    pub value_loss: f64,
    /// Share of positions whose likeliest move is the most visited, in [0, 1].
    pub policy_accuracy: f64,
    /// Entropy of the policy targets in nats.
    pub policy_entropy: f64,
}

/// One training step in a few numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrainSummary {
    /// Updates made.
    pub updates: u32,
    /// Samples looked at: updates × batch.
    pub samples_seen: u64,
    /// Distinct samples to train on.
    pub training_samples: u64,
    /// Held-out samples.
    pub validation_samples: u64,
    /// Games trained on.
    pub training_games: u32,
    /// Held-out games.
    pub validation_games: u32,
    /// The last row of the curve.
    pub last: TrainingRow,
    /// The last validation, if games were held out.
    pub validation: Option<ValidationRow>,
}

/// Everything reported so far; a part of the training state.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Report {
    pub(super) curve: Vec<TrainingRow>,
    pub(super) validation: Vec<ValidationRow>,
    /// What the next row of the curve is the mean of.
    pub(super) meter: Meter,
}

/// Sums since the last row of the curve.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Meter {
    pub(super) totals: Totals,
    pub(super) gradient_norms: f64,
    pub(super) updates: f64,
}

impl Meter {
    /// Takes note of one update.
    pub(super) fn add(&mut self, totals: &Totals, gradient_norm: f64) {
        self.totals.add(totals);
        self.gradient_norms += gradient_norm;
        self.updates += 1.0;
    }

    /// The row of the curve that ends with update `done`, counted from 1; the meter starts again.
    pub(super) fn take_row(&mut self, done: u32, params: &TrainParams) -> TrainingRow {
        let meter = std::mem::take(self);
        let means = meter.totals.means();
        TrainingRow {
            update: done,
            learning_rate: params.learning_rate.at(done - 1),
            loss: weighted(&means, params),
            policy_loss: means.policy_loss,
            value_loss: means.value_loss,
            policy_accuracy: means.policy_accuracy,
            policy_entropy: means.policy_entropy,
            gradient_norm: meter.gradient_norms / meter.updates,
        }
    }
}

fn weighted(means: &Means, params: &TrainParams) -> f64 {
    params.policy_weight * means.policy_loss + params.value_weight * means.value_loss
}

impl ValidationRow {
    pub(super) fn new(done: u32, totals: &Totals, params: &TrainParams) -> Self {
        let means = totals.means();
        Self {
            update: done,
            loss: weighted(&means, params),
            policy_loss: means.policy_loss,
            value_loss: means.value_loss,
            policy_accuracy: means.policy_accuracy,
            policy_entropy: means.policy_entropy,
        }
    }
}
