//! What a format of files must say: how its content is cut into chunks of whole games, and what becomes of a game.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::content::{Content, SourceError};
use super::stats::ImportStats;
use crate::board::{Ending, Game, Rules};
use crate::params::Params;
use crate::store::legality::other_end;
use crate::store::{GameRow, HeaderRow, PositionRow, Reject, RejectRow};

/// The least size of a chunk that is not the last of its file, in decompressed bytes.
pub(super) const CHUNK: usize = 1 << 20;

/// Decompressed bytes at the start of a file that must look like its format.
pub(super) const PROBED: usize = 1 << 16;

/// Games from outside have no ply cap.
pub(super) const RULES: Rules = Rules { max_plies: u32::MAX };

/// A format of files with games. The type holds the parameters of an import: what is taken of them.
///
/// All formats share files and their compression, chunks, lanes, shards and resuming.
pub trait GameFormat: Params + Sync {
    /// What its files hold, for messages.
    const CONTENT: &'static str;
    /// What names of its files look like, with `*`.
    const SUCH_AS: &'static str;

    /// The most games that are taken; `None` for all.
    fn max_games(&self) -> Option<u32>;

    /// Games in a shard.
    fn shard_games(&self) -> u32;

    /// Plies at the start of each game that are not trained on.
    fn skip_plies(&self) -> u32;

    /// Checks that a file's decompressed content begins as the format does; `head` is its start.
    fn probe(head: &[u8], file: &Path) -> Result<(), SourceError>;

    /// Reads on until a chunk of whole games is there; `ahead` has what was read before and belongs to it.
    fn cut(content: &mut Content, ahead: &mut Vec<u8>) -> Result<Cut, SourceError>;

    /// The games of a chunk in order. Games are numbered from 0 here; the numbers within the file count from 1 within the chunk.
    fn parse(&self, chunk: &Chunk, source: &str) -> Vec<Parsed>;

    /// What contradicts the rules of chess, or another row, in the stored rows of a game, if anything.
    fn fault(&self, row: &GameRow, header: &HeaderRow, positions: &[PositionRow]) -> Option<String>;

    /// What its parameters seem to get wrong in what was imported, and what to do.
    fn doubt(&self, _stats: &ImportStats) -> Option<String> {
        None
    }
}

/// A point between two games.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Point {
    /// The index of the file.
    pub source: usize,
    /// Decompressed bytes before it.
    pub offset: u64,
    /// The lines before it; 0 in files without lines.
    pub lines: u64,
}

/// Some games of a file, whole.
#[derive(Debug)]
pub struct Chunk {
    /// Where it begins.
    pub(super) start: Point,
    /// Where the next one begins.
    pub(super) next: Point,
    /// Its content.
    pub(super) text: Vec<u8>,
    /// Bytes of all files that were read so far.
    pub(super) read: u64,
}

/// Where a chunk ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Its length in bytes.
    pub(super) length: usize,
    /// Whether it is the last of its file.
    pub(super) is_last: bool,
    /// The lines that end in it.
    pub(super) lines: u64,
}

/// The rows of a game.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    pub(super) game: GameRow,
    pub(super) header: HeaderRow,
    pub(super) positions: Vec<PositionRow>,
}

/// What becomes of a game.
#[derive(Debug, Clone, PartialEq)]
pub enum Parsed {
    /// It is taken.
    Taken(Box<Imported>),
    /// It is broken.
    Rejected(RejectRow),
    /// An option leaves it out.
    LeftOut(&'static str),
}

/// Why a game is not taken.
#[derive(Debug)]
pub(super) enum NotTaken {
    /// An option leaves it out.
    LeftOut(&'static str),
    /// It is broken: the kind of fault, the line or record of it, and what is wrong.
    Rejected { reason: Reject, line: usize, detail: String },
}

impl Parsed {
    /// A game of a file by its name and the game's number there.
    pub(super) fn of(result: Result<Imported, NotTaken>, source: &str, number: u32) -> Self {
        match result {
            Ok(mut imported) => {
                source.clone_into(&mut imported.header.source);
                imported.header.number = number;
                Self::Taken(Box::new(imported))
            }
            Err(NotTaken::LeftOut(option)) => Self::LeftOut(option),
            Err(NotTaken::Rejected { reason, line, detail }) => {
                let (source, line) = (source.to_owned(), line_number(line));
                Self::Rejected(RejectRow { reject: 0, source, number, line, reason, detail })
            }
        }
    }
}

/// Files of more lines than this have their last games on the last line that fits.
pub(super) fn line_number(line: usize) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX)
}

/// What contradicts the stored reason for the end of a game, if anything.
pub(super) fn reason_fault(row: &GameRow, expected: Ending) -> Option<String> {
    (row.reason != expected)
        .then(|| format!("`reason` is {}, but it ended by {}", row.reason.name(), expected.name()))
}

/// What contradicts the stored number of plies that are not trained on, if anything.
pub(super) fn opening_fault(row: &GameRow, skip_plies: u32) -> Option<String> {
    let skipped = row.moves.len().min(skip_plies as usize);
    (usize::from(row.opening_plies) != skipped)
        .then(|| format!("`opening_plies` is {}, expected {skipped}", row.opening_plies))
}

/// What contradicts the stored result of a game, by its headers and by its moves, if anything.
pub(super) fn result_fault(row: &GameRow, header: &HeaderRow, game: &Game) -> Option<String> {
    let stored = row.result.symbol();
    if header.result != stored {
        return Some(format!("`result` is {stored}, and its headers say {}", header.result));
    }
    other_end(game, row.result).map(|end| format!("it is stored as {stored}, but its moves {end}"))
}
