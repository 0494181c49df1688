//! Folding batch norm into the preceding convolution, for inference.
//!
//! Ioffe & Szegedy 2015, section 3.1: with fixed statistics batch norm is linear, `γ·(x − μ)/√(σ² + ε) + β`.

use super::graph::{Layer, Op};
use super::{TensorRole, WeightTensor, Weights};

/// ε: added to the variance in batch norm; libtorch's default.
pub const BATCH_NORM_EPSILON: f64 = 1e-5;

/// ε: added to the variance or the mean square in a transformer's norms; the default of libtorch's layer norm.
pub const NORM_EPSILON: f64 = 1e-5;

/// γ, β, μ and σ² of a batch norm.
pub(super) const BATCH_NORM: [TensorRole; 4] = [
    TensorRole::BatchNormScale,
    TensorRole::BatchNormShift,
    TensorRole::RunningMean,
    TensorRole::RunningVariance,
];

/// A convolution or a dense layer with a bias.
#[derive(Debug, Clone, PartialEq)]
pub struct Linear {
    /// `[out, in, height, width]`, or `[out, in]` for a dense layer.
    pub weight: WeightTensor,
    /// `[out]`.
    pub bias: WeightTensor,
}

/// A tensor by name; the weights must have been checked against the net's layout.
pub fn tensor<'a>(weights: &'a Weights, name: &str) -> &'a WeightTensor {
    weights.get(name).expect("the names were checked against the layout")
}

/// The weight and bias of a layer, unchanged.
pub fn plain(weights: &Weights, layer: &str) -> Linear {
    let part = |name: &str| tensor(weights, &format!("{layer}.{name}")).clone();
    Linear { weight: part("weight"), bias: part("bias") }
}

/// A layer's convolution or dense layer, with batch norm folded in if it has one.
pub fn linear(weights: &Weights, layer: &Layer) -> Linear {
    match layer.op {
        Op::Conv { norm: true, .. } => folded(weights, layer),
        _ => plain(weights, &layer.name),
    }
}

fn folded(weights: &Weights, conv: &Layer) -> Linear {
    let part = |role| tensor(weights, &conv.tensor_name(role));
    let mut weight = part(TensorRole::Weight).clone();
    let [gamma, beta, mean, variance] = BATCH_NORM.map(|role| &part(role).data);
    let channels = gamma.len();
    let mut bias = WeightTensor { shape: vec![channels], data: vec![0.0; channels] };
    let fan_in = weight.data.len() / channels;
    for (channel, filter) in weight.data.chunks_exact_mut(fan_in).enumerate() {
        let scale = f64::from(gamma[channel]) / (f64::from(variance[channel]) + BATCH_NORM_EPSILON).sqrt();
        for value in filter.iter_mut() {
            *value = (f64::from(*value) * scale) as f32;
        }
        bias.data[channel] = (f64::from(beta[channel]) - f64::from(mean[channel]) * scale) as f32;
    }
    Linear { weight, bias }
}
