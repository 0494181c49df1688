//! Names, shapes and first values of a net's tensors: the one place that turns a [`NetworkSpec`] into tensors.
//!
//! The model, the initial weights and the checks of stored weights all follow [`layout`].

use rand_distr::{Distribution, Normal};

use super::weights::{WeightTensor, Weights};
use super::{NetworkSpec, Tower};
use crate::encoding::{Encoding, POLICY_PLANES};
use crate::rng::{Purpose, Seed};

/// Standard deviation of the policy and outcome logits of a fresh net relative to He's: a fresh net must not prefer
/// anything, because its first games are the first data. Chosen.
const LAST_LAYER_GAIN: f32 = 0.2;

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
    let encoding = Encoding::new(spec.encoding, spec.orientation);
    let filters = spec.tower.filters as usize;
    let mut tensors = Vec::new();
    conv(&mut tensors, "stem.conv", [filters, encoding.planes().len(), 3]);
    batch_norm(&mut tensors, "stem.bn", filters, 1.0);
    for block in 0..spec.tower.blocks {
        residual_block(&mut tensors, spec, &format!("tower.{block}"));
    }
    policy_head(&mut tensors, filters);
    value_head(&mut tensors, spec);
    tensors
}

fn residual_block(tensors: &mut Vec<TensorSpec>, spec: &NetworkSpec, at: &str) {
    let filters = spec.tower.filters as usize;
    conv(tensors, &format!("{at}.conv1"), [filters, filters, 3]);
    batch_norm(tensors, &format!("{at}.bn1"), filters, 1.0);
    conv(tensors, &format!("{at}.conv2"), [filters, filters, 3]);
    // A block starts as the identity (Goyal et al. 2017, section 5.1), so that depth does not change a fresh net.
    batch_norm(tensors, &format!("{at}.bn2"), filters, 0.0);
    if spec.tower.kind == Tower::SeResnet {
        let squeezed = squeeze_width(spec);
        dense(tensors, &format!("{at}.se.squeeze"), [squeezed, filters], 1.0);
        dense(tensors, &format!("{at}.se.excite"), [2 * filters, squeezed], 1.0);
    }
}

/// Channels between the two dense layers of a squeeze-and-excitation part.
pub fn squeeze_width(spec: &NetworkSpec) -> usize {
    (spec.tower.filters / spec.tower.se_ratio).max(1) as usize
}

fn policy_head(tensors: &mut Vec<TensorSpec>, filters: usize) {
    conv(tensors, "policy.conv1", [filters, filters, 1]);
    batch_norm(tensors, "policy.bn1", filters, 1.0);
    let init = Init::Normal(he_deviation(filters) * LAST_LAYER_GAIN);
    push(tensors, "policy.conv2.weight", &[POLICY_PLANES, filters, 1, 1], init);
    push(tensors, "policy.conv2.bias", &[POLICY_PLANES], Init::Constant(0.0));
}

fn value_head(tensors: &mut Vec<TensorSpec>, spec: &NetworkSpec) {
    let (channels, hidden) = (spec.value_head.filters as usize, spec.value_head.hidden as usize);
    conv(tensors, "value.conv1", [channels, spec.tower.filters as usize, 1]);
    batch_norm(tensors, "value.bn1", channels, 1.0);
    dense(tensors, "value.dense1", [hidden, channels * 64], 1.0);
    dense(tensors, "value.dense2", [3, hidden], LAST_LAYER_GAIN);
}

fn push(tensors: &mut Vec<TensorSpec>, name: &str, shape: &[usize], init: Init) {
    tensors.push(TensorSpec { name: name.to_owned(), shape: shape.to_vec(), init });
}

/// `[out, in, size, size]`; no bias, since batch norm follows.
fn conv(tensors: &mut Vec<TensorSpec>, at: &str, [outputs, inputs, size]: [usize; 3]) {
    let init = Init::Normal(he_deviation(inputs * size * size));
    push(tensors, &format!("{at}.weight"), &[outputs, inputs, size, size], init);
}

fn dense(tensors: &mut Vec<TensorSpec>, at: &str, [outputs, inputs]: [usize; 2], gain: f32) {
    push(tensors, &format!("{at}.weight"), &[outputs, inputs], Init::Normal(he_deviation(inputs) * gain));
    push(tensors, &format!("{at}.bias"), &[outputs], Init::Constant(0.0));
}

fn batch_norm(tensors: &mut Vec<TensorSpec>, at: &str, channels: usize, weight: f32) {
    for (name, value) in [("weight", weight), ("bias", 0.0), ("running_mean", 0.0), ("running_var", 1.0)] {
        push(tensors, &format!("{at}.{name}"), &[channels], Init::Constant(value));
    }
}

/// He et al. 2015, "Delving deep into rectifiers", equation 10.
fn he_deviation(fan_in: usize) -> f32 {
    (2.0 / fan_in as f32).sqrt()
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

fn stream_number(name: &str) -> u64 {
    let digest = blake3::hash(name.as_bytes());
    u64::from_le_bytes(*digest.as_bytes().first_chunk().expect("a digest has 32 bytes"))
}
