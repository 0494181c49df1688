//! The training loop: updates, reports, validations and stored states; it can be stopped and resumed at any update.

use super::average::Average;
use super::batch::TrainingBatch;
use super::error::TrainError;
use super::flat::FlatNet;
use super::job::{TrainJob, Trained, check, identity, update_threads};
use super::loader::Loader;
use super::loss::Sums;
use super::optimizer::Optimizer;
use super::report::{Report, TrainSummary, Validation};
use super::state::{AverageState, OptimizerState, State};
use super::update::{Learner, Measured, UpdateMetrics};
use crate::event::{Event, Observer};
use crate::network::Weights;
use crate::network::torch::{BatchNorm, TorchError, runtime};
use crate::trainer::{AverageKind, OptimizerStart, TrainParams};

/// Trains a net, from the stored state if there is one.
///
/// On a CPU, a training that was stopped and resumed gives the same bytes. Progress is reported in `updates`.
pub fn train(job: TrainJob<'_>, observer: &dyn Observer) -> Result<Trained, TrainError> {
    check(&job)?;
    runtime::load().map_err(TorchError::from)?;
    runtime::set_threads(update_threads(&job));
    let identity = identity(&job);
    let mut run = match State::load(job.state_path, &identity)? {
        Some(state) => TrainingLoop::resume(job, identity, state)?,
        None => TrainingLoop::start(job, identity)?,
    };
    run.finish(observer)?;
    run.into_trained()
}

/// A training in progress.
pub(super) struct TrainingLoop<'a> {
    job: TrainJob<'a>,
    identity: String,
    learner: Learner<'a>,
    loader: Loader<'a>,
    average: Option<Average<'a>>,
    /// Updates done.
    done: u32,
    report: Report,
}

/// What a training begins with or goes on from.
struct Begin {
    net: Weights,
    optimizer: Option<OptimizerState>,
    average: Option<AverageState>,
}

impl<'a> TrainingLoop<'a> {
    pub(super) fn start(job: TrainJob<'a>, identity: String) -> Result<Self, TrainError> {
        let begin = Self::begin(&job)?;
        check_average(job.params, &begin)?;
        let mut run = Self::new(job, identity, begin)?;
        run.validate()?;
        Ok(run)
    }

    /// The start net, and as much of the state of its own training as the parameters ask for.
    fn begin(job: &TrainJob<'_>) -> Result<Begin, TrainError> {
        let fresh = Begin { net: job.start.weights.clone(), optimizer: None, average: None };
        let params = job.params;
        let Some(carried) = job.carried.filter(|_| params.optimizer.state == OptimizerStart::Carried) else {
            return Ok(fresh);
        };
        let State { net, optimizer, average, .. } =
            State::load_finished(carried.path, params.optimizer.kind)?;
        if optimizer.kind != params.optimizer.kind {
            return Ok(fresh);
        }
        let goes_on = |stored: &AverageState| {
            let is_ema = params.average.as_ref().is_some_and(|average| average.kind == AverageKind::Ema);
            is_ema && stored.kind == AverageKind::Ema
        };
        // With an average, the net that was stored is not the one that was trained and that the optimiser's state belongs to.
        Ok(Begin { net, optimizer: Some(optimizer), average: average.filter(goes_on) })
    }

    pub(super) fn resume(job: TrainJob<'a>, identity: String, state: State) -> Result<Self, TrainError> {
        let State { done, net, optimizer, average, report } = state;
        let run = Self::new(job, identity, Begin { net, optimizer: Some(optimizer), average })?;
        Ok(Self { done, report, ..run })
    }

    fn new(job: TrainJob<'a>, identity: String, begin: Begin) -> Result<Self, TrainError> {
        let load = |weights: &Weights| FlatNet::new(&job.start.spec, weights, job.device);
        let net = load(&begin.net)?;
        let optimizer = match begin.optimizer {
            None => Optimizer::new(&job.params.optimizer),
            Some(OptimizerState { updates, tensors, .. }) => {
                let params = &job.params.optimizer;
                Optimizer::from_weights(params, &tensors, updates, net.trained(), job.device)?
            }
        };
        let average = match &job.params.average {
            None => None,
            Some(params) => {
                let (weights, steps) = begin.average.map_or_else(
                    || (job.start.weights.clone(), 0),
                    |average| (average.weights, average.steps),
                );
                Some(Average::new(params, load(&weights)?, steps))
            }
        };
        let learner = Learner { net, optimizer, params: job.params };
        let loader = Loader::new(job.samples, &job.start.spec, job.params, job.seed, job.device)?;
        Ok(Self { job, identity, learner, loader, average, done: 0, report: Report::default() })
    }

    /// The net that the training makes: the average, if there is one.
    fn result(&self) -> &FlatNet {
        self.average.as_ref().map_or(&self.learner.net, Average::net)
    }

    pub(super) fn finish(&mut self, observer: &dyn Observer) -> Result<(), TrainError> {
        let total = self.job.params.updates;
        observer.event(Event::Progress { unit: "updates", done: self.done.into(), total: total.into() });
        let mut batch = self.loader.batch(self.done)?;
        while self.done < total {
            if let Err(cancelled) = observer.check() {
                // A net that is not finite is not stored: the training goes on from the last state, and fails by itself.
                return match self.save() {
                    Ok(()) | Err(TrainError::NetNotFinite { .. }) => Err(cancelled.into()),
                    Err(error) => Err(error),
                };
            }
            batch = self.update(&batch)?;
            self.report_progress(observer);
            if self.done.is_multiple_of(self.job.params.checkpoint_every) || self.done == total {
                self.validate()?;
                if self.done == total && self.job.samples.validation_count() == 0 {
                    // What the net gives after the last update has been seen by nothing yet.
                    self.measure(&batch, BatchNorm::Eval)?;
                }
                self.save()?;
            }
        }
        Ok(())
    }

    /// Runs an update on a batch and returns the next batch, which is prepared while the device works.
    fn update(&mut self, batch: &TrainingBatch) -> Result<TrainingBatch, TrainError> {
        let pending = self.learner.update(self.done, batch)?;
        let next = self.loader.batch(self.done + 1)?;
        let UpdateMetrics { totals, gradient_norm } = pending.wait()?;
        // A batch without any target has no loss to minimise.
        let loss = totals.loss(self.job.params, &(self.done..self.done + 1)).unwrap_or(0.0);
        if !(loss + gradient_norm).is_finite() {
            let Sums { policy: policy_loss, value: value_loss, .. } = totals.means().losses;
            return Err(TrainError::NotFinite {
                update: self.done,
                loss,
                policy_loss,
                value_loss,
                gradient_norm,
            });
        }
        self.done += 1;
        if let Some(average) = &mut self.average {
            // An exponential average goes on from training to training with the optimiser, and so does the count of its updates.
            let number = match average.kind() {
                AverageKind::Ema => self.learner.optimizer.updates(),
                AverageKind::Swa => self.done.into(),
            };
            average.update(&self.learner.net, number)?;
        }
        self.report.meter.add(&totals, gradient_norm);
        let params = self.job.params;
        if self.done.is_multiple_of(params.log_every) || self.done == params.updates {
            let weight_norm = self.learner.weight_norm()?;
            let row = self.report.meter.take_row(self.done, params, weight_norm);
            self.report.curve.push(row);
        }
        Ok(next)
    }

    fn report_progress(&self, observer: &dyn Observer) {
        let (done, total) = (u64::from(self.done), u64::from(self.job.params.updates));
        observer.event(Event::Progress { unit: "updates", done, total });
        observer.event(Event::Work { unit: "samples", amount: self.job.params.batch.into() });
        if let Some(row) = self.report.curve.last().filter(|row| row.update == self.done) {
            let metrics =
                [("loss", row.loss), ("policy loss", row.policy_loss), ("value loss", row.value_loss)];
            for (name, value) in metrics.into_iter().filter(|(_, value)| !value.is_nan()) {
                observer.event(Event::Metric { name, value });
            }
        }
    }

    /// Measures the net on held-out samples, evenly spaced if there are more than `validation_samples`.
    fn validate(&mut self) -> Result<(), TrainError> {
        let available = self.job.samples.validation_count();
        let count = available.min(self.job.params.validation_samples as usize);
        if count == 0 {
            return Ok(());
        }
        let mut validation = Validation::default();
        let batch_size = self.job.params.batch as usize;
        let indices = evenly_spaced(count, available);
        for indices in indices.chunks(batch_size) {
            let batch = self.loader.held_out(indices)?;
            let Measured { totals, expected_scores } = self.measure(&batch, BatchNorm::Eval)?;
            validation.totals.add(&totals);
            for (&index, expected) in indices.iter().zip(expected_scores) {
                if let Some(result) = self.job.samples.validation_row(index).result {
                    validation.calibration.add(expected.into(), f64::midpoint(f64::from(result), 1.0));
                }
            }
        }
        let batch = self.loader.held_out(&evenly_spaced(batch_size.min(count), available))?;
        for (totals, mode) in validation.batch_norm.iter_mut().zip([BatchNorm::Eval, BatchNorm::Batch]) {
            *totals = self.measure(&batch, mode)?.totals;
        }
        self.report.validation.push(validation.row(self.done, self.job.params));
        Ok(())
    }

    /// Measures the net that the training makes; losses that are not finite are an error.
    fn measure(&self, batch: &TrainingBatch, mode: BatchNorm) -> Result<Measured, TrainError> {
        let measured = self.learner.measure(self.result(), batch, mode)?;
        let is_finite = measured.totals.is_finite();
        if is_finite { Ok(measured) } else { Err(TrainError::OutputsNotFinite { updates: self.done }) }
    }

    /// Stores the state; a net that is not finite is an error.
    fn save(&self) -> Result<(), TrainError> {
        let optimizer = &self.learner.optimizer;
        let average = match &self.average {
            None => None,
            Some(average) => Some(AverageState {
                kind: average.kind(),
                steps: average.steps(),
                weights: average.net().to_weights()?,
            }),
        };
        let state = State {
            done: self.done,
            net: self.learner.net.to_weights()?,
            optimizer: OptimizerState {
                kind: self.job.params.optimizer.kind,
                updates: optimizer.updates(),
                tensors: optimizer.to_weights(self.learner.net.trained())?,
            },
            average,
            report: self.report.clone(),
        };
        check_finite(self.done.saturating_sub(1), [&state.net, &state.optimizer.tensors])?;
        state.save(self.job.state_path, &self.identity)
    }

    pub(super) fn into_trained(self) -> Result<Trained, TrainError> {
        let weights = self.result().to_weights()?;
        let Report { curve, validation, .. } = self.report;
        let (games, params) = (self.job.samples.games(), self.job.params);
        let summary = TrainSummary {
            updates: params.updates,
            samples_seen: u64::from(params.updates) * u64::from(params.batch),
            training_samples: self.job.samples.training_count() as u64 * params.mirror.images(),
            validation_samples: self.job.samples.validation_count() as u64,
            training_games: games.training,
            validation_games: games.validation,
            optimizer_updates: self.learner.optimizer.updates(),
            last: *curve.last().expect("the last update ends a row of the curve"),
            validation: validation.last().copied(),
        };
        Ok(Trained { weights, curve, validation, summary })
    }
}

/// An error if an exponential average would begin with this training, and none of its updates were a step: the start net would be the
/// result.
fn check_average(params: &TrainParams, begin: &Begin) -> Result<(), TrainError> {
    let Some(average) = params.average.as_ref().filter(|average| average.kind == AverageKind::Ema) else {
        return Ok(());
    };
    let before = begin.optimizer.as_ref().map_or(0, |optimizer| optimizer.updates);
    let (every, updates) = (average.every, params.updates);
    let steps = |updates: u64| updates / u64::from(every);
    if begin.average.is_none() && steps(before + u64::from(updates)) == steps(before) {
        return Err(TrainError::NothingAveraged { every, before, updates });
    }
    Ok(())
}

/// `count` of the indices below `available`.
fn evenly_spaced(count: usize, available: usize) -> Vec<usize> {
    (0..count).map(|number| number * available / count).collect()
}

/// An error if a value is NaN or infinite. A loss can be finite with such a net: batch norm does not use its running statistics in
/// training.
fn check_finite(update: u32, groups: [&Weights; 2]) -> Result<(), TrainError> {
    for (name, tensor) in groups.into_iter().flatten() {
        if let Some(&value) = tensor.data.iter().find(|value| !value.is_finite()) {
            return Err(TrainError::NetNotFinite { update, tensor: name.clone(), value });
        }
    }
    Ok(())
}
