//! The sums of the first layer for one position, and their update from another.

use super::blocks::{Outputs, Sums};
use super::pieces::{Inputs, Pieces, distance, turned};
use crate::network::king_buckets::{KingBuckets, king_squares};
use crate::network::threats::{STATES, threats};
use crate::network::{Accumulator, NnueInputs};

/// 1.0 in the first layer's integers: weights, biases and sums.
pub(super) const ONE: i16 = 255;

/// What 1 stands for in a product of two clipped sums.
const PRODUCT_UNIT: f32 = 512.0 / (ONE as f32 * ONE as f32);

/// What 1 stands for in a clipped sum.
const SUM_UNIT: f32 = 2.0 / ONE as f32;

/// Blocks that are updated together, to stay in registers.
const TILE: usize = 4;

/// The first layer in integers.
#[derive(Debug, Clone)]
pub(super) struct FirstLayer {
    /// `[K, I, W]` for `K` king buckets.
    pub(super) weights: Vec<Sums>,
    /// `[W]`.
    pub(super) bias: Vec<Sums>,
    pub(super) activation: Accumulator,
    pub(super) inputs: NnueInputs,
    /// `None` if the own king's square decides nothing.
    pub(super) kings: Option<KingBuckets>,
}

/// The sums for a position, seen from both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Accumulated {
    /// The inputs that are 1: the first dozen of planes for pieces, all of them for threats.
    planes: [u64; 12 * STATES],
    /// The squares of both kings, each as its own side sees it, if they decide anything.
    kings: [usize; 2],
    /// `[2, W]`, those of the side to move first.
    sums: Vec<Sums>,
}

impl FirstLayer {
    /// What 1 stands for in an output.
    pub(super) fn unit(&self) -> f32 {
        match self.activation {
            Accumulator::Pairwise | Accumulator::Squared => PRODUCT_UNIT,
            Accumulator::Clipped => SUM_UNIT,
        }
    }

    /// The sums for the empty board.
    pub(super) fn empty(&self) -> Accumulated {
        let sums = [self.bias.as_slice(), &self.bias].concat();
        Accumulated { planes: [0; 12 * STATES], kings: [0; 2], sums }
    }

    /// Changes sums to those of another position: from what they are, from what they are as the opponent sees them, or from nothing,
    /// whatever is the least work.
    #[inline(always)]
    pub(super) fn update(&self, sums: &mut Accumulated, pieces: &Pieces) {
        match (self.inputs, &self.kings) {
            (NnueInputs::Pieces, None) => self.update_planes(sums, pieces),
            (NnueInputs::Threats, None) => self.update_planes(sums, &threats(pieces)),
            (NnueInputs::Pieces, Some(kings)) => {
                self.update_by_kings(sums, pieces, kings, king_squares(pieces));
            }
            (NnueInputs::Threats, Some(kings)) => {
                self.update_by_kings(sums, &threats(pieces), kings, king_squares(pieces));
            }
        }
    }

    #[inline(always)]
    fn update_planes<const N: usize>(&self, sums: &mut Accumulated, planes: &[u64; N]) {
        let mut known: [u64; N] = *sums.planes.first_chunk().expect("as many planes as there may be");
        let as_opponent = turned(&known);
        let (same, turn) = (distance(&known, planes), distance(&as_opponent, planes));
        let afresh = distance(&[0; N], planes);
        let (own, other) = sums.sums.split_at_mut(self.bias.len());
        if afresh <= same.min(turn) {
            own.copy_from_slice(&self.bias);
            other.copy_from_slice(&self.bias);
            known = [0; N];
        } else if turn < same {
            own.swap_with_slice(other);
            known = as_opponent;
        }
        let removed = Inputs::missing(&known, planes, [0; 2]);
        let added = Inputs::missing(planes, &known, [0; 2]);
        apply(&self.weights, own, removed.seen_by(0), added.seen_by(0));
        apply(&self.weights, other, removed.seen_by(1), added.seen_by(1));
        sums.planes[..N].copy_from_slice(planes);
    }

    /// The same where the kings' squares choose the weights: a side whose king has come into another bucket, or across the middle of a
    /// mirrored board, is added up from nothing.
    #[inline(always)]
    fn update_by_kings<const N: usize>(
        &self,
        sums: &mut Accumulated,
        planes: &[u64; N],
        kings: &KingBuckets,
        squares: [usize; 2],
    ) {
        let mut known: [u64; N] = *sums.planes.first_chunk().expect("as many planes as there may be");
        let as_opponent = turned(&known);
        let (same, turn) = (distance(&known, planes), distance(&as_opponent, planes));
        let afresh = distance(&[0; N], planes);
        let is_updated = |changed: u32, had: [usize; 2]| {
            [0, 1].map(|side| changed < afresh && kings.are_alike(had[side], squares[side]))
        };
        let work = |changed: u32, is_updated: [bool; 2]| {
            let sides = is_updated.map(|is_updated| if is_updated { changed } else { afresh });
            sides[0] + sides[1]
        };
        let [own_king, others_king] = sums.kings;
        let mut updated = is_updated(same, [own_king, others_king]);
        let updated_as_opponent = is_updated(turn, [others_king, own_king]);
        let (own, other) = sums.sums.split_at_mut(self.bias.len());
        if work(turn, updated_as_opponent) < work(same, updated) {
            own.swap_with_slice(other);
            (known, updated) = (as_opponent, updated_as_opponent);
        }
        let flips = squares.map(|square| kings.flip(square) as u16);
        let removed = Inputs::missing(&known, planes, flips);
        let added = Inputs::missing(planes, &known, flips);
        let inputs = self.inputs.count() * self.bias.len();
        for (side, sums) in [own, other].into_iter().enumerate() {
            let weights = &self.weights[kings.bucket(squares[side]) * inputs..][..inputs];
            if updated[side] {
                apply(weights, sums, removed.seen_by(side), added.seen_by(side));
            } else {
                sums.copy_from_slice(&self.bias);
                let all = Inputs::missing(planes, &[0; N], flips);
                apply(weights, sums, &[], all.seen_by(side));
            }
        }
        sums.planes[..N].copy_from_slice(planes);
        sums.kings = squares;
    }

    /// Outputs of both sides together.
    pub(super) fn width(&self) -> usize {
        self.activation.outputs(self.bias.len() * 32)
    }

    /// The layer's outputs for both sides, those of the side to move first.
    #[inline(always)]
    pub(super) fn outputs(&self, accumulated: &Accumulated, outputs: &mut [Outputs]) {
        let width = self.bias.len();
        let (own, other) = accumulated.sums.split_at(width);
        self.activate(own, outputs, 0);
        self.activate(other, outputs, self.width() / 64);
    }

    /// Fills half blocks of outputs from the `first` one on.
    #[inline(always)]
    fn activate(&self, side: &[Sums], outputs: &mut [Outputs], first: usize) {
        let count = self.width() / 64;
        let second_factors = match self.activation {
            Accumulator::Pairwise => count,
            Accumulator::Clipped | Accumulator::Squared => 0,
        };
        for number in 0..count {
            let (one, other) = (&side[number], &side[second_factors + number]);
            let half = first + number;
            let out = &mut outputs[half / 2].0[half % 2 * 32..][..32];
            if self.activation == Accumulator::Clipped {
                for (out, sum) in out.iter_mut().zip(&one.0) {
                    *out = halved(*sum);
                }
            } else {
                for (index, out) in out.iter_mut().enumerate() {
                    *out = product(one.0[index], other.0[index]);
                }
            }
        }
    }
}

/// Takes away and adds the weights `[I, W]` of inputs.
#[inline(always)]
fn apply(weights: &[Sums], sums: &mut [Sums], removed: &[u16], added: &[u16]) {
    let width = sums.len();
    let mut first = 0;
    let (tiles, rest) = sums.as_chunks_mut::<TILE>();
    for tile in tiles {
        apply_to_tile(weights, tile, [first, width], removed, added);
        first += TILE;
    }
    // The width is a multiple of two blocks.
    for tile in rest.as_chunks_mut::<2>().0 {
        apply_to_tile(weights, tile, [first, width], removed, added);
        first += 2;
    }
}

/// Updates some sums, which begin at the block `first` of `width`, in registers.
#[inline(always)]
fn apply_to_tile<const N: usize>(
    weights: &[Sums],
    tile: &mut [Sums; N],
    [first, width]: [usize; 2],
    removed: &[u16],
    added: &[u16],
) {
    let mut sums = *tile;
    for input in removed {
        let weights = &weights[usize::from(*input) * width + first..][..N];
        for block in 0..N {
            sums[block] = sums[block].less(weights[block]);
        }
    }
    for input in added {
        let weights = &weights[usize::from(*input) * width + first..][..N];
        for block in 0..N {
            sums[block] = sums[block].plus(weights[block]);
        }
    }
    *tile = sums;
}

/// Both clipped to [0, 1] and multiplied, in units of [`PRODUCT_UNIT`].
#[inline(always)]
fn product(first: i16, second: i16) -> u8 {
    let (first, second) = (first.clamp(0, ONE) as u16, second.clamp(0, ONE) as u16);
    // 255² and the 256 that rounds to the nearest fit into 16 bits.
    ((first * second + 256) >> 9) as u8
}

/// Clipped to [0, 1], in units of [`SUM_UNIT`].
#[inline(always)]
fn halved(sum: i16) -> u8 {
    ((sum.clamp(0, ONE) + 1) >> 1) as u8
}
