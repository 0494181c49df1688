//! A net without batch norm: for inference, each batch norm is folded into the convolution before it.
//!
//! Ioffe & Szegedy 2015, section 3.1: with fixed statistics batch norm is linear, `γ·(x − μ)/√(σ² + ε) + β`.

use super::{NetworkSpec, Tower, WeightTensor, Weights};

/// ε: added to the variance in batch norm; libtorch's usual value.
pub(super) const BATCH_NORM_EPSILON: f64 = 1e-5;

/// A convolution or a dense layer with a bias.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layer {
    /// `[out, in, height, width]`, or `[out, in]` for a dense layer.
    pub(super) weight: WeightTensor,
    /// `[out]`.
    pub(super) bias: WeightTensor,
}

/// Squeeze-and-excitation: `[F]` to `[S]` to `[2F]`, the first half a scale before its sigmoid, the second a shift.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SqueezeExcite {
    pub(super) squeeze: Layer,
    pub(super) excite: Layer,
}

/// A residual block.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Block {
    pub(super) conv1: Layer,
    pub(super) conv2: Layer,
    pub(super) squeeze_excite: Option<SqueezeExcite>,
}

/// All layers of a net, from the input to the heads.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FoldedNet {
    pub(super) stem: Layer,
    pub(super) blocks: Vec<Block>,
    pub(super) policy1: Layer,
    pub(super) policy2: Layer,
    pub(super) value1: Layer,
    pub(super) dense1: Layer,
    pub(super) dense2: Layer,
}

impl FoldedNet {
    /// Folds weights that were checked against the spec's layout.
    pub(super) fn new(spec: &NetworkSpec, weights: &Weights) -> Self {
        Self {
            stem: folded(weights, "stem.conv", "stem.bn"),
            blocks: (0..spec.tower.blocks).map(|at| block(spec, weights, &format!("tower.{at}"))).collect(),
            policy1: folded(weights, "policy.conv1", "policy.bn1"),
            policy2: layer(weights, "policy.conv2"),
            value1: folded(weights, "value.conv1", "value.bn1"),
            dense1: layer(weights, "value.dense1"),
            dense2: layer(weights, "value.dense2"),
        }
    }
}

fn block(spec: &NetworkSpec, weights: &Weights, at: &str) -> Block {
    let part = |name: &str| layer(weights, &format!("{at}.se.{name}"));
    let squeeze_excite = (spec.tower.kind == Tower::SeResnet)
        .then(|| SqueezeExcite { squeeze: part("squeeze"), excite: part("excite") });
    Block {
        conv1: folded(weights, &format!("{at}.conv1"), &format!("{at}.bn1")),
        conv2: folded(weights, &format!("{at}.conv2"), &format!("{at}.bn2")),
        squeeze_excite,
    }
}

fn tensor<'a>(weights: &'a Weights, name: &str) -> &'a WeightTensor {
    weights.get(name).expect("the names were checked against the layout")
}

fn layer(weights: &Weights, at: &str) -> Layer {
    let part = |name: &str| tensor(weights, &format!("{at}.{name}")).clone();
    Layer { weight: part("weight"), bias: part("bias") }
}

fn folded(weights: &Weights, conv: &str, norm: &str) -> Layer {
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
    Layer { weight, bias }
}
