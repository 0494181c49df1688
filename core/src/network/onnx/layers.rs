//! The layers of a net as ONNX nodes: one function per operation.

use super::nodes::{Nodes, int, ints};
use crate::network::fold::{Linear, linear, plain, tensor};
use crate::network::graph::{Graph, Layer, Op, Squeeze, ValueId};
use crate::network::{Activation, Weights};

/// The names of a value in its layouts.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// As in the net's graph: `[B, C, 8, 8]` or `[B, N]`.
    pub(super) plain: Option<String>,
    /// `[B·64, C]`, one row per square, for normalisation and attention.
    pub(super) squares: Option<String>,
}

/// Writes the layers of a net in order.
pub(super) struct Writer<'a> {
    pub(super) nodes: Nodes,
    pub(super) graph: &'a Graph,
    pub(super) weights: &'a Weights,
    /// The values so far.
    pub(super) values: Vec<Names>,
}

impl Writer<'_> {
    /// Adds the next layer.
    pub(super) fn layer(&mut self, layer: &Layer) {
        let (name, input) = (layer.name.as_str(), layer.inputs[0]);
        let output = match layer.op {
            Op::Conv { size, activation, .. } => self.conv(layer, input, size, activation),
            Op::Join { squeeze, activation, .. } => self.join(layer, squeeze, activation),
            Op::Flatten { .. } => {
                let input = self.plain(input);
                as_plain(self.nodes.add("Flatten", name, &[&input], [int("axis", 1)]))
            }
            Op::Dense { activation, .. } => {
                let input = self.plain(input);
                let output = self.dense(name, &input);
                as_plain(self.activated(output, activation))
            }
            Op::PositionEmbedding { .. } => {
                let (input, embedding) = (self.plain(input), self.weight(name, "weight"));
                as_plain(self.nodes.add("Add", name, &[&input, &embedding], []))
            }
            Op::Norm { kind, .. } => self.norm(name, input, kind),
            Op::Threats => self.threats(name, input),
            Op::Accumulate { inputs, kings, width, activation } => {
                self.accumulate(name, input, [inputs, width], &kings, activation)
            }
            Op::ExpandPolicy { .. } => self.expand_policy(name, input, layer.inputs.get(1).copied()),
            Op::Attention { channels, heads } => self.attention(name, input, channels, heads),
        };
        self.values.push(output);
    }

    /// The name of a value as `[B, C, 8, 8]` or `[B, N]`.
    pub(super) fn plain(&mut self, value: ValueId) -> String {
        if let Some(name) = &self.values[value].plain {
            return name.clone();
        }
        let (squares, channels) = (self.squares(value), self.channels(value));
        let boards = self.reshaped(&format!("{squares}.boards"), &squares, &[-1, 64, channels]);
        let transposed = self.transposed(&format!("{squares}.channels"), &boards);
        let name = self.reshaped(&format!("{squares}.board"), &transposed, &[0, channels, 8, 8]);
        self.values[value].plain = Some(name.clone());
        name
    }

    /// The name of a board as `[B·64, C]`.
    pub(super) fn squares(&mut self, value: ValueId) -> String {
        if let Some(name) = &self.values[value].squares {
            return name.clone();
        }
        let (board, channels) = (self.plain(value), self.channels(value));
        let flat = self.reshaped(&format!("{board}.flat"), &board, &[0, channels, 64]);
        let transposed = self.transposed(&format!("{board}.turned"), &flat);
        let name = self.reshaped(&format!("{board}.squares"), &transposed, &[-1, channels]);
        self.values[value].squares = Some(name.clone());
        name
    }

    /// Reshapes a value; 0 keeps an axis, −1 is inferred.
    pub(super) fn reshaped(&mut self, name: &str, input: &str, shape: &[i64]) -> String {
        let shape = self.nodes.integers(format!("{name}.shape"), shape);
        self.nodes.add("Reshape", name, &[input, &shape], [])
    }

    /// `[B, N, M]` to `[B, M, N]`.
    fn transposed(&mut self, name: &str, input: &str) -> String {
        self.nodes.add("Transpose", name, &[input], [ints("perm", &[0, 2, 1])])
    }

    fn channels(&self, value: ValueId) -> i64 {
        self.graph.shape(value).width() as i64
    }

    /// A tensor of the net, unchanged.
    pub(super) fn weight(&mut self, layer: &str, part: &str) -> String {
        let name = format!("{layer}.{part}");
        let tensor = tensor(self.weights, &name);
        self.nodes.weights(name, tensor)
    }

    fn activated(&mut self, input: String, activation: Option<Activation>) -> String {
        let Some(activation) = activation else { return input };
        let name = format!("{input}.{}", activation.name());
        match activation {
            Activation::Relu => self.nodes.add("Relu", name, &[&input], []),
            Activation::Swish => {
                let gate = self.nodes.add("Sigmoid", format!("{name}.gate"), &[&input], []);
                self.nodes.add("Mul", name, &[&input, &gate], [])
            }
            Activation::Mish => {
                let gate = self.nodes.add("Softplus", format!("{name}.softplus"), &[&input], []);
                let gate = self.nodes.add("Tanh", format!("{name}.gate"), &[&gate], []);
                self.nodes.add("Mul", name, &[&input, &gate], [])
            }
        }
    }

    /// A convolution with batch norm folded in; a 1×1 convolution of an input with one row per square is a matrix product.
    fn conv(&mut self, layer: &Layer, input: ValueId, size: usize, activation: Option<Activation>) -> Names {
        let filters = linear(self.weights, layer);
        if let (1, Some(squares)) = (size, self.values[input].squares.clone()) {
            let output = self.gemm(&layer.name, &squares, &filters);
            return as_squares(self.activated(output, activation));
        }
        let input = self.plain(input);
        let (name, size, pad) = (layer.name.as_str(), size as i64, size as i64 / 2);
        let weight = self.nodes.weights(format!("{name}.weight"), &filters.weight);
        let bias = self.nodes.weights(format!("{name}.bias"), &filters.bias);
        let attributes = [ints("kernel_shape", &[size, size]), ints("pads", &[pad; 4])];
        let output = self.nodes.add("Conv", name, &[&input, &weight, &bias], attributes);
        as_plain(self.activated(output, activation))
    }

    /// A dense layer or a 1×1 convolution, on `[…, in]`.
    pub(super) fn gemm(&mut self, name: &str, input: &str, filters: &Linear) -> String {
        let shape = [filters.weight.shape[0], filters.weight.shape[1]];
        let weight = self.nodes.floats(format!("{name}.weight"), &shape, &filters.weight.data);
        let bias = self.nodes.weights(format!("{name}.bias"), &filters.bias);
        self.nodes.add("Gemm", name, &[input, &weight, &bias], [int("transB", 1)])
    }

    fn dense(&mut self, name: &str, input: &str) -> String {
        let filters = plain(self.weights, name);
        self.gemm(name, input, &filters)
    }

    /// The residual addition at the end of a block.
    fn join(&mut self, layer: &Layer, squeeze: Option<Squeeze>, activation: Option<Activation>) -> Names {
        let [branch, skip] = *layer.inputs.as_slice() else { unreachable!("a join has two inputs") };
        let name = layer.name.as_str();
        if let (None, Some(branch)) = (squeeze, self.values[branch].squares.clone()) {
            let skip = self.squares(skip);
            let sum = self.nodes.add("Add", name, &[&branch, &skip], []);
            return as_squares(self.activated(sum, activation));
        }
        let (branch, skip) = (self.plain(branch), self.plain(skip));
        let branch = match squeeze {
            Some(squeeze) => self.squeeze_excite(layer, &branch, squeeze),
            None => branch,
        };
        let sum = self.nodes.add("Add", name, &[&branch, &skip], []);
        as_plain(self.activated(sum, activation))
    }

    /// Squeeze-and-excitation of `[B, C, 8, 8]`.
    fn squeeze_excite(&mut self, layer: &Layer, input: &str, squeeze: Squeeze) -> String {
        let (name, channels) = (layer.name.as_str(), layer.output.width() as i64);
        let pooled = self.nodes.add("GlobalAveragePool", format!("{name}.pool"), &[input], []);
        let pooled = self.nodes.add("Flatten", format!("{name}.pooled"), &[&pooled], [int("axis", 1)]);
        let squeezed = self.dense(&format!("{name}.squeeze"), &pooled);
        let squeezed = self.activated(squeezed, Some(squeeze.activation));
        let excited = self.dense(&format!("{name}.excite"), &squeezed);
        let halves = self.reshaped(&format!("{name}.halves"), &excited, &[0, 2, channels, 1, 1]);
        let [scale, shift] = self.parts([format!("{name}.scale"), format!("{name}.shift")], &halves, 1);
        let scale = self.nodes.add("Sigmoid", format!("{scale}.sigmoid"), &[&scale], []);
        let scaled = self.nodes.add("Mul", format!("{name}.scaled"), &[input, &scale], []);
        self.nodes.add("Add", format!("{name}.shifted"), &[&scaled, &shift], [])
    }

    /// Splits an axis of length `N` into its elements.
    pub(super) fn parts<const N: usize>(
        &mut self,
        names: [String; N],
        input: &str,
        axis: i64,
    ) -> [String; N] {
        let mut next = 0;
        names.map(|name| {
            let index = self.nodes.index(format!("{name}.index"), next);
            next += 1;
            self.nodes.add("Gather", name, &[input, &index], [int("axis", axis)])
        })
    }
}

pub(super) fn as_plain(name: String) -> Names {
    Names { plain: Some(name), squares: None }
}

pub(super) fn as_squares(name: String) -> Names {
    Names { plain: None, squares: Some(name) }
}
