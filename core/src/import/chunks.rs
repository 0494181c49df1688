//! The content of files as a sequence of chunks of whole games.

use super::content::{Content, SourceError};
use super::format::{Chunk, Cut, GameFormat, Point};
use super::source::Source;

/// How a format finds the end of a chunk.
type CutAt = fn(&mut Content, &mut Vec<u8>) -> Result<Cut, SourceError>;

/// The chunks of some files, in order.
pub(super) struct Chunks<'a> {
    sources: &'a [Source],
    cut: CutAt,
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
    /// The chunks from a point on, as a format cuts them.
    pub(super) fn new<F: GameFormat>(sources: &'a [Source], at: Point) -> Self {
        let before = sources.iter().take(at.source).map(|source| source.bytes).sum();
        Self { sources, cut: F::cut, number: 0, at, content: None, ahead: Vec::new(), before }
    }

    /// The next chunk with its number, from 0; `None` after the last file, and after a fault.
    pub(super) fn next_chunk(&mut self) -> Option<(u64, Result<Chunk, SourceError>)> {
        let chunk = self.read_chunk().transpose()?;
        if chunk.is_err() {
            self.at.source = self.sources.len();
        }
        let number = self.number;
        self.number += 1;
        Some((number, chunk))
    }

    fn read_chunk(&mut self) -> Result<Option<Chunk>, SourceError> {
        while let Some(source) = self.sources.get(self.at.source) {
            if self.content.is_none() {
                let mut content = source.content()?;
                content.skip(self.at.offset)?;
                self.content = Some(content);
            }
            let content = self.content.as_mut().expect("it was opened");
            let cut = (self.cut)(content, &mut self.ahead)?;
            let rest = self.ahead.split_off(cut.length);
            let text = std::mem::replace(&mut self.ahead, rest);
            let read = self.before + content.bytes_read();
            let start = self.at;
            if cut.is_last {
                self.content = None;
                self.before += source.bytes;
                self.at = Point { source: start.source + 1, ..Point::default() };
            } else {
                self.at.offset += text.len() as u64;
                self.at.lines += cut.lines;
            }
            if !text.is_empty() {
                return Ok(Some(Chunk { start, next: self.at, text, read }));
            }
        }
        Ok(None)
    }
}
