//! The table of trials: one row each, with a column for every parameter of the space.

use std::collections::BTreeSet;
use std::path::Path;

use dc0_core::params::Value;
use dc0_core::store::{FileEntry, Provenance, StoreError, WideColumn, WideKind, write_wide};

use super::board::{Board, Row, cells};

/// The version of the columns and their meaning.
const VERSION: u32 = 3;

/// Writes `trials.parquet` into a sweep's folder. Its content does not depend on interruptions of the sweep.
pub fn write(folder: &Path, board: &Board) -> Result<FileEntry, StoreError> {
    let mut provenance = of_sweep(&board.name);
    provenance.insert("objective".to_owned(), board.objective.clone());
    write_wide(folder, "trials.parquet", "trials", VERSION, &columns(board), &provenance)
}

/// What a sweep's table of trials says where it comes from.
pub fn of_sweep(name: &str) -> Provenance {
    [("sweep".to_owned(), name.to_owned())].into()
}

/// The cell of a row in a column.
type Cell<'a> = dyn Fn(&Row) -> Value + 'a;

fn columns(board: &Board) -> Vec<WideColumn> {
    let rows = board.by_number();
    let [value, low, high] = [0, 1, 2].map(|index: usize| move |measured| cells(measured)[index].clone());
    let own: [(&str, WideKind, &Cell<'_>); 15] = [
        ("trial", WideKind::Int, &|row| Value::Int(row.trial.into())),
        ("state", WideKind::Text, &|row| Value::Text(row.state.name().to_owned())),
        ("value", WideKind::Float, &|row| value(row.result)),
        ("low", WideKind::Float, &|row| low(row.result)),
        ("high", WideKind::Float, &|row| high(row.result)),
        ("difference", WideKind::Float, &|row| value(row.difference)),
        ("difference_low", WideKind::Float, &|row| low(row.difference)),
        ("difference_high", WideKind::Float, &|row| high(row.difference)),
        ("replicates", WideKind::Int, &|row| Value::Int(row.replicates.into())),
        ("last_report", WideKind::Int, &|row| row.at.map_or(Value::None, |at| Value::Int(at.into()))),
        ("games", WideKind::Float, &|row| Value::Float(row.spent.games)),
        ("evaluations", WideKind::Float, &|row| Value::Float(row.spent.evaluations)),
        ("updates", WideKind::Float, &|row| Value::Float(row.spent.updates)),
        ("flops", WideKind::Float, &|row| Value::Float(row.spent.flops)),
        ("because", WideKind::Text, &|row| row.because.clone().map_or(Value::None, Value::Text)),
    ];
    let own = own.into_iter().map(|(name, if_empty, cell)| WideColumn {
        name: name.to_owned(),
        cells: rows.iter().map(|row| cell(row)).collect(),
        if_empty,
    });
    let names: BTreeSet<&String> = rows.iter().flat_map(|row| row.point.keys()).collect();
    let parameter = |name: &String| WideColumn {
        name: format!("param_{name}"),
        cells: rows.iter().map(|row| row.point.get(name).cloned().unwrap_or(Value::None)).collect(),
        if_empty: WideKind::Float,
    };
    own.chain(names.into_iter().map(parameter)).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use dc0_core::params::Value;

    use super::columns;
    use crate::sweep::board::{Board, Row};
    use crate::sweep::events::{Measured, Spent};
    use crate::sweep::observation::{Direction, TrialState};
    use crate::sweep::space::Point;

    fn board(rows: Vec<Row>) -> Board {
        Board {
            name: String::new(),
            objective: String::new(),
            direction: Direction::Maximize,
            rows,
            importances: Vec::new(),
            remarks: Vec::new(),
        }
    }

    #[test]
    fn cells_of_intervals_are_empty_where_there_is_none() {
        let row = |trial, result, difference| Row {
            trial,
            state: TrialState::Complete,
            point: Point::new(),
            result,
            difference,
            replicates: 1,
            at: None,
            spent: Spent::default(),
            because: None,
        };
        let measured = |value, half| Some(Measured { value, low: value - half, high: value + half });
        let rows =
            vec![row(0, measured(0.5, 0.25), None), row(1, measured(0.25, 0.0), measured(-0.25, 0.125))];
        let all = columns(&board(rows));
        let cells =
            |name: &str| all.iter().find(|column| column.name == name).expect("a column").cells.clone();
        let expected = [
            ("value", [Some(0.5), Some(0.25)]),
            ("low", [Some(0.25), None]),
            ("high", [Some(0.75), None]),
            ("difference", [None, Some(-0.25)]),
            ("difference_low", [None, Some(-0.375)]),
            ("difference_high", [None, Some(-0.125)]),
        ];
        for (name, expected) in expected {
            assert_eq!(cells(name), expected.map(|cell| cell.map_or(Value::None, Value::Float)), "{name}");
        }
    }

    #[test]
    fn the_schema_page_names_every_column() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets/README.md");
        let page = std::fs::read_to_string(page).expect("the page");
        let section = page.split("### `trials`").nth(1).expect("a section on trials");
        for column in columns(&board(Vec::new())) {
            assert!(section.contains(&format!("`{}`", column.name)), "{}", column.name);
        }
    }
}
