//! SGD with momentum and `AdamW`, over named tensors, so that their state can be stored.

use std::collections::BTreeMap;

use tch::{Device, TchError, Tensor};

use crate::network::Weights;
use crate::network::torch::{download, upload};
use crate::trainer::{OptimizerKind, OptimizerParams};

/// An optimiser with its state.
#[derive(Debug)]
pub(super) struct Optimizer {
    params: OptimizerParams,
    /// `momentum.NAME`, or `first.NAME` and `second.NAME`, for every trained tensor seen so far.
    state: BTreeMap<String, Tensor>,
}

/// The parameters of one optimiser step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// The learning rate η.
    pub(super) learning_rate: f64,
    /// The number of this update, counted from 1.
    pub(super) number: u32,
}

impl Optimizer {
    /// An optimiser with an empty state.
    pub(super) fn new(params: &OptimizerParams) -> Self {
        Self { params: params.clone(), state: BTreeMap::new() }
    }

    /// The state as plain numbers.
    pub(super) fn to_weights(&self) -> Result<Weights, TchError> {
        self.state.iter().map(|(name, tensor)| Ok((name.clone(), download(tensor)?))).collect()
    }

    /// Resumes from a stored state.
    pub(super) fn from_weights(
        params: &OptimizerParams,
        state: &Weights,
        device: Device,
    ) -> Result<Self, TchError> {
        let uploaded = state.iter().map(|(name, tensor)| Ok((name.clone(), upload(tensor, device)?)));
        Ok(Self { params: params.clone(), state: uploaded.collect::<Result<_, TchError>>()? })
    }

    /// Updates one tensor in place. Call it for every trained tensor in every update, without recording gradients.
    pub(super) fn apply(&mut self, name: &str, weight: &mut Tensor, gradient: &Tensor, step: Step) {
        // Biases and batch norm have one axis and are not decayed: shrinking them would not regularise the net.
        let decay = if weight.dim() >= 2 { self.params.weight_decay } else { 0.0 };
        match self.params.kind {
            OptimizerKind::Sgd => self.sgd(name, weight, gradient, decay, step.learning_rate),
            OptimizerKind::AdamW => self.adamw(name, weight, gradient, decay, step),
        }
    }

    fn slot(&mut self, kind: &str, name: &str, like: &Tensor) -> Tensor {
        let slot = self.state.entry(format!("{kind}.{name}")).or_insert_with(|| like.zeros_like());
        slot.shallow_clone()
    }

    /// Sutskever et al. 2013 in PyTorch's form, with g the gradient plus λw:
    /// `v ← μv + g`, then `w ← w − ηv`, or `w ← w − η(g + μv)` with Nesterov's look-ahead.
    fn sgd(&mut self, name: &str, weight: &mut Tensor, gradient: &Tensor, decay: f64, rate: f64) {
        let OptimizerParams { momentum, nesterov, .. } = self.params;
        let mut velocity = self.slot("momentum", name, weight);
        let gradient = if decay > 0.0 { gradient + &*weight * decay } else { gradient.shallow_clone() };
        let _ = velocity.g_mul_scalar_(momentum).g_add_(&gradient);
        let change = if nesterov { (gradient + &velocity * momentum) * rate } else { &velocity * rate };
        let _ = weight.g_sub_(&change);
    }

    /// Loshchilov & Hutter 2019, algorithm 2, with λ scaled by the learning rate as in PyTorch:
    /// `w ← w − ηλw`, `m ← β₁m + (1 − β₁)g`, `v ← β₂v + (1 − β₂)g²`, `w ← w − η (m / (1 − β₁ᵗ)) / (√(v / (1 − β₂ᵗ)) + ε)`.
    fn adamw(&mut self, name: &str, weight: &mut Tensor, gradient: &Tensor, decay: f64, step: Step) {
        let OptimizerParams { beta1, beta2, epsilon, .. } = self.params;
        let (mut first, mut second) = (self.slot("first", name, weight), self.slot("second", name, weight));
        if decay > 0.0 {
            let _ = weight.g_mul_scalar_(1.0 - step.learning_rate * decay);
        }
        let _ = first.lerp_(gradient, 1.0 - beta1);
        let _ = second.lerp_(&(gradient * gradient), 1.0 - beta2);
        let (bias1, bias2) = (bias_correction(beta1, step.number), bias_correction(beta2, step.number));
        let divisor = (second.sqrt() / bias2.sqrt()).g_add_scalar_(epsilon);
        let _ = weight.g_sub_(&((first / divisor) * (step.learning_rate / bias1)));
    }
}

/// The bias correction 1 − βᵗ of a running mean after `t` updates (Kingma & Ba 2015, section 3).
fn bias_correction(beta: f64, updates: u32) -> f64 {
    1.0 - beta.powi(updates as i32)
}
