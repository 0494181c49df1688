//! Descriptions of tables and columns, read from `datasets/README.md`, the only place that has them.

const PAGE: &str = include_str!("../../datasets/README.md");

/// The heading of the columns that come from file paths, not from the files themselves.
const FROM_PATHS: &str = "Columns from paths";

/// A table's description, in a few words.
pub(crate) fn about(table: &str) -> String {
    let heading = section(&format!("`{table}`")).and_then(|section| section.lines().next());
    let about = heading.and_then(|heading| heading.split_once(": ")).map(|(_, about)| about);
    about.unwrap_or_default().to_owned()
}

/// What a column of a table means.
pub(crate) fn meaning(table: &str, column: &str) -> String {
    // A parameter's column is named after the parameter.
    let column = if column.starts_with("param_") { "param_…" } else { column };
    let in_table = section(&format!("`{table}`")).and_then(|section| cell(section, column));
    let from_path = || section(FROM_PATHS).and_then(|section| cell(section, column));
    in_table.or_else(from_path).unwrap_or_default()
}

/// The documented columns of a table, each with its type.
pub(crate) fn columns(table: &str) -> Vec<(String, String)> {
    let section = section(&format!("`{table}`")).unwrap_or_default();
    let columns_of = |line: &'static str| {
        let cells = cells(line);
        let (names, kind) =
            (cells.get(1).copied().unwrap_or_default(), cells.get(2).copied().unwrap_or_default());
        let plain = |name: &str| Some(name.strip_prefix('`')?.strip_suffix('`')?.to_owned());
        names.split(", ").filter_map(plain).map(|name| (name, kind.to_owned())).collect::<Vec<_>>()
    };
    section.lines().flat_map(columns_of).collect()
}

fn section(heading: &str) -> Option<&'static str> {
    PAGE.split("\n### ").find(|section| section.starts_with(heading))
}

fn cells(line: &str) -> Vec<&str> {
    line.split('|').map(str::trim).collect()
}

/// The meaning in the table row that names a column, alone or with others.
fn cell(section: &str, column: &str) -> Option<String> {
    let name = format!("`{column}`");
    let row = section
        .lines()
        .map(cells)
        .find(|cells| cells.len() > 3 && cells[1].split(", ").any(|listed| listed == name))?;
    Some(row[3].to_owned())
}
