//! Groups a step's files by shard.

use super::FileEntry;

/// The files of a shard of self-play.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShardFiles<'a> {
    /// Its games.
    pub games: &'a FileEntry,
    /// Their positions.
    pub positions: &'a FileEntry,
}

impl<'a> ShardFiles<'a> {
    /// The shards of an iteration; its files are listed shard by shard, each games file followed by its positions file.
    pub fn of_iteration(files: &'a [FileEntry]) -> impl Iterator<Item = Self> {
        pairs(files).map(|[games, positions]| Self { games, positions })
    }

    /// The file's stem, which is the same in every iteration.
    pub fn name(&self) -> &'a str {
        let path = &self.games.path;
        path.rsplit('/').next().unwrap_or(path).trim_end_matches(".parquet")
    }
}

/// The files of a shard of an analysis that stored its trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchFiles<'a> {
    /// The lines of its searches.
    pub lines: &'a FileEntry,
    /// Their trees.
    pub trees: &'a FileEntry,
}

impl<'a> SearchFiles<'a> {
    /// The shards of an analysis; its files are listed shard by shard, each lines file followed by its trees file.
    pub fn of_analysis(files: &'a [FileEntry]) -> impl Iterator<Item = Self> {
        pairs(files).map(|[lines, trees]| Self { lines, trees })
    }
}

fn pairs(files: &[FileEntry]) -> impl Iterator<Item = &[FileEntry; 2]> {
    files.as_chunks().0.iter()
}
