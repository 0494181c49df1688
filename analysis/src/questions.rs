//! Twenty questions of analysts, each one statement. The program prints them, the guide shows them with answers, and tests ask them
//! here, in DuckDB and in Python's polars.

/// A question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question {
    /// What is asked.
    pub title: &'static str,
    /// The statement.
    pub statement: &'static str,
    /// Whether it needs a sweep's table of trials.
    pub of_sweep: bool,
}

/// Blocks of a line `-- title`, then the statement.
const FILE: &str = include_str!("../questions.sql");

/// All of them in order.
pub fn questions() -> Vec<Question> {
    FILE.split("\n\n").filter_map(question).collect()
}

fn question(block: &'static str) -> Option<Question> {
    let (title, statement) = block.trim().strip_prefix("-- ")?.split_once('\n')?;
    let of_sweep = statement.contains("trial");
    Some(Question { title, statement: statement.trim().trim_end_matches(';'), of_sweep })
}
