//! Query results as aligned text.

use std::fmt;

use dc0_core::params::Value;
use dc0_core::text_table::{Align, aligned};

use crate::error::AnalysisError;
use crate::export::json;
use crate::frame::Frame;
use crate::rows::Rows;

/// How much of a result is shown.
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

/// A result as text, with counts of what was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The text, with aligned columns.
    pub table: String,
    /// The number of rows beyond the limit.
    pub rows_left_out: usize,
    /// The number of truncated cells.
    pub cells_cut: usize,
}

impl Rows {
    /// The rows as aligned columns, numbers right-aligned.
    pub fn shown(&self, limits: Limits) -> Shown {
        let (names, kinds): (Vec<String>, Vec<String>) = self.columns().into_iter().unzip();
        let rows = self.len().min(limits.rows);
        let (mut lines, mut cells_cut) = (vec![names], 0);
        for row in 0..rows {
            let cells: Vec<Cell> = self.row(row).iter().map(|value| Cell::new(value, limits.width)).collect();
            cells_cut += cells.iter().filter(|cell| cell.is_cut).count();
            let height = cells.iter().map(|cell| cell.lines.len()).max().unwrap_or(0);
            lines.extend((0..height).map(|index| cells.iter().map(|cell| cell.line(index)).collect()));
        }
        let align = |column: usize| if is_number(&kinds[column]) { Align::Right } else { Align::Left };
        let table = aligned(&lines, align).join("\n");
        Shown { table, rows_left_out: self.len() - rows, cells_cut }
    }
}

impl Frame {
    /// The first rows as text, and how many more there are.
    pub fn preview(&self, limits: Limits) -> Result<String, AnalysisError> {
        let shown = self.head(limits.rows as u64 + 1)?.rows()?.shown(limits);
        if shown.rows_left_out == 0 {
            return Ok(shown.table);
        }
        Ok(format!("{}\n… {} more rows", shown.table, self.count()? - limits.rows as u64))
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

/// A cell as text.
struct Cell {
    lines: Vec<String>,
    /// Whether a line was truncated.
    is_cut: bool,
}

impl Cell {
    fn new(value: &Value, width: usize) -> Self {
        let text = match value {
            Value::None => "-".to_owned(),
            Value::Float(number) => number_text(*number),
            Value::Text(text) if text.is_empty() => {
                return Self { lines: vec![String::new()], is_cut: false };
            }
            Value::Text(text) => text.clone(),
            other => json(other),
        };
        // What a file from elsewhere says must not steer the terminal.
        let is_unseen = |letter: char| letter.is_control() && !"\n\t".contains(letter);
        let text = text.replace("\r\n", "\n").replace(is_unseen, "\u{fffd}");
        let is_long = |line: &str| line.chars().count() > width;
        let line = |line: &str| {
            if is_long(line) {
                line.chars().take(width.saturating_sub(1)).chain(['…']).collect()
            } else {
                line.to_owned()
            }
        };
        Self { lines: text.lines().map(line).collect(), is_cut: text.lines().any(is_long) }
    }

    /// One of its lines; empty if another cell of the row has more.
    fn line(&self, index: usize) -> String {
        self.lines.get(index).cloned().unwrap_or_default()
    }
}

/// A number with six significant digits, more than sampled figures have.
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
    fn columns_are_aligned_and_omissions_are_counted() {
        let names =
            Series::new("name".into(), vec![Some("two\nlines"), None, Some("a long text"), Some("x")]);
        let plies = Series::new("plies".into(), vec![1.5, 20.0, 300.0, 4.0]);
        let rows = Rows::new(DataFrame::new(4, vec![names.into(), plies.into()]).unwrap());
        let shown = rows.shown(Limits { rows: 3, width: 8 });
        assert_eq!(shown.table, "name      plies\ntwo         1.5\nlines\n-            20\na long …    300");
        assert_eq!((shown.rows_left_out, shown.cells_cut), (1, 1));
    }

    #[test]
    fn lists_show_what_is_no_number() {
        let list = Series::new("l".into(), vec![f64::NAN, f64::NEG_INFINITY, 0.5]);
        let lists = Series::new("l".into(), vec![list]);
        let rows = Rows::new(DataFrame::new(1, vec![lists.into()]).unwrap());
        let shown = rows.shown(Limits { rows: 9, width: 40 }).table;
        assert_eq!(shown, "l\n[\"NaN\",\"-inf\",0.5]");
    }

    #[test]
    fn texts_cannot_steer_the_terminal() {
        let texts = Series::new("event".into(), vec!["a\u{1b}[31mb\u{7}", "c\r\nd\0"]);
        let rows = Rows::new(DataFrame::new(2, vec![texts.into()]).unwrap());
        let shown = rows.shown(Limits { rows: 9, width: 20 }).table;
        assert_eq!(shown, "event\na\u{fffd}[31mb\u{fffd}\nc\nd\u{fffd}");
    }
}
