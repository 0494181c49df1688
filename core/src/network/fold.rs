//! Batch norm folded into the convolution before it, for inference.
//!
//! Ioffe & Szegedy 2015, section 3.1: with fixed statistics batch norm is linear, `γ·(x − μ)/√(σ² + ε) + β`.

use super::graph::{Layer, Op};
use super::layout::norm_name;
use super::{WeightTensor, Weights};

/// ε: added to the variance in batch norm; libtorch's usual value.
pub(super) const BATCH_NORM_EPSILON: f64 = 1e-5;

/// ε: added to the variance, or to the mean square, in the norms of a transformer; libtorch's usual value.
pub(super) const NORM_EPSILON: f64 = 1e-5;

/// A convolution or a dense layer with a bias.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Linear {
    /// `[out, in, height, width]`, or `[out, in]` for a dense layer.
    pub(super) weight: WeightTensor,
    /// `[out]`.
    pub(super) bias: WeightTensor,
}

/// A tensor of weights that were checked against the net's layout.
pub(super) fn tensor<'a>(weights: &'a Weights, name: &str) -> &'a WeightTensor {
    weights.get(name).expect("the names were checked against the layout")
}

/// The weight and bias named `at`, as they are.
pub(super) fn plain(weights: &Weights, at: &str) -> Linear {
    let part = |name: &str| tensor(weights, &format!("{at}.{name}")).clone();
    Linear { weight: part("weight"), bias: part("bias") }
}

/// The convolution or dense layer of a layer of the net, with batch norm folded in if it has one.
pub(super) fn linear(weights: &Weights, layer: &Layer) -> Linear {
    match layer.op {
        Op::Conv { norm: true, .. } => folded(weights, &layer.name),
        _ => plain(weights, &layer.name),
    }
}

fn folded(weights: &Weights, conv: &str) -> Linear {
    let norm = norm_name(conv);
    let mut weight = tensor(weights, &format!("{conv}.weight")).clone();
    let [gamma, beta, mean, variance] = ["weight", "bias", "running_mean", "running_var"]
        .map(|name| &tensor(weights, &format!("{norm}.{name}")).data);
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
