//! What training reports: the training curve, validations and a summary.

use super::loss::Totals;
pub use crate::store::{TrainingRow, ValidationRow};
use crate::trainer::TrainParams;
use crate::trainer::calibration::Calibration;

/// A summary of one training step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrainSummary {
    /// Updates made.
    pub updates: u32,
    /// Samples seen: updates × batch.
    pub samples_seen: u64,
    /// Samples to train on in an epoch: copies by weight and both images of `mirror: "both"` count, and duplicates that were merged
    /// do not.
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
    pub(super) fn take_row(&mut self, done: u32, params: &TrainParams, weight_norm: f64) -> TrainingRow {
        let meter = std::mem::take(self);
        let first = done - meter.updates as u32;
        let means = meter.totals.means();
        let losses = means.losses;
        TrainingRow {
            update: done,
            learning_rate: params.learning_rate.at(done - 1),
            loss: meter.totals.loss(params, &(first..done)).unwrap_or(f64::NAN),
            policy_loss: losses.policy,
            value_loss: losses.value,
            moves_left_loss: losses.moves_left,
            policy_accuracy: losses.top_moves,
            policy_entropy: means.policy_entropy,
            gradient_norm: meter.gradient_norms / meter.updates,
            soft_policy_loss: losses.soft_policy,
            reply_loss: losses.reply,
            material_loss: losses.material,
            policy_top_three: losses.top_three,
            brier: losses.brier,
            weight_norm,
        }
    }
}

/// What a validation finds out.
#[derive(Debug, Default)]
pub(super) struct Validation {
    pub(super) totals: Totals,
    pub(super) calibration: Calibration,
    /// The totals of the same batch with batch norm's running statistics, and with its own.
    pub(super) batch_norm: [Totals; 2],
}

impl Validation {
    /// The row of a validation after `done` updates.
    pub(super) fn row(&self, done: u32, params: &TrainParams) -> ValidationRow {
        let update = done.saturating_sub(1);
        let loss = |totals: &Totals| totals.loss(params, &(update..update + 1)).unwrap_or(f64::NAN);
        let means = self.totals.means();
        let losses = means.losses;
        let [running, own] = self.batch_norm.map(|totals| loss(&totals));
        ValidationRow {
            update: done,
            loss: loss(&self.totals),
            policy_loss: losses.policy,
            value_loss: losses.value,
            moves_left_loss: losses.moves_left,
            policy_accuracy: losses.top_moves,
            policy_entropy: means.policy_entropy,
            soft_policy_loss: losses.soft_policy,
            reply_loss: losses.reply,
            material_loss: losses.material,
            policy_top_three: losses.top_three,
            brier: losses.brier,
            calibration_error: self.calibration.error(),
            batch_norm_gap: running - own,
        }
    }
}
