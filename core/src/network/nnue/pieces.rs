//! Positions as the squares of each kind of piece, and what changed between two.

use crate::board::{Piece, Position, Side};
use crate::network::graph::seen_from_the_other_side;

/// The squares of each kind of piece, as the first planes of every encoding have them: the side to move's, then its opponent's.
pub(super) type Pieces = [u64; 12];

/// The pieces of a position.
#[inline(always)]
pub(super) fn of_position(position: &Position) -> Pieces {
    let own = position.side_to_move();
    let mut pieces = [0; 12];
    for (number, kind) in Piece::ALL.into_iter().enumerate() {
        pieces[number] = position.pieces(own, kind);
        pieces[number + 6] = position.pieces(own.other(), kind);
    }
    if own == Side::Black {
        for squares in &mut pieces {
            *squares = squares.swap_bytes();
        }
    }
    pieces
}

/// The same planes with the other side to move; each dozen of planes is the pieces in one state.
#[inline(always)]
pub(super) fn turned<const N: usize>(planes: &[u64; N]) -> [u64; N] {
    let mut turned = [0; N];
    for (from, to) in planes.as_chunks::<12>().0.iter().zip(turned.as_chunks_mut::<12>().0) {
        for plane in 0..6 {
            to[plane] = from[plane + 6].swap_bytes();
            to[plane + 6] = from[plane].swap_bytes();
        }
    }
    turned
}

/// Inputs that are 1 in one position and not in the other.
#[inline(always)]
pub(super) fn distance<const N: usize>(one: &[u64; N], other: &[u64; N]) -> u32 {
    let mut count = 0;
    for plane in 0..N {
        count += (one[plane] ^ other[plane]).count_ones();
    }
    count
}

/// At most 32 inputs of the first layer, as each side sees them.
#[derive(Debug)]
pub(super) struct Inputs {
    sides: [[u16; 32]; 2],
    count: usize,
}

impl Inputs {
    /// The inputs of a position that another lacks; `flips` change the squares that each side sees, by `^`.
    #[inline(always)]
    pub(super) fn missing<const N: usize>(planes: &[u64; N], other: &[u64; N], flips: [u16; 2]) -> Self {
        let mut inputs = Self { sides: [[0; 32]; 2], count: 0 };
        for plane in 0..N {
            let mut squares = planes[plane] & !other[plane];
            while squares != 0 {
                let input = plane * 64 + squares.trailing_zeros() as usize;
                squares &= squares - 1;
                inputs.sides[0][inputs.count] = input as u16 ^ flips[0];
                inputs.sides[1][inputs.count] = seen_from_the_other_side(input) as u16 ^ flips[1];
                inputs.count += 1;
            }
        }
        inputs
    }

    /// The inputs as the side to move (0) or its opponent (1) sees them.
    #[inline(always)]
    pub(super) fn seen_by(&self, side: usize) -> &[u16] {
        &self.sides[side][..self.count]
    }
}
