//! Errors of stored files.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::row::RowFault;

/// A file that cannot be read, used or written.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum StoreError {
    #[error("{} is missing; if a step of a run made it, run the script again: the step makes it again", file.display())]
    Missing { file: PathBuf },
    #[error("cannot read {}", file.display())]
    Read { file: PathBuf, source: io::Error },
    /// The file cannot be written; what was there before is unchanged.
    #[error("cannot write {}; check free disk space and permissions, then run again", file.display())]
    Write { file: PathBuf, source: io::Error },
    /// The file is truncated, changed or not a Parquet file at all.
    #[error(
        "{} is not a whole Parquet file ({cause}); delete it and run the script again: the step makes it again",
        file.display()
    )]
    Damaged { file: PathBuf, cause: String },
    /// The file holds another table, or was not written by dc0.
    #[error(
        "{} is not a table `{expected}` of dc0 but {}; give the path of another file",
        file.display(),
        found.as_ref().map_or("names no table".to_owned(), |found| format!("a table `{found}`"))
    )]
    Table { file: PathBuf, expected: &'static str, found: Option<String> },
    #[error(
        "{} has version {found} of the table `{table}`, and this dc0 knows versions up to {newest}; use a newer dc0",
        file.display()
    )]
    Version {
        file: PathBuf,
        table: &'static str,
        newest: u32,
        /// The version as written in the file.
        found: String,
    },
    #[error(
        "{} does not have the columns of the table `{table}`: {}; files of dc0 must not be rewritten by other programs",
        file.display(),
        problems.join("; ")
    )]
    Columns {
        file: PathBuf,
        table: &'static str,
        /// Every missing, unexpected or mistyped column.
        problems: Vec<String>,
    },
    #[error("{}: row {row} of the table `{table}` ({key}): {fault}", file.display())]
    Row {
        file: PathBuf,
        table: &'static str,
        /// The row's index in the file, from 0.
        row: usize,
        key: String,
        fault: String,
    },
    /// The file is that of another run or sweep.
    #[error(
        "{} belongs elsewhere: its {name} is \"{found}\", not \"{expected}\"; delete it and run the script again, which writes it again",
        file.display()
    )]
    Foreign { file: PathBuf, name: String, expected: String, found: String },
    #[error(
        "{}: {}; delete what is left of {} and run the script again: {}",
        match faults.len() {
            1 => "a file is not as it was written".to_owned(),
            more => format!("{more} files are not as they were written"),
        },
        faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        if faults.len() == 1 { "it" } else { "them" },
        if faults.len() == 1 { "its step makes it again" } else { "their steps make them again" },
    )]
    Changed { faults: Vec<FileFault> },
}

impl StoreError {
    pub(super) fn from_row_fault(
        path: &Path,
        table: &'static str,
        RowFault { row, key, fault }: RowFault,
    ) -> Self {
        Self::Row { file: path.to_owned(), table, row, key, fault }
    }
}

/// A file that has changed since it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFault {
    /// The file.
    pub file: PathBuf,
    /// How it differs.
    pub problem: FileProblem,
}

/// How a file differs from what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileProblem {
    /// It does not exist.
    Missing,
    /// It cannot be read, with the reason.
    Unreadable(String),
    /// Its size differs.
    Size {
        /// The size written, in bytes.
        expected: u64,
        /// The size found, in bytes.
        found: u64,
    },
    /// The size is right but the content differs.
    Content,
}

impl fmt::Display for FileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.file.display())?;
        match &self.problem {
            FileProblem::Missing => f.write_str("is missing"),
            FileProblem::Unreadable(cause) => write!(f, "cannot be read ({cause})"),
            FileProblem::Size { expected, found } => {
                let verb = if found < expected { "was cut off" } else { "has grown" };
                write!(f, "{verb}: {found} bytes instead of {expected}")
            }
            FileProblem::Content => f.write_str("has changed: its content has another digest"),
        }
    }
}
