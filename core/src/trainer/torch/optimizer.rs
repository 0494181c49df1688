//! SGD with momentum, `AdamW` and Muon, over named tensors, so that their state can be stored.

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
    /// Updates since the state was empty.
    updates: u64,
}

impl Optimizer {
    /// An optimiser with an empty state.
    pub(super) fn new(params: &OptimizerParams) -> Self {
        Self { params: params.clone(), state: BTreeMap::new(), updates: 0 }
    }

    /// Updates since the state was empty.
    pub(super) fn updates(&self) -> u64 {
        self.updates
    }

    /// The state as plain numbers.
    pub(super) fn to_weights(&self) -> Result<Weights, TchError> {
        self.state.iter().map(|(name, tensor)| Ok((name.clone(), download(tensor)?))).collect()
    }

    /// Resumes from a stored state.
    pub(super) fn from_weights(
        params: &OptimizerParams,
        state: &Weights,
        updates: u64,
        device: Device,
    ) -> Result<Self, TchError> {
        let uploaded = state.iter().map(|(name, tensor)| Ok((name.clone(), upload(tensor, device)?)));
        let state = uploaded.collect::<Result<_, TchError>>()?;
        Ok(Self { params: params.clone(), state, updates })
    }

    /// Begins an update, in which [`apply`](Self::apply) is called for every trained tensor.
    pub(super) fn begin_update(&mut self) {
        self.updates += 1;
    }

    /// Updates one tensor in place, without recording gradients.
    pub(super) fn apply(&mut self, name: &str, weight: &mut Tensor, gradient: &Tensor, rate: f64) {
        // Biases and batch norm have one axis and are not decayed: shrinking them would not regularise the net.
        let is_matrix = weight.dim() >= 2;
        let decay = if is_matrix { self.params.weight_decay } else { 0.0 };
        match self.params.kind {
            OptimizerKind::Sgd => self.sgd(name, weight, gradient, decay, rate),
            OptimizerKind::Muon if is_matrix => self.muon(name, weight, gradient, decay, rate),
            OptimizerKind::Muon | OptimizerKind::AdamW => self.adamw(name, weight, gradient, decay, rate),
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
    fn adamw(&mut self, name: &str, weight: &mut Tensor, gradient: &Tensor, decay: f64, rate: f64) {
        let OptimizerParams { beta1, beta2, epsilon, .. } = self.params;
        let (mut first, mut second) = (self.slot("first", name, weight), self.slot("second", name, weight));
        if decay > 0.0 {
            let _ = weight.g_mul_scalar_(1.0 - rate * decay);
        }
        let _ = first.lerp_(gradient, 1.0 - beta1);
        let _ = second.lerp_(&(gradient * gradient), 1.0 - beta2);
        let (bias1, bias2) = (bias_correction(beta1, self.updates), bias_correction(beta2, self.updates));
        let divisor = (second.sqrt() / bias2.sqrt()).g_add_scalar_(epsilon);
        let _ = weight.g_sub_(&((first / divisor) * (rate / bias1)));
    }

    /// Jordan et al. 2024 with Nesterov's look-ahead: `v ← μv + g`, then `w ← w − η (λw + 0.2 √max(rows, columns) · O)`, where `O` is
    /// `g + μv` made orthogonal. The factor is that of Liu et al. 2025, equation 4: it gives steps the mean size of `AdamW`'s.
    fn muon(&mut self, name: &str, weight: &mut Tensor, gradient: &Tensor, decay: f64, rate: f64) {
        let momentum = self.params.momentum;
        let mut velocity = self.slot("momentum", name, weight);
        let _ = velocity.g_mul_scalar_(momentum).g_add_(gradient);
        let ahead = gradient + &velocity * momentum;
        let matrix = ahead.reshape([weight.size()[0], -1]);
        let larger = matrix.size().into_iter().max().unwrap_or(1);
        let change = orthogonalized(&matrix).reshape(weight.size()) * (0.2 * (larger as f64).sqrt());
        if decay > 0.0 {
            let _ = weight.g_mul_scalar_(1.0 - rate * decay);
        }
        let _ = weight.g_sub_(&(change * rate));
    }
}

/// A matrix with the singular vectors of this one and singular values near 1, by five Newton-Schulz steps of degree 5 with the
/// coefficients of Jordan et al. 2024.
pub(super) fn orthogonalized(matrix: &Tensor) -> Tensor {
    const COEFFICIENTS: [f64; 3] = [3.4445, -4.7750, 2.0315];
    const STEPS: u32 = 5;
    let is_tall = matrix.size()[0] > matrix.size()[1];
    let mut x = if is_tall { matrix.tr() } else { matrix.shallow_clone() };
    // The singular values must lie in [0, 1].
    x = &x / (x.norm() + 1e-7);
    let [a, b, c] = COEFFICIENTS;
    for _ in 0..STEPS {
        let square = x.matmul(&x.tr());
        let polynomial = &square * b + square.matmul(&square) * c;
        x = &x * a + polynomial.matmul(&x);
    }
    if is_tall { x.tr() } else { x }
}

/// The bias correction 1 − βᵗ of a running mean after `t` updates (Kingma & Ba 2015, section 3).
fn bias_correction(beta: f64, updates: u64) -> f64 {
    1.0 - beta.powf(updates as f64)
}
