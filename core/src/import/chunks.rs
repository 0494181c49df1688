//! Cuts the content of files into chunks of whole games.

use serde::{Deserialize, Serialize};

use super::source::{Content, Source, SourceError};
use crate::board::PGN_FIRST_TAG;

/// The least size of a chunk that is not the last of its file.
const CHUNK: usize = 1 << 20;

/// The size at which a chunk is cut where games do not begin with the tag `Event`, or where one is longer than this.
const MOST: usize = 16 << 20;

/// A point between two games.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Point {
    /// The index of the file.
    pub source: usize,
    /// Decompressed bytes before it.
    pub offset: u64,
    /// The lines before it.
    pub lines: u64,
}

/// Some games of a file, whole.
#[derive(Debug)]
pub(super) struct Chunk {
    /// Its number in this import, from 0.
    pub(super) number: u64,
    /// Where it begins.
    pub(super) start: Point,
    /// Where the next one begins.
    pub(super) next: Point,
    /// Its text.
    pub(super) text: Vec<u8>,
    /// Bytes of all files that were read so far.
    pub(super) read: u64,
}

/// The chunks of some files, in order.
pub(super) struct Chunks<'a> {
    sources: &'a [Source],
    number: u64,
    at: Point,
    /// The file at `at`, if it is open.
    content: Option<Content>,
    /// What was read of it after `at`.
    ahead: Vec<u8>,
    /// Bytes of the files before it.
    before: u64,
}

impl<'a> Chunks<'a> {
    /// The chunks from a point on.
    pub(super) fn new(sources: &'a [Source], at: Point) -> Self {
        let before = sources.iter().take(at.source).map(|source| source.bytes).sum();
        Self { sources, number: 0, at, content: None, ahead: Vec::new(), before }
    }

    /// The next chunk; `None` after the last file.
    pub(super) fn next_chunk(&mut self) -> Result<Option<Chunk>, SourceError> {
        while let Some(source) = self.sources.get(self.at.source) {
            if self.content.is_none() {
                let mut content = source.content()?;
                content.skip(self.at.offset)?;
                self.content = Some(content);
            }
            let content = self.content.as_mut().expect("it was opened");
            let (cut, is_last) = cut(content, &mut self.ahead)?;
            let rest = self.ahead.split_off(cut);
            let text = std::mem::replace(&mut self.ahead, rest);
            let read = self.before + content.bytes_read();
            let start = self.at;
            if is_last {
                self.content = None;
                self.before += source.bytes;
                self.at = Point { source: start.source + 1, ..Point::default() };
            } else {
                self.at.offset += text.len() as u64;
                self.at.lines += text.split(|byte| *byte == b'\n').count() as u64 - 1;
            }
            if !text.is_empty() {
                let (number, next) = (self.number, self.at);
                self.number += 1;
                return Ok(Some(Chunk { number, start, next, text, read }));
            }
        }
        Ok(None)
    }
}

/// Reads ahead until a chunk is whole; returns its length, and whether it is the file's last.
fn cut(content: &mut Content, ahead: &mut Vec<u8>) -> Result<(usize, bool), SourceError> {
    let mut least = CHUNK;
    loop {
        let missing = least.saturating_sub(ahead.len()) as u64;
        if content.read_to(ahead, missing)? < missing {
            return Ok((ahead.len(), true));
        }
        if let Some(at) = last_line(ahead, &[PGN_FIRST_TAG]) {
            return Ok((at, false));
        }
        if ahead.len() >= MOST {
            let cut = last_line(ahead, &[b"\n[", b"\r\n[", b"\n1.", b"\r\n1."]);
            return Ok((cut.unwrap_or(ahead.len()), false));
        }
        least = ahead.len() + CHUNK;
    }
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
