//! All layers of a net, run over a few boards at a time so that their activations stay in the cache.

use super::lanes::{LANES, Lanes, Line, lines_for};
use super::matrix::{Matrix, Rows};
use super::stem::{Stem, StemScratch};
use super::winograd::{Conv, Tiles};
use crate::encoding::{Encoding, POLICY_PLANES};
use crate::network::Batch;
use crate::network::fold::{Block, FoldedNet, Layer, SqueezeExcite};

/// Boards that go through the tower together: chosen so that a small net's activations and weights fit in a core's
/// second cache.
const BOARDS: usize = 16;

/// Numbers as lines, the last one filled up with zeros.
pub(super) fn lines_of(numbers: &[f32]) -> Vec<Line> {
    let line = |chunk: &[f32]| Line(std::array::from_fn(|lane| chunk.get(lane).copied().unwrap_or(0.0)));
    numbers.chunks(LANES).map(line).collect()
}

/// A dense layer, or a 1×1 convolution.
#[derive(Debug, Clone)]
struct Dense {
    matrix: Matrix,
    bias: Vec<Line>,
}

impl Dense {
    fn new(layer: &Layer) -> Self {
        let (outputs, inputs) = (layer.weight.shape[0], layer.weight.shape[1]);
        let matrix = Matrix::new(inputs, outputs, |input, output| layer.weight.data[output * inputs + input]);
        Self { matrix, bias: lines_of(&layer.bias.data) }
    }

    /// After a board of `channels`, whose squares come one after the other, each padded to whole lines.
    fn after_board(layer: &Layer, channels: usize) -> Self {
        let (outputs, padded) = (layer.weight.shape[0], lines_for(channels) * LANES);
        let weight = |input: usize, output: usize| {
            let (square, channel) = (input / padded, input % padded);
            let at = (output * channels + channel) * 64 + square;
            if channel < channels { layer.weight.data[at] } else { 0.0 }
        };
        Self { matrix: Matrix::new(64 * padded, outputs, weight), bias: lines_of(&layer.bias.data) }
    }

    #[inline(always)]
    fn run<L: Lanes, const ROWS: usize>(&self, input: &[Line], count: usize, output: &mut [Line]) {
        let rows = Rows { lines: input, stride: self.matrix.input_lines, count };
        self.matrix.multiply::<L, ROWS>(rows, &self.bias, output);
    }
}

#[derive(Debug, Clone)]
struct NativeBlock {
    conv1: Conv,
    conv2: Conv,
    squeeze_excite: Option<NativeSqueezeExcite>,
}

#[derive(Debug, Clone)]
struct NativeSqueezeExcite {
    squeeze: Dense,
    scale: Dense,
    shift: Dense,
}

impl NativeSqueezeExcite {
    fn new(part: &SqueezeExcite) -> Self {
        let channels = part.squeeze.weight.shape[1];
        let half = |first: usize| {
            let mut layer = part.excite.clone();
            let width = layer.weight.shape[1];
            layer.weight.shape[0] = channels;
            layer.weight.data = layer.weight.data[first * width..][..channels * width].to_vec();
            layer.bias.data = layer.bias.data[first..][..channels].to_vec();
            Dense::new(&layer)
        };
        Self { squeeze: Dense::new(&part.squeeze), scale: half(0), shift: half(channels) }
    }
}

/// The layers.
#[derive(Debug, Clone)]
pub(super) struct Net {
    stem: Stem,
    blocks: Vec<NativeBlock>,
    policy1: Dense,
    /// `[73, width]` and `[73]`.
    policy2: Vec<Line>,
    policy2_bias: Vec<f32>,
    value1: Dense,
    dense1: Dense,
    dense2: Dense,
    /// Lines of the body's channels.
    width: usize,
}

/// Activations on the way; keeps its memory.
#[derive(Debug, Clone, Default)]
pub(super) struct Scratch {
    stem: StemScratch,
    tiles: Tiles,
    body: Vec<Line>,
    hidden: Vec<Line>,
    branch: Vec<Line>,
    pooled: Vec<Line>,
    squeezed: Vec<Line>,
    scale: Vec<Line>,
    shift: Vec<Line>,
    from_squares: Vec<Line>,
    policy_hidden: Vec<Line>,
    value_hidden: Vec<Line>,
    dense_hidden: Vec<Line>,
    /// `[B, 1]` lines: logits of win, draw, loss, and zeros.
    pub(super) wdl: Vec<Line>,
}

impl Net {
    pub(super) fn new(net: &FoldedNet, encoding: &Encoding) -> Self {
        let block = |block: &Block| NativeBlock {
            conv1: Conv::new(&block.conv1),
            conv2: Conv::new(&block.conv2),
            squeeze_excite: block.squeeze_excite.as_ref().map(NativeSqueezeExcite::new),
        };
        let filters = net.policy2.weight.shape[1];
        Self {
            stem: Stem::new(&net.stem, encoding),
            blocks: net.blocks.iter().map(block).collect(),
            policy1: Dense::new(&net.policy1),
            policy2: net.policy2.weight.data.chunks_exact(filters).flat_map(lines_of).collect(),
            policy2_bias: net.policy2.bias.data.clone(),
            value1: Dense::new(&net.value1),
            dense1: Dense::after_board(&net.dense1, net.value1.bias.data.len()),
            dense2: Dense::new(&net.dense2),
            width: lines_for(filters),
        }
    }

    /// Fills `logits` for the legal moves, laid out as [`Batch::legal`], and [`Scratch::wdl`].
    #[inline(always)]
    pub(super) fn run<L: Lanes, const ROWS: usize>(
        &self,
        batch: &Batch,
        scratch: &mut Scratch,
        logits: &mut [f32],
    ) {
        let value_lines = self.dense1.matrix.input_lines;
        resize(&mut scratch.value_hidden, batch.len() * value_lines);
        for first in (0..batch.len()).step_by(BOARDS) {
            let boards = BOARDS.min(batch.len() - first);
            self.tower::<L, ROWS>(batch, first, boards, scratch);
            self.policy::<L, ROWS>(batch, first, boards, scratch, logits);
            let value = &mut scratch.value_hidden[first * value_lines..][..boards * value_lines];
            self.value1.run::<L, ROWS>(&scratch.body, boards * 64, value);
            relu::<L>(value);
        }
        self.value::<L, ROWS>(batch.len(), scratch);
    }

    /// Fills [`Scratch::body`] with `[boards, 64, width]`.
    #[inline(always)]
    fn tower<L: Lanes, const ROWS: usize>(
        &self,
        batch: &Batch,
        first: usize,
        boards: usize,
        scratch: &mut Scratch,
    ) {
        let size = 64 * self.width;
        for part in [&mut scratch.body, &mut scratch.hidden, &mut scratch.branch] {
            resize(part, boards * size);
        }
        for (board, lines) in scratch.body.chunks_exact_mut(size).enumerate() {
            self.stem.run::<L>(batch, first + board, &mut scratch.stem, lines);
        }
        for block in &self.blocks {
            let tiles = &mut scratch.tiles;
            block.conv1.run::<L, ROWS>(boards, &scratch.body, tiles, &mut scratch.hidden, L::relu);
            block.conv2.run::<L, ROWS>(boards, &scratch.hidden, tiles, &mut scratch.branch, |value| value);
            match &block.squeeze_excite {
                Some(part) => self.squeeze_excite::<L, ROWS>(part, boards, scratch),
                None => add_and_relu::<L>(&scratch.branch, &mut scratch.body),
            }
        }
    }

    /// Adds the scaled and shifted branch to the body.
    #[inline(always)]
    fn squeeze_excite<L: Lanes, const ROWS: usize>(
        &self,
        part: &NativeSqueezeExcite,
        boards: usize,
        scratch: &mut Scratch,
    ) {
        resize(&mut scratch.pooled, boards * self.width);
        for (board, pooled) in
            scratch.branch.chunks_exact(64 * self.width).zip(scratch.pooled.chunks_exact_mut(self.width))
        {
            pool::<L>(board, pooled);
        }
        resize(&mut scratch.squeezed, boards * part.squeeze.matrix.output_lines);
        resize(&mut scratch.scale, boards * self.width);
        resize(&mut scratch.shift, boards * self.width);
        part.squeeze.run::<L, ROWS>(&scratch.pooled, boards, &mut scratch.squeezed);
        relu::<L>(&mut scratch.squeezed);
        part.scale.run::<L, ROWS>(&scratch.squeezed, boards, &mut scratch.scale);
        part.shift.run::<L, ROWS>(&scratch.squeezed, boards, &mut scratch.shift);
        for line in &mut scratch.scale {
            line.0 = line.0.map(|value| 1.0 / (1.0 + (-value).exp()));
        }
        let boards =
            scratch.body.chunks_exact_mut(64 * self.width).zip(scratch.branch.chunks_exact(64 * self.width));
        let parts = scratch.scale.chunks_exact(self.width).zip(scratch.shift.chunks_exact(self.width));
        for ((body, branch), (scale, shift)) in boards.zip(parts) {
            for (body, branch) in body.chunks_exact_mut(self.width).zip(branch.chunks_exact(self.width)) {
                for line in 0..self.width {
                    let skip = L::load(&body[line]) + L::load(&shift[line]);
                    let sum = L::load(&branch[line]).mul_add(L::load(&scale[line]), skip);
                    sum.relu().store(&mut body[line]);
                }
            }
        }
    }

    /// Logits of the legal moves only: of the first layer's squares those that a move starts from, of the second's
    /// planes those of the moves.
    #[inline(always)]
    fn policy<L: Lanes, const ROWS: usize>(
        &self,
        batch: &Batch,
        first: usize,
        boards: usize,
        scratch: &mut Scratch,
        logits: &mut [f32],
    ) {
        let width = self.width;
        scratch.from_squares.clear();
        for board in 0..boards {
            let mut squares = 0u64;
            for index in &batch.legal[batch.legal_range(first + board)] {
                squares |= 1 << index.square();
            }
            while squares != 0 {
                let square = squares.trailing_zeros() as usize;
                squares &= squares - 1;
                scratch
                    .from_squares
                    .extend_from_slice(&scratch.body[(board * 64 + square) * width..][..width]);
            }
        }
        let count = scratch.from_squares.len() / width;
        resize(&mut scratch.policy_hidden, count * width);
        self.policy1.run::<L, ROWS>(&scratch.from_squares, count, &mut scratch.policy_hidden);
        relu::<L>(&mut scratch.policy_hidden);
        let mut start = 0;
        for board in 0..boards {
            let range = batch.legal_range(first + board);
            let mut squares = 0u64;
            for index in &batch.legal[range.clone()] {
                squares |= 1 << index.square();
            }
            for at in range {
                let index = batch.legal[at];
                let before = squares & ((1 << index.square()) - 1);
                let row = start + before.count_ones() as usize;
                let hidden = &scratch.policy_hidden[row * width..][..width];
                let weights = &self.policy2[index.plane() * width..][..width];
                logits[at] = dot::<L>(hidden, weights) + self.policy2_bias[index.plane()];
            }
            start += squares.count_ones() as usize;
        }
    }

    /// Fills [`Scratch::wdl`] from the value head's board.
    #[inline(always)]
    fn value<L: Lanes, const ROWS: usize>(&self, boards: usize, scratch: &mut Scratch) {
        resize(&mut scratch.dense_hidden, boards * self.dense1.matrix.output_lines);
        self.dense1.run::<L, ROWS>(&scratch.value_hidden, boards, &mut scratch.dense_hidden);
        relu::<L>(&mut scratch.dense_hidden);
        resize(&mut scratch.wdl, boards);
        self.dense2.run::<L, ROWS>(&scratch.dense_hidden, boards, &mut scratch.wdl);
    }
}

fn resize(lines: &mut Vec<Line>, count: usize) {
    lines.resize(count, Line::ZERO);
}

#[inline(always)]
fn relu<L: Lanes>(lines: &mut [Line]) {
    for line in lines {
        L::load(line).relu().store(line);
    }
}

#[inline(always)]
fn add_and_relu<L: Lanes>(branch: &[Line], body: &mut [Line]) {
    for (body, branch) in body.iter_mut().zip(branch) {
        (L::load(body) + L::load(branch)).relu().store(body);
    }
}

/// The mean over the squares of `[64, width]`.
#[inline(always)]
fn pool<L: Lanes>(board: &[Line], pooled: &mut [Line]) {
    let width = pooled.len();
    for (line, mean) in pooled.iter_mut().enumerate() {
        // Four sums, so that one addition need not wait for the other.
        let mut sums = [L::splat(0.0); 4];
        for squares in board.chunks_exact(4 * width) {
            for (at, sum) in sums.iter_mut().enumerate() {
                *sum = *sum + L::load(&squares[at * width + line]);
            }
        }
        let [a, b, c, d] = sums;
        let sum = (a + b) + (c + d);
        sum.mul_add(L::splat(1.0 / 64.0), L::splat(0.0)).store(mean);
    }
}

/// The scalar product; lanes are added in the order of a tree.
#[inline(always)]
fn dot<L: Lanes>(a: &[Line], b: &[Line]) -> f32 {
    let mut sum = L::splat(0.0);
    for (a, b) in a.iter().zip(b) {
        sum = L::load(a).mul_add(L::load(b), sum);
    }
    let mut lanes = Line::ZERO;
    sum.store(&mut lanes);
    let mut lanes = lanes.0;
    for half in [8, 4, 2, 1] {
        for lane in 0..half {
            lanes[lane] += lanes[lane + half];
        }
    }
    lanes[0]
}

const _: () = assert!(POLICY_PLANES == 73);
