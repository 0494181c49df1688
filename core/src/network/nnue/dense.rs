//! Dense layers over the first layer's outputs.

use super::blocks::{Outputs, Weights};
use super::instructions::Set;
use crate::network::fold::Linear;

/// The largest weight in integers.
const LARGEST: f32 = 127.0;

/// A dense layer with 8-bit weights. Each output has a scale of its own, so that large weights of one do not cost others their
/// precision.
#[derive(Debug, Clone)]
pub(super) struct Dense {
    /// `[out, in]`.
    weights: Vec<Weights>,
    /// Blocks of inputs.
    inputs: usize,
    /// What 1 stands for in the sum of each output; `[out]`.
    units: Vec<f32>,
    /// `[out]`.
    bias: Vec<f32>,
}

impl Dense {
    /// A layer in integers, whose inputs are in units of `input_unit`.
    pub(super) fn new(linear: &Linear, input_unit: f32) -> Self {
        let inputs = linear.weight.shape[1];
        let mut layer = Self {
            weights: Vec::new(),
            inputs: inputs / 64,
            units: Vec::new(),
            bias: linear.bias.data.clone(),
        };
        for row in linear.weight.data.chunks_exact(inputs) {
            let largest = row.iter().fold(0.0f32, |largest, weight| largest.max(weight.abs()));
            let unit = if largest > 0.0 { largest / LARGEST } else { 1.0 };
            let rounded = row.as_chunks::<64>().0.iter();
            layer
                .weights
                .extend(rounded.map(|block| Weights(block.map(|weight| (weight / unit).round() as i8))));
            layer.units.push(unit * input_unit);
        }
        layer
    }

    /// The number of outputs.
    pub(super) fn outputs(&self) -> usize {
        self.bias.len()
    }

    /// One output.
    #[inline(always)]
    pub(super) fn output<S: Set>(&self, output: usize, inputs: &[Outputs]) -> f32 {
        let weights = &self.weights[output * self.inputs..][..self.inputs];
        S::dot(inputs, weights) as f32 * self.units[output] + self.bias[output]
    }
}

/// A small dense layer in floats.
#[derive(Debug, Clone)]
pub(super) struct SmallDense {
    /// `[out, in]` and `[out]`.
    linear: Linear,
}

impl SmallDense {
    pub(super) fn new(linear: Linear) -> Self {
        Self { linear }
    }

    /// The number of outputs.
    pub(super) fn outputs(&self) -> usize {
        self.linear.bias.data.len()
    }

    /// All outputs. The sums are in the order of the inputs.
    #[inline(always)]
    pub(super) fn run(&self, inputs: &[f32], outputs: &mut [f32]) {
        for (output, value) in outputs.iter_mut().enumerate() {
            let row = &self.linear.weight.data[output * inputs.len()..][..inputs.len()];
            let mut sum = self.linear.bias.data[output];
            for (weight, input) in row.iter().zip(inputs) {
                sum += weight * input;
            }
            *value = sum;
        }
    }
}
