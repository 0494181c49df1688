//! Syzygy endgame tablebases (Ronald de Man 2013, <https://github.com/syzygy1/tb>): perfect play with few pieces.
//!
//! A WDL table has the result under the fifty-move rule right after a capture or pawn move. A DTZ table has the plies to the
//! next capture, pawn move or mate, which decide whether a win comes before the fifty-move rule applies.

mod error;
mod open;
mod rank;
mod result;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use shakmaty::{Chess, Position as _};
use shakmaty_syzygy::{AmbiguousWdl, SyzygyError, Tablebase as Tables};

use super::{GameResult, Position};

pub use error::TablebaseError;
pub use rank::RankedMove;
pub use result::TablebaseResult;

/// The tables of one or more folders. Clones share them, and threads may probe concurrently.
///
/// Opening only lists the files; a table is read at its first probe. A damaged table fails that probe, because silently
/// skipping it would bias a search or a training. A missing table is not an error: the probe returns `None`.
#[derive(Clone)]
pub struct Tablebase(Arc<Opened>);

struct Opened {
    folders: PathBuf,
    /// The size in bytes of every table file, by name.
    files: BTreeMap<String, u64>,
    tables: Tables<Chess>,
}

impl Tablebase {
    /// Opens all tables of a folder, or of several separated by `:`; a table in two folders is taken from the first.
    pub fn open(folders: &Path) -> Result<Self, TablebaseError> {
        open::folders(folders).map(|opened| Self(Arc::new(opened)))
    }

    /// The same of folders that are perhaps none.
    pub fn open_if(folders: Option<&str>) -> Result<Option<Self>, TablebaseError> {
        folders.map(|folders| Self::open(Path::new(folders))).transpose()
    }

    /// The folders as they were given.
    pub fn folders(&self) -> &Path {
        &self.0.folders
    }

    /// The most pieces, kings and pawns included, that a table covers.
    pub fn max_pieces(&self) -> usize {
        self.0.tables.max_pieces()
    }

    /// The number of WDL tables, one for each material configuration such as `KQvKR`.
    pub fn tables(&self) -> usize {
        self.0.files.keys().filter(|name| open::is_wdl(name)).count()
    }

    /// A digest of the names and sizes of all table files, as 64 hex digits. A table's name determines its content, so
    /// undamaged tables with equal digests have equal results.
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new_derive_key("dc0 tablebases 1");
        for (name, size_bytes) in &self.0.files {
            hasher.update(name.as_bytes());
            hasher.update(&[0]);
            hasher.update(&size_bytes.to_le_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }

    /// The result of perfect play for the side to move, as if the last move had been a capture or a pawn move.
    ///
    /// It is exact where [`Position::halfmove_clock`] is 0. At other clocks a win or loss may turn out a draw; draws, cursed
    /// wins and blessed losses are draws at any clock. `None` with castling rights, which the tables do not cover, with more
    /// than [`Tablebase::max_pieces`] pieces, and where a table is missing.
    pub fn probe_wdl(&self, position: &Position) -> Result<Option<TablebaseResult>, TablebaseError> {
        if !self.covers(position) {
            return Ok(None);
        }
        let found = self.0.tables.probe_wdl_after_zeroing(&position.0);
        Ok(self.known(found)?.map(TablebaseResult::from))
    }

    /// The result of a game with this last position, where the tables have it exactly: right after a capture or a pawn move.
    pub fn adjudicate(&self, position: &Position) -> Result<Option<GameResult>, TablebaseError> {
        if position.halfmove_clock() > 0 {
            return Ok(None);
        }
        let Some(known) = self.probe_wdl(position)? else { return Ok(None) };
        let side = position.side_to_move();
        let winner = match known.outcome() {
            1 => Some(side),
            -1 => Some(side.other()),
            _ => None,
        };
        Ok(Some(GameResult::won_by(winner)))
    }

    /// The result of perfect play for the side to move at the current halfmove clock; repetitions are ignored.
    ///
    /// Needs DTZ tables. `None` where [`Tablebase::probe_wdl`] is `None`, and where the result depends on the one ply by which
    /// stored distances may be rounded.
    pub fn probe_with_clock(&self, position: &Position) -> Result<Option<TablebaseResult>, TablebaseError> {
        if position.halfmove_clock() == 0 {
            return self.probe_wdl(position);
        }
        if !self.covers(position) {
            return Ok(None);
        }
        if position.0.is_checkmate() {
            // Mate takes precedence over the fifty-move rule at any clock.
            return Ok(Some(TablebaseResult::Loss));
        }
        let found = self.known(self.0.tables.probe_wdl(&position.0))?;
        Ok(found.and_then(AmbiguousWdl::unambiguous).map(TablebaseResult::from))
    }

    /// Plies to the next capture, pawn move or mate under perfect play, from the DTZ tables: positive if the side to move
    /// wins, negative if it loses, 100 more if the fifty-move rule saves the loser. May be one ply too low.
    fn probe_dtz(&self, position: &Position) -> Result<Option<i32>, TablebaseError> {
        let found = self.0.tables.probe_dtz(&position.0);
        Ok(self.known(found)?.map(|dtz| dtz.ignore_rounding().into()))
    }

    fn covers(&self, position: &Position) -> bool {
        let pieces = position.0.board().occupied().count();
        pieces <= self.max_pieces() && !position.0.castles().any()
    }

    /// Separates results that the tables do not contain (`None`) from tables that cannot be read.
    fn known<T>(&self, probed: Result<T, SyzygyError>) -> Result<Option<T>, TablebaseError> {
        match probed {
            Ok(found) => Ok(Some(found)),
            Err(SyzygyError::ProbeFailed { metric, material, error }) => {
                Err(TablebaseError::damaged(&self.0.folders, metric, &material, &error))
            }
            Err(SyzygyError::MissingTable { .. } | SyzygyError::TooManyPieces | SyzygyError::Castling) => {
                Ok(None)
            }
        }
    }
}

impl fmt::Debug for Tablebase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tablebase")
            .field("folders", &self.0.folders)
            .field("tables", &self.tables())
            .field("max_pieces", &self.max_pieces())
            .finish()
    }
}

/// Equal if they hold files of the same names and sizes.
impl PartialEq for Tablebase {
    fn eq(&self, other: &Self) -> bool {
        self.0.files == other.0.files
    }
}
