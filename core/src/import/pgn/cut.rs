//! Cuts text into chunks of whole games.

use crate::board::PGN_FIRST_TAG;
use crate::import::content::{Content, SourceError};
use crate::import::format::{CHUNK, Cut};

/// The size at which a chunk is cut where games do not begin with the tag `Event`, or where one is longer than this.
const MOST: usize = 16 << 20;

/// Reads ahead until a chunk is whole.
pub(super) fn cut(content: &mut Content, ahead: &mut Vec<u8>) -> Result<Cut, SourceError> {
    let mut least = CHUNK;
    loop {
        let missing = least.saturating_sub(ahead.len()) as u64;
        if content.read_to(ahead, missing)? < missing {
            return Ok(cut_at(ahead, ahead.len(), true));
        }
        if let Some(at) = last_line(ahead, &[PGN_FIRST_TAG]) {
            return Ok(cut_at(ahead, at, false));
        }
        if ahead.len() >= MOST {
            let cut = last_line(ahead, &[b"\n[", b"\r\n[", b"\n1.", b"\r\n1."]);
            return Ok(cut_at(ahead, cut.unwrap_or(ahead.len()), false));
        }
        least = ahead.len() + CHUNK;
    }
}

fn cut_at(ahead: &[u8], length: usize, is_last: bool) -> Cut {
    let lines = ahead[..length].split(|byte| *byte == b'\n').count() as u64 - 1;
    Cut { length, is_last, lines }
}

/// Where the last line begins that has one of these beginnings, if it is not the first.
fn last_line(text: &[u8], beginnings: &[&[u8]]) -> Option<usize> {
    let mut end = text.len();
    while let Some(newline) = text[..end].iter().rposition(|byte| *byte == b'\n') {
        let line = &text[newline + 1..];
        if beginnings.iter().any(|beginning| line.starts_with(beginning)) {
            return Some(newline + 1);
        }
        end = newline;
    }
    None
}
