//! Finds the tables of games among a step's files.

use dc0_core::store::FileEntry;

/// A table of games, with the table of the positions searched in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GameFiles<'a> {
    /// The games of self-play or of a match.
    pub games: &'a FileEntry,
    /// The searched positions, for self-play; the positions that are trained on, for an import.
    pub positions: Option<&'a FileEntry>,
    /// What PGN says of them, for an import.
    pub headers: Option<&'a FileEntry>,
}

impl<'a> GameFiles<'a> {
    /// The tables among the files of a finished step or of one of its shards. Shards of a match lie in its working folder until
    /// it is finished.
    pub fn among(files: &'a [FileEntry]) -> impl Iterator<Item = Self> {
        files.iter().filter_map(|games| match games.path.split_once('/')? {
            ("games", rest) => {
                let twin =
                    |folder: &str| files.iter().find(|file| file.path.strip_prefix(folder) == Some(rest));
                Some(Self { games, positions: Some(twin("positions/")?), headers: twin("headers/") })
            }
            ("matches" | "steps", _) => Some(Self { games, positions: None, headers: None }),
            _ => None,
        })
    }
}
