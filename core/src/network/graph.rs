//! A net as a list of layers: the only place that turns a [`NetworkSpec`] into a computation.
//!
//! The tensors and their initial values, the trained net, the inference copy, the ONNX export, the operation count and
//! growth all follow this list.

use super::king_buckets::KingBuckets;
use super::threats::STATES;
use super::{Accumulator, Activation, NetworkSpec, NnueInputs, NormKind, PolicyHead, Tower, ValueHead};
use crate::encoding::{POLICY_PLANES, POLICY_SIZE, POSSIBLE_MOVES, PolicyIndex, possible_moves};

/// The scale of the last layers' initial weights relative to He's: an untrained net must have no strong preferences, because
/// its games are the first training data. Chosen.
const LAST_LAYER_GAIN: f32 = 0.2;

/// The scale of the initial weights of layers without a non-linearity after them relative to He's, which double the variance
/// to compensate for one (He et al. 2015, section 2.2).
const LINEAR_GAIN: f32 = std::f32::consts::FRAC_1_SQRT_2;

/// The scale of the initial weights of an nnue's first layer relative to He's with [`PIECE_SQUARES`] inputs, which counts all of them though
/// only about 30 are not zero. With it the outputs are spread over the range that they are clipped to. Chosen.
const ACCUMULATOR_GAIN: f32 = 2.0;

/// The planes of both sides' pieces.
pub const PIECE_SQUARES: usize = 12 * 64;

/// The most pieces on a board.
const PIECES: usize = 32;

/// The name of an nnue's first layer.
pub(super) const STEM: &str = "stem";

/// The name of the first layer of an nnue's policy, if it has one of its own.
pub(super) const POLICY_STEM: &str = "policy.stem";

/// The input of an nnue's first layer that is the same piece on the same square as another one, in the same state, seen from the other
/// side.
pub fn seen_from_the_other_side(input: usize) -> usize {
    let (state, plane, square) = (input / PIECE_SQUARES, input / 64 % 12, input % 64);
    state * PIECE_SQUARES + (plane + 6) % 12 * 64 + (square ^ 56)
}

/// For each policy index, its number among the [`possible_moves`]; [`POSSIBLE_MOVES`] if it is none of them.
pub fn move_sources() -> Vec<i64> {
    let mut sources = vec![POSSIBLE_MOVES as i64; POLICY_SIZE];
    for (source, index) in possible_moves().into_iter().enumerate() {
        sources[usize::from(index.get())] = source as i64;
    }
    sources
}

/// As [`move_sources`], for each index the number of the mirrored move.
pub fn mirrored_move_sources() -> Vec<i64> {
    let sources = move_sources();
    let indices = (0..POLICY_SIZE as u16).filter_map(PolicyIndex::new);
    indices.map(|index| sources[usize::from(index.mirrored().get())]).collect()
}

/// The index of a value: 0 is the input `[B, P, 8, 8]`, `k + 1` is the output of layer `k`.
pub type ValueId = usize;

/// The shape of a value for each position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `[B, C, 8, 8]` with this `C`.
    Board(usize),
    /// `[B, N]` with this `N`.
    Flat(usize),
}

impl Shape {
    /// The channels of a board, or the width of a flat value.
    pub fn width(self) -> usize {
        match self {
            Self::Board(width) | Self::Flat(width) => width,
        }
    }
}

/// A layer's operation. Its tensors are named after the layer, see [`layout`](super::layout()).
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
        /// The activation at the end.
        activation: Option<Activation>,
    },
    /// The residual addition: the first input `[B, C, 8, 8]`, after squeeze-and-excitation if any, plus the second.
    Join {
        /// Channels.
        channels: usize,
        /// Squeeze-and-excitation (Hu et al. 2018, section 3) with a scale and a shift, as in Leela's nets.
        squeeze: Option<Squeeze>,
        /// The activation at the end.
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
        /// The activation at the end.
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
        /// How it normalises.
        kind: NormKind,
    },
    /// `[B, P, 8, 8]`, whose first twelve planes are the pieces, to `[B, 48, 8, 8]`, the same planes for each [state](STATES) of a piece.
    Threats,
    /// The first layer of an nnue: the planes of the pieces as `[B, I]`, index plane · 64 + square, to `[B, W]` for the side to move
    /// and `[B, W]` for its opponent, who sees the board with its ranks reversed and the sides exchanged. Both use the same weights.
    /// Each of the two may be mirrored by the square of its own king, which also chooses one of `K` sets of weights: those of bucket `k`
    /// begin at column `k · I`. The outputs are clipped to [0, 1], and those of the side to move come first.
    Accumulate {
        /// Inputs `I`.
        inputs: usize,
        /// What the own king's square decides.
        kings: KingBuckets,
        /// Outputs `W` of each side before `activation`.
        width: usize,
        /// What becomes of them.
        activation: Accumulator,
    },
    /// `[B, 1858]`, the logits of [`possible_moves`], to `[B, 4672]` with [`IMPOSSIBLE_LOGIT`] for the others. If they may be those of the
    /// mirrored board, `[B, P, 8, 8]` is the second input: they are where the king of the side to move, plane 5, stands on files e to h.
    ExpandPolicy {
        /// Whether they may be.
        is_mirrored: bool,
    },
    /// Queries, keys and values `[B, 3C, 8, 8]` to `[B, C, 8, 8]`: `softmax(q·kᵀ/√(C/H) + bias)·v` for each of `H` heads
    /// (Vaswani et al. 2017, equation 1) with a learned bias for each pair of squares.
    Attention {
        /// Channels `C` of the output.
        channels: usize,
        /// Heads `H`; the channels of head `h` start at `h·C/H`.
        heads: usize,
    },
}

/// The logit of a move that no piece can make: low enough for a probability of 0, and finite in every precision.
pub const IMPOSSIBLE_LOGIT: f32 = -10_000.0;

impl NnueInputs {
    /// How many there are.
    pub fn count(self) -> usize {
        match self {
            Self::Pieces => PIECE_SQUARES,
            Self::Threats => STATES * PIECE_SQUARES,
        }
    }
}

impl Accumulator {
    /// Outputs of both sides together for `width` sums on each side.
    pub fn outputs(self, width: usize) -> usize {
        match self {
            Self::Pairwise => width,
            Self::Clipped | Self::Squared => 2 * width,
        }
    }
}

/// Squeeze-and-excitation: mean over the board, dense to `width`, activation, dense to `2C`; the sigmoid of the first half
/// scales the channels, the second half is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Squeeze {
    /// Channels between the two dense layers.
    pub width: usize,
    /// The activation between them.
    pub activation: Activation,
}

/// One layer of a net.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Dotted name, such as `tower.0.conv1`.
    pub name: String,
    /// Its operation.
    pub op: Op,
    /// The values it reads, all of them earlier ones.
    pub inputs: Vec<ValueId>,
    /// The shape of its output.
    pub output: Shape,
    /// The scale of its initial weights relative to He's; with batch norm, the initial scale of the norm.
    pub gain: f32,
}

/// A whole net.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    /// The layers in execution order.
    pub layers: Vec<Layer>,
    /// Input planes.
    pub planes: usize,
    /// Policy logits: a board of 73 channels or 4672 flat logits, both with index `plane · 64 + from`; in training an nnue has those
    /// of the [`possible_moves`].
    pub policy: ValueId,
    /// Logits of win, draw and loss, or one number before tanh.
    pub value: ValueId,
    /// One number before softplus.
    pub moves_left: Option<ValueId>,
    /// The outputs that only a training uses.
    pub auxiliary: AuxiliaryHeads<ValueId>,
}

/// What there is for each auxiliary head of a net.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuxiliaryHeads<T> {
    /// Logits of the softened policy, shaped like the policy's.
    pub soft_policy: Option<T>,
    /// Logits of the opponent's next move, shaped like the policy's.
    pub reply: Option<T>,
    /// One number: the balance of material in units of nine pawns.
    pub material: Option<T>,
}

impl<T> AuxiliaryHeads<T> {
    /// None at all.
    pub const NONE: Self = Self { soft_policy: None, reply: None, material: None };

    /// The same heads with something else for each.
    pub fn try_map<U, E>(self, change: impl Fn(T) -> Result<U, E>) -> Result<AuxiliaryHeads<U>, E> {
        Ok(AuxiliaryHeads {
            soft_policy: self.soft_policy.map(&change).transpose()?,
            reply: self.reply.map(&change).transpose()?,
            material: self.material.map(&change).transpose()?,
        })
    }
}

impl Graph {
    /// The layers of an evaluation: without the auxiliary heads, and with a logit for each of the 4672 policy indices.
    pub fn new(spec: &NetworkSpec) -> Self {
        let mut graph = Self::of_training(&NetworkSpec { auxiliary_heads: None, ..spec.clone() });
        if spec.tower.kind == Tower::Nnue {
            let is_mirrored = spec.tower.mirrored;
            let (name, op) = ("policy.moves.expanded".to_owned(), Op::ExpandPolicy { is_mirrored });
            let inputs = if is_mirrored { vec![graph.policy, 0] } else { vec![graph.policy] };
            graph.layers.push(Layer { name, op, inputs, output: op.output(), gain: 1.0 });
            graph.policy = graph.layers.len();
        }
        graph
    }

    /// The layers of a training. Those of the auxiliary heads come last.
    pub fn of_training(spec: &NetworkSpec) -> Self {
        let planes = spec.input().planes().len();
        let mut builder = Builder { spec, layers: Vec::new(), planes };
        let body = match spec.tower.kind {
            Tower::SeResnet | Tower::Resnet => builder.residual_tower(),
            Tower::Transformer => builder.transformer(),
            Tower::Nnue => {
                builder.first_layer(STEM, spec.tower.inputs, spec.king_buckets(), builder.filters())
            }
        };
        let policy = builder.policy_head(body);
        let value = builder.value_head(body);
        let moves_left = builder.moves_left_head(body);
        let auxiliary = builder.auxiliary_heads(policy.hidden, value.hidden);
        let (policy, value) = (policy.output, value.output);
        Self { layers: builder.layers, planes, policy, value, moves_left, auxiliary }
    }

    /// The shape of a value.
    pub fn shape(&self, value: ValueId) -> Shape {
        value.checked_sub(1).map_or(Shape::Board(self.planes), |layer| self.layers[layer].output)
    }

    /// Whether a layer's input is a flattened board.
    pub(super) fn reads_flat_board(&self, layer: &Layer) -> bool {
        let producer = layer.inputs[0].checked_sub(1).map(|layer| self.layers[layer].op);
        matches!(producer, Some(Op::Flatten { .. }))
    }

    /// Whether a layer's input is that of an nnue's first layer.
    pub(super) fn reads_accumulators(&self, layer: &Layer) -> bool {
        let producer = layer.inputs[0].checked_sub(1).map(|layer| self.layers[layer].op);
        matches!(producer, Some(Op::Accumulate { .. }))
    }

    /// The matrices of a hidden layer's weights, one below the other: three for queries, keys and values, else one. Layers that read the
    /// input or are an output of the net have none, and neither have embeddings.
    pub fn hidden_matrices(&self, number: usize) -> Option<usize> {
        let Layer { op, inputs, .. } = &self.layers[number];
        let value = number + 1;
        let AuxiliaryHeads { soft_policy, reply, material } = self.auxiliary;
        let heads = [Some(self.policy), Some(self.value), self.moves_left, soft_policy, reply, material];
        let is_embedding = matches!(op, Op::Accumulate { .. } | Op::PositionEmbedding { .. });
        let is_attended = || {
            let mut readers = self.layers.iter().filter(|layer| layer.inputs.contains(&value));
            readers.any(|layer| matches!(layer.op, Op::Attention { .. }))
        };
        let is_hidden = !is_embedding && !inputs.contains(&0) && !heads.contains(&Some(value));
        is_hidden.then(|| if is_attended() { 3 } else { 1 })
    }

    /// The multiply-adds of one evaluation by convolutions, dense layers and attention; each is two floating-point operations.
    pub fn multiply_adds(&self) -> u64 {
        self.layers.iter().map(|layer| layer.op.multiply_adds()).sum()
    }
}

impl Op {
    /// The multiply-adds of one evaluation.
    pub fn multiply_adds(self) -> u64 {
        let count = match self {
            Self::Conv { inputs, outputs, size, .. } => 64 * inputs * outputs * size * size,
            Self::Join { channels, squeeze: Some(squeeze), .. } => 3 * channels * squeeze.width,
            Self::Dense { inputs, outputs, .. } => inputs * outputs,
            Self::Attention { channels, .. } => 2 * 64 * 64 * channels,
            // Most inputs are zero and are not looked at.
            Self::Accumulate { width, .. } => 2 * PIECES * width,
            Self::Join { .. }
            | Self::Flatten { .. }
            | Self::PositionEmbedding { .. }
            | Self::Norm { .. }
            | Self::Threats
            | Self::ExpandPolicy { .. } => 0,
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
            Self::Threats => Shape::Board(12 * STATES),
            Self::Accumulate { width, activation, .. } => Shape::Flat(activation.outputs(width)),
            Self::ExpandPolicy { .. } => Shape::Flat(POLICY_SIZE),
        }
    }
}

struct Builder<'a> {
    spec: &'a NetworkSpec,
    layers: Vec<Layer>,
    planes: usize,
}

/// A head's last two layers.
struct Head {
    hidden: ValueId,
    output: ValueId,
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
    fn pointwise(
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
    fn residual_block(&mut self, block_name: &str, input: ValueId) -> ValueId {
        let (channels, activation) = (self.filters(), self.activation());
        let first = self.normed_conv(format!("{block_name}.conv1"), input, [channels, 3]);
        let second = Op::Conv { inputs: channels, outputs: channels, size: 3, norm: true, activation: None };
        // A block starts as the identity (Goyal et al. 2017, section 5.1), so that depth does not change an untrained net.
        let second = self.push(format!("{block_name}.conv2"), second, &[first], 0.0);
        let squeeze = self.squeeze();
        self.push(
            format!("{block_name}.se"),
            Op::Join { channels, squeeze, activation },
            &[second, input],
            1.0,
        )
    }

    fn squeeze(&self) -> Option<Squeeze> {
        let tower = &self.spec.tower;
        let width = (tower.filters / tower.se_ratio).max(1) as usize;
        (tower.kind == Tower::SeResnet).then_some(Squeeze { width, activation: tower.activation })
    }

    /// The first layer of an nnue, or of its policy.
    fn first_layer(&mut self, name: &str, kind: NnueInputs, kings: KingBuckets, width: usize) -> ValueId {
        let pieces = match kind {
            NnueInputs::Pieces => 0,
            NnueInputs::Threats => self.push(format!("{name}.threats"), Op::Threats, &[0], 1.0),
        };
        let (inputs, activation) = (kind.count(), self.spec.tower.accumulator);
        // However many inputs there are, each piece is one of them.
        let gain = ACCUMULATOR_GAIN * ((kings.count() * inputs / PIECE_SQUARES) as f32).sqrt();
        self.push(name.to_owned(), Op::Accumulate { inputs, kings, width, activation }, &[pieces], gain)
    }

    fn is_nnue(&self) -> bool {
        self.spec.tower.kind == Tower::Nnue
    }

    fn transformer(&mut self) -> ValueId {
        let channels = self.filters();
        let tokens = self.pointwise("stem.embed".to_owned(), 0, channels, None, 1.0);
        let mut body =
            self.push("stem.position".to_owned(), Op::PositionEmbedding { channels }, &[tokens], 1.0);
        for block in 0..self.spec.tower.blocks {
            body = self.transformer_block(&format!("tower.{block}"), body);
        }
        self.norm("tower.norm".to_owned(), body)
    }

    /// Xiong et al. 2020, figure 1 (b): pre-normalisation, so that a block can start as the identity.
    fn transformer_block(&mut self, block_name: &str, input: ValueId) -> ValueId {
        let (channels, heads) = (self.filters(), self.spec.tower.heads as usize);
        let hidden = channels * self.spec.tower.feed_forward as usize;
        let normed = self.norm(format!("{block_name}.norm1"), input);
        let qkv = self.pointwise(format!("{block_name}.qkv"), normed, 3 * channels, None, LINEAR_GAIN);
        let attended =
            self.push(format!("{block_name}.attention"), Op::Attention { channels, heads }, &[qkv], 1.0);
        let out = self.pointwise(format!("{block_name}.out"), attended, channels, None, 0.0);
        let join = Op::Join { channels, squeeze: None, activation: None };
        let middle = self.push(format!("{block_name}.add1"), join, &[out, input], 1.0);
        let normed = self.norm(format!("{block_name}.norm2"), middle);
        let expanded = self.pointwise(format!("{block_name}.expand"), normed, hidden, self.activation(), 1.0);
        let contracted = self.pointwise(format!("{block_name}.contract"), expanded, channels, None, 0.0);
        self.push(format!("{block_name}.add2"), join, &[contracted, middle], 1.0)
    }

    fn norm(&mut self, name: String, input: ValueId) -> ValueId {
        let (channels, kind) = (self.filters(), self.spec.tower.norm);
        self.push(name, Op::Norm { channels, kind }, &[input], 1.0)
    }

    fn policy_head(&mut self, body: ValueId) -> Head {
        let head = &self.spec.policy_head;
        let filters = head.filters.map(|filters| filters as usize);
        if self.is_nnue() {
            let width = filters.unwrap_or(self.filters());
            let kings = self.spec.policy_king_buckets();
            let hidden =
                head.inputs.map_or(body, |inputs| self.first_layer(POLICY_STEM, inputs, kings, width));
            return Head { hidden, output: self.policy_logits("policy.moves", hidden) };
        }
        let (hidden, name) = match head.kind {
            PolicyHead::Conv => {
                let (inputs, size) = (filters.unwrap_or(self.filters()), head.kernel as usize);
                (self.normed_conv("policy.conv1".to_owned(), body, [inputs, size]), "policy.conv2")
            }
            PolicyHead::Dense => {
                let filters = filters.unwrap_or(DENSE_POLICY_FILTERS);
                (self.flat_head("policy", body, filters), "policy.dense")
            }
        };
        Head { hidden, output: self.policy_logits(name, hidden) }
    }

    /// The last layer of the policy head, or of another head of its shape.
    fn policy_logits(&mut self, name: &str, hidden: ValueId) -> ValueId {
        if self.is_nnue() {
            return self.dense(name, hidden, POSSIBLE_MOVES, None);
        }
        let (kind, size) = (self.spec.policy_head.kind, self.spec.policy_head.kernel as usize);
        match kind {
            PolicyHead::Conv => {
                let (inputs, outputs) = (self.width(hidden), POLICY_PLANES);
                let last = Op::Conv { inputs, outputs, size, norm: false, activation: None };
                self.push(name.to_owned(), last, &[hidden], LAST_LAYER_GAIN)
            }
            PolicyHead::Dense => self.dense(name, hidden, POLICY_SIZE, None),
        }
    }

    fn auxiliary_heads(&mut self, policy: ValueId, value: ValueId) -> AuxiliaryHeads<ValueId> {
        let Some(spec) = self.spec.auxiliary_heads.clone() else { return AuxiliaryHeads::NONE };
        AuxiliaryHeads {
            soft_policy: spec.soft_policy.then(|| self.policy_logits("policy.soft", policy)),
            reply: spec.reply.then(|| self.policy_logits("policy.reply", policy)),
            material: spec.material.then(|| self.dense("value.material", value, 1, None)),
        }
    }

    fn value_head(&mut self, body: ValueId) -> Head {
        let head = self.spec.value_head.clone();
        let flat = self.flat_head("value", body, head.filters as usize);
        let hidden = self.dense("value.dense1", flat, head.hidden as usize, self.activation());
        let outputs = match head.kind {
            ValueHead::Wdl => 3,
            ValueHead::Scalar => 1,
        };
        Head { hidden, output: self.dense("value.dense2", hidden, outputs, None) }
    }

    fn moves_left_head(&mut self, body: ValueId) -> Option<ValueId> {
        let head = self.spec.moves_left_head.clone()?;
        let flat = self.flat_head("moves_left", body, head.filters as usize);
        let hidden = self.dense("moves_left.dense1", flat, head.hidden as usize, self.activation());
        Some(self.dense("moves_left.dense2", hidden, 1, None))
    }

    /// A 1×1 convolution, flattened; the body itself if it is no board.
    fn flat_head(&mut self, head: &str, body: ValueId, channels: usize) -> ValueId {
        if self.is_nnue() {
            return body;
        }
        let board = self.normed_conv(format!("{head}.conv1"), body, [channels, 1]);
        self.push(format!("{head}.flat"), Op::Flatten { channels }, &[board], 1.0)
    }
}

/// Silver et al. 2017, "Mastering the game of Go without human knowledge", methods.
const DENSE_POLICY_FILTERS: usize = 2;
