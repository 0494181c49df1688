//! Aligned text tables for terminals, and the figures in them. They are in this crate because every other crate writes tables and depends on it; nothing
//! here prints.

/// The alignment of a cell in its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Left-aligned, for text.
    Left,
    /// Right-aligned, for numbers.
    Right,
}

/// Formats rows of cells as lines: columns are as wide as their widest cell and two spaces apart, and lines have no trailing
/// spaces. `align` gives the alignment of each column.
///
/// ```
/// use dc0_core::text_table::{Align, aligned};
///
/// let rows = [["games", "9"], ["draws", "10"]].map(|row| row.map(str::to_owned));
/// let lines = aligned(&rows, |column| if column == 0 { Align::Left } else { Align::Right });
/// assert_eq!(lines, ["games   9", "draws  10"]);
/// ```
pub fn aligned<R: AsRef<[String]>>(rows: &[R], align: impl Fn(usize) -> Align) -> Vec<String> {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        let row = row.as_ref();
        widths.resize(widths.len().max(row.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let padded = |(column, cell): (usize, &String)| {
        // Not by a format's width, which panics beyond 65,535 characters.
        let space = " ".repeat(widths[column] - cell.chars().count());
        match align(column) {
            Align::Left => format!("{cell}{space}"),
            Align::Right => format!("{space}{cell}"),
        }
    };
    let line = |row: &R| {
        let cells: Vec<String> = row.as_ref().iter().enumerate().map(padded).collect();
        cells.join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// A figure with some digits after the point; from a million on, and where fewer than two of the digits would say something, as a power
/// of ten.
pub fn figure(value: f64, digits: usize) -> String {
    let least = 10_f64.powi(1 - digits as i32);
    if (least..1e6).contains(&value.abs()) || value == 0.0 || !value.is_finite() {
        return format!("{value:.digits$}");
    }
    format!("{value:.digits$e}")
}

#[cfg(test)]
mod tests {
    use super::{Align, aligned, figure};

    #[test]
    fn large_and_small_figures_are_powers_of_ten() {
        let figures =
            [2.5, 0.012, 0.01, 999_999.25, -3.4e38, 1e6, -0.0004, 2e-5, 0.0, f64::INFINITY, f64::NAN];
        let expected = [
            "2.500",
            "0.012",
            "0.010",
            "999999.250",
            "-3.400e38",
            "1.000e6",
            "-4.000e-4",
            "2.000e-5",
            "0.000",
            "inf",
            "NaN",
        ];
        assert_eq!(figures.map(|value| figure(value, 3)), expected);
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_lines_are_trimmed() {
        let rows = [["é", "1", "last"], ["two", "22", ""]].map(|row| row.map(str::to_owned));
        let lines = aligned(&rows, |column| if column == 1 { Align::Right } else { Align::Left });
        assert_eq!(lines, ["é     1  last", "two  22"]);
        assert!(aligned::<[String; 2]>(&[], |_| Align::Left).is_empty());
        let long = "x".repeat(100_000);
        let rows = [[long.clone(), "1".to_owned()], [String::new(), "2".to_owned()]];
        assert_eq!(aligned(&rows, |_| Align::Left)[0], format!("{long}  1"));
    }
}
