//! Answers as aligned text for people.

use std::fmt;

use dc0_core::params::Value;

use crate::rows::Rows;

/// How much of an answer is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most rows.
    pub rows: usize,
    /// The most characters of a cell.
    pub width: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { rows: 100, width: 60 }
    }
}

/// An answer as text, with what was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The aligned columns.
    pub table: String,
    /// Rows beyond the limit.
    pub rows_left_out: usize,
    /// Cells whose end was cut off.
    pub cells_cut: usize,
}

impl Rows {
    /// The answer as aligned columns, numbers to the right.
    pub fn shown(&self, limits: Limits) -> Shown {
        let rows = self.len().min(limits.rows);
        let mut cells_cut = 0;
        let mut columns = Vec::new();
        for (at, (name, kind)) in self.columns().into_iter().enumerate() {
            let column = &self.frame.columns()[at];
            let mut cells: Vec<Vec<String>> = vec![vec![name]];
            for row in 0..rows {
                let value = column.get(row).map_or(Value::None, |value| crate::rows::plain(&value));
                let (lines, is_cut) = cell(&value, limits.width);
                cells_cut += usize::from(is_cut);
                cells.push(lines);
            }
            columns.push(aligned(cells, is_number(&kind)));
        }
        let lines = (0..=rows).flat_map(|row| lines(&columns, row));
        let table = lines.collect::<Vec<_>>().join("\n");
        Shown { table, rows_left_out: self.len() - rows, cells_cut }
    }
}

impl fmt::Display for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.shown(Limits::default());
        f.write_str(&shown.table)?;
        match shown.rows_left_out {
            0 => Ok(()),
            more => write!(f, "\n… {more} more rows"),
        }
    }
}

fn is_number(kind: &str) -> bool {
    kind == "nothing"
        || (kind.starts_with(['i', 'u', 'f']) && kind[1..].bytes().all(|byte| byte.is_ascii_digit()))
}

/// A cell's lines, and whether something is missing at the end of one.
fn cell(value: &Value, width: usize) -> (Vec<String>, bool) {
    let text = match value {
        Value::None => "-".to_owned(),
        Value::Float(number) => number_text(*number),
        Value::Text(text) => text.clone(),
        other => other.canonical(),
    };
    let is_cut = text.lines().any(|line| line.chars().count() > width);
    let line = |line: &str| {
        if line.chars().count() <= width {
            return line.to_owned();
        }
        line.chars().take(width.saturating_sub(1)).chain(['…']).collect()
    };
    let lines: Vec<String> = text.lines().map(line).collect();
    (if lines.is_empty() { vec![String::new()] } else { lines }, is_cut)
}

/// Six digits, which is more than sampled figures have.
fn number_text(number: f64) -> String {
    if number == 0.0 || !number.is_finite() {
        return format!("{number}");
    }
    let magnitude = number.abs().log10().floor() as i32;
    if !(-5..15).contains(&magnitude) {
        return format!("{number:.5e}");
    }
    let text = format!("{number:.*}", (5 - magnitude).max(0) as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn aligned(cells: Vec<Vec<String>>, is_right: bool) -> Vec<Vec<String>> {
    let width = cells.iter().flatten().map(|line| line.chars().count()).max().unwrap_or(0);
    let pad = |line: String| if is_right { format!("{line:>width$}") } else { format!("{line:<width$}") };
    cells.into_iter().map(|lines| lines.into_iter().map(pad).collect()).collect()
}

/// A row, which has as many lines as its tallest cell.
fn lines(columns: &[Vec<Vec<String>>], row: usize) -> Vec<String> {
    let height = columns.iter().map(|column| column[row].len()).max().unwrap_or(0);
    let line = |at: usize| {
        let part = |column: &Vec<Vec<String>>| {
            let width = column[0][0].chars().count();
            column[row].get(at).cloned().unwrap_or_else(|| " ".repeat(width))
        };
        columns.iter().map(part).collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    (0..height).map(line).collect()
}

#[cfg(test)]
mod tests {
    use polars::prelude::{DataFrame, NamedFrom, Series};

    use super::{Limits, number_text};
    use crate::rows::Rows;

    #[test]
    fn numbers_have_six_digits() {
        for (number, text) in [
            (0.0, "0"),
            (2.0 / 3.0, "0.666667"),
            (1e-7, "1.00000e-7"),
            (123_456.78, "123457"),
            (-1.5, "-1.5"),
        ] {
            assert_eq!(number_text(number), text);
        }
    }

    #[test]
    fn columns_are_aligned_and_what_is_left_out_is_counted() {
        let names =
            Series::new("name".into(), vec![Some("two\nlines"), None, Some("a long text"), Some("x")]);
        let plies = Series::new("plies".into(), vec![1.5, 20.0, 300.0, 4.0]);
        let rows = Rows::new(DataFrame::new(4, vec![names.into(), plies.into()]).unwrap());
        let shown = rows.shown(Limits { rows: 3, width: 8 });
        assert_eq!(shown.table, "name      plies\ntwo         1.5\nlines\n-            20\na long …    300");
        assert_eq!((shown.rows_left_out, shown.cells_cut), (1, 1));
    }
}
