//! Mirror images: the files a to h reversed. And moves as the other side sees them: the ranks reversed.
//!
//! Without castling rights the rules of chess do not distinguish left from right, so a position and its mirror image have the same
//! value, and mirrored moves the same worth. With a right left they do not: the sides castle differently. As in Leela's canonical
//! inputs (lc0, `ChooseTransform` in `src/neural/encoder.cc`), only rights of the current position count: what earlier
//! positions of the history allowed can neither be played nor be repeated any more.

use super::policy::{POLICY_SIZE, PolicyIndex, flipped_indices, mirrored_indices};

/// The index of the mirrored move, for each policy index.
static MIRRORED_INDICES: [u16; POLICY_SIZE] = mirrored_indices();
/// The index of the move as the other side sees it, for each policy index.
static FLIPPED_INDICES: [u16; POLICY_SIZE] = flipped_indices();

/// A bit board with its files reversed, whichever side it is seen from: each byte is a rank.
pub fn mirrored(squares: u64) -> u64 {
    squares.reverse_bits().swap_bytes()
}

impl PolicyIndex {
    /// The index of the mirrored move.
    pub fn mirrored(self) -> Self {
        Self::new(MIRRORED_INDICES[usize::from(self.get())]).expect("a table of indices")
    }

    /// The index of the same move seen from the other side, where each side sees the board from its own.
    pub fn flipped(self) -> Self {
        Self::new(FLIPPED_INDICES[usize::from(self.get())]).expect("a table of indices")
    }
}
