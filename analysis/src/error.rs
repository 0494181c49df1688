//! What can go wrong with a query.

use std::io;
use std::path::PathBuf;
use std::slice::from_ref;

use dc0_core::params::nearest;
use dc0_core::store::StoreError;
use thiserror::Error;

use crate::duckdb::{EngineError, ErrorKind, LibraryError};

/// A query that failed.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum AnalysisError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("cannot list {}", folder.display())]
    List { folder: PathBuf, source: io::Error },
    #[error("this is not SQL: {message}")]
    Syntax { message: String },
    #[error("expected one SELECT statement, got {found}; runs are read-only")]
    NotASelect { found: String },
    #[error("there is no table `{name}`{}", hint(name, known))]
    Table { name: String, known: Vec<String> },
    #[error("there is no column `{name}`{}", hint(unqualified(name), known))]
    Column {
        /// The name given, perhaps with its table.
        name: String,
        known: Vec<String>,
    },
    #[error("there is no function `{name}`{}", hint(name, known))]
    Function {
        name: String,
        /// Names to suggest one from.
        known: Vec<String>,
    },
    /// The statement is invalid in another way.
    #[error("{message}")]
    Statement { message: String },
    /// The frames of a join were read by different databases.
    #[error("the frames of a join must be of runs in the same folder")]
    OtherFolder,
    #[error(
        "the query needs more memory than it may use ({message}); select fewer columns, or one iteration at a time"
    )]
    Memory { message: String },
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// The statement is valid, but its result could not be computed.
    #[error("the query failed: {message}")]
    Failed { message: String },
}

impl AnalysisError {
    /// Suggests one of these columns where the engine knows of none.
    pub(crate) fn suggesting(mut self, columns: impl FnOnce() -> Vec<String>) -> Self {
        if let Self::Column { name, known } = &mut self
            && known.is_empty()
        {
            *known = columns();
            known.retain(|column| near(unqualified(name), from_ref(column)).is_some());
        }
        self
    }

    /// Whether the query is at fault, not the files or the machine.
    pub fn is_bad_input(&self) -> bool {
        match self {
            Self::Syntax { .. }
            | Self::NotASelect { .. }
            | Self::OtherFolder
            | Self::Table { .. }
            | Self::Column { .. }
            | Self::Function { .. }
            | Self::Statement { .. } => true,
            Self::Store(_)
            | Self::List { .. }
            | Self::Library(_)
            | Self::Memory { .. }
            | Self::Failed { .. } => false,
        }
    }
}

impl From<EngineError> for AnalysisError {
    fn from(error: EngineError) -> Self {
        let EngineError { kind, message, name, candidates } = error;
        match (kind, name) {
            (ErrorKind::Column, Some(name)) => {
                // The engine names a few columns like it, not all.
                let column = unqualified(&name);
                let near = near(column, &candidates).or_else(|| candidates.first().map(String::as_str));
                let known = near.filter(|_| !is_letter(column)).map(ToOwned::to_owned);
                Self::Column { name, known: known.into_iter().collect() }
            }
            (ErrorKind::Function, Some(name)) => Self::Function { name, known: candidates },
            (ErrorKind::Table, Some(name)) => Self::Table { name, known: candidates },
            (ErrorKind::Syntax, _) => Self::Syntax { message },
            (ErrorKind::Memory, _) => Self::Memory { message },
            (ErrorKind::Other, _) => Self::Failed { message },
            _ => Self::Statement { message },
        }
    }
}

/// The name of a column without that of its table.
fn unqualified(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// Whether a name is a single letter, which is as near to one name as to any other.
fn is_letter(name: &str) -> bool {
    name.chars().count() == 1
}

fn near<'a>(name: &str, known: &'a [String]) -> Option<&'a str> {
    nearest(&name.to_lowercase(), known.iter().map(String::as_str)).filter(|_| !is_letter(name))
}

/// Suggests the nearest name; if none is near, lists all.
fn hint(name: &str, known: &[String]) -> String {
    match near(name, known) {
        Some(near) => format!("; did you mean `{near}`?"),
        None if known.is_empty() => String::new(),
        None if known.len() == 1 => format!("; the nearest is `{}`", known[0]),
        None => format!("; there are {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::{AnalysisError, EngineError, ErrorKind};

    #[test]
    fn the_nearest_name_is_suggested() {
        let known = ["result".to_owned(), "plies".to_owned()];
        let error = AnalysisError::Column { name: "Resul".to_owned(), known: known.to_vec() };
        assert_eq!(error.to_string(), "there is no column `Resul`; did you mean `result`?");
        let error = AnalysisError::Column { name: "r".to_owned(), known: known.to_vec() };
        assert_eq!(error.to_string(), "there is no column `r`; there are result, plies");
        let candidates = vec!["result".to_owned()];
        let engine = |name: &str| EngineError {
            kind: ErrorKind::Column,
            message: String::new(),
            name: Some(name.to_owned()),
            candidates: candidates.clone(),
        };
        let column = |name| AnalysisError::from(engine(name)).to_string();
        assert_eq!(column("x"), "there is no column `x`");
        assert_eq!(column("zz"), "there is no column `zz`; the nearest is `result`");
        let error = AnalysisError::Table { name: "zzz".to_owned(), known: known.to_vec() };
        assert_eq!(error.to_string(), "there is no table `zzz`; there are result, plies");
    }
}
