//! The value of one position after the other along a line of play, for searches without batches.

use std::sync::Arc;

use super::accumulator::Accumulated;
use super::evaluator::Scratch;
use super::instructions::{Dispatch, Instructions, Set, Work};
use super::net::NnueNet;
use super::pieces::of_position;
use crate::board::Position;
use crate::network::{Wdl, expected_result};

/// Evaluates positions at depths of a line. Each depth keeps the sums of the last position that was evaluated there, from which those of
/// the next are updated; the values do not depend on it.
#[derive(Debug)]
pub struct NnueLine {
    net: Arc<NnueNet>,
    dispatch: Dispatch,
    depths: Vec<Accumulated>,
    scratch: Scratch,
}

impl NnueLine {
    /// An evaluator with the processor's fastest instructions.
    pub fn new(net: Arc<NnueNet>) -> Self {
        let scratch = Scratch::new(&net);
        Self { net, dispatch: Dispatch::to(Instructions::fastest()), depths: Vec::new(), scratch }
    }

    /// The expected result for the side to move of a position at a depth of the line.
    pub fn evaluate(&mut self, depth: usize, position: &Position) -> Wdl {
        while self.depths.len() <= depth {
            self.depths.push(self.depths.last().cloned().unwrap_or_else(|| self.net.first.empty()));
        }
        let value = self.dispatch.run(ValueAt { line: self, depth, position });
        value.expect("a net's outputs are finite, which was checked when it was made")
    }
}

/// The evaluation of one position.
struct ValueAt<'a> {
    line: &'a mut NnueLine,
    depth: usize,
    position: &'a Position,
}

impl Work for ValueAt<'_> {
    type Output = Option<Wdl>;

    #[inline(always)]
    fn run<S: Set>(self) -> Option<Wdl> {
        let NnueLine { net, depths, scratch, .. } = self.line;
        let sums = &mut depths[self.depth];
        net.first.update(sums, &of_position(self.position));
        scratch.evaluate_value::<S>(net, sums);
        expected_result(net.value_head, &mut scratch.value)
    }
}
