//! The inference copy of a net on libtorch: batch norm folded, numbers of the device's best kind, channels last.
//!
//! libtorch's wrapper has no word for channels last, so boards are kept as `[B, 64, C]` in memory, and convolutions see them
//! as `[B, C, 8, 8]` with their axes permuted; libtorch recognises that layout by the strides.

use tch::{Device, Kind, TchError, Tensor};

use super::layers::{Attention, Conv, Dense, Norm, SqueezeExcite, activate};
use super::transfer::upload;
use crate::encoding::{POLICY_PLANES, POLICY_SIZE, PolicyIndex};
use crate::network::fold::{linear, plain, tensor};
use crate::network::graph::{Graph, Layer, Op, Shape, ValueId};
use crate::network::{Activation, WeightTensor, Weights};

/// What the net says of `B` positions, still on its device.
#[derive(Debug)]
pub(super) struct Answers {
    /// `[B · 64 · 73]`, seen as rows of any length: a square's 73 logits lie together.
    pub(super) policy: Tensor,
    /// `[B, 3]` or `[B, 1]`: 32-bit floats.
    pub(super) value: Tensor,
    /// `[B, 1]`: 32-bit floats.
    pub(super) moves_left: Option<Tensor>,
}

/// The layers on a device.
#[derive(Debug)]
pub(super) struct Inference {
    steps: Vec<Step>,
    /// How many of the steps are the tower.
    tower: usize,
    policy: ValueId,
    value: ValueId,
    moves_left: Option<ValueId>,
}

#[derive(Debug)]
struct Step {
    op: Prepared,
    inputs: Vec<ValueId>,
    /// The inputs that nothing reads later; their memory is given back as early as possible.
    last_read: Vec<ValueId>,
}

/// An operation with its tensors.
#[derive(Debug)]
enum Prepared {
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
    /// Puts a net's layers on a device; the weights were checked against the layout.
    pub(super) fn new(
        graph: &Graph,
        weights: &Weights,
        kind: Kind,
        device: Device,
    ) -> Result<Self, TchError> {
        let site = Site { graph, weights, kind, device };
        let steps = graph
            .layers
            .iter()
            .enumerate()
            .map(|(at, layer)| {
                let op = site.prepare(at + 1, layer)?;
                Ok(Step { op, inputs: layer.inputs.clone(), last_read: last_read(graph, at) })
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
    pub(super) fn forward(&self, input: Tensor) -> Result<Answers, TchError> {
        let mut values = self.run(input, self.steps.len())?;
        let mut take = |value: ValueId| values[value].take().expect("nothing reads a head's answer");
        let policy = take(self.policy);
        let value = take(self.value);
        Ok(Answers { policy, value, moves_left: self.moves_left.map(take) })
    }

    /// The layers before the heads; `[B, 64, P]` to `[B, 64, F]`.
    pub(super) fn tower(&self, input: Tensor) -> Result<Tensor, TchError> {
        let mut values = self.run(input, self.tower)?;
        Ok(values.pop().flatten().expect("the tower's last value is still there"))
    }

    /// The values after the first `count` steps; those that nothing reads any more are gone.
    fn run(&self, input: Tensor, count: usize) -> Result<Vec<Option<Tensor>>, TchError> {
        let mut values = Vec::with_capacity(count + 1);
        values.push(Some(input));
        for step in &self.steps[..count] {
            let inputs =
                step.inputs.iter().map(|&at| values[at].as_ref().expect("a value is read before it goes"));
            let made = step.op.run(&inputs.collect::<Vec<_>>())?;
            for &at in &step.last_read {
                values[at] = None;
            }
            values.push(Some(made));
        }
        Ok(values)
    }
}

fn last_read(graph: &Graph, at: usize) -> Vec<ValueId> {
    let later = |value: &ValueId| graph.layers[at + 1..].iter().any(|layer| layer.inputs.contains(value));
    graph.layers[at].inputs.iter().copied().filter(|value| !later(value)).collect()
}

impl Prepared {
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

/// Where layers are put, and in which numbers.
#[derive(Clone, Copy)]
struct Site<'a> {
    graph: &'a Graph,
    weights: &'a Weights,
    kind: Kind,
    device: Device,
}

impl Site<'_> {
    fn prepare(self, value: ValueId, layer: &Layer) -> Result<Prepared, TchError> {
        let Self { weights, kind, device, .. } = self;
        Ok(match layer.op {
            Op::Conv { size: 1, activation, .. } => {
                Prepared::Dense(Dense::new(&linear(weights, layer), kind, device)?, activation)
            }
            Op::Conv { activation, .. } => {
                Prepared::Conv(Conv::new(&linear(weights, layer), kind, device)?, activation)
            }
            Op::Dense { activation, .. } => Prepared::Dense(self.dense(value, layer)?, activation),
            Op::Join { squeeze, activation, .. } => {
                let part = |name: &str| plain(weights, &format!("{}.{name}", layer.name));
                let prepare =
                    |squeeze| SqueezeExcite::new(squeeze, &part("squeeze"), &part("excite"), kind, device);
                Prepared::Join(squeeze.map(prepare).transpose()?, activation)
            }
            Op::Flatten { .. } => Prepared::Flatten,
            Op::PositionEmbedding { channels } => {
                let board = self.own(layer, "weight")?.f_reshape([channels as i64, 64])?;
                Prepared::Add(board.f_t_copy()?.f_to_kind(kind)?)
            }
            Op::Norm { kind: norm, .. } => {
                Prepared::Norm(Norm::new(norm, |name| self.own(layer, name)?.f_to_kind(kind))?)
            }
            Op::Attention { heads, .. } => {
                let bias = self.own(layer, "position_bias")?.f_unsqueeze(0)?.f_to_kind(kind)?;
                Prepared::Attention(Attention { heads: heads as i64, bias })
            }
        })
    }

    /// A tensor of a layer, in 32 bits on the device.
    fn own(self, layer: &Layer, name: &str) -> Result<Tensor, TchError> {
        upload(tensor(self.weights, &format!("{}.{name}", layer.name)), self.device)
    }

    /// A dense layer whose inputs come square by square, and whose logits leave square by square.
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
        // What the value is made of is small, and 16 bits would show in it.
        let is_answer = value == self.graph.value || Some(value) == self.graph.moves_left;
        Dense::new(&linear, if is_answer { Kind::Float } else { self.kind }, self.device)
    }
}

/// The same numbers with runs of `[channels, 64, width]` turned into `[64, channels, width]`.
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

/// Where a policy index lies in [`Answers::policy`], flattened.
pub(super) fn policy_place(row: usize, index: PolicyIndex) -> i32 {
    ((row * 64 + index.square()) * POLICY_PLANES + index.plane()) as i32
}
