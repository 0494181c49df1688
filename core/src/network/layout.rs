//! Names, shapes and initial values of a net's tensors.
//!
//! The trained net, the initial weights and the checks of stored weights all follow [`layout`].

use std::collections::BTreeMap;

use rand_distr::{Distribution, Normal};

use super::graph::{Graph, Layer, Op, Squeeze};
use super::tensor::{Init, TensorRole, TensorSpec};
use super::weights::{WeightTensor, Weights};
use super::{NetworkSpec, NormKind};
use crate::rng::{Purpose, Seed};

/// The initial bias of outputs that are clipped to [0, 1].
const MIDDLE: f32 = 0.5;

/// Every tensor of a net, from the input to the heads.
pub fn layout(spec: &NetworkSpec) -> Vec<TensorSpec> {
    Graph::of_training(spec).layers.iter().flat_map(tensors).collect()
}

/// The names of all weights of hidden layers, each with its [matrices](Graph::hidden_matrices).
pub fn hidden_weights(spec: &NetworkSpec) -> BTreeMap<String, usize> {
    let graph = Graph::of_training(spec);
    let hidden = |(number, layer)| graph.hidden_matrices(number).map(|matrices| (layer, matrices));
    let layers = graph.layers.iter().enumerate().filter_map(hidden);
    let weights = layers.flat_map(|(layer, matrices)| {
        let weights = tensors(layer).into_iter().filter(|tensor| tensor.role.is_weight());
        weights.map(move |tensor| (tensor.name, matrices))
    });
    weights.collect()
}

impl Layer {
    /// The name of the layer's tensor with this role.
    ///
    /// # Panics
    /// If the layer's operation has no tensor with this role.
    pub fn tensor_name(&self, role: TensorRole) -> String {
        let tensor = tensors(self).into_iter().find(|tensor| tensor.role == role);
        tensor.expect("the layer's operation has this role").name
    }

    /// The number of trainable parameters.
    pub fn parameter_count(&self) -> usize {
        tensors(self).iter().filter(|tensor| tensor.is_trained()).map(TensorSpec::len).sum()
    }
}

/// The tensors of one layer; each has a different role.
pub(super) fn tensors(layer: &Layer) -> Vec<TensorSpec> {
    let Layer { name, gain, .. } = layer;
    match layer.op {
        Op::Conv { inputs, outputs, size, norm: true, .. } => {
            let weight = weight(name, TensorRole::Weight, &[outputs, inputs, size, size], 1.0);
            [weight].into_iter().chain(batch_norm(name, outputs, *gain)).collect()
        }
        Op::Conv { inputs, outputs, size, norm: false, .. } => vec![
            weight(name, TensorRole::Weight, &[outputs, inputs, size, size], *gain),
            bias(name, TensorRole::Bias, outputs),
        ],
        Op::Join { channels, squeeze: Some(Squeeze { width, .. }), .. } => {
            let (squeeze, excite) = (format!("{name}.squeeze"), format!("{name}.excite"));
            vec![
                weight(&squeeze, TensorRole::SqueezeWeight, &[width, channels], 1.0),
                bias(&squeeze, TensorRole::SqueezeBias, width),
                weight(&excite, TensorRole::ExciteWeight, &[2 * channels, width], 1.0),
                bias(&excite, TensorRole::ExciteBias, 2 * channels),
            ]
        }
        Op::Dense { inputs, outputs, .. } => vec![
            weight(name, TensorRole::Weight, &[outputs, inputs], *gain),
            bias(name, TensorRole::Bias, outputs),
        ],
        Op::Accumulate { inputs, kings, width, .. } => vec![
            weight(name, TensorRole::Weight, &[width, kings.count() * inputs], *gain),
            filled(format!("{name}.bias"), TensorRole::Bias, &[width], MIDDLE),
        ],
        Op::PositionEmbedding { channels } => {
            vec![filled(format!("{name}.weight"), TensorRole::Weight, &[channels, 8, 8], 0.0)]
        }
        Op::Norm { channels, kind } => {
            let scale = filled(format!("{name}.weight"), TensorRole::NormScale, &[channels], 1.0);
            let shift = (kind == NormKind::Layer).then(|| bias(name, TensorRole::NormShift, channels));
            [scale].into_iter().chain(shift).collect()
        }
        Op::Attention { heads, .. } => {
            vec![filled(format!("{name}.position_bias"), TensorRole::PositionBias, &[heads, 64, 64], 0.0)]
        }
        Op::Join { squeeze: None, .. } | Op::Flatten { .. } | Op::Threats | Op::ExpandPolicy { .. } => {
            Vec::new()
        }
    }
}

fn filled(name: String, role: TensorRole, shape: &[usize], value: f32) -> TensorSpec {
    TensorSpec { name, role, shape: shape.to_vec(), init: Init::Constant(value) }
}

fn bias(layer: &str, role: TensorRole, outputs: usize) -> TensorSpec {
    filled(format!("{layer}.bias"), role, &[outputs], 0.0)
}

/// `[out, in, …]`, with `gain` times the standard deviation of He et al. 2015, "Delving deep into rectifiers", equation 10.
fn weight(layer: &str, role: TensorRole, shape: &[usize], gain: f32) -> TensorSpec {
    let fan_in: usize = shape[1..].iter().product();
    let init = Init::Normal((2.0 / fan_in as f32).sqrt() * gain);
    TensorSpec { name: format!("{layer}.weight"), role, shape: shape.to_vec(), init }
}

/// The tensors of the batch norm after a convolution: `tower.0.bn1` follows `tower.0.conv1`.
fn batch_norm(conv: &str, channels: usize, scale: f32) -> [TensorSpec; 4] {
    let (block, number) = conv
        .rsplit_once('.')
        .and_then(|(block, name)| Some((block, name.strip_prefix("conv")?)))
        .expect("the name of a convolution with batch norm ends in .conv and an optional number");
    [
        ("weight", TensorRole::BatchNormScale, scale),
        ("bias", TensorRole::BatchNormShift, 0.0),
        ("running_mean", TensorRole::RunningMean, 0.0),
        ("running_var", TensorRole::RunningVariance, 1.0),
    ]
    .map(|(name, role, value)| filled(format!("{block}.bn{number}.{name}"), role, &[channels], value))
}

/// The number of trainable parameters; running statistics do not count.
pub fn parameter_count(spec: &NetworkSpec) -> usize {
    layout(spec).iter().filter(|tensor| tensor.is_trained()).map(TensorSpec::len).sum()
}

/// The initial weights of a net: a pure function of the spec and the seed.
///
/// Each tensor has its own random stream, keyed by its name, so that changes elsewhere in the net do not affect it.
pub fn initial_weights(spec: &NetworkSpec, seed: Seed) -> Weights {
    layout(spec).into_iter().map(|tensor| (tensor.name.clone(), initial_tensor(&tensor, seed))).collect()
}

fn initial_tensor(tensor: &TensorSpec, seed: Seed) -> WeightTensor {
    let data = match tensor.init {
        Init::Constant(value) => vec![value; tensor.len()],
        Init::Normal(deviation) => {
            let normal = Normal::new(0.0, deviation).expect("deviations are finite and not negative");
            let mut stream = seed.stream(stream_number(&tensor.name), Purpose::Weights);
            (0..tensor.len()).map(|_| normal.sample(&mut stream)).collect()
        }
    };
    WeightTensor { shape: tensor.shape.clone(), data }
}

/// The number of a tensor's random stream.
pub(super) fn stream_number(name: &str) -> u64 {
    let digest = blake3::hash(name.as_bytes());
    u64::from_le_bytes(*digest.as_bytes().first_chunk().expect("a digest has 32 bytes"))
}
