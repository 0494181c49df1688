//! What can go wrong with stored files.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::row::RowFault;

/// A stored file that cannot be used, or one that cannot be stored.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The file is not there.
    #[error("{} is missing; if a step of a run made it, run the script again: the step makes it again", file.display())]
    Missing {
        /// The file.
        file: PathBuf,
    },
    /// The system cannot read the file.
    #[error("cannot read {}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The system cannot write the file; what stood there before is still whole.
    #[error("cannot write {}; look for free space and permissions, then run again", file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is cut off, changed or no Parquet file at all.
    #[error(
        "{} is not a whole Parquet file ({cause}); delete it and run the script again: the step makes it again",
        file.display()
    )]
    Damaged {
        /// The file.
        file: PathBuf,
        /// What the reader says.
        cause: String,
    },
    /// The file holds another table, or was not written by dc0.
    #[error(
        "{} is not a table `{expected}` of dc0 but {}; give the path of another file",
        file.display(),
        found.as_ref().map_or("names no table".to_owned(), |found| format!("a table `{found}`"))
    )]
    Table {
        /// The file.
        file: PathBuf,
        /// The table asked for.
        expected: &'static str,
        /// The table that the file says it is.
        found: Option<String>,
    },
    /// The file was written by a newer dc0.
    #[error(
        "{} has version {found} of the table `{table}`, and this dc0 knows versions up to {newest}; use a newer dc0",
        file.display()
    )]
    Version {
        /// The file.
        file: PathBuf,
        /// The table.
        table: &'static str,
        /// The newest version that is understood.
        newest: u32,
        /// The file's version, as it is written there.
        found: String,
    },
    /// The file's columns are not those of its table.
    #[error(
        "{} has other columns than the table `{table}`: {}; a file of dc0 must not be rewritten by other programs",
        file.display(),
        problems.join("; ")
    )]
    Columns {
        /// The file.
        file: PathBuf,
        /// The table.
        table: &'static str,
        /// Every missing, surplus or mistyped column.
        problems: Vec<String>,
    },
    /// A row says something impossible.
    #[error("{}: row {row} of the table `{table}` ({key}): {fault}", file.display())]
    Row {
        /// The file.
        file: PathBuf,
        /// The table.
        table: &'static str,
        /// The row's place in the file, counted from 0.
        row: usize,
        /// The row's key.
        key: String,
        /// What is wrong.
        fault: String,
    },
    /// Files are not as they were when they were written.
    #[error(
        "{} not as they were written: {}; delete what is left of them and run the script again: their steps make them again",
        if faults.len() == 1 { "a file is".to_owned() } else { format!("{} files are", faults.len()) },
        faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    )]
    Changed {
        /// Every one of them.
        faults: Vec<FileFault>,
    },
}

impl StoreError {
    pub(super) fn of_row(path: &Path, table: &'static str, RowFault { row, key, fault }: RowFault) -> Self {
        Self::Row { file: path.to_owned(), table, row, key, fault }
    }
}

/// A file that is not as it was written.
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
    /// It is not there.
    Missing,
    /// It cannot be read, for this reason.
    Unreadable(String),
    /// It has another size.
    Size {
        /// The size written, in bytes.
        expected: u64,
        /// The present size, in bytes.
        found: u64,
    },
    /// It has the size but not the content.
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
