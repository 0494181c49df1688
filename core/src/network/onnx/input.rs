//! Expands encoded positions to floats: `[B, P, 8, 8]`.

use crate::encoding::{Encoding, PlaneKind};
use crate::network::Batch;

/// Expands batches, reusing its memory.
#[derive(Debug)]
pub(super) struct Planes {
    kinds: Vec<PlaneKind>,
    values: Vec<f32>,
}

impl Planes {
    pub(super) fn new(encoding: &Encoding) -> Self {
        Self { kinds: encoding.planes().iter().map(|plane| plane.kind()).collect(), values: Vec::new() }
    }

    /// The number of planes, `P`.
    pub(super) fn count(&self) -> usize {
        self.kinds.len()
    }

    /// `[B, P, 8, 8]`, row-major.
    pub(super) fn expand(&mut self, batch: &Batch) -> &[f32] {
        self.values.clear();
        self.values.resize(batch.len() * self.kinds.len() * 64, 0.0);
        let (mut binary, mut scalars) = (batch.binary.iter(), batch.scalars.iter());
        let kinds = self.kinds.iter().cycle();
        for (squares, kind) in self.values.as_chunks_mut::<64>().0.iter_mut().zip(kinds) {
            match kind {
                PlaneKind::Binary => {
                    set(squares, *binary.next().expect("a row has a number for each binary plane"));
                }
                PlaneKind::Scalar => {
                    squares.fill(*scalars.next().expect("a row has a number for each scalar plane"));
                }
            }
        }
        &self.values
    }
}

fn set(squares: &mut [f32; 64], mut bits: u64) {
    while bits != 0 {
        squares[bits.trailing_zeros() as usize] = 1.0;
        bits &= bits - 1;
    }
}
