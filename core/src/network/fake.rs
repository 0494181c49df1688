//! Evaluators without a net, for tests, benches and golden files.

mod material;

use std::collections::HashMap;

use super::{Batch, Evaluations, Evaluator, EvaluatorError, Quiescence, Wdl};
use crate::encoding::Encoding;

pub use material::Material;

/// The same probability for every legal move, and a draw.
#[derive(Debug, Clone)]
pub struct Uniform {
    encoding: Encoding,
}

impl Uniform {
    /// For positions of an encoding.
    pub fn new(encoding: Encoding) -> Self {
        Self { encoding }
    }
}

impl Evaluator for Uniform {
    fn encoding(&self) -> &Encoding {
        &self.encoding
    }

    fn evaluate(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
        out.clear();
        for row in 0..batch.len() {
            let moves = batch.legal_range(row).len();
            out.policy.extend(std::iter::repeat_n(1.0 / moves as f32, moves));
            out.wdl.push(Wdl::DRAW);
        }
        Ok(())
    }
}

/// Pseudo-random evaluations that are a pure function of the position, so that whole searches are reproducible. Rows that
/// require quiescence have other values.
#[derive(Debug, Clone)]
pub struct Hashed {
    encoding: Encoding,
    salt: u64,
    has_moves_left: bool,
}

impl Hashed {
    /// For positions of an encoding; each salt gives different evaluations.
    pub fn new(encoding: Encoding, salt: u64) -> Self {
        Self { encoding, salt, has_moves_left: false }
    }

    /// Also predicts the plies left, from 0 to 100; the other outputs stay the same.
    pub fn with_moves_left(self) -> Self {
        Self { has_moves_left: true, ..self }
    }
}

/// The finaliser of SplitMix64 (Steele et al. 2014, "Fast splittable pseudorandom number generators").
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

/// A number in (0, 1] from the upper bits, exact in `f32`.
fn unit(bits: u64) -> f32 {
    ((bits >> 41) + 1) as f32 / (1u64 << 23) as f32
}

impl Evaluator for Hashed {
    fn encoding(&self) -> &Encoding {
        &self.encoding
    }

    fn evaluate(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
        out.clear();
        for row in 0..batch.len() {
            let key = mix(batch.keys[row] ^ self.salt);
            let start = out.policy.len();
            let legal = &batch.legal[batch.legal_range(row)];
            out.policy.extend(legal.iter().map(|index| unit(mix(key ^ u64::from(index.get())))));
            normalise(&mut out.policy[start..]);
            let is_quiescent = batch.quiescence[row] == Quiescence::Required;
            let settled = if is_quiescent { mix(key ^ 5 << 32) } else { key };
            out.wdl.push(wdl_of(settled));
            if self.has_moves_left {
                out.moves_left.push(100.0 * unit(mix(key ^ 4 << 32)));
            }
        }
        Ok(())
    }
}

fn wdl_of(key: u64) -> Wdl {
    let mut parts = [1, 2, 3].map(|part: u64| unit(mix(key ^ part << 32)));
    normalise(&mut parts);
    Wdl { win: parts[0], draw: parts[1], loss: parts[2] }
}

fn normalise(weights: &mut [f32]) {
    let sum: f32 = weights.iter().sum();
    for weight in weights {
        *weight /= sum;
    }
}

/// Prescribed evaluations of some positions, and those of [`Uniform`] for the rest.
#[derive(Debug, Clone)]
pub struct Scripted {
    rest: Uniform,
    wdl_by_key: HashMap<u64, Wdl>,
}

impl Scripted {
    /// Position keys with their WDL; every other position is a draw. Policies are uniform.
    pub fn new(encoding: Encoding, wdl_by_key: HashMap<u64, Wdl>) -> Self {
        Self { rest: Uniform::new(encoding), wdl_by_key }
    }
}

impl Evaluator for Scripted {
    fn encoding(&self) -> &Encoding {
        self.rest.encoding()
    }

    fn evaluate(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
        self.rest.evaluate(batch, out)?;
        for (key, wdl) in batch.keys.iter().zip(&mut out.wdl) {
            if let Some(prescribed) = self.wdl_by_key.get(key) {
                *wdl = *prescribed;
            }
        }
        Ok(())
    }
}
