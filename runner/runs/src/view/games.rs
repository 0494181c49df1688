//! Which of a step's files hold games.

use dc0_core::store::FileEntry;

/// A table of games, and that of the positions searched in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GameFiles<'a> {
    /// The games, of self-play or of a match.
    pub games: &'a FileEntry,
    /// What was searched, in self-play.
    pub positions: Option<&'a FileEntry>,
}

impl<'a> GameFiles<'a> {
    /// Those among the files of a finished step or of one of its shards. Shards of a match lie in its work until it is finished.
    pub fn among(files: &'a [FileEntry]) -> impl Iterator<Item = Self> {
        files.iter().filter_map(|games| match games.path.split_once('/')? {
            ("games", rest) => {
                let is_it = |file: &&FileEntry| file.path.strip_prefix("positions/") == Some(rest);
                Some(Self { games, positions: Some(files.iter().find(is_it)?) })
            }
            ("matches" | "steps", _) => Some(Self { games, positions: None }),
            _ => None,
        })
    }
}
