//! Lists tables, functions and example questions.

use std::fmt::Write as _;

use dc0_analysis::{AnalysisError, ColumnInfo, Database, Limits, Question, TableInfo, functions};
use dc0_core::text_table::{Align, aligned};

/// All tables with their columns, then the functions, as text.
pub(super) fn tables(database: &Database) -> Result<String, AnalysisError> {
    let mut text = String::new();
    for table in database.tables()? {
        write_table(&mut text, &table);
    }
    text.push_str("functions beside those of SQL\n");
    let functions = functions();
    let width = functions.iter().map(|function| function.form.chars().count()).max().unwrap_or(0);
    for function in functions {
        let (form, gives, meaning) = (function.form, function.gives, function.meaning);
        writeln!(text, "  {form:<width$}  {gives:<5}  {meaning}").expect("text takes everything");
    }
    Ok(text.trim_end().to_owned())
}

fn write_table(text: &mut String, table: &TableInfo) {
    let TableInfo { name, about, rows, columns } = table;
    let rows = if *rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") };
    writeln!(text, "{name}: {about}; {rows}").expect("text takes everything");
    let cells = |column: &ColumnInfo| [&column.name, &column.kind, &column.meaning].map(Clone::clone);
    let rows: Vec<[String; 3]> = columns.iter().map(cells).collect();
    for line in aligned(&rows, |_| Align::Left) {
        writeln!(text, "  {line}").expect("text takes everything");
    }
    text.push('\n');
}

/// How much of an answer an example shows.
const SHOWN: Limits = Limits { rows: 5, width: 40 };

/// Questions as Markdown, each with its statement and, for a run, its answer.
pub(super) fn examples(questions: &[Question], database: Option<&Database>) -> Result<String, AnalysisError> {
    let mut text = String::new();
    for question in questions {
        let (title, statement) = (question.title, question.statement);
        write!(text, "### {title}\n\n```sql\n{statement}\n```\n\n").expect("text takes everything");
        if let Some(database) = database.filter(|_| !question.needs_sweep || database.is_some_and(has_trials))
        {
            let answer = database.query(statement)?.preview(SHOWN)?;
            write!(text, "```text\n{answer}\n```\n\n").expect("text takes everything");
        }
    }
    Ok(text.trim_end().to_owned())
}

fn has_trials(database: &Database) -> bool {
    database.names().iter().any(|name| name == "trials")
}
