//! The value of one position after the other along a line of play, for searches without batches.

use std::sync::Arc;

use super::accumulator::Accumulated;
use super::evaluator::{Scratch, result_of};
#[cfg(target_arch = "x86_64")]
use super::instructions::{Avx2, Avx512};
use super::instructions::{Baseline, Instructions, Set};
use super::net::NnueNet;
use super::pieces::of_position;
use crate::board::Position;
use crate::network::Wdl;

/// Evaluates positions at depths of a line. Each depth keeps the sums of the last position that was evaluated there, from which those of
/// the next are updated; the values do not depend on it.
#[derive(Debug)]
pub struct NnueLine {
    net: Arc<NnueNet>,
    instructions: Instructions,
    depths: Vec<Accumulated>,
    scratch: Scratch,
}

impl NnueLine {
    /// An evaluator with the processor's fastest instructions.
    pub fn new(net: Arc<NnueNet>) -> Self {
        let scratch = Scratch::new(&net);
        Self { net, instructions: Instructions::fastest(), depths: Vec::new(), scratch }
    }

    /// The expected result for the side to move of a position at a depth of the line.
    #[cfg_attr(target_arch = "x86_64", allow(unsafe_code, reason = "instructions are chosen at run time"))]
    pub fn evaluate(&mut self, depth: usize, position: &Position) -> Wdl {
        while self.depths.len() <= depth {
            self.depths.push(self.depths.last().cloned().unwrap_or_else(|| self.net.first.empty()));
        }
        let value = match self.instructions {
            // SAFETY: these are instructions of this processor.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => unsafe { self.value_by_avx2(depth, position) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => unsafe { self.value_by_avx512(depth, position) },
            _ => self.value::<Baseline>(depth, position),
        };
        value.expect("a net's outputs are finite, which was checked when it was made")
    }

    #[inline(always)]
    fn value<S: Set>(&mut self, depth: usize, position: &Position) -> Option<Wdl> {
        let sums = &mut self.depths[depth];
        self.net.first.update(sums, &of_position(position));
        self.scratch.evaluate_value::<S>(&self.net, sums);
        result_of(self.net.value_head, &mut self.scratch.value)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,popcnt")]
    fn value_by_avx2(&mut self, depth: usize, position: &Position) -> Option<Wdl> {
        self.value::<Avx2>(depth, position)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,popcnt,avx512f,avx512bw,avx512vl,avx512vnni")]
    fn value_by_avx512(&mut self, depth: usize, position: &Position) -> Option<Wdl> {
        self.value::<Avx512>(depth, position)
    }
}
