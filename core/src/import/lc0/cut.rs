//! Cuts content into chunks of whole games, and parses these.

use std::io;

use super::archive::{entries, is_archive, whole_entries};
use super::board::starts_game;
use super::fault::Fault;
use super::params::Lc0Params;
use super::record::{Record, V6_BYTES, record_bytes, version_of};
use super::replay::game_of;
use crate::import::content::{Content, SourceError, unpacked};
use crate::import::format::{CHUNK, Chunk, Cut, Parsed};
use crate::store::Reject;

/// The size at which a chunk of records is cut where no game begins, and which no entry of an archive may have.
const MOST: usize = 64 << 20;

/// Reads ahead until a chunk is whole: some entries of an archive, or the records up to the first of a game.
pub(super) fn cut(content: &mut Content, ahead: &mut Vec<u8>) -> Result<Cut, SourceError> {
    let mut least = CHUNK;
    loop {
        let missing = least.saturating_sub(ahead.len()) as u64;
        let is_last = content.read_to(ahead, missing)? < missing;
        let length = if is_archive(ahead) {
            let whole = whole_entries(ahead).map_err(|cause| content.damaged(cause))?;
            let is_whole = whole.has_end && whole.bytes == ahead.len();
            if is_last && !is_whole {
                let cause = io::Error::other("the archive ends before its mark of zeros");
                return Err(content.damaged(cause));
            }
            if let Some(size) = whole.next.filter(|size| *size > MOST as u64) {
                let cause =
                    format!("an entry of the archive has {size} bytes; expected games of at most {MOST}");
                return Err(content.damaged(io::Error::other(cause)));
            }
            // The last entries wait for what follows, so that an archive without its mark is noticed.
            if whole.bytes < ahead.len() { whole.bytes } else { 0 }
        } else {
            last_start(ahead)
        };
        if is_last {
            return Ok(Cut { length: ahead.len(), is_last, lines: 0 });
        }
        if length > 0 {
            return Ok(Cut { length, is_last, lines: 0 });
        }
        least = ahead.len() + CHUNK;
    }
}

/// Bytes before the last record that starts a game, if that is not the first; 0 if none does.
fn last_start(records: &[u8]) -> usize {
    let length = length_of(records);
    let count = records.len() / length;
    let starts = |number: &usize| starts_game(Record::new(&records[number * length..]));
    let last = (1..count).rev().find(starts);
    let most = (records.len() >= MOST).then_some(count);
    last.or(most).unwrap_or(0) * length
}

/// The length of the records that begin here.
fn length_of(records: &[u8]) -> usize {
    version_of(records).and_then(record_bytes).unwrap_or(V6_BYTES)
}

/// The games of a chunk in order.
pub(super) fn parse(chunk: &Chunk, source: &str, params: &Lc0Params) -> Vec<Parsed> {
    let mut games = Vec::new();
    let mut rest = chunk.text.as_slice();
    if is_archive(rest) {
        for entry in entries(rest) {
            let number = games.len() as u32 + 1;
            let result = entry.content.and_then(|bytes| {
                let mut records = unpacked(&bytes).map_err(|error| error.to_string())?;
                Ok(game_of(records.as_mut(), &entry.name, params))
            });
            let result = result.unwrap_or_else(|detail| Err(damaged(detail).in_record(0)));
            games.push(Parsed::of(result, source, number));
        }
        return games;
    }
    let length = length_of(rest);
    while !rest.is_empty() {
        let starts = |bytes: &[u8]| bytes.len() >= V6_BYTES && starts_game(Record::new(bytes));
        let count = rest.chunks(length).skip(1).position(starts).map_or(usize::MAX, |before| before + 1);
        let (mut own, others) = rest.split_at(count.saturating_mul(length).min(rest.len()));
        rest = others;
        let number = games.len() as u32 + 1;
        games.push(Parsed::of(game_of(&mut own, "", params), source, number));
    }
    games
}

fn damaged(detail: String) -> Fault {
    Fault { reason: Reject::Damaged, detail }
}
