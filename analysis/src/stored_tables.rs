//! The tables that runs store as files, and how a file's path encodes its iteration, net, match or analysis.

use std::path::Path;

use dc0_core::store::{
    AnswerRow, Column, GameRow, HeaderRow, LineRow, MatchGameRow, PositionRow, PredictionRow, PuzzleRow,
    RejectRow, StoreError, TableRow, TrainingRow, TreeRow, ValidationRow, peek_table,
};

/// A table stored in files.
#[derive(Debug)]
pub(crate) struct Stored {
    /// The table's name, which is also its folder's.
    pub(crate) name: &'static str,
    /// How its files are numbered.
    pub(crate) numbering: Numbering,
    /// The columns of its files.
    pub(crate) columns: Vec<Column>,
    /// Checks a file's footer and returns its number of rows.
    pub(crate) peek: fn(&Path) -> Result<u64, StoreError>,
}

/// Where a file's path has its number, with the name of the column for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbering {
    /// In the folder's name: `iteration=0003/part-….parquet`.
    Folder(&'static str),
    /// In the file's name: `0003-….parquet`.
    Name(&'static str),
}

impl Numbering {
    /// The column's name.
    pub(crate) fn column(self) -> &'static str {
        match self {
            Self::Folder(column) | Self::Name(column) => column,
        }
    }

    /// A regular expression that finds the number in a path.
    pub(crate) fn pattern(self) -> String {
        match self {
            Self::Folder(column) => format!("/{column}=([0-9]+)[^/]*/[^/]*$"),
            Self::Name(_) => "/([0-9]+)[^/]*$".to_owned(),
        }
    }

    /// The same number as an SQL expression of `filename`.
    pub(crate) fn expression(self) -> String {
        format!("regexp_extract(filename, '{}', 1)::BIGINT", self.pattern())
    }

    /// A file's number, from its path below the table's folder; `None` for files that do not belong to the table.
    pub(crate) fn number(self, path: &str) -> Option<u32> {
        let name = path.strip_suffix(".parquet")?;
        let numbered = match self {
            Self::Folder(column) => name.split_once('/')?.0.strip_prefix(column)?.strip_prefix('=')?,
            Self::Name(_) if name.contains('/') => return None,
            Self::Name(_) => name,
        };
        let digits = numbered.len() - numbered.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        numbered[..digits].parse().ok()
    }
}

fn stored<R: TableRow>(numbering: Numbering) -> Stored {
    Stored { name: R::TABLE, numbering, columns: R::columns(), peek: peek_table::<R> }
}

/// All stored tables.
pub(crate) fn all() -> [Stored; 12] {
    [
        stored::<GameRow>(Numbering::Folder("iteration")),
        stored::<PositionRow>(Numbering::Folder("iteration")),
        stored::<HeaderRow>(Numbering::Folder("iteration")),
        stored::<RejectRow>(Numbering::Folder("iteration")),
        stored::<TrainingRow>(Numbering::Name("net")),
        stored::<ValidationRow>(Numbering::Name("net")),
        stored::<MatchGameRow>(Numbering::Name("match")),
        stored::<LineRow>(Numbering::Folder("analysis")),
        stored::<TreeRow>(Numbering::Folder("analysis")),
        stored::<PuzzleRow>(Numbering::Folder("suite")),
        stored::<AnswerRow>(Numbering::Folder("suite")),
        stored::<PredictionRow>(Numbering::Folder("validation")),
    ]
}

/// The names of the stored tables, which are also their folders'.
pub fn stored_names() -> impl Iterator<Item = &'static str> {
    all().into_iter().map(|table| table.name)
}

#[cfg(test)]
mod tests {
    use super::Numbering;

    #[test]
    fn numbers_are_read_from_folders_and_names() {
        let folder = Numbering::Folder("iteration");
        assert_eq!(folder.number("iteration=0003/part-0a-00001.parquet"), Some(3));
        assert_eq!(folder.number("iteration=12345/part.parquet"), Some(12_345));
        assert_eq!(folder.number("analysis=0003/part.parquet"), None);
        assert_eq!(folder.number("iteration=0003/part.parquet.77.tmp"), None);
        let name = Numbering::Name("match");
        assert_eq!(name.number("0012-0002-vs-0001.parquet"), Some(12));
        assert_eq!(name.number("0007.parquet"), Some(7));
        assert_eq!(name.number("notes.parquet"), None);
        assert_eq!(name.number("old/0007.parquet"), None);
    }
}
