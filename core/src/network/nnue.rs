//! Nets of the kind `nnue` in plain Rust: integers from the pieces to the heads, without libtorch.
//!
//! Sums of integers do not depend on their order, and the few operations on floats after them are those of IEEE 754 in a fixed order
//! (no fused multiply-add, no exponential of a system's library). So a net's answers are the same to the bit
//! whatever instructions a processor has.
//!
//! The first layer's sums are updated from those of an earlier position by the pieces that moved, if that is less work than adding up
//! all of them (Nasu 2018, "Efficiently Updatable Neural-Network-based Evaluation Functions for Computer Shogi").

#![allow(
    clippy::inline_always,
    reason = "an evaluation is one function for each set of instructions, so that the compiler uses them throughout"
)]

mod accumulator;
mod blocks;
mod dense;
mod evaluator;
mod instructions;
mod line;
mod net;
mod pieces;
mod shared;

pub use evaluator::NnueEvaluator;
pub use instructions::Instructions;
pub use line::NnueLine;
pub use net::{NnueError, NnueNet};

#[cfg(test)]
mod tests;
