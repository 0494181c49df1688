//! Products of rows and a matrix, the work inside every layer.

use super::lanes::{LANES, Lanes, Line, lines_for};

/// Lines of outputs that one pass over the inputs makes.
const PANEL_LINES: usize = 2;

/// A matrix `[inputs, outputs]`, both padded to whole lines with zeros, in the order in which a product reads it:
/// panels of up to two lines of outputs, and in each panel one input after the other.
#[derive(Debug, Clone)]
pub(super) struct Matrix {
    /// Lines of inputs in a row.
    pub(super) input_lines: usize,
    /// Lines of outputs in a row.
    pub(super) output_lines: usize,
    panels: Vec<Line>,
}

/// Rows of lines: row `r` starts at line `r · stride`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rows<'a> {
    pub(super) lines: &'a [Line],
    pub(super) stride: usize,
    pub(super) count: usize,
}

impl Matrix {
    /// From a function of (input, output).
    pub(super) fn new(inputs: usize, outputs: usize, weight: impl Fn(usize, usize) -> f32) -> Self {
        let (input_lines, output_lines) = (lines_for(inputs), lines_for(outputs));
        let mut panels = Vec::with_capacity(input_lines * LANES * output_lines);
        for first in (0..output_lines).step_by(PANEL_LINES) {
            for input in 0..input_lines * LANES {
                for line in first..output_lines.min(first + PANEL_LINES) {
                    panels.push(Line(std::array::from_fn(|lane| {
                        let output = line * LANES + lane;
                        if input < inputs && output < outputs { weight(input, output) } else { 0.0 }
                    })));
                }
            }
        }
        Self { input_lines, output_lines, panels }
    }

    /// Multiplies each row and adds `bias`; row `r` of the result starts at line `r · output_lines` of `out`.
    #[inline(always)]
    pub(super) fn multiply<L: Lanes, const ROWS: usize>(
        &self,
        rows: Rows<'_>,
        bias: &[Line],
        out: &mut [Line],
    ) {
        let inputs = self.input_lines * LANES;
        let panel_size = inputs * PANEL_LINES;
        for (number, panel) in self.panels.chunks(panel_size).enumerate() {
            let first = number * PANEL_LINES;
            if panel.len() == panel_size {
                let bias = [L::load(&bias[first]), L::load(&bias[first + 1])];
                panel_product::<L, ROWS, 2>(
                    panel,
                    rows,
                    bias,
                    Target { out, first, stride: self.output_lines },
                );
            } else {
                let bias = [L::load(&bias[first])];
                panel_product::<L, ROWS, 1>(
                    panel,
                    rows,
                    bias,
                    Target { out, first, stride: self.output_lines },
                );
            }
        }
    }
}

/// Where a panel's results go.
struct Target<'a> {
    out: &'a mut [Line],
    first: usize,
    stride: usize,
}

#[inline(always)]
fn panel_product<L: Lanes, const ROWS: usize, const WIDTH: usize>(
    panel: &[Line],
    rows: Rows<'_>,
    bias: [L; WIDTH],
    target: Target<'_>,
) {
    let (panel, _) = panel.as_chunks::<WIDTH>();
    let Target { out, first, stride } = target;
    let mut row = 0;
    while row + ROWS <= rows.count {
        let sums = block_product::<L, ROWS, WIDTH>(panel, rows, row, bias);
        for (at, sums) in sums.iter().enumerate() {
            let start = (row + at) * stride + first;
            store(sums, &mut out[start..start + WIDTH]);
        }
        row += ROWS;
    }
    while row < rows.count {
        let [sums] = block_product::<L, 1, WIDTH>(panel, rows, row, bias);
        let start = row * stride + first;
        store(&sums, &mut out[start..start + WIDTH]);
        row += 1;
    }
}

#[inline(always)]
fn store<L: Lanes, const WIDTH: usize>(sums: &[L; WIDTH], out: &mut [Line]) {
    for (sum, line) in sums.iter().zip(out) {
        sum.store(line);
    }
}

/// `ROWS` rows times one panel, with all sums in registers.
#[inline(always)]
fn block_product<L: Lanes, const ROWS: usize, const WIDTH: usize>(
    panel: &[[Line; WIDTH]],
    rows: Rows<'_>,
    first: usize,
    bias: [L; WIDTH],
) -> [[L; WIDTH]; ROWS] {
    let (by_line, _) = panel.as_chunks::<LANES>();
    let inputs: [&[Line]; ROWS] = std::array::from_fn(|row| {
        let start = (first + row) * rows.stride;
        &rows.lines[start..start + by_line.len()]
    });
    let mut sums = [bias; ROWS];
    for (at, weights) in by_line.iter().enumerate() {
        let inputs: [&Line; ROWS] = std::array::from_fn(|row| &inputs[row][at]);
        for (lane, weights) in weights.iter().enumerate() {
            let weights: [L; WIDTH] = std::array::from_fn(|line| L::load(&weights[line]));
            for row in 0..ROWS {
                let input = L::splat(inputs[row].0[lane]);
                for line in 0..WIDTH {
                    sums[row][line] = input.mul_add(weights[line], sums[row][line]);
                }
            }
        }
    }
    sums
}
