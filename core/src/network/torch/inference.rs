//! The inference copy of a net on libtorch: batch norm folded, cast to a precision, channels last.
//!
//! libtorch's Rust wrapper cannot request channels last, so boards are `[B, 64, C]` in memory and convolutions view them as
//! `[B, C, 8, 8]` with permuted axes; libtorch recognises that layout by the strides.

use tch::{Device, Kind, TchError, Tensor};

use super::layers::{Attention, Conv, Dense, Norm, SqueezeExcite, activate};
use super::transfer::upload;
use crate::encoding::{POLICY_PLANES, POLICY_SIZE, PolicyIndex};
use crate::network::fold::{linear, plain, tensor};
use crate::network::graph::{Graph, Layer, Op, Shape, ValueId};
use crate::network::{Activation, WeightTensor, Weights};

/// The heads' outputs for `B` positions, still on the device.
#[derive(Debug)]
pub(super) struct HeadOutputs {
    /// `B · 64 · 73` values in any shape, with a square's 73 logits together.
    pub(super) policy: Tensor,
    /// `[B, 3]` or `[B, 1]`: 32-bit floats.
    pub(super) value: Tensor,
    /// `[B, 1]`: 32-bit floats.
    pub(super) moves_left: Option<Tensor>,
}

/// A net's layers on a device.
#[derive(Debug)]
pub(super) struct Inference {
    steps: Vec<Step>,
    /// The number of steps of the tower.
    tower: usize,
    policy: ValueId,
    value: ValueId,
    moves_left: Option<ValueId>,
}

#[derive(Debug)]
struct Step {
    op: PreparedOp,
    inputs: Vec<ValueId>,
    /// The inputs that no later step reads; their memory is freed at once.
    last_read: Vec<ValueId>,
}

/// An operation with its tensors on the device.
#[derive(Debug)]
enum PreparedOp {
    Conv(Conv, Option<Activation>),
    /// A 1×1 convolution is a dense layer over the squares.
    Dense(Dense, Option<Activation>),
    Join(Option<SqueezeExcite>, Option<Activation>),
    Flatten,
    Add(Tensor),
    Norm(Norm),
    Attention(Attention),
}

impl Inference {
    /// Puts the layers of a net that is no nnue on a device; the weights must have been checked against the layout.
    pub(super) fn new(
        graph: &Graph,
        weights: &Weights,
        kind: Kind,
        device: Device,
    ) -> Result<Self, TchError> {
        let builder = Builder { graph, weights, kind, device };
        let steps = graph
            .layers
            .iter()
            .enumerate()
            .map(|(index, layer)| {
                let op = builder.prepare(index + 1, layer)?;
                Ok(Step { op, inputs: layer.inputs.clone(), last_read: last_read(graph, index) })
            })
            .collect::<Result<_, TchError>>()?;
        let tower = graph.layers.iter().position(|layer| layer.name.starts_with("policy."));
        Ok(Self {
            steps,
            tower: tower.expect("a net has a policy head"),
            policy: graph.policy,
            value: graph.value,
            moves_left: graph.moves_left,
        })
    }

    /// Runs the net on `[B, 64, P]`.
    pub(super) fn forward(&self, input: Tensor) -> Result<HeadOutputs, TchError> {
        let mut values = self.run(input, self.steps.len())?;
        let mut take = |value: ValueId| values[value].take().expect("no step reads a head's output");
        let policy = take(self.policy);
        let value = take(self.value);
        Ok(HeadOutputs { policy, value, moves_left: self.moves_left.map(take) })
    }

    /// Runs the layers before the heads; `[B, 64, P]` to `[B, 64, F]`.
    pub(super) fn tower(&self, input: Tensor) -> Result<Tensor, TchError> {
        let mut values = self.run(input, self.tower)?;
        Ok(values.pop().flatten().expect("the heads still have to read the tower's output"))
    }

    /// The values after the first `count` steps; those that no later step reads are freed.
    fn run(&self, input: Tensor, count: usize) -> Result<Vec<Option<Tensor>>, TchError> {
        let mut values = Vec::with_capacity(count + 1);
        values.push(Some(input));
        for step in &self.steps[..count] {
            let inputs = step
                .inputs
                .iter()
                .map(|&value| values[value].as_ref().expect("a value is read before it is freed"));
            let output = step.op.run(&inputs.collect::<Vec<_>>())?;
            for &value in &step.last_read {
                values[value] = None;
            }
            values.push(Some(output));
        }
        Ok(values)
    }
}

/// The inputs of a layer that no later layer reads.
fn last_read(graph: &Graph, index: usize) -> Vec<ValueId> {
    let is_read_later =
        |value: &ValueId| graph.layers[index + 1..].iter().any(|layer| layer.inputs.contains(value));
    graph.layers[index].inputs.iter().copied().filter(|value| !is_read_later(value)).collect()
}

impl PreparedOp {
    fn run(&self, inputs: &[&Tensor]) -> Result<Tensor, TchError> {
        match self {
            Self::Conv(conv, activation) => activate(conv.run(inputs[0])?, *activation),
            Self::Dense(dense, activation) => activate(dense.run(inputs[0])?, *activation),
            Self::Join(squeeze_excite, activation) => {
                let (branch, skip) = (inputs[0], inputs[1]);
                match squeeze_excite {
                    Some(part) => part.run(branch, skip, *activation),
                    None => activate(branch.f_add(skip)?, *activation),
                }
            }
            Self::Flatten => inputs[0].f_flatten(1, -1),
            Self::Add(embedding) => inputs[0].f_add(embedding),
            Self::Norm(norm) => norm.run(inputs[0]),
            Self::Attention(attention) => attention.run(inputs[0]),
        }
    }
}

/// Puts layers on a device in a dtype.
#[derive(Clone, Copy)]
struct Builder<'a> {
    graph: &'a Graph,
    weights: &'a Weights,
    kind: Kind,
    device: Device,
}

impl Builder<'_> {
    fn prepare(self, value: ValueId, layer: &Layer) -> Result<PreparedOp, TchError> {
        let Self { weights, kind, device, .. } = self;
        Ok(match layer.op {
            Op::Conv { size: 1, activation, .. } => {
                PreparedOp::Dense(Dense::new(&linear(weights, layer), kind, device)?, activation)
            }
            Op::Conv { activation, .. } => {
                PreparedOp::Conv(Conv::new(&linear(weights, layer), kind, device)?, activation)
            }
            Op::Dense { activation, .. } => PreparedOp::Dense(self.dense(value, layer)?, activation),
            Op::Join { squeeze, activation, .. } => {
                let part = |name: &str| plain(weights, &format!("{}.{name}", layer.name));
                let prepare =
                    |squeeze| SqueezeExcite::new(squeeze, &part("squeeze"), &part("excite"), kind, device);
                PreparedOp::Join(squeeze.map(prepare).transpose()?, activation)
            }
            Op::Flatten { .. } => PreparedOp::Flatten,
            Op::PositionEmbedding { channels } => {
                let board = self.tensor_of(layer, "weight")?.f_reshape([channels as i64, 64])?;
                PreparedOp::Add(board.f_t_copy()?.f_to_kind(kind)?)
            }
            Op::Threats | Op::Accumulate { .. } | Op::ExpandPolicy { .. } => {
                unreachable!("an nnue has no inference copy")
            }
            Op::Norm { kind: norm, .. } => {
                PreparedOp::Norm(Norm::new(norm, |name| self.tensor_of(layer, name)?.f_to_kind(kind))?)
            }
            Op::Attention { heads, .. } => {
                let bias = self.tensor_of(layer, "position_bias")?.f_unsqueeze(0)?.f_to_kind(kind)?;
                PreparedOp::Attention(Attention { heads: heads as i64, bias })
            }
        })
    }

    /// A layer's tensor, in f32 on the device.
    fn tensor_of(self, layer: &Layer, name: &str) -> Result<Tensor, TchError> {
        upload(tensor(self.weights, &format!("{}.{name}", layer.name)), self.device)
    }

    /// A dense layer, with flattened boards and policy logits reordered to square-major.
    fn dense(self, value: ValueId, layer: &Layer) -> Result<Dense, TchError> {
        let mut linear = linear(self.weights, layer);
        if self.graph.reads_flat_board(layer) {
            let channels = linear.weight.shape[1] / 64;
            linear.weight = by_squares(&linear.weight, channels, 1);
        }
        if value == self.graph.policy && self.graph.shape(value) == Shape::Flat(POLICY_SIZE) {
            let inputs = linear.weight.shape[1];
            linear.weight = by_squares(&linear.weight, POLICY_PLANES, inputs);
            linear.bias = by_squares(&linear.bias, POLICY_PLANES, 1);
        }
        // The last layers of the value and moves-left heads are small, and 16-bit rounding would be visible in their outputs.
        let is_scalar_head = value == self.graph.value || Some(value) == self.graph.moves_left;
        Dense::new(&linear, if is_scalar_head { Kind::Float } else { self.kind }, self.device)
    }
}

/// The tensor with each run of `[channels, 64, width]` transposed to `[64, channels, width]`.
fn by_squares(tensor: &WeightTensor, channels: usize, width: usize) -> WeightTensor {
    let mut data = Vec::with_capacity(tensor.data.len());
    for board in tensor.data.chunks_exact(channels * 64 * width) {
        for (square, channel) in
            (0..64).flat_map(|square| (0..channels).map(move |channel| (square, channel)))
        {
            let from = (channel * 64 + square) * width;
            data.extend_from_slice(&board[from..from + width]);
        }
    }
    WeightTensor { shape: tensor.shape.clone(), data }
}

/// The offset of a policy index in the flattened [`HeadOutputs::policy`].
pub(super) fn policy_offset(row: usize, index: PolicyIndex) -> i32 {
    ((row * 64 + index.square()) * POLICY_PLANES + index.plane()) as i32
}
