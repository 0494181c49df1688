//! The layers of an nnue.

use super::layers::{Names, Writer, as_plain};
use super::nodes::int;
use crate::network::fold::{Linear, plain};
use crate::network::graph::{
    IMPOSSIBLE_LOGIT, PIECE_SQUARES, ValueId, move_sources, seen_from_the_other_side,
};
use crate::network::{Accumulator, WeightTensor};

impl Writer<'_> {
    /// `[B, P, 8, 8]` to the outputs of both sides.
    pub(super) fn accumulate(
        &mut self,
        name: &str,
        input: ValueId,
        width: usize,
        activation: Accumulator,
    ) -> Names {
        let planes = self.plain(input);
        let flat = self.nodes.add("Flatten", format!("{name}.flat"), &[&planes], [int("axis", 1)]);
        let range = ["start", "end", "axis"].into_iter().zip([0, PIECE_SQUARES as i64, 1]);
        let range: Vec<String> =
            range.map(|(what, at)| self.nodes.integers(format!("{name}.{what}"), &[at])).collect();
        let inputs: Vec<&str> =
            std::iter::once(flat.as_str()).chain(range.iter().map(String::as_str)).collect();
        let pieces = self.nodes.add("Slice", format!("{name}.pieces"), &inputs, []);
        let layer = plain(self.weights, name);
        let mut clipped = |name: String, outputs: std::ops::Range<usize>| {
            let sums = self.gemm(&name, &pieces, &both_sides(&layer, outputs));
            let bounds = [("low", 0.0), ("high", 1.0)]
                .map(|(bound, value)| self.nodes.number(format!("{name}.{bound}"), value));
            self.nodes.add("Clip", format!("{name}.clipped"), &[&sums, &bounds[0], &bounds[1]], [])
        };
        as_plain(match activation {
            Accumulator::Clipped => clipped(name.to_owned(), 0..width),
            Accumulator::Squared => {
                let outputs = clipped(name.to_owned(), 0..width);
                self.nodes.add("Mul", format!("{name}.squared"), &[&outputs, &outputs], [])
            }
            Accumulator::Pairwise => {
                let first = clipped(format!("{name}.first"), 0..width / 2);
                let second = clipped(format!("{name}.second"), width / 2..width);
                self.nodes.add("Mul", format!("{name}.products"), &[&first, &second], [])
            }
        })
    }

    /// Logits of the possible moves at their policy indices.
    pub(super) fn expand_policy(&mut self, name: &str, input: ValueId) -> Names {
        let logits = self.plain(input);
        let pads = self.nodes.integers(format!("{name}.pads"), &[0, 0, 0, 1]);
        let impossible = self.nodes.number(format!("{name}.impossible"), IMPOSSIBLE_LOGIT);
        let padded = self.nodes.add("Pad", format!("{name}.padded"), &[&logits, &pads, &impossible], []);
        let sources = self.nodes.integers(format!("{name}.sources"), &move_sources());
        as_plain(self.nodes.add("Gather", name, &[&padded, &sources], [int("axis", 1)]))
    }
}

/// Some outputs of the first layer for the side to move, then the same outputs for its opponent.
fn both_sides(layer: &Linear, outputs: std::ops::Range<usize>) -> Linear {
    let rows = || layer.weight.data.chunks_exact(PIECE_SQUARES).take(outputs.end).skip(outputs.start);
    let own = rows().flatten().copied();
    let other = rows().flat_map(|row| (0..PIECE_SQUARES).map(|input| row[seen_from_the_other_side(input)]));
    let bias = &layer.bias.data[outputs.clone()];
    Linear {
        weight: WeightTensor {
            shape: vec![2 * outputs.len(), PIECE_SQUARES],
            data: own.chain(other).collect(),
        },
        bias: WeightTensor { shape: vec![2 * outputs.len()], data: [bias, bias].concat() },
    }
}
