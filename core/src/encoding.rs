//! Positions as input planes, moves as policy indices.
//!
//! An input encoding is a table of planes with a name, an orientation, a history length and a version. A position is
//! encoded as one `u64` per binary plane and one `f32` per scalar plane, and expanded to floats where the net runs. The policy has 73 planes × 64 squares = 4672 indices (AlphaZero 2018, supplement, table S2).

mod encode;
mod leela;
mod mirror;
mod planes;
mod policy;
mod tables;

pub use encode::{Encoding, EncodingError};
pub use leela::{LEELA_POLICY_SIZE, leela_index};
pub use mirror::mirrored;
pub use planes::{Orientation, Plane, PlaneKind, Viewed};
pub use policy::{POLICY_PLANES, POLICY_SIZE, POSSIBLE_MOVES, PolicyIndex, possible_moves};
pub use tables::{EncodingName, MissingHistory};

#[cfg(test)]
mod tests;
