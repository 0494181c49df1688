//! What can go wrong with a question.

use std::io;
use std::path::PathBuf;

use dc0_core::params::nearest;
use dc0_core::store::StoreError;
use polars::error::PolarsError;
use thiserror::Error;

/// A question without an answer.
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
    /// The text is no SQL.
    #[error("this is no SQL: {message}")]
    Syntax {
        /// What the parser says.
        message: String,
    },
    /// The statement does something else than to ask.
    #[error("expected one SELECT statement, got {found}; runs are only read")]
    NoQuestion {
        /// What was given.
        found: String,
    },
    /// A join whose condition has no column on one of its sides.
    #[error(
        "a JOIN's ON compares columns of both tables, not `{condition}`; put that into WHERE, or join (SELECT … WHERE …)"
    )]
    OneSided {
        /// The condition.
        condition: String,
    },
    /// Something that is computed of groups in the SELECT that makes them; polars answers such statements wrongly.
    #[error("`{expression}` is computed of groups; make them in WITH, and compute it in a SELECT of that")]
    OfGroups {
        /// The expression.
        expression: String,
    },
    /// Two columns of an answer with one name.
    #[error("two columns would be called `{name}`; give one of them another name with AS")]
    SameName {
        /// The name.
        name: String,
    },
    /// A table that is not there.
    #[error("there is no table `{name}`{}", hint(name, known))]
    Table {
        /// The name given.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// A column that is not there.
    #[error("there is no column `{name}`{}", hint(name, known))]
    Column {
        /// The name given.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// A function that is not there.
    #[error("there is no function `{name}` in this dialect{}", hint(name, known))]
    Function {
        /// The name given.
        name: String,
        /// Names that are near at hand.
        known: Vec<String>,
    },
    /// The statement asks for something that cannot be.
    #[error("{message}")]
    Statement {
        /// What is wrong with it.
        message: String,
    },
    /// The tables are sound, but the answer could not be computed.
    #[error("the question could not be answered: {message}")]
    Failed {
        /// What the engine says.
        message: String,
    },
}

impl AnalysisError {
    /// Whether the question is at fault, and not the files or the machine.
    pub fn is_bad_input(&self) -> bool {
        match self {
            Self::Syntax { .. }
            | Self::NoQuestion { .. }
            | Self::OneSided { .. }
            | Self::OfGroups { .. }
            | Self::SameName { .. }
            | Self::Table { .. }
            | Self::Column { .. }
            | Self::Function { .. }
            | Self::Statement { .. } => true,
            Self::Store(_) | Self::List { .. } | Self::Failed { .. } => false,
        }
    }

    /// What polars says of a statement whose tables have these columns.
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
                Some(name) => Self::SameName { name },
                None => Self::Statement { message: first_line(message) },
            },
            other => Self::Statement { message: first_line(&other.to_string()) },
        }
    }

    /// What polars says while it computes.
    pub(crate) fn of_work(error: &PolarsError) -> Self {
        Self::Failed { message: first_line(&error.to_string()) }
    }
}

/// The first word in quotes of any kind.
fn first_quoted(message: &str) -> Option<String> {
    let start = message.find(['"', '\'', '`'])?;
    let quote = message[start..].chars().next()?;
    let rest = &message[start + 1..];
    Some(rest[..rest.find(quote)?].to_owned())
}

/// polars explains at length, with plans and pictures; the first line says what is wrong.
fn first_line(message: &str) -> String {
    message.lines().next().unwrap_or_default().trim().to_owned()
}

/// The nearest name, or all names where none is near and they are few.
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
    fn quoted_names_are_found_and_the_nearest_is_named() {
        assert_eq!(first_quoted("unable to find column \"resul\"; x"), Some("resul".to_owned()));
        assert_eq!(first_quoted("no quotes"), None);
        let known = ["result".to_owned(), "plies".to_owned()];
        let error = AnalysisError::Column { name: "Resul".to_owned(), known: known.to_vec() };
        assert_eq!(error.to_string(), "there is no column `Resul`; did you mean `result`?");
        let error = AnalysisError::Table { name: "zzz".to_owned(), known: known.to_vec() };
        assert_eq!(error.to_string(), "there is no table `zzz`; there are result, plies");
    }
}
