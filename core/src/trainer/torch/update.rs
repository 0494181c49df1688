//! One update: forward, backward, clip, step.

use tch::{Device, Kind, TchError, Tensor};

use super::batch::TrainingBatch;
use super::flat::FlatNet;
use super::loss::{LossSums, SUMS, Sums, Totals, counts, expected_scores};
use super::optimizer::Optimizer;
use crate::network::torch::{BatchNorm, Heads, NetInput};
use crate::trainer::{BatchNormMode, TrainParams, TrainPrecision};

/// A net in training, with its optimiser.
#[derive(Debug)]
pub(super) struct Learner<'a> {
    pub(super) net: FlatNet,
    /// It may come from a stored state.
    pub(super) optimizer: Optimizer,
    pub(super) params: &'a TrainParams,
}

/// What a net says of a batch.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) totals: Totals,
    /// `[B]`: P(win) + P(draw) / 2 for the side to move.
    pub(super) expected_scores: Vec<f32>,
}

/// The metrics of an update that the device may not have finished.
#[derive(Debug)]
pub(super) struct Pending {
    /// The sums of [`LossSums`], then the gradient's norm.
    numbers: Tensor,
    counts: Sums<f64>,
    policy_entropy: f64,
}

/// The metrics of an update.
#[derive(Debug, Clone, Copy)]
pub(super) struct UpdateMetrics {
    pub(super) totals: Totals,
    /// L2 norm of the whole gradient before clipping.
    pub(super) gradient_norm: f64,
}

impl Pending {
    /// Waits for the device.
    pub(super) fn wait(self) -> Result<UpdateMetrics, TchError> {
        let numbers: [f64; SUMS + 1] = read(&self.numbers)?;
        let [sums @ .., gradient_norm] = numbers;
        let totals = Totals::new(Sums::from_array(sums), self.counts, self.policy_entropy);
        Ok(UpdateMetrics { totals, gradient_norm })
    }
}

/// Copies a short vector from its device.
fn read<const N: usize>(numbers: &Tensor) -> Result<[f64; N], TchError> {
    let mut values = [0.0f32; N];
    numbers.f_to_device(Device::Cpu)?.f_copy_data(&mut values, N)?;
    Ok(values.map(f64::from))
}

impl Learner<'_> {
    /// Runs a net in the chosen precision; the outputs are 32-bit floats. Gradients flow to the net's 32-bit weights, and batch norm
    /// updates its running statistics.
    fn forward(&self, net: &FlatNet, input: &NetInput, mode: BatchNorm) -> Result<Heads, TchError> {
        match self.params.precision {
            TrainPrecision::Auto | TrainPrecision::Float32 => net.unfolded(Kind::Float)?.forward(input, mode),
            TrainPrecision::BFloat16 => {
                let input = input.to_kind(Kind::BFloat16)?;
                let heads = net.unfolded(Kind::BFloat16)?.forward(&input, mode)?;
                let float = |tensor: Tensor| tensor.f_to_kind(Kind::Float);
                Ok(Heads {
                    policy: float(heads.policy)?,
                    value: float(heads.value)?,
                    moves_left: heads.moves_left.map(float).transpose()?,
                    auxiliary: heads.auxiliary.try_map(float)?,
                })
            }
        }
    }

    /// Runs one update, counted from 0.
    pub(super) fn update(&mut self, update: u32, batch: &TrainingBatch) -> Result<Pending, TchError> {
        let mode = match self.params.batch_norm {
            BatchNormMode::Batch => BatchNorm::Train { momentum: self.params.batch_norm_momentum },
            BatchNormMode::Frozen => BatchNorm::Eval,
        };
        let (sums, counts) = {
            let heads = self.forward(&self.net, &batch.input, mode)?;
            (LossSums::new(&heads, batch, self.params)?, counts(&heads, batch))
        };
        let total = sums.total(&counts, self.params, update)?;
        let inputs: Vec<&Tensor> = self.net.trained().map(|flat| &flat.numbers).collect();
        let mut gradients = Tensor::f_run_backward(&[&total], &inputs, false, false)?;
        let _guard = tch::no_grad_guard();
        let norm = norm(&gradients)?;
        if let Some(max_norm) = self.params.clip_norm {
            clip(&mut gradients, &norm, max_norm)?;
        }
        let rate = self.params.learning_rate.at(update);
        self.optimizer.begin_update();
        for (number, (flat, gradient)) in self.net.trained_mut().zip(&gradients).enumerate() {
            self.optimizer.apply(number, flat, gradient, rate)?;
        }
        let numbers = sums.stacked(Some(norm))?;
        Ok(Pending { numbers, counts, policy_entropy: batch.policy_entropy })
    }

    /// Measures a net on a batch, with batch norm's running statistics or with those of the batch.
    pub(super) fn measure(
        &self,
        net: &FlatNet,
        batch: &TrainingBatch,
        mode: BatchNorm,
    ) -> Result<Measured, TchError> {
        let _guard = tch::no_grad_guard();
        let heads = self.forward(net, &batch.input, mode)?;
        let sums = LossSums::new(&heads, batch, self.params)?.stacked(None)?;
        let totals = Totals::new(Sums::from_array(read(&sums)?), counts(&heads, batch), batch.policy_entropy);
        Ok(Measured { totals, expected_scores: expected_scores(&heads.value)? })
    }

    /// L2 norm of all trained weights.
    pub(super) fn weight_norm(&self) -> Result<f64, TchError> {
        let _guard = tch::no_grad_guard();
        let weights: Vec<Tensor> = self.net.trained().map(|flat| flat.numbers.shallow_clone()).collect();
        let [norm] = read(&norm(&weights)?.f_reshape([1])?)?;
        Ok(norm)
    }
}

/// L2 norm of all gradients together; a scalar on the device.
fn norm(gradients: &[Tensor]) -> Result<Tensor, TchError> {
    let norms = gradients.iter().map(Tensor::f_norm).collect::<Result<Vec<_>, _>>()?;
    Tensor::f_stack(&norms, 0)?.f_norm()
}

/// Scales gradients down to `max_norm` if their norm exceeds it (Pascanu et al. 2013, algorithm 1).
fn clip(gradients: &mut [Tensor], norm: &Tensor, max_norm: f64) -> Result<(), TchError> {
    let scale = norm.f_reciprocal()?.f_mul_scalar(max_norm)?.f_clamp_max(1.0)?;
    gradients.iter_mut().try_for_each(|gradient| gradient.f_mul_(&scale).map(drop))
}
