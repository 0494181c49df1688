//! The schema page agrees with the code.

use std::fs;
use std::path::Path;

use super::super::{
    AnswerRow, GameRow, HeaderRow, LineRow, MatchGameRow, PositionRow, PredictionRow, PuzzleRow, RejectRow,
    TableRow, TrainingRow, TreeRow, ValidationRow,
};

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/README.md");
    fs::read_to_string(path).expect("the schema page")
}

/// The columns that the page lists for a table, each with its type.
fn columns_on_page(page: &str, table: &str) -> Vec<(String, String)> {
    let section = page.split("\n### ").find(|section| section.starts_with(&format!("`{table}`")));
    let section = section.unwrap_or_else(|| panic!("the page has a section on `{table}`"));
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let name = cells.get(1)?.strip_prefix('`')?.strip_suffix('`')?;
        Some((name.to_owned(), cells[2].trim_matches('`').to_owned()))
    };
    section.lines().filter_map(row).collect()
}

fn check<R: TableRow>(page: &str) {
    let columns: Vec<_> =
        R::columns().into_iter().map(|column| (column.name.to_owned(), column.kind)).collect();
    assert_eq!(columns_on_page(page, R::TABLE), columns, "page (left) and code (right) of `{}`", R::TABLE);
    let key = format!("key: `{}`", R::KEY.join("`, `"));
    assert!(page.contains(&key), "the page gives the {key} of `{}`", R::TABLE);
}

#[test]
fn the_schema_page_lists_every_column_of_every_table_in_order() {
    let page = page();
    check::<GameRow>(&page);
    check::<PositionRow>(&page);
    check::<HeaderRow>(&page);
    check::<RejectRow>(&page);
    check::<MatchGameRow>(&page);
    check::<LineRow>(&page);
    check::<TreeRow>(&page);
    check::<PuzzleRow>(&page);
    check::<AnswerRow>(&page);
    check::<PredictionRow>(&page);
    check::<TrainingRow>(&page);
    check::<ValidationRow>(&page);
    // The columns of `trials` depend on the sweep; `costs` are the runner's; `ratings`, `staleness`, `steps` and `runs` are not files.
    assert_eq!(page.matches("\n### `").count(), 18, "the page describes no other table");
}
