//! SGD with momentum, `AdamW` and Muon, over flat tensors, whose state can be stored by the names of the tensors in them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use tch::{Device, TchError, Tensor};

use super::flat::FlatTensor;
use crate::network::Weights;
use crate::trainer::{OptimizerKind, OptimizerParams};

/// The names of all running means.
const MEANS: [&str; 3] = ["momentum", "first", "second"];

/// An optimiser with its state.
#[derive(Debug)]
pub(super) struct Optimizer {
    params: OptimizerParams,
    /// The running means of every flat tensor seen so far, by their names and the tensor's number.
    state: BTreeMap<(&'static str, usize), Tensor>,
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

    /// The state as plain numbers: `momentum.NAME`, or `first.NAME` and `second.NAME`, for every tensor seen so far.
    pub(super) fn to_weights<'a>(
        &self,
        tensors: impl Iterator<Item = &'a FlatTensor>,
    ) -> Result<Weights, TchError> {
        let mut weights = Weights::new();
        for (number, flat) in tensors.enumerate() {
            for mean in MEANS {
                let Some(numbers) = self.state.get(&(mean, number)) else { continue };
                let named = flat.download(numbers)?.into_iter();
                weights.extend(named.map(|(name, tensor)| (format!("{mean}.{name}"), tensor)));
            }
        }
        Ok(weights)
    }

    /// Resumes from a stored state.
    pub(super) fn from_weights<'a>(
        params: &OptimizerParams,
        stored: &Weights,
        updates: u64,
        tensors: impl Iterator<Item = &'a FlatTensor>,
        device: Device,
    ) -> Result<Self, TchError> {
        let mut state = BTreeMap::new();
        for (number, flat) in tensors.enumerate() {
            for mean in MEANS {
                let find = |name: &str| stored.get(&format!("{mean}.{name}"));
                if flat.parts.iter().any(|part| find(&part.name).is_some()) {
                    state.insert((mean, number), flat.upload(find, device)?);
                }
            }
        }
        Ok(Self { params: params.clone(), state, updates })
    }

    /// Begins an update, in which [`apply`](Self::apply) is called for every trained tensor.
    pub(super) fn begin_update(&mut self) {
        self.updates += 1;
    }

    /// Updates a flat tensor in place, without recording gradients; `number` is its own among all.
    pub(super) fn apply(
        &mut self,
        number: usize,
        flat: &mut FlatTensor,
        gradient: &Tensor,
        rate: f64,
    ) -> Result<(), TchError> {
        // Biases and norms are not decayed: shrinking them would not regularise the net.
        let decay = if flat.are_weights() { self.params.weight_decay } else { 0.0 };
        match (self.params.kind, flat.matrices()) {
            (OptimizerKind::Sgd, _) => self.sgd(number, &mut flat.numbers, gradient, decay, rate),
            (OptimizerKind::Muon, Some(matrices)) => self.muon(number, flat, matrices, gradient, decay, rate),
            (OptimizerKind::Muon | OptimizerKind::AdamW, _) => {
                self.adamw(number, &mut flat.numbers, gradient, decay, rate)
            }
        }
    }

    /// A running mean, which begins with zeros.
    fn mean(&mut self, mean: &'static str, number: usize, like: &Tensor) -> Result<Tensor, TchError> {
        Ok(match self.state.entry((mean, number)) {
            Entry::Occupied(entry) => entry.get().shallow_clone(),
            Entry::Vacant(entry) => entry.insert(like.f_detach()?.f_zeros_like()?).shallow_clone(),
        })
    }

    /// Sutskever et al. 2013 in PyTorch's form, with g the gradient plus λw:
    /// `v ← μv + g`, then `w ← w − ηv`, or `w ← w − η(g + μv)` with Nesterov's look-ahead.
    fn sgd(
        &mut self,
        number: usize,
        weight: &mut Tensor,
        gradient: &Tensor,
        decay: f64,
        rate: f64,
    ) -> Result<(), TchError> {
        let OptimizerParams { momentum, nesterov, .. } = self.params;
        let mut velocity = self.mean("momentum", number, weight)?;
        let gradient = if decay > 0.0 {
            gradient.f_add(&weight.f_mul_scalar(decay)?)?
        } else {
            gradient.shallow_clone()
        };
        let _ = velocity.f_mul_scalar_(momentum)?.f_add_(&gradient)?;
        let step = if nesterov { gradient.f_add(&velocity.f_mul_scalar(momentum)?)? } else { velocity };
        weight.f_sub_(&step.f_mul_scalar(rate)?).map(drop)
    }

    /// Loshchilov & Hutter 2019, algorithm 2, with λ scaled by the learning rate as in PyTorch:
    /// `w ← w − ηλw`, `m ← β₁m + (1 − β₁)g`, `v ← β₂v + (1 − β₂)g²`, `w ← w − η (m / (1 − β₁ᵗ)) / (√(v / (1 − β₂ᵗ)) + ε)`.
    fn adamw(
        &mut self,
        number: usize,
        weight: &mut Tensor,
        gradient: &Tensor,
        decay: f64,
        rate: f64,
    ) -> Result<(), TchError> {
        let OptimizerParams { beta1, beta2, epsilon, .. } = self.params;
        let mut first = self.mean("first", number, weight)?;
        let mut second = self.mean("second", number, weight)?;
        if decay > 0.0 {
            let _ = weight.f_mul_scalar_(1.0 - rate * decay)?;
        }
        let _ = first.f_lerp_(gradient, 1.0 - beta1)?;
        let _ = second.f_lerp_(&gradient.f_mul(gradient)?, 1.0 - beta2)?;
        let (bias1, bias2) = (bias_correction(beta1, self.updates), bias_correction(beta2, self.updates));
        let divisor = second.f_sqrt()?.f_div_scalar(bias2.sqrt())?.f_add_scalar(epsilon)?;
        weight.f_sub_(&first.f_div(&divisor)?.f_mul_scalar(rate / bias1)?).map(drop)
    }

    /// Jordan et al. 2024 with Nesterov's look-ahead: `v ← μv + g`, then `w ← w − η (λw + 0.2 √max(rows, columns) · O)`, where `O` is
    /// `g + μv` made orthogonal. The factor is that of Liu et al. 2025, equation 4: it gives steps the mean size of `AdamW`'s.
    fn muon(
        &mut self,
        number: usize,
        flat: &mut FlatTensor,
        matrices: usize,
        gradient: &Tensor,
        decay: f64,
        rate: f64,
    ) -> Result<(), TchError> {
        let momentum = self.params.momentum;
        let mut velocity = self.mean("momentum", number, &flat.numbers)?;
        let _ = velocity.f_mul_scalar_(momentum)?.f_add_(gradient)?;
        let ahead = gradient.f_add(&velocity.f_mul_scalar(momentum)?)?;
        if decay > 0.0 {
            let _ = flat.numbers.f_mul_scalar_(1.0 - rate * decay)?;
        }
        for part in &flat.parts {
            let weights = part.matrices(&flat.numbers, matrices)?;
            for (mut weight, matrix) in weights.into_iter().zip(part.matrices(&ahead, matrices)?) {
                let larger = matrix.size().into_iter().max().unwrap_or(1);
                let step = orthogonalized(&matrix)?.f_mul_scalar(0.2 * (larger as f64).sqrt())?;
                let _ = weight.f_sub_(&step.f_mul_scalar(rate)?)?;
            }
        }
        Ok(())
    }
}

/// A matrix with the singular vectors of this one and singular values near 1, by five Newton-Schulz steps of degree 5 with the
/// coefficients of Jordan et al. 2024.
pub(super) fn orthogonalized(matrix: &Tensor) -> Result<Tensor, TchError> {
    const COEFFICIENTS: [f64; 3] = [3.4445, -4.7750, 2.0315];
    const STEPS: u32 = 5;
    let is_tall = matrix.size()[0] > matrix.size()[1];
    let mut x = if is_tall { matrix.f_tr()? } else { matrix.shallow_clone() };
    // The singular values must lie in [0, 1].
    x = x.f_div(&x.f_norm()?.f_add_scalar(1e-7)?)?;
    let [a, b, c] = COEFFICIENTS;
    for _ in 0..STEPS {
        let square = x.f_matmul(&x.f_tr()?)?;
        let polynomial = square.f_mul_scalar(b)?.f_add(&square.f_matmul(&square)?.f_mul_scalar(c)?)?;
        x = x.f_mul_scalar(a)?.f_add(&polynomial.f_matmul(&x)?)?;
    }
    if is_tall { x.f_tr() } else { Ok(x) }
}

/// The bias correction 1 − βᵗ of a running mean after `t` updates (Kingma & Ba 2015, section 3).
fn bias_correction(beta: f64, updates: u64) -> f64 {
    1.0 - beta.powf(updates as f64)
}
