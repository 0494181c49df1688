//! 3×3 convolutions of 8×8 boards by Winograd's minimal filtering, F(4×4, 3×3).
//!
//! Lavin & Gray 2016, "Fast algorithms for convolutional neural networks", section 4: `Y = Aᵀ[(G g Gᵀ) ⊙ (Bᵀ d B)]A`.
//! A board is four tiles of 4×4 outputs, each seeing 6×6 inputs; 36 products replace 144.

use super::lanes::{LANES, Lanes, Line};
use super::matrix::{Matrix, Rows};
use crate::network::fold::Layer;

/// Places in a transformed tile.
const PLACES: usize = 36;
/// Tiles of a board.
const TILES: usize = 4;

/// A 3×3 convolution that keeps the board's size.
#[derive(Debug, Clone)]
pub(super) struct Conv {
    /// For each place of a transformed tile, channels to channels.
    places: Vec<Matrix>,
    bias: Vec<Line>,
    no_bias: Vec<Line>,
}

/// Transformed tiles before and after the products; keeps its memory.
#[derive(Debug, Clone, Default)]
pub(super) struct Tiles {
    before: Vec<Line>,
    after: Vec<Line>,
}

/// The G of F(4×4, 3×3).
const FILTER: [[f64; 3]; 6] = [
    [1.0 / 4.0, 0.0, 0.0],
    [-1.0 / 6.0, -1.0 / 6.0, -1.0 / 6.0],
    [-1.0 / 6.0, 1.0 / 6.0, -1.0 / 6.0],
    [1.0 / 24.0, 1.0 / 12.0, 1.0 / 6.0],
    [1.0 / 24.0, -1.0 / 12.0, 1.0 / 6.0],
    [0.0, 0.0, 1.0],
];

/// One place of `G g Gᵀ`.
fn filter_at(filter: &[f32], place: usize) -> f32 {
    let (rows, columns) = (FILTER[place / 6], FILTER[place % 6]);
    let product = |at: usize| f64::from(filter[at]) * rows[at / 3] * columns[at % 3];
    (0..9).map(product).sum::<f64>() as f32
}

impl Conv {
    pub(super) fn new(layer: &Layer) -> Self {
        let (outputs, inputs) = (layer.weight.shape[0], layer.weight.shape[1]);
        let filter = |input: usize, output: usize| {
            let start = (output * inputs + input) * 9;
            &layer.weight.data[start..start + 9]
        };
        let place =
            |place| Matrix::new(inputs, outputs, |input, output| filter_at(filter(input, output), place));
        let bias = super::net::lines_of(&layer.bias.data);
        let no_bias = vec![Line::ZERO; bias.len()];
        Self { places: (0..PLACES).map(place).collect(), bias, no_bias }
    }

    /// Convolves `boards` boards of `[64, in]` to `[64, out]`, with `finish` applied to every line of the result.
    #[inline(always)]
    pub(super) fn run<L: Lanes, const ROWS: usize>(
        &self,
        boards: usize,
        input: &[Line],
        tiles: &mut Tiles,
        output: &mut [Line],
        finish: impl Fn(L) -> L + Copy,
    ) {
        let (inputs, outputs) = (self.places[0].input_lines, self.places[0].output_lines);
        let count = boards * TILES;
        // An odd number of lines between places keeps them out of each other's cache sets.
        let (before_stride, after_stride) = ((count * inputs) | 1, (count * outputs) | 1);
        tiles.before.resize(PLACES * before_stride, Line::ZERO);
        tiles.after.resize(PLACES * after_stride, Line::ZERO);
        for board in 0..boards {
            let to = Place { first: board * TILES * inputs, width: inputs, stride: before_stride };
            transform_input::<L>(&input[board * 64 * inputs..][..64 * inputs], to, &mut tiles.before);
        }
        for (place, matrix) in self.places.iter().enumerate() {
            let lines = &tiles.before[place * before_stride..][..count * inputs];
            let rows = Rows { lines, stride: inputs, count };
            let out = &mut tiles.after[place * after_stride..][..count * outputs];
            matrix.multiply::<L, ROWS>(rows, &self.no_bias, out);
        }
        for board in 0..boards {
            let from = Place { first: board * TILES * outputs, width: outputs, stride: after_stride };
            let output = &mut output[board * 64 * outputs..][..64 * outputs];
            transform_output::<L>(&tiles.after, from, &self.bias, output, finish);
        }
    }
}

/// Where a board's transformed tiles lie: place `p` of tile `t` starts at line `first + p · stride + t · width`.
#[derive(Clone, Copy)]
struct Place {
    first: usize,
    width: usize,
    stride: usize,
}

impl Place {
    #[inline(always)]
    fn line(self, place: usize, tile: usize, line: usize) -> usize {
        self.first + place * self.stride + tile * self.width + line
    }
}

/// Six neighbouring values of eight, as the first (0) or the second (1) tile sees them: the board's outside is zero.
#[inline(always)]
fn seen<L: Lanes>(values: &[L; 8], tile: usize) -> [L; 6] {
    let zero = L::splat(0.0);
    let [a, b, c, d, e, f, g, h] = *values;
    if tile == 0 { [zero, a, b, c, d, e] } else { [d, e, f, g, h, zero] }
}

/// Bᵀ times six values.
#[inline(always)]
fn input_transform<L: Lanes>([a, b, c, d, e, f]: [L; 6]) -> [L; 6] {
    let [two, minus_two, four, minus_four, minus_five] = [2.0, -2.0, 4.0, -4.0, -5.0].map(L::splat);
    let (even, odd) = (c.mul_add(minus_four, e), b.mul_add(minus_four, d));
    let (near, far) = (e - c, d - b);
    [
        a.mul_add(four, c.mul_add(minus_five, e)),
        even + odd,
        even - odd,
        far.mul_add(two, near),
        far.mul_add(minus_two, near),
        b.mul_add(four, d.mul_add(minus_five, f)),
    ]
}

/// Aᵀ times six values.
#[inline(always)]
fn output_transform<L: Lanes>([a, b, c, d, e, f]: [L; 6]) -> [L; 4] {
    let [two, four, eight] = [2.0, 4.0, 8.0].map(L::splat);
    let (sum, difference) = (b + c, b - c);
    let (far_sum, far_difference) = (d + e, d - e);
    [
        a + sum + far_sum,
        far_difference.mul_add(two, difference),
        far_sum.mul_add(four, sum),
        far_difference.mul_add(eight, difference) + f,
    ]
}

#[inline(always)]
fn transform_input<L: Lanes>(board: &[Line], to: Place, tiles: &mut [Line]) {
    for line in 0..to.width {
        let mut columns = [[[L::splat(0.0); 8]; 6]; 2];
        for file in 0..8 {
            let squares: [L; 8] =
                std::array::from_fn(|rank| L::load(&board[(rank * 8 + file) * to.width + line]));
            for (tile, columns) in columns.iter_mut().enumerate() {
                for (row, value) in input_transform(seen(&squares, tile)).into_iter().enumerate() {
                    columns[row][file] = value;
                }
            }
        }
        for tile in 0..TILES {
            for row in 0..6 {
                let values = input_transform(seen(&columns[tile / 2][row], tile % 2));
                for (column, value) in values.into_iter().enumerate() {
                    value.store(&mut tiles[to.line(row * 6 + column, tile, line)]);
                }
            }
        }
    }
}

#[inline(always)]
fn transform_output<L: Lanes>(
    tiles: &[Line],
    from: Place,
    bias: &[Line],
    board: &mut [Line],
    finish: impl Fn(L) -> L + Copy,
) {
    for (line, bias) in bias.iter().enumerate() {
        let bias = L::load(bias);
        for tile in 0..TILES {
            let mut rows = [[L::splat(0.0); 6]; 4];
            for column in 0..6 {
                let values: [L; 6] =
                    std::array::from_fn(|row| L::load(&tiles[from.line(row * 6 + column, tile, line)]));
                for (row, value) in output_transform(values).into_iter().enumerate() {
                    rows[row][column] = value;
                }
            }
            for (row, values) in rows.into_iter().enumerate() {
                for (column, value) in output_transform(values).into_iter().enumerate() {
                    let square = (tile / 2 * 4 + row) * 8 + tile % 2 * 4 + column;
                    finish(value + bias).store(&mut board[square * from.width + line]);
                }
            }
        }
    }
}

// Every line of a channel group is independent of the others; sixteen channels go through each step together.
const _: () = assert!(LANES == 16);
