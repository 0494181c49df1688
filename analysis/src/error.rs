//! What can go wrong with a query.

use std::io;
use std::path::PathBuf;

use dc0_core::params::nearest;
use dc0_core::store::StoreError;
use polars::error::PolarsError;
use thiserror::Error;

/// A query that failed.
#[derive(Debug, Error)]
pub enum AnalysisError {
    /// A stored table cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The system cannot list a folder.
    #[error("cannot list {}", folder.display())]
    List {
        /// The folder.
        folder: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The text is not SQL.
    #[error("this is not SQL: {message}")]
    Syntax {
        /// The parser's message.
        message: String,
    },
    /// The text is not a single SELECT statement.
    #[error("expected one SELECT statement, got {found}; runs are read-only")]
    NotASelect {
        /// What it is.
        found: String,
    },
    /// A join whose condition has no column on one of its sides.
    #[error(
        "a JOIN's ON compares columns of both tables, not `{condition}`; move that into WHERE, or join (SELECT … WHERE …)"
    )]
    OneSidedJoin {
        /// The condition.
        condition: String,
    },
    /// A window, or an aggregate of aggregates, in the SELECT that groups; polars returns wrong results for such statements.
    #[error("`{expression}` is computed over groups; group in WITH, and compute it in a SELECT from that")]
    OverGroups {
        /// The expression.
        expression: String,
    },
    /// Two columns of the result have the same name.
    #[error("two columns would be named `{name}`; rename one of them with AS")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// A table that does not exist.
    #[error("there is no table `{name}`{}", hint(name, known))]
    Table {
        /// The name given.
        name: String,
        /// The names that exist.
        known: Vec<String>,
    },
    /// A column that does not exist.
    #[error("there is no column `{name}`{}", hint(name, known))]
    Column {
        /// The name given.
        name: String,
        /// The names that exist.
        known: Vec<String>,
    },
    /// A function that does not exist.
    #[error("there is no function `{name}` in this dialect{}", hint(name, known))]
    Function {
        /// The name given.
        name: String,
        /// Names to suggest one from.
        known: Vec<String>,
    },
    /// The statement is invalid in another way.
    #[error("{message}")]
    Statement {
        /// What is wrong with it.
        message: String,
    },
    /// The statement is valid, but its result could not be computed.
    #[error("the query failed: {message}")]
    Failed {
        /// The engine's message.
        message: String,
    },
}

impl AnalysisError {
    /// Whether the query is at fault, not the files or the machine.
    pub fn is_bad_input(&self) -> bool {
        match self {
            Self::Syntax { .. }
            | Self::NotASelect { .. }
            | Self::OneSidedJoin { .. }
            | Self::OverGroups { .. }
            | Self::DuplicateName { .. }
            | Self::Table { .. }
            | Self::Column { .. }
            | Self::Function { .. }
            | Self::Statement { .. } => true,
            Self::Store(_) | Self::List { .. } | Self::Failed { .. } => false,
        }
    }

    /// From polars' error for a statement whose tables have these columns.
    pub(crate) fn of_statement(error: &PolarsError, columns: &[String], functions: &[String]) -> Self {
        match error {
            PolarsError::Context { error, .. } | PolarsError::ExprContext { error, .. } => {
                Self::of_statement(error, columns, functions)
            }
            PolarsError::ColumnNotFound(message) | PolarsError::SchemaFieldNotFound(message) => {
                match first_quoted(message) {
                    Some(name) => Self::Column { name, known: columns.to_vec() },
                    None => Self::Statement { message: first_line(message) },
                }
            }
            PolarsError::SQLInterface(message) | PolarsError::SQLSyntax(message) => {
                let function = message.strip_prefix("unsupported function ").and_then(first_quoted);
                let column = message.split_once("no column named ").and_then(|(_, rest)| first_quoted(rest));
                match (function, column) {
                    (Some(name), _) => Self::Function { name, known: functions.to_vec() },
                    (None, Some(name)) => Self::Column { name, known: columns.to_vec() },
                    (None, None) => Self::Statement { message: first_line(message) },
                }
            }
            PolarsError::Duplicate(message) => match first_quoted(message) {
                Some(name) => Self::DuplicateName { name },
                None => Self::Statement { message: first_line(message) },
            },
            other => Self::Statement { message: first_line(&other.to_string()) },
        }
    }

    /// From polars' error while it computes a result.
    pub(crate) fn from_execution(error: &PolarsError) -> Self {
        Self::Failed { message: first_line(&error.to_string()) }
    }
}

/// The first text in quotes of any kind.
fn first_quoted(message: &str) -> Option<String> {
    let start = message.find(['"', '\'', '`'])?;
    let quote = message[start..].chars().next()?;
    let rest = &message[start + 1..];
    Some(rest[..rest.find(quote)?].to_owned())
}

/// polars' messages are long and include query plans; the first line says what is wrong.
fn first_line(message: &str) -> String {
    message.lines().next().unwrap_or_default().trim().to_owned()
}

/// Suggests the nearest name; if none is near, lists all.
fn hint(name: &str, known: &[String]) -> String {
    let near = nearest(&name.to_lowercase(), known.iter().map(String::as_str));
    match near {
        Some(near) => format!("; did you mean `{near}`?"),
        None if known.is_empty() => String::new(),
        None => format!("; there are {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::{AnalysisError, first_quoted};

    #[test]
    fn quoted_names_are_found_and_the_nearest_is_suggested() {
        assert_eq!(first_quoted("unable to find column \"resul\"; x"), Some("resul".to_owned()));
        assert_eq!(first_quoted("no quotes"), None);
        let known = ["result".to_owned(), "plies".to_owned()];
        let error = AnalysisError::Column { name: "Resul".to_owned(), known: known.to_vec() };
        assert_eq!(error.to_string(), "there is no column `Resul`; did you mean `result`?");
        let error = AnalysisError::Table { name: "zzz".to_owned(), known: known.to_vec() };
        assert_eq!(error.to_string(), "there is no table `zzz`; there are result, plies");
    }
}
