//! Self-play data and results as Parquet. Only this module depends on the arrow and parquet crates.
//!
//! A table is declared once, in `tables`: its row type, name, key and columns. The schema, the writer, the reader and the row
//! checks are derived from that. Files are written whole; the same rows give the same bytes. `datasets/README.md` documents
//! every column for those who query the files.

mod cell;
mod error;
mod file;
mod format;
mod game;
pub mod legality;
mod row;
mod shard_files;
mod tables;
mod wide;

pub use crate::search::{LineRow, TreeRow};
pub use crate::selfplay::{GameRow, PositionRow, games_with_positions};
pub use cell::{Reject, Scores};
pub use error::{FileFault, FileProblem, StoreError};
pub use file::{
    FileEntry, decode_table, encode_table, peek_table, peek_wide, read_entry, read_table, verify_file,
    verify_files, write_shard_table, write_table, write_table_fast,
};
pub use format::Provenance;
pub use game::{Found, StoredGame, StoredPly};
pub(crate) use game::{OPENING_PLIES_TAG, REASON_TAG};
pub use row::{Column, RowFault, TableRow};
pub use shard_files::{SearchFiles, ShardFiles};
pub use tables::{
    AnswerRow, HeaderRow, MatchGameRow, PredictionRow, PuzzleRow, RejectRow, TrainingRow, ValidationRow,
};
pub use wide::{WideColumn, WideKind, verify_wide, write_wide};

#[cfg(test)]
mod tests;
