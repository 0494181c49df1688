//! A net as a list of layers: the one place that turns a [`NetworkSpec`] into a computation.
//!
//! The tensors and their first values, the trained and the inference copy, the ONNX file, the operation count and the
//! growth of nets all walk this list.

use super::{Activation, NetworkSpec, NormKind, PolicyHead, Tower, ValueHead};
use crate::encoding::{POLICY_PLANES, POLICY_SIZE};

/// First weights of the last layers relative to He's: a fresh net must not prefer anything, because its first games are
/// the first data. Chosen.
const LAST_LAYER_GAIN: f32 = 0.2;

/// First weights of layers without a non-linearity behind them relative to He's, which double the variance for one
/// (He et al. 2015, section 2.2).
const LINEAR_GAIN: f32 = std::f32::consts::FRAC_1_SQRT_2;

/// A value's place: 0 is the input `[B, P, 8, 8]`, `k + 1` is what layer `k` makes.
pub type ValueId = usize;

/// What a value holds for each position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `[B, C, 8, 8]` with this `C`.
    Board(usize),
    /// `[B, N]` with this `N`.
    Flat(usize),
}

impl Shape {
    /// Channels of a board, or the width of a flat value.
    pub fn width(self) -> usize {
        match self {
            Self::Board(width) | Self::Flat(width) => width,
        }
    }
}

/// What a layer does. Its tensors are named after the layer, as [`layout`](super::layout()) says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Op {
    /// `[B, in, 8, 8]` to `[B, out, 8, 8]`: a convolution that keeps the board's size, then batch norm or a bias.
    Conv {
        /// Channels of the input.
        inputs: usize,
        /// Channels of the output.
        outputs: usize,
        /// 1 for 1×1, 3 for 3×3.
        size: usize,
        /// Whether batch norm follows; otherwise the convolution has a bias.
        norm: bool,
        /// What comes last.
        activation: Option<Activation>,
    },
    /// The end of a residual block: the first input `[B, C, 8, 8]`, through squeeze-and-excitation if any, plus the second.
    Join {
        /// Channels.
        channels: usize,
        /// Squeeze-and-excitation (Hu et al. 2018, section 3) with a shift beside the scale, as in Leela's nets.
        squeeze: Option<Squeeze>,
        /// What comes last.
        activation: Option<Activation>,
    },
    /// `[B, C, 8, 8]` to `[B, 64·C]`, channel by channel.
    Flatten {
        /// Channels of the input.
        channels: usize,
    },
    /// `[B, in]` to `[B, out]`, with a bias.
    Dense {
        /// Width of the input.
        inputs: usize,
        /// Width of the output.
        outputs: usize,
        /// What comes last.
        activation: Option<Activation>,
    },
    /// Adds a learned `[C, 8, 8]`.
    PositionEmbedding {
        /// Channels.
        channels: usize,
    },
    /// Normalises the channels of each square, then scales them (and shifts them, for [`NormKind::Layer`]).
    Norm {
        /// Channels.
        channels: usize,
        /// What it normalises by.
        kind: NormKind,
    },
    /// Queries, keys and values `[B, 3C, 8, 8]` to `[B, C, 8, 8]`: `softmax(q·kᵀ/√(C/H) + bias)·v` for each of `H` heads
    /// (Vaswani et al. 2017, equation 1) with a learned bias for each pair of squares.
    Attention {
        /// Channels `C` of the output.
        channels: usize,
        /// Heads `H`; head `h` has the channels from `h·C/H`.
        heads: usize,
    },
}

/// Squeeze-and-excitation: mean over the board, dense to `width`, activation, dense to `2C`; the first half scales through a
/// sigmoid, the second is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Squeeze {
    /// Channels between the two dense layers.
    pub width: usize,
    /// Between them.
    pub activation: Activation,
}

/// One step of a net.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Dotted name, such as `tower.0.conv1`.
    pub name: String,
    /// What it does.
    pub op: Op,
    /// What it reads, always earlier values.
    pub inputs: Vec<ValueId>,
    /// What it makes.
    pub output: Shape,
    /// Size of its first weights relative to He's; of the scale of its batch norm, if it has one.
    pub gain: f32,
}

/// A whole net.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    /// The layers in the order in which they run.
    pub layers: Vec<Layer>,
    /// Input planes.
    pub planes: usize,
    /// Logits of the moves: a board of 73 channels or 4672 flat ones, both with index `plane · 64 + from`.
    pub policy: ValueId,
    /// Logits of win, draw and loss, or the one number before tanh.
    pub value: ValueId,
    /// The one number before softplus.
    pub moves_left: Option<ValueId>,
}

impl Graph {
    /// The layers of a net.
    pub fn new(spec: &NetworkSpec) -> Self {
        let planes = spec.input().planes().len();
        let mut builder = Builder { spec, layers: Vec::new(), planes };
        let body = match spec.tower.kind {
            Tower::SeResnet | Tower::Resnet => builder.residual_tower(),
            Tower::Transformer => builder.transformer(),
        };
        let policy = builder.policy_head(body);
        let value = builder.value_head(body);
        let moves_left = builder.moves_left_head(body);
        Self { layers: builder.layers, planes, policy, value, moves_left }
    }

    /// What a value holds.
    pub fn shape(&self, value: ValueId) -> Shape {
        value.checked_sub(1).map_or(Shape::Board(self.planes), |layer| self.layers[layer].output)
    }

    /// Whether a layer's input is a board laid flat.
    pub(super) fn reads_flat_board(&self, layer: &Layer) -> bool {
        let producer = layer.inputs[0].checked_sub(1).map(|at| self.layers[at].op);
        matches!(producer, Some(Op::Flatten { .. }))
    }

    /// Multiplications, each with an addition, of one evaluation; those of convolutions, dense layers and attention. Twice as
    /// many floating-point operations.
    pub fn multiply_adds(&self) -> u64 {
        self.layers.iter().map(|layer| layer.op.multiply_adds()).sum()
    }
}

impl Op {
    /// Multiplications, each with an addition.
    pub fn multiply_adds(self) -> u64 {
        let count = match self {
            Self::Conv { inputs, outputs, size, .. } => 64 * inputs * outputs * size * size,
            Self::Join { channels, squeeze: Some(squeeze), .. } => 3 * channels * squeeze.width,
            Self::Dense { inputs, outputs, .. } => inputs * outputs,
            Self::Attention { channels, .. } => 2 * 64 * 64 * channels,
            Self::Join { .. } | Self::Flatten { .. } | Self::PositionEmbedding { .. } | Self::Norm { .. } => {
                0
            }
        };
        count as u64
    }

    fn output(self) -> Shape {
        match self {
            Self::Conv { outputs, .. } => Shape::Board(outputs),
            Self::Join { channels, .. }
            | Self::PositionEmbedding { channels }
            | Self::Norm { channels, .. }
            | Self::Attention { channels, .. } => Shape::Board(channels),
            Self::Flatten { channels } => Shape::Flat(64 * channels),
            Self::Dense { outputs, .. } => Shape::Flat(outputs),
        }
    }
}

struct Builder<'a> {
    spec: &'a NetworkSpec,
    layers: Vec<Layer>,
    planes: usize,
}

impl Builder<'_> {
    fn push(&mut self, name: String, op: Op, inputs: &[ValueId], gain: f32) -> ValueId {
        self.layers.push(Layer { name, op, inputs: inputs.to_vec(), output: op.output(), gain });
        self.layers.len()
    }

    fn width(&self, value: ValueId) -> usize {
        value.checked_sub(1).map_or(self.planes, |layer| self.layers[layer].output.width())
    }

    fn filters(&self) -> usize {
        self.spec.tower.filters as usize
    }

    fn activation(&self) -> Option<Activation> {
        Some(self.spec.tower.activation)
    }

    /// Convolution, batch norm, activation.
    fn normed_conv(&mut self, name: String, input: ValueId, [outputs, size]: [usize; 2]) -> ValueId {
        let (inputs, activation) = (self.width(input), self.activation());
        self.push(name, Op::Conv { inputs, outputs, size, norm: true, activation }, &[input], 1.0)
    }

    /// A dense layer over the channels of each square.
    fn mix(
        &mut self,
        name: String,
        input: ValueId,
        outputs: usize,
        activation: Option<Activation>,
        gain: f32,
    ) -> ValueId {
        let inputs = self.width(input);
        self.push(name, Op::Conv { inputs, outputs, size: 1, norm: false, activation }, &[input], gain)
    }

    fn dense(
        &mut self,
        name: &str,
        input: ValueId,
        outputs: usize,
        activation: Option<Activation>,
    ) -> ValueId {
        let inputs = self.width(input);
        let gain = if activation.is_some() { 1.0 } else { LAST_LAYER_GAIN };
        self.push(name.to_owned(), Op::Dense { inputs, outputs, activation }, &[input], gain)
    }

    fn residual_tower(&mut self) -> ValueId {
        let filters = self.filters();
        let mut body = self.normed_conv("stem.conv".to_owned(), 0, [filters, 3]);
        for block in 0..self.spec.tower.blocks {
            body = self.residual_block(&format!("tower.{block}"), body);
        }
        body
    }

    /// He et al. 2016.
    fn residual_block(&mut self, at: &str, input: ValueId) -> ValueId {
        let (channels, activation) = (self.filters(), self.activation());
        let first = self.normed_conv(format!("{at}.conv1"), input, [channels, 3]);
        let second = Op::Conv { inputs: channels, outputs: channels, size: 3, norm: true, activation: None };
        // A block starts as the identity (Goyal et al. 2017, section 5.1), so that depth does not change a fresh net.
        let second = self.push(format!("{at}.conv2"), second, &[first], 0.0);
        let squeeze = self.squeeze();
        self.push(format!("{at}.se"), Op::Join { channels, squeeze, activation }, &[second, input], 1.0)
    }

    fn squeeze(&self) -> Option<Squeeze> {
        let tower = &self.spec.tower;
        let width = (tower.filters / tower.se_ratio).max(1) as usize;
        (tower.kind == Tower::SeResnet).then_some(Squeeze { width, activation: tower.activation })
    }

    fn transformer(&mut self) -> ValueId {
        let channels = self.filters();
        let tokens = self.mix("stem.embed".to_owned(), 0, channels, None, 1.0);
        let mut body =
            self.push("stem.position".to_owned(), Op::PositionEmbedding { channels }, &[tokens], 1.0);
        for block in 0..self.spec.tower.blocks {
            body = self.transformer_block(&format!("tower.{block}"), body);
        }
        self.norm("tower.norm".to_owned(), body)
    }

    /// Xiong et al. 2020, figure 1 (b): normalised before each part, so that a block can start as the identity.
    fn transformer_block(&mut self, at: &str, input: ValueId) -> ValueId {
        let (channels, heads) = (self.filters(), self.spec.tower.heads as usize);
        let wide = channels * self.spec.tower.feed_forward as usize;
        let normed = self.norm(format!("{at}.norm1"), input);
        let asked = self.mix(format!("{at}.qkv"), normed, 3 * channels, None, LINEAR_GAIN);
        let seen = self.push(format!("{at}.attention"), Op::Attention { channels, heads }, &[asked], 1.0);
        let mixed = self.mix(format!("{at}.out"), seen, channels, None, 0.0);
        let join = Op::Join { channels, squeeze: None, activation: None };
        let middle = self.push(format!("{at}.add1"), join, &[mixed, input], 1.0);
        let normed = self.norm(format!("{at}.norm2"), middle);
        let wide = self.mix(format!("{at}.expand"), normed, wide, self.activation(), 1.0);
        let narrow = self.mix(format!("{at}.contract"), wide, channels, None, 0.0);
        self.push(format!("{at}.add2"), join, &[narrow, middle], 1.0)
    }

    fn norm(&mut self, name: String, input: ValueId) -> ValueId {
        let (channels, kind) = (self.filters(), self.spec.tower.norm);
        self.push(name, Op::Norm { channels, kind }, &[input], 1.0)
    }

    fn policy_head(&mut self, body: ValueId) -> ValueId {
        let head = &self.spec.policy_head;
        let filters = head.filters.map(|filters| filters as usize);
        match head.kind {
            PolicyHead::Conv => {
                let (inputs, size) = (filters.unwrap_or(self.filters()), head.kernel as usize);
                let hidden = self.normed_conv("policy.conv1".to_owned(), body, [inputs, size]);
                let last = Op::Conv { inputs, outputs: POLICY_PLANES, size, norm: false, activation: None };
                self.push("policy.conv2".to_owned(), last, &[hidden], LAST_LAYER_GAIN)
            }
            PolicyHead::Dense => {
                let flat = self.flat_head("policy", body, filters.unwrap_or(DENSE_POLICY_FILTERS));
                self.dense("policy.dense", flat, POLICY_SIZE, None)
            }
        }
    }

    fn value_head(&mut self, body: ValueId) -> ValueId {
        let head = self.spec.value_head.clone();
        let flat = self.flat_head("value", body, head.filters as usize);
        let hidden = self.dense("value.dense1", flat, head.hidden as usize, self.activation());
        let outputs = match head.kind {
            ValueHead::Wdl => 3,
            ValueHead::Scalar => 1,
        };
        self.dense("value.dense2", hidden, outputs, None)
    }

    fn moves_left_head(&mut self, body: ValueId) -> Option<ValueId> {
        let head = self.spec.moves_left_head.clone()?;
        let flat = self.flat_head("moves_left", body, head.filters as usize);
        let hidden = self.dense("moves_left.dense1", flat, head.hidden as usize, self.activation());
        Some(self.dense("moves_left.dense2", hidden, 1, None))
    }

    /// A 1×1 convolution whose board is laid flat.
    fn flat_head(&mut self, head: &str, body: ValueId, channels: usize) -> ValueId {
        let seen = self.normed_conv(format!("{head}.conv1"), body, [channels, 1]);
        self.push(format!("{head}.flat"), Op::Flatten { channels }, &[seen], 1.0)
    }
}

/// Silver et al. 2017, "Mastering the game of Go without human knowledge", methods.
const DENSE_POLICY_FILTERS: usize = 2;
