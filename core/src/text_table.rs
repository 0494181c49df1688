//! Rows of cells as aligned text, for people who read them in a terminal. It stands here because every other crate writes such
//! tables and this is the one that all of them know; nothing here prints.

/// The side of its column that a cell stands at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// At the left, as words do.
    Left,
    /// At the right, as numbers do.
    Right,
}

/// Rows of equally many cells as lines, in columns as wide as their widest cell and two blanks apart; no line ends with a blank.
/// `align` says of each column where its cells stand.
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
        let width = widths[column];
        match align(column) {
            Align::Left => format!("{cell:<width$}"),
            Align::Right => format!("{cell:>width$}"),
        }
    };
    let line = |row: &R| {
        let cells: Vec<String> = row.as_ref().iter().enumerate().map(padded).collect();
        cells.join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::{Align, aligned};

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_in_letters_and_lines_end_with_none_empty() {
        let rows = [["é", "1", "last"], ["two", "22", ""]].map(|row| row.map(str::to_owned));
        let lines = aligned(&rows, |column| if column == 1 { Align::Right } else { Align::Left });
        assert_eq!(lines, ["é     1  last", "two  22"]);
        assert!(aligned::<[String; 2]>(&[], |_| Align::Left).is_empty());
    }
}
