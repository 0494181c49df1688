//! One update: forward, backward, clip, step.

use std::collections::BTreeSet;

use tch::{Device, Kind, TchError, Tensor};

use super::batch::TrainingBatch;
use super::loss::{LossSums, SUMS, Sums, Totals, expected_scores};
use super::optimizer::Optimizer;
use crate::network::graph::{Graph, Op};
use crate::network::torch::{BatchNorm, Heads, Net, NetInput};
use crate::network::{TensorRole, TensorSpec, layout};
use crate::trainer::{BatchNormMode, TrainParams, TrainPrecision};

/// A net in training, with its optimiser.
#[derive(Debug)]
pub(super) struct Learner<'a> {
    pub(super) net: Net,
    pub(super) optimizer: Optimizer,
    params: &'a TrainParams,
    /// Names of the trained tensors, in order.
    trained: Vec<String>,
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
}

/// The metrics of an update.
#[derive(Debug, Clone, Copy)]
pub(super) struct UpdateMetrics {
    /// The values of [`LossSums`].
    pub(super) sums: Sums<f64>,
    /// L2 norm of the whole gradient before clipping.
    pub(super) gradient_norm: f64,
}

impl Pending {
    /// Waits for the device.
    pub(super) fn wait(self) -> Result<UpdateMetrics, TchError> {
        let numbers: [f64; SUMS + 1] = read(&self.numbers)?;
        let [sums @ .., gradient_norm] = numbers;
        Ok(UpdateMetrics { sums: Sums::from_array(sums), gradient_norm })
    }
}

/// Copies a short vector from its device.
fn read<const N: usize>(numbers: &Tensor) -> Result<[f64; N], TchError> {
    let mut values = [0.0f32; N];
    numbers.f_to_device(Device::Cpu)?.f_copy_data(&mut values, N)?;
    Ok(values.map(f64::from))
}

impl<'a> Learner<'a> {
    /// Prepares a net for training; `optimizer` may come from a stored state.
    pub(super) fn new(mut net: Net, optimizer: Optimizer, params: &'a TrainParams) -> Self {
        let trained: Vec<String> =
            layout(&net.spec).into_iter().filter(TensorSpec::is_trained).map(|tensor| tensor.name).collect();
        for name in &trained {
            let tensor = net.tensors.get_mut(name).expect("a net has the tensors of its layout");
            *tensor = tensor.detach().set_requires_grad(true);
        }
        Self { net, optimizer, params, trained }
    }

    /// Runs a net in the chosen precision; the outputs are 32-bit floats.
    fn forward(&self, net: &Net, input: &NetInput, mode: BatchNorm) -> Result<Heads, TchError> {
        match self.params.precision {
            TrainPrecision::Auto | TrainPrecision::Float32 => net.forward(input, mode),
            TrainPrecision::BFloat16 => {
                let heads = to_bfloat16(net)?.forward(&input.to_kind(Kind::BFloat16)?, mode)?;
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
        let sums = LossSums::new(&self.forward(&self.net, &batch.input, mode)?, batch, self.params)?;
        let total = sums.total(batch, self.params, update)?;
        let inputs: Vec<&Tensor> = self.trained.iter().map(|name| &self.net.tensors[name]).collect();
        let mut gradients = Tensor::f_run_backward(&[&total], &inputs, false, false)?;
        let _guard = tch::no_grad_guard();
        let norm = norm(&gradients)?;
        if let Some(max_norm) = self.params.clip_norm {
            clip(&mut gradients, &norm, max_norm);
        }
        let rate = self.params.learning_rate.at(update);
        self.optimizer.begin_update();
        for (name, gradient) in self.trained.iter().zip(&gradients) {
            let weight = self.net.tensors.get_mut(name).expect("a net has the tensors of its layout");
            self.optimizer.apply(name, weight, gradient, rate);
        }
        Ok(Pending { numbers: sums.stacked(Some(norm))? })
    }

    /// Measures a net on a batch, with batch norm's running statistics or with those of the batch.
    pub(super) fn measure(
        &self,
        net: &Net,
        batch: &TrainingBatch,
        mode: BatchNorm,
    ) -> Result<Measured, TchError> {
        let _guard = tch::no_grad_guard();
        let heads = self.forward(net, &batch.input, mode)?;
        let sums = LossSums::new(&heads, batch, self.params)?.stacked(None)?;
        let totals = Totals::new(Sums::from_array(read(&sums)?), batch);
        Ok(Measured { totals, expected_scores: expected_scores(&heads.value)? })
    }

    /// L2 norm of all trained weights.
    pub(super) fn weight_norm(&self) -> Result<f64, TchError> {
        let _guard = tch::no_grad_guard();
        let weights: Vec<Tensor> =
            self.trained.iter().map(|name| self.net.tensors[name].shallow_clone()).collect();
        let [norm] = read(&norm(&weights)?.f_reshape([1])?)?;
        Ok(norm)
    }
}

/// The net with its convolutions and dense layers cast to bf16, but for an nnue's first layers, which add up thirty numbers. Gradients
/// flow to the 32-bit weights, and batch norm updates the same running statistics.
fn to_bfloat16(net: &Net) -> Result<Net, TchError> {
    let norms = layout(&net.spec).into_iter().filter(|tensor| tensor.role.is_batch_norm());
    let layers = Graph::of_training(&net.spec).layers;
    let first = layers.iter().filter(|layer| matches!(layer.op, Op::Accumulate { .. }));
    let sums =
        first.flat_map(|layer| [TensorRole::Weight, TensorRole::Bias].map(|role| layer.tensor_name(role)));
    let kept: BTreeSet<String> = norms.map(|tensor| tensor.name).chain(sums).collect();
    net.with_tensors(|name, tensor| {
        if kept.contains(name) { Ok(tensor.shallow_clone()) } else { tensor.f_to_kind(Kind::BFloat16) }
    })
}

/// L2 norm of all gradients together; a scalar on the device.
fn norm(gradients: &[Tensor]) -> Result<Tensor, TchError> {
    let norms: Vec<Tensor> = gradients.iter().map(Tensor::norm).collect();
    Ok(Tensor::f_stack(&norms, 0)?.norm())
}

/// Scales gradients down to `max_norm` if their norm exceeds it (Pascanu et al. 2013, algorithm 1).
fn clip(gradients: &mut [Tensor], norm: &Tensor, max_norm: f64) {
    let scale = (norm.reciprocal() * max_norm).clamp_max(1.0);
    for gradient in gradients {
        let _ = gradient.g_mul_(&scale);
    }
}
