//! The layers of an nnue.

use super::layers::{Names, Writer, as_plain};
use super::nodes::{Nodes, int, ints};
use crate::network::fold::{Linear, plain};
use crate::network::graph::{IMPOSSIBLE_LOGIT, ValueId, move_sources, seen_from_the_other_side};
use crate::network::threats::kernels;
use crate::network::{Accumulator, WeightTensor};

impl Writer<'_> {
    /// `[B, P, 8, 8]` to the outputs of both sides.
    pub(super) fn accumulate(
        &mut self,
        name: &str,
        input: ValueId,
        [inputs, width]: [usize; 2],
        activation: Accumulator,
    ) -> Names {
        let planes = self.plain(input);
        let flat = self.nodes.add("Flatten", format!("{name}.flat"), &[&planes], [int("axis", 1)]);
        let range = ["start", "end", "axis"].into_iter().zip([0, inputs as i64, 1]);
        let range: Vec<String> =
            range.map(|(what, at)| self.nodes.integers(format!("{name}.{what}"), &[at])).collect();
        let sliced: Vec<&str> =
            std::iter::once(flat.as_str()).chain(range.iter().map(String::as_str)).collect();
        let pieces = self.nodes.add("Slice", format!("{name}.pieces"), &sliced, []);
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

    /// `[B, P, 8, 8]` to the pieces by what threatens and defends them, `[B, 48, 8, 8]`.
    pub(super) fn threats(&mut self, name: &str, input: ValueId) -> Names {
        let planes = self.plain(input);
        let nodes = &mut self.nodes;
        let at = |what: &str| format!("{name}.{what}");
        let conv = |size: i64, groups: usize| {
            [ints("kernel_shape", &[size, size]), ints("pads", &[size / 2; 4]), int("group", groups as i64)]
        };
        let rays = kernels::RAYS;
        let leapers = nodes.floats(at("leapers"), &[2, 12, 5, 5], &kernels::leapers());
        let sliders = nodes.floats(at("sliders"), &[rays, 12, 1, 1], &kernels::sliders());
        let steps = nodes.floats(at("steps"), &[rays, 1, 3, 3], &kernels::steps());
        let sides = nodes.floats(at("sides"), &[2, rays, 1, 1], &kernels::sides());
        let attackers = nodes.integers(at("attackers"), &kernels::ATTACKERS);
        let defenders = nodes.integers(at("defenders"), &kernels::DEFENDERS);
        let one = nodes.number(at("one"), 1.0);
        let [start, end, axis] =
            [("start", 0), ("end", 12), ("axis", 1)].map(|(what, value)| nodes.integers(at(what), &[value]));
        let pieces = nodes.add("Slice", at("pieces"), &[&planes, &start, &end, &axis], []);
        let occupied = nodes.add("ReduceSum", at("occupied"), &[&pieces, &axis], [int("keepdims", 1)]);
        let empty = nodes.add("Sub", at("empty"), &[&one, &occupied], []);
        let mut moving = nodes.add("Conv", at("ray0"), &[&pieces, &sliders], conv(1, 1));
        let mut reached = Vec::new();
        for step in 1..=7 {
            let next = nodes.add("Conv", at(&format!("reached{step}")), &[&moving, &steps], conv(3, rays));
            moving = nodes.add("Mul", at(&format!("ray{step}")), &[&next, &empty], []);
            reached.push(next);
        }
        let reached: Vec<&str> = reached.iter().map(String::as_str).collect();
        let reached = nodes.add("Sum", at("reached"), &reached, []);
        let slid = nodes.add("Conv", at("slid"), &[&reached, &sides], conv(1, 1));
        let leapt = nodes.add("Conv", at("leapt"), &[&pieces, &leapers], conv(5, 1));
        let attacks = nodes.add("Add", at("attacks"), &[&leapt, &slid], []);
        let attacked = nodes.add("Min", at("attacked"), &[&attacks, &one], []);
        let by = |nodes: &mut Nodes, what: &str, sides: &str| {
            nodes.add("Gather", at(what), &[&attacked, sides], [int("axis", 1)])
        };
        let (threats, defences) = (by(nodes, "threats", &attackers), by(nodes, "defences", &defenders));
        let threatened = nodes.add("Mul", at("threatened"), &[&pieces, &threats], []);
        let unthreatened = nodes.add("Sub", at("unthreatened"), &[&pieces, &threatened], []);
        let both = nodes.add("Mul", at("both"), &[&threatened, &defences], []);
        let defended = nodes.add("Mul", at("defended"), &[&unthreatened, &defences], []);
        let attacked = nodes.add("Sub", at("attacked_only"), &[&threatened, &both], []);
        let neither = nodes.add("Sub", at("neither"), &[&unthreatened, &defended], []);
        as_plain(nodes.add("Concat", name, &[&neither, &attacked, &defended, &both], [int("axis", 1)]))
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
    let inputs = layer.weight.shape[1];
    let rows = || layer.weight.data.chunks_exact(inputs).take(outputs.end).skip(outputs.start);
    let own = rows().flatten().copied();
    let other = rows().flat_map(|row| (0..inputs).map(|input| row[seen_from_the_other_side(input)]));
    let bias = &layer.bias.data[outputs.clone()];
    Linear {
        weight: WeightTensor { shape: vec![2 * outputs.len(), inputs], data: own.chain(other).collect() },
        bias: WeightTensor { shape: vec![2 * outputs.len()], data: [bias, bias].concat() },
    }
}
