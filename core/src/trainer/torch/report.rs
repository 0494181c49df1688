//! What training reports: the training curve, validations and a summary.

use super::loss::{Means, Totals};
pub use crate::store::{TrainingRow, ValidationRow};
use crate::trainer::TrainParams;

/// A summary of one training step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrainSummary {
    /// Updates made.
    pub updates: u32,
    /// Samples seen: updates × batch.
    pub samples_seen: u64,
    /// Distinct samples to train on.
    pub training_samples: u64,
    /// Held-out samples.
    pub validation_samples: u64,
    /// Games trained on.
    pub training_games: u32,
    /// Held-out games.
    pub validation_games: u32,
    /// Updates since the optimiser's state was empty: more than `updates` if it was carried.
    pub optimizer_updates: u64,
    /// The last row of the curve.
    pub last: TrainingRow,
    /// The last validation, if games were held out.
    pub validation: Option<ValidationRow>,
}

/// Everything reported so far; part of the training state.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Report {
    pub(super) curve: Vec<TrainingRow>,
    pub(super) validation: Vec<ValidationRow>,
    /// Sums for the next row of the curve.
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
    /// Adds one update.
    pub(super) fn add(&mut self, totals: &Totals, gradient_norm: f64) {
        self.totals.add(totals);
        self.gradient_norms += gradient_norm;
        self.updates += 1.0;
    }

    /// The row of the curve that ends with update `done`, counted from 1; resets the meter.
    pub(super) fn take_row(&mut self, done: u32, params: &TrainParams) -> TrainingRow {
        let meter = std::mem::take(self);
        let means = meter.totals.means();
        TrainingRow {
            update: done,
            learning_rate: params.learning_rate.at(done - 1),
            loss: weighted(&means, params),
            policy_loss: means.policy_loss,
            value_loss: means.value_loss,
            moves_left_loss: means.moves_left_loss,
            policy_accuracy: means.policy_accuracy,
            policy_entropy: means.policy_entropy,
            gradient_norm: meter.gradient_norms / meter.updates,
        }
    }
}

fn weighted(means: &Means, params: &TrainParams) -> f64 {
    params.policy_weight * means.policy_loss
        + params.value_weight * means.value_loss
        + params.moves_left_weight * means.moves_left_loss
}

/// The row of a validation after `done` updates.
pub(super) fn validation_row(done: u32, totals: &Totals, params: &TrainParams) -> ValidationRow {
    let means = totals.means();
    ValidationRow {
        update: done,
        loss: weighted(&means, params),
        policy_loss: means.policy_loss,
        value_loss: means.value_loss,
        moves_left_loss: means.moves_left_loss,
        policy_accuracy: means.policy_accuracy,
        policy_entropy: means.policy_entropy,
    }
}
