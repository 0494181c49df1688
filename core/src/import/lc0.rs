//! Training data of Leela Chess Zero (lc0): records of positions with searches, one game in each chunk.
//!
//! What a record holds is in `record.rs`, with the places in lc0's source. A file is a tar archive of chunks, or the records of one or
//! more games, compressed or not.

mod archive;
mod board;
mod check;
mod cut;
mod fault;
mod params;
mod record;
mod replay;
mod search;

use std::io::{self, Read as _};
use std::path::Path;

pub use params::{Lc0Params, Lc0Value};

use self::archive::{first_file, is_archive};
use self::record::{record_bytes, version_of};
use super::content::{Content, SourceError, unpacked};
use super::format::{Chunk, Cut, GameFormat, PROBED, Parsed};
use crate::store::{GameRow, HeaderRow, PositionRow};

impl GameFormat for Lc0Params {
    const CONTENT: &'static str = "training data of lc0";
    const SUCH_AS: &'static str = "*.tar";

    fn max_games(&self) -> Option<u32> {
        self.max_games
    }

    fn shard_games(&self) -> u32 {
        self.shard_games
    }

    fn skip_plies(&self) -> u32 {
        self.skip_plies
    }

    fn probe(head: &[u8], file: &Path) -> Result<(), SourceError> {
        let fault = |found| SourceError::NotLc0 { file: file.to_owned(), found };
        if !is_archive(head) {
            return wrong_version(head).map_or(Ok(()), |found| Err(fault(found)));
        }
        let first = first_file(head).map_err(|error| fault(format!("is a damaged archive: {error}")))?;
        let Some((name, start)) = first else {
            let is_all = head.len() < PROBED;
            return if is_all { Err(fault("is an archive without games".to_owned())) } else { Ok(()) };
        };
        let mut version = [0; 4];
        // What is cut or damaged is found later, with the games that it spoils.
        let is_there = start.len() >= ENOUGH && read_start(start, &mut version).is_ok();
        let found = if is_there { wrong_version(&version) } else { None };
        found.map_or(Ok(()), |found| Err(fault(format!("has the file {name:?}, which {found}"))))
    }

    fn cut(content: &mut Content, ahead: &mut Vec<u8>) -> Result<Cut, SourceError> {
        cut::cut(content, ahead)
    }

    fn parse(&self, chunk: &Chunk, source: &str) -> Vec<Parsed> {
        cut::parse(chunk, source, self)
    }

    fn fault(&self, row: &GameRow, header: &HeaderRow, positions: &[PositionRow]) -> Option<String> {
        check::fault(row, header, positions, self)
    }
}

/// Bytes at the start of a compressed file that say what its first record's version is.
const ENOUGH: usize = 1024;

fn read_start(packed: &[u8], version: &mut [u8; 4]) -> io::Result<()> {
    unpacked(packed)?.read_exact(version)
}

/// What is wrong with the version at the start of records, if anything.
fn wrong_version(records: &[u8]) -> Option<String> {
    let version = version_of(records);
    if version.and_then(record_bytes).is_some() {
        return None;
    }
    let is_earlier = |version: &u32| (3..=5).contains(version);
    let earlier =
        |version| format!("has records of version {version}, which do not say which moves were played");
    Some(version.filter(is_earlier).map_or_else(|| "does not begin with a record".to_owned(), earlier))
}

#[cfg(test)]
mod tests;
