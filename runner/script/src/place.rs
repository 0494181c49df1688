//! A place in a script.

use rhai::Position;

/// A point of a script that an error speaks of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The script's file as the user named it, or as the import leads to it.
    pub source: String,
    /// Line and column, both from 1; absent where Rhai does not know.
    pub point: Option<(usize, usize)>,
}

impl Place {
    /// From what Rhai knows; a position without a line has no point.
    pub fn new(source: &str, position: Position) -> Self {
        let point = position.line().map(|line| (line, position.position().unwrap_or(1)));
        Self { source: source.to_owned(), point }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.point {
            Some((line, column)) => write!(f, "{}:{line}:{column}", self.source),
            None => f.write_str(&self.source),
        }
    }
}
