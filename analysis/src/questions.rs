//! Twenty example queries, each with the question that it answers. `--examples` prints them, the guide shows them, and tests run
//! them here, in DuckDB and in Python's polars.

/// An example query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question {
    /// The question that it answers.
    pub title: &'static str,
    /// The statement.
    pub statement: &'static str,
    /// Whether it reads a sweep's table of trials.
    pub needs_sweep: bool,
}

/// Blocks separated by empty lines: a line `-- title`, then the statement.
const FILE: &str = include_str!("../questions.sql");

/// All example queries, in order.
pub fn questions() -> Vec<Question> {
    FILE.split("\n\n").filter_map(question).collect()
}

fn question(block: &'static str) -> Option<Question> {
    let (title, statement) = block.trim().strip_prefix("-- ")?.split_once('\n')?;
    let needs_sweep = statement.contains("trial");
    Some(Question { title, statement: statement.trim().trim_end_matches(';'), needs_sweep })
}
