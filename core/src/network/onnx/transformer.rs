//! Transformer layers, with the squares as tokens: `[B·64, C]`.

use super::layers::{Names, Writer, as_squares};
use super::nodes::{float, int, ints};
use crate::network::NormKind;
use crate::network::fold::NORM_EPSILON;
use crate::network::graph::ValueId;

impl Writer<'_> {
    pub(super) fn norm(&mut self, name: &str, input: ValueId, kind: NormKind) -> Names {
        let input = self.squares(input);
        let weight = self.weight(name, "weight");
        as_squares(match kind {
            NormKind::Layer => {
                let bias = self.weight(name, "bias");
                let attributes = [int("axis", -1), float("epsilon", NORM_EPSILON as f32)];
                self.nodes.add("LayerNormalization", name, &[&input, &weight, &bias], attributes)
            }
            NormKind::Rms => self.rms_norm(name, &input, &weight),
        })
    }

    /// `x / √(mean of x² + ε)` times a weight (Zhang & Sennrich 2019), as the sequence of nodes that ONNX Runtime fuses.
    fn rms_norm(&mut self, name: &str, input: &str, weight: &str) -> String {
        let two = self.nodes.number(format!("{name}.two"), 2.0);
        let epsilon = self.nodes.number(format!("{name}.epsilon"), NORM_EPSILON as f32);
        let squared = self.nodes.add("Pow", format!("{name}.squared"), &[input, &two], []);
        let mean = self.nodes.add("ReduceMean", format!("{name}.mean"), &[&squared], [ints("axes", &[-1])]);
        let mean = self.nodes.add("Add", format!("{name}.positive"), &[&mean, &epsilon], []);
        let root = self.nodes.add("Sqrt", format!("{name}.root"), &[&mean], []);
        let normed = self.nodes.add("Div", format!("{name}.normed"), &[input, &root], []);
        self.nodes.add("Mul", name, &[&normed, weight], [])
    }

    /// `[B·64, 3C]` to `[B·64, C]`.
    pub(super) fn attention(&mut self, name: &str, input: ValueId, channels: usize, heads: usize) -> Names {
        let input = self.squares(input);
        let (channels, heads) = (channels as i64, heads as i64);
        let width = channels / heads;
        let split = self.reshaped(&format!("{name}.split"), &input, &[-1, 64, 3, heads, width]);
        // [3, B, H, 64, d].
        let order = [ints("perm", &[2, 0, 3, 1, 4])];
        let split = self.nodes.add("Transpose", format!("{name}.ordered"), &[&split], order);
        let names = ["query", "key", "value"].map(|part| format!("{name}.{part}"));
        let [query, key, value] = self.parts(names, &split, 0);
        let weights = self.attention_weights(name, &query, &key, width);
        let mixed = self.nodes.add("MatMul", format!("{name}.mixed"), &[&weights, &value], []);
        let by_square = [ints("perm", &[0, 2, 1, 3])];
        let mixed = self.nodes.add("Transpose", format!("{name}.by_square"), &[&mixed], by_square);
        as_squares(self.reshaped(name, &mixed, &[-1, channels]))
    }

    /// `softmax(q·kᵀ/√d + bias)`; `[B, H, 64, d]` twice to `[B, H, 64, 64]`.
    fn attention_weights(&mut self, name: &str, query: &str, key: &str, width: i64) -> String {
        let bias = self.weight(name, "position_bias");
        let scale = self.nodes.number(format!("{name}.factor"), (width as f32).sqrt().recip());
        let key = self.nodes.add("Transpose", format!("{key}.turned"), &[key], [ints("perm", &[0, 1, 3, 2])]);
        let scores = self.nodes.add("MatMul", format!("{name}.products"), &[query, &key], []);
        let scores = self.nodes.add("Mul", format!("{name}.scaled"), &[&scores, &scale], []);
        let scores = self.nodes.add("Add", format!("{name}.scores"), &[&scores, &bias], []);
        self.nodes.add("Softmax", format!("{name}.shares"), &[&scores], [int("axis", -1)])
    }
}
