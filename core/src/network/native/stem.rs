//! The first convolution, from bits: most squares of most planes are empty, so weights are added only where bits are.

use super::lanes::{Lanes, Line, lines_for};
use super::net::lines_of;
use crate::encoding::{Encoding, PlaneKind};
use crate::network::Batch;
use crate::network::fold::Layer;

/// The parts of a board that see the same border: first, inner and last rank × first, inner and last file.
const REGIONS: usize = 9;

/// The stem's convolution with its batch norm and activation.
#[derive(Debug, Clone)]
pub(super) struct Stem {
    planes: Vec<PlaneKind>,
    /// Lines of outputs.
    width: usize,
    bias: Vec<Line>,
    /// `[P, 9 steps, width]`: what a one on a square adds to the square at a step from it.
    steps: Vec<Line>,
    /// `[P, 9 regions, width]`: what a plane of ones adds to a square of a region.
    whole: Vec<Line>,
}

/// What the stem of one board needs on the way; keeps its memory.
#[derive(Debug, Clone, Default)]
pub(super) struct StemScratch {
    /// `[9 regions, width]`: the sums that do not depend on single squares.
    regions: Vec<Line>,
    /// Planes with ones on some squares only.
    sparse: Vec<(usize, u64)>,
}

fn region(square: usize) -> usize {
    let part = |at: usize| match at {
        0 => 0,
        7 => 2,
        _ => 1,
    };
    part(square / 8) * 3 + part(square % 8)
}

/// Steps of one rank and one file around a square, −1 to 1 each; step `s` goes by `(s / 3 − 1, s % 3 − 1)`.
fn after_step(square: usize, step: usize) -> Option<usize> {
    let rank = (square / 8 + step / 3).checked_sub(1).filter(|rank| *rank < 8)?;
    let file = (square % 8 + step % 3).checked_sub(1).filter(|file| *file < 8)?;
    Some(rank * 8 + file)
}

impl Stem {
    pub(super) fn new(layer: &Layer, encoding: &Encoding) -> Self {
        let (outputs, planes) = (layer.weight.shape[0], layer.weight.shape[1]);
        let weight =
            |output: usize, plane: usize, tap: usize| layer.weight.data[(output * planes + plane) * 9 + tap];
        let (mut steps, mut whole) = (Vec::new(), Vec::new());
        for plane in 0..planes {
            // The square at a step sees this one in the opposite direction.
            for step in 0..9 {
                steps.extend(lines_of(
                    &(0..outputs).map(|output| weight(output, plane, 8 - step)).collect::<Vec<_>>(),
                ));
            }
            for region in 0..REGIONS {
                let square = [0, 3, 7][region / 3] * 8 + [0, 3, 7][region % 3];
                let taps = || (0..9).filter(|tap| after_step(square, *tap).is_some());
                let sum =
                    |output| taps().map(|tap| f64::from(weight(output, plane, tap))).sum::<f64>() as f32;
                whole.extend(lines_of(&(0..outputs).map(sum).collect::<Vec<_>>()));
            }
        }
        let planes = encoding.planes().iter().map(|plane| plane.kind()).collect();
        Self { planes, width: lines_for(outputs), bias: lines_of(&layer.bias.data), steps, whole }
    }

    /// Fills `[64, out]` for one row of a batch.
    #[inline(always)]
    pub(super) fn run<L: Lanes>(
        &self,
        batch: &Batch,
        row: usize,
        scratch: &mut StemScratch,
        board: &mut [Line],
    ) {
        let binary_count = batch.binary.len() / batch.len();
        let scalar_count = batch.scalars.len() / batch.len();
        let mut binary = batch.binary[row * binary_count..].iter();
        let mut scalars = batch.scalars[row * scalar_count..].iter();
        let StemScratch { regions, sparse } = scratch;
        sparse.clear();
        regions.clear();
        (0..REGIONS).for_each(|_| regions.extend_from_slice(&self.bias));
        for (plane, kind) in self.planes.iter().enumerate() {
            let value = match kind {
                PlaneKind::Scalar => *scalars.next().expect("a row has a number for each scalar plane"),
                PlaneKind::Binary => {
                    let squares = *binary.next().expect("a row has a number for each binary plane");
                    if squares != u64::MAX {
                        sparse.push((plane, squares));
                        continue;
                    }
                    1.0
                }
            };
            let whole = &self.whole[plane * REGIONS * self.width..][..REGIONS * self.width];
            for (sum, weight) in regions.iter_mut().zip(whole) {
                L::splat(value).mul_add(L::load(weight), L::load(sum)).store(sum);
            }
        }
        for (square, out) in board.chunks_exact_mut(self.width).enumerate() {
            out.copy_from_slice(&regions[region(square) * self.width..][..self.width]);
        }
        for &(plane, squares) in sparse.iter() {
            self.add_plane::<L>(plane, squares, board);
        }
        for line in board {
            L::load(line).relu().store(line);
        }
    }

    #[inline(always)]
    fn add_plane<L: Lanes>(&self, plane: usize, mut squares: u64, board: &mut [Line]) {
        let steps = &self.steps[plane * 9 * self.width..][..9 * self.width];
        while squares != 0 {
            let square = squares.trailing_zeros() as usize;
            squares &= squares - 1;
            for (step, weights) in steps.chunks_exact(self.width).enumerate() {
                if let Some(to) = after_step(square, step) {
                    let out = &mut board[to * self.width..][..self.width];
                    for (sum, weight) in out.iter_mut().zip(weights) {
                        (L::load(sum) + L::load(weight)).store(sum);
                    }
                }
            }
        }
    }
}
