//! The layers of an nnue.

use std::ops::Range;

use super::layers::{Names, Writer, as_plain};
use super::nodes::{Nodes, int, ints};
use crate::network::fold::{Linear, plain};
use crate::network::graph::{
    IMPOSSIBLE_LOGIT, ValueId, mirrored_move_sources, move_sources, seen_from_the_other_side,
};
use crate::network::king_buckets::KingBuckets;
use crate::network::threats::kernels;
use crate::network::{Accumulator, WeightTensor};

impl Writer<'_> {
    /// `[B, P, 8, 8]` to the outputs of both sides.
    pub(super) fn accumulate(
        &mut self,
        name: &str,
        input: ValueId,
        [inputs, width]: [usize; 2],
        kings: &KingBuckets,
        activation: Accumulator,
    ) -> Names {
        let planes = self.plain(input);
        let pieces = if kings.is_plain() {
            self.flat_pieces(name, &planes, inputs)
        } else {
            self.seen_by_kings(name, &planes, inputs, kings)
        };
        let layer = plain(self.weights, name);
        let mut clipped = |name: String, outputs: Range<usize>| {
            let sums = if kings.is_plain() {
                self.gemm(&name, &pieces, &both_sides(&layer, outputs))
            } else {
                let both = 2 * outputs.len() as i64;
                let sides = self.gemm(&format!("{name}.side"), &pieces, &one_side(&layer, outputs));
                self.reshaped(&name, &sides, &[-1, both])
            };
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

    /// `[B, P, 8, 8]` to the first of its numbers, `[B, I]`.
    fn flat_pieces(&mut self, name: &str, planes: &str, inputs: usize) -> String {
        let flat = self.nodes.add("Flatten", format!("{name}.flat"), &[planes], [int("axis", 1)]);
        let range = ["start", "end", "axis"].into_iter().zip([0, inputs as i64, 1]);
        let range: Vec<String> =
            range.map(|(what, at)| self.nodes.integers(format!("{name}.{what}"), &[at])).collect();
        let sliced: Vec<&str> =
            std::iter::once(flat.as_str()).chain(range.iter().map(String::as_str)).collect();
        self.nodes.add("Slice", format!("{name}.pieces"), &sliced, [])
    }

    /// `[B, P, 8, 8]` to the inputs of both sides, each by its king: `[2B, K·I]`, those of a position's side to move, then its opponent's.
    fn seen_by_kings(&mut self, name: &str, planes: &str, inputs: usize, kings: &KingBuckets) -> String {
        let planes = self.nodes.slice(format!("{name}.own"), planes, 1, 0..inputs as i64 / 64);
        // The other side's pieces first in each state, and ranks reversed.
        let turned: Vec<i64> =
            (0..inputs / 64).map(|plane| (plane / 12 * 12 + (plane + 6) % 12) as i64).collect();
        let turned = self.nodes.gathered(format!("{name}.sides"), &planes, 1, &turned);
        let turned = self.nodes.gathered(format!("{name}.other"), &turned, 2, &REVERSED);
        let sides = [planes, turned].map(|boards| self.seen_by_king(&boards, inputs, kings));
        let both =
            self.nodes.add("Concat", format!("{name}.both"), &[&sides[0], &sides[1]], [int("axis", 1)]);
        self.reshaped(&format!("{name}.inputs"), &both, &[-1, (kings.count() * inputs) as i64])
    }

    /// A side's pieces `[B, I/64, 8, 8]` to its inputs `[B, 1, K·I]`.
    fn seen_by_king(&mut self, boards: &str, inputs: usize, kings: &KingBuckets) -> String {
        let own_kings: Vec<i64> = (5..inputs as i64 / 64).step_by(12).collect();
        let own_kings = self.nodes.gathered(format!("{boards}.kings"), boards, 1, &own_kings);
        let axis = self.nodes.integers(format!("{boards}.states"), &[1]);
        let king =
            self.nodes.add("ReduceSum", format!("{boards}.king"), &[&own_kings, &axis], [int("keepdims", 1)]);
        let mut seen = boards.to_owned();
        if kings.is_mirrored() {
            let is_right = self.nodes.is_on_the_right(&king);
            let mirrored = self.nodes.gathered(format!("{boards}.mirrored"), boards, 3, &REVERSED);
            seen = self.nodes.add("Where", format!("{boards}.seen"), &[&is_right, &mirrored, boards], []);
        }
        let flat = self.reshaped(&format!("{boards}.flat"), &seen, &[-1, 1, inputs as i64]);
        if kings.count() == 1 {
            return flat;
        }
        let squares = self.reshaped(&format!("{king}.square"), &king, &[-1, 64]);
        let of_squares: Vec<f32> = kings
            .buckets()
            .iter()
            .flat_map(|own| (0..kings.count()).map(move |bucket| f32::from(usize::from(*own) == bucket)))
            .collect();
        let buckets = self.nodes.floats(format!("{boards}.buckets"), &[64, kings.count()], &of_squares);
        let bucket = self.nodes.add("MatMul", format!("{boards}.bucket"), &[&squares, &buckets], []);
        let bucket =
            self.reshaped(&format!("{boards}.bucket_column"), &bucket, &[-1, kings.count() as i64, 1]);
        let inputs_of_buckets = self.nodes.add("Mul", format!("{boards}.in_buckets"), &[&bucket, &flat], []);
        let width = (kings.count() * inputs) as i64;
        self.reshaped(&format!("{boards}.inputs"), &inputs_of_buckets, &[-1, 1, width])
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

    /// Logits of the possible moves at their policy indices; `planes` if they may be those of the mirrored board.
    pub(super) fn expand_policy(&mut self, name: &str, input: ValueId, planes: Option<ValueId>) -> Names {
        let logits = self.plain(input);
        let planes = planes.map(|planes| self.plain(planes));
        let nodes = &mut self.nodes;
        let pads = nodes.integers(format!("{name}.pads"), &[0, 0, 0, 1]);
        let impossible = nodes.number(format!("{name}.impossible"), IMPOSSIBLE_LOGIT);
        let padded = nodes.add("Pad", format!("{name}.padded"), &[&logits, &pads, &impossible], []);
        let at = |what: &str| format!("{name}.{what}");
        let Some(planes) = planes else {
            let sources = nodes.integers(at("sources"), &move_sources());
            return as_plain(nodes.add("Gather", name, &[&padded, &sources], [int("axis", 1)]));
        };
        let king = nodes.slice(at("king"), &planes, 1, 5..6);
        let is_right = nodes.is_on_the_right(&king);
        let is_right = nodes.add("Flatten", at("is_right"), &[&is_right], [int("axis", 1)]);
        let own = nodes.gathered(at("own"), &padded, 1, &move_sources());
        let mirrored = nodes.gathered(at("mirrored"), &padded, 1, &mirrored_move_sources());
        as_plain(nodes.add("Where", name, &[&is_right, &mirrored, &own], []))
    }
}

/// Files or ranks in the opposite order.
const REVERSED: [i64; 8] = [7, 6, 5, 4, 3, 2, 1, 0];

impl Nodes {
    /// A part of an axis.
    fn slice(&mut self, name: String, input: &str, axis: i64, range: Range<i64>) -> String {
        let [start, end, axis] = [("start", range.start), ("end", range.end), ("axis", axis)]
            .map(|(what, value)| self.integers(format!("{name}.{what}"), &[value]));
        self.add("Slice", name, &[input, &start, &end, &axis], [])
    }

    /// Elements of an axis.
    fn gathered(&mut self, name: String, input: &str, axis: i64, elements: &[i64]) -> String {
        let elements = self.integers(format!("{name}.elements"), elements);
        self.add("Gather", name, &[input, &elements], [int("axis", axis)])
    }

    /// Whether each king `[B, 1, 8, 8]`, 1 on its square, stands on files e to h; `[B, 1, 1, 1]`.
    fn is_on_the_right(&mut self, king: &str) -> String {
        let right = self.slice(format!("{king}.right"), king, 3, 4..8);
        let axes = self.integers(format!("{king}.squares"), &[2, 3]);
        let sum = self.add("ReduceSum", format!("{king}.sum"), &[&right, &axes], [int("keepdims", 1)]);
        let half = self.number(format!("{king}.half"), 0.5);
        self.add("Greater", format!("{king}.is_right"), &[&sum, &half], [])
    }
}

/// Some outputs of the first layer.
fn one_side(layer: &Linear, outputs: Range<usize>) -> Linear {
    let inputs = layer.weight.shape[1];
    let weight = layer.weight.data[outputs.start * inputs..outputs.end * inputs].to_vec();
    Linear {
        weight: WeightTensor { shape: vec![outputs.len(), inputs], data: weight },
        bias: WeightTensor { shape: vec![outputs.len()], data: layer.bias.data[outputs].to_vec() },
    }
}

/// Some outputs of the first layer for the side to move, then the same outputs for its opponent.
fn both_sides(layer: &Linear, outputs: Range<usize>) -> Linear {
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
