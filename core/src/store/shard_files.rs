//! Groups a step's files by shard.

use super::FileEntry;

/// The files of a shard of self-play, or of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShardFiles<'a> {
    /// Its games.
    pub games: &'a FileEntry,
    /// Their positions.
    pub positions: &'a FileEntry,
    /// What PGN says of them, if they are imported.
    pub headers: Option<&'a FileEntry>,
    /// The games that were not imported.
    pub rejects: Option<&'a FileEntry>,
}

impl<'a> ShardFiles<'a> {
    /// The shards of an iteration; its files are listed shard by shard, each games file followed by its positions file and, in an
    /// import, those of headers and broken games.
    pub fn of_iteration(files: &'a [FileEntry]) -> impl Iterator<Item = Self> {
        let begins = |file: &FileEntry| file.path.starts_with("games/");
        files.chunk_by(move |_, next| !begins(next)).filter_map(|shard| {
            let [games, positions, rest @ ..] = shard else { return None };
            Some(Self { games, positions, headers: rest.first(), rejects: rest.get(1) })
        })
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
        files.as_chunks().0.iter().map(|[lines, trees]| Self { lines, trees })
    }
}
