//! Names, shapes and first values of a net's tensors.
//!
//! The trained copy, the initial weights and the checks of stored weights all follow [`layout`].

use rand_distr::{Distribution, Normal};

use super::graph::{Graph, Layer, Op};
use super::weights::{WeightTensor, Weights};
use super::{NetworkSpec, NormKind};
use crate::rng::{Purpose, Seed};

/// How a tensor's first values are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Init {
    /// Normal with mean 0 and this standard deviation.
    Normal(f32),
    /// The same value everywhere.
    Constant(f32),
}

/// One tensor of a net.
#[derive(Debug, Clone, PartialEq)]
pub struct TensorSpec {
    /// Dotted name, such as `tower.0.conv1.weight`.
    pub name: String,
    /// Its shape; convolutions are `[out, in, height, width]`, dense layers `[out, in]`.
    pub shape: Vec<usize>,
    /// How its first values are drawn.
    pub init: Init,
}

impl TensorSpec {
    /// The number of values.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether the tensor has no value; never so in a net.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether gradients change it; running statistics of batch norm follow the batches instead.
    pub fn is_trained(&self) -> bool {
        !self.name.contains(".running_")
    }
}

/// Every tensor of a net, from the input to the heads.
pub fn layout(spec: &NetworkSpec) -> Vec<TensorSpec> {
    Graph::new(spec).layers.iter().flat_map(tensors).collect()
}

/// The name of the batch norm that follows a convolution: `tower.0.conv1` is followed by `tower.0.bn1`.
pub(super) fn norm_name(conv: &str) -> String {
    conv.replace("conv", "bn")
}

/// The tensors of one layer.
pub(super) fn tensors(layer: &Layer) -> Vec<TensorSpec> {
    let Layer { name, gain, .. } = layer;
    match layer.op {
        Op::Conv { inputs, outputs, size, norm: true, .. } => {
            let mut tensors = vec![weight(name, &[outputs, inputs, size, size], 1.0)];
            tensors.extend(batch_norm(&norm_name(name), outputs, *gain));
            tensors
        }
        Op::Conv { inputs, outputs, size, norm: false, .. } => {
            vec![weight(name, &[outputs, inputs, size, size], *gain), bias(name, outputs)]
        }
        Op::Join { channels, squeeze: Some(squeeze), .. } => {
            let (squeezed, at) = (squeeze.width, [format!("{name}.squeeze"), format!("{name}.excite")]);
            vec![
                weight(&at[0], &[squeezed, channels], 1.0),
                bias(&at[0], squeezed),
                weight(&at[1], &[2 * channels, squeezed], 1.0),
                bias(&at[1], 2 * channels),
            ]
        }
        Op::Dense { inputs, outputs, .. } => {
            vec![weight(name, &[outputs, inputs], *gain), bias(name, outputs)]
        }
        Op::PositionEmbedding { channels } => vec![filled(name, "weight", &[channels, 8, 8], 0.0)],
        Op::Norm { channels, kind } => {
            let scale = filled(name, "weight", &[channels], 1.0);
            let shift = (kind == NormKind::Layer).then(|| bias(name, channels));
            [scale].into_iter().chain(shift).collect()
        }
        Op::Attention { heads, .. } => vec![filled(name, "position_bias", &[heads, 64, 64], 0.0)],
        Op::Join { squeeze: None, .. } | Op::Flatten { .. } => Vec::new(),
    }
}

fn filled(at: &str, name: &str, shape: &[usize], value: f32) -> TensorSpec {
    TensorSpec { name: format!("{at}.{name}"), shape: shape.to_vec(), init: Init::Constant(value) }
}

fn bias(at: &str, outputs: usize) -> TensorSpec {
    filled(at, "bias", &[outputs], 0.0)
}

/// `[out, in, …]`, with `gain` times the deviation of He et al. 2015, "Delving deep into rectifiers", equation 10.
fn weight(at: &str, shape: &[usize], gain: f32) -> TensorSpec {
    let fan_in: usize = shape[1..].iter().product();
    let init = Init::Normal((2.0 / fan_in as f32).sqrt() * gain);
    TensorSpec { name: format!("{at}.weight"), shape: shape.to_vec(), init }
}

fn batch_norm(at: &str, channels: usize, scale: f32) -> [TensorSpec; 4] {
    [("weight", scale), ("bias", 0.0), ("running_mean", 0.0), ("running_var", 1.0)]
        .map(|(name, value)| filled(at, name, &[channels], value))
}

/// The number of trained values; running statistics do not count.
pub fn parameter_count(spec: &NetworkSpec) -> usize {
    layout(spec).iter().filter(|tensor| tensor.is_trained()).map(TensorSpec::len).sum()
}

/// The weights of a fresh net: a pure function of the spec and the seed.
///
/// Each tensor has its own stream, keyed by its name, so that a change elsewhere in the net leaves it as it is.
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

/// The random stream of a tensor.
pub(super) fn stream_number(name: &str) -> u64 {
    let digest = blake3::hash(name.as_bytes());
    u64::from_le_bytes(*digest.as_bytes().first_chunk().expect("a digest has 32 bytes"))
}
