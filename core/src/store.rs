//! Experience and results as Parquet. Only this module names arrow and parquet.
//!
//! A table is declared once, in `tables`: its row type, name, key and columns. Schema, writer, reader and the checks of
//! rows come from there. Files are written whole; the same rows give the same bytes. `datasets/README.md` describes every
//! column for those who query the files.

mod cell;
mod error;
mod file;
mod format;
mod records;
mod row;
mod tables;
mod wide;

pub use crate::search::{LineRow, TreeRow};
pub use crate::selfplay::{GameRow, PositionRow};
pub use error::{FileFault, FileProblem, StoreError};
pub use file::{
    FileEntry, peek_table, peek_wide, read_entry, read_table, verify_file, verify_files, write_table,
};
pub use format::Provenance;
pub use records::{MatchGameRow, TrainingRow, ValidationRow};
pub use row::{Column, TableRow};
pub use wide::{WideColumn, write_wide};

#[cfg(test)]
mod tests;
