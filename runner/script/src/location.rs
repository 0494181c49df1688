//! A location in a script's text.

use rhai::Position;

/// The location in a script that an error refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptLocation {
    /// The script's file, as the user or the import names it.
    pub source: String,
    /// Line and column, both from 1; `None` if Rhai does not know them.
    pub point: Option<(usize, usize)>,
}

impl ScriptLocation {
    /// From Rhai's position; one without a line has no point.
    pub fn new(source: &str, position: Position) -> Self {
        let point = position.line().map(|line| (line, position.position().unwrap_or(1)));
        Self { source: source.to_owned(), point }
    }
}

impl std::fmt::Display for ScriptLocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.point {
            Some((line, column)) => write!(f, "{}:{line}:{column}", self.source),
            None => f.write_str(&self.source),
        }
    }
}
