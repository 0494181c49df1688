//! Puts the games of parsed chunks together to shards, in the order of the files.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::content::SourceError;
use super::format::{GameFormat, Parsed, Point};
use super::stats::ImportStats;
use crate::store::{GameRow, HeaderRow, PositionRow, RejectRow};

/// The most broken games in a shard, so that a file with nothing else does not fill the memory.
const MAX_REJECTS: usize = 16_384;

/// The most games that are read for a shard, for each that it may have, so that a stop loses little where most are left out.
const MAX_READ: u64 = 64;

/// Where an import goes on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resume {
    /// What is read next.
    pub at: Point,
    /// Games of that file before it.
    pub games_in_source: u32,
    /// Shards before it.
    pub shards: u32,
    /// Games that were taken before it.
    pub games: u32,
    /// Broken games before it.
    pub rejects: u32,
}

/// What a shard adds to the summary of an import, and what follows it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ShardPart {
    /// What was taken and left out.
    pub stats: ImportStats,
    /// Where the next shard begins.
    pub next: Resume,
}

/// The games of some consecutive chunks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImportShard {
    /// Its number, from 0.
    pub index: u32,
    /// One row for each game.
    pub games: Vec<GameRow>,
    /// One row for each position that is trained on, by game and ply.
    pub positions: Vec<PositionRow>,
    /// One row for each game.
    pub headers: Vec<HeaderRow>,
    /// One row for each broken game.
    pub rejects: Vec<RejectRow>,
    /// Its part of the summary.
    pub part: ShardPart,
}

/// A chunk whose games were parsed.
pub(super) struct ParsedChunk {
    /// The index of its file.
    pub(super) source: usize,
    /// Where the next one begins.
    pub(super) next: Point,
    pub(super) games: Vec<Parsed>,
}

/// Collects chunks, which arrive in any order.
pub(super) struct Assembler<'a, F> {
    params: &'a F,
    /// The number of the chunk that comes next.
    expected: u64,
    /// Chunks that arrived before one that comes before them.
    early: BTreeMap<u64, Result<ParsedChunk, SourceError>>,
    /// Why a chunk that is needed could not be read.
    fault: Option<SourceError>,
    /// What was assembled so far.
    now: Resume,
    shard: ImportShard,
}

impl<'a, F: GameFormat> Assembler<'a, F> {
    pub(super) fn new(params: &'a F, from: Resume) -> Self {
        let shard = ImportShard { index: from.shards, ..ImportShard::default() };
        Self { params, expected: 0, early: BTreeMap::new(), fault: None, now: from, shard }
    }

    /// Whether there are as many games as are wanted.
    pub(super) fn is_full(&self) -> bool {
        self.params.max_games().is_some_and(|most| self.now.games >= most)
    }

    /// Adds a chunk by its number, and returns the shards that are whole with it. One that could not be read is the last, and a fault only
    /// if games are wanted of it: lanes read ahead.
    pub(super) fn add(&mut self, number: u64, chunk: Result<ParsedChunk, SourceError>) -> Vec<ImportShard> {
        self.early.insert(number, chunk);
        let mut whole = Vec::new();
        while let Some(chunk) = self.early.remove(&self.expected) {
            self.expected += 1;
            match chunk {
                Ok(chunk) => self.take(chunk),
                Err(fault) if !self.is_full() => self.fault = Some(fault),
                Err(_) => {}
            }
            if self.is_whole() {
                whole.extend(self.close());
            }
        }
        whole
    }

    /// Whether the shard ends here.
    fn is_whole(&self) -> bool {
        let most = self.params.shard_games();
        self.shard.games.len() >= most as usize
            || self.shard.rejects.len() >= MAX_REJECTS
            || self.shard.part.stats.read >= MAX_READ * u64::from(most)
    }

    /// The games after the last whole shard, or why the games after that could not be read.
    pub(super) fn finish(&mut self) -> Result<Option<ImportShard>, SourceError> {
        self.fault.take().map_or_else(|| Ok(self.close()), Err)
    }

    fn close(&mut self) -> Option<ImportShard> {
        if self.shard.part.stats.read == 0 {
            return None;
        }
        self.now.shards += 1;
        self.shard.part.next = self.now;
        let next = ImportShard { index: self.now.shards, ..ImportShard::default() };
        Some(std::mem::replace(&mut self.shard, next))
    }

    fn take(&mut self, chunk: ParsedChunk) {
        // Other lanes may have read on, so what follows the last game must not depend on them.
        if self.is_full() {
            return;
        }
        let before = if chunk.source == self.now.at.source { self.now.games_in_source } else { 0 };
        let count = chunk.games.len() as u32;
        for parsed in chunk.games {
            if self.is_full() {
                break;
            }
            self.take_game(parsed, before);
        }
        let goes_on = chunk.next.source == chunk.source;
        self.now.games_in_source = if goes_on { before + count } else { 0 };
        self.now.at = chunk.next;
    }

    /// Adds a game; `before` is the number of games of its file in earlier chunks.
    fn take_game(&mut self, parsed: Parsed, before: u32) {
        let stats = &mut self.shard.part.stats;
        match parsed {
            Parsed::LeftOut(option) => stats.leave_out(option),
            Parsed::Rejected(mut reject) => {
                stats.add_reject(reject.reason);
                (reject.reject, reject.number) = (self.now.rejects, before + reject.number);
                self.now.rejects += 1;
                self.shard.rejects.push(reject);
            }
            Parsed::Taken(imported) => {
                let (mut game, mut header, mut positions) =
                    (imported.game, imported.header, imported.positions);
                let number = self.now.games;
                self.now.games += 1;
                stats.add_game(&game, positions.len());
                stats.add_notes(&header);
                (game.game, header.game, header.number) = (number, number, before + header.number);
                for position in &mut positions {
                    position.game = number;
                }
                self.shard.games.push(game);
                self.shard.headers.push(header);
                self.shard.positions.append(&mut positions);
            }
        }
    }
}
