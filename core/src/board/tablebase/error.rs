//! Errors of opening and probing tablebases.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use shakmaty_syzygy::{Material, Metric, ProbeError};
use thiserror::Error;

/// A tablebase could not be opened or probed.
#[derive(Debug, Clone, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum TablebaseError {
    #[error(
        "\"{given}\" names no folder of tablebases; expected one folder, or several separated by \":\", such as \"/data/syzygy/345:/data/syzygy/6\""
    )]
    NoFolder { given: String },
    #[error(
        "{}: cannot be read; expected a folder of Syzygy tables (KQvK.rtbw, KQvK.rtbz and the like); check the path and its permissions",
        path.display()
    )]
    Read {
        /// The folder or file.
        path: PathBuf,
        source: Arc<io::Error>,
    },
    #[error(
        "{}: no Syzygy tables found; expected files such as KQvK.rtbw; name the folder that holds them itself, not one above it",
        folders.display()
    )]
    NoTables {
        /// The folders as given.
        folders: PathBuf,
    },
    #[error(
        "{}: the tablebase {table} is damaged or unreadable ({cause}); fetch the file again, or remove it to do without",
        folder.display()
    )]
    Damaged {
        /// The folder, or the folders as given.
        folder: PathBuf,
        /// The file's name.
        table: String,
        cause: String,
    },
}

impl TablebaseError {
    /// From a table whose probe failed.
    pub(super) fn damaged(folders: &Path, metric: Metric, material: &Material, error: &ProbeError) -> Self {
        let ending = match metric {
            Metric::Wdl => "rtbw",
            Metric::Dtz => "rtbz",
        };
        let cause = match error {
            ProbeError::Read { error } => error.to_string(),
            ProbeError::Magic { magic } => {
                format!("its first bytes are {magic:x?}, which is not a Syzygy table")
            }
            ProbeError::CorruptedTable { .. } => "its content contradicts itself".to_owned(),
        };
        Self::Damaged { folder: folders.to_owned(), table: format!("{material}.{ending}"), cause }
    }
}
