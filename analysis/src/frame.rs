//! Lazy queries: a frame can be refined step by step, and its rows are computed on demand.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use dc0_core::store::StoreError;
use polars::prelude::{DataFrame, DataType};

use crate::catalog::Definition;
use crate::duckdb::{ColumnType, Connection, EngineError, ErrorKind, path_text};
use crate::error::AnalysisError;
use crate::quoting::identifier;
use crate::rows::Rows;
use crate::session::{Session, Stored};
use crate::statement::{Statement, check_item, check_order};

/// A lazy query. Every method returns a new frame and resolves only the columns and their types, so mistakes show at once.
#[derive(Clone)]
pub struct Frame {
    session: Arc<Session>,
    /// The view that is the query.
    view: Arc<Stored>,
    /// The views and tables that it reads.
    sources: Vec<Arc<Stored>>,
    /// The names of its columns.
    columns: Vec<String>,
    types: Vec<ColumnType>,
    /// The files that it reads, so that an error can name a damaged one.
    files: Arc<BTreeSet<PathBuf>>,
}

/// A frame with grouped rows.
#[derive(Clone)]
pub struct Grouped {
    frame: Frame,
    by: Vec<String>,
}

impl std::fmt::Debug for Frame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Frame").field("columns", &self.columns).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Grouped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Grouped").field("frame", &self.frame).field("by", &self.by).finish()
    }
}

impl Frame {
    /// A statement on tables.
    pub(crate) fn from_statement(
        session: &Arc<Session>,
        statement: &Statement,
        tables: Vec<(Definition, String)>,
    ) -> Result<Self, AnalysisError> {
        let (mut files, mut sources, mut defined) = (BTreeSet::new(), Vec::new(), Vec::new());
        let mut selects = Vec::new();
        for (definition, name) in tables {
            defined.push(format!("{} AS NOT MATERIALIZED ({})", identifier(&name), definition.select));
            selects.push(definition.select);
            files.extend(definition.files);
            sources.extend(definition.table);
        }
        let with = if defined.is_empty() { String::new() } else { format!("WITH {} ", defined.join(", ")) };
        // The files of this moment are part of the view: a later query may find more.
        let select = |text: &str| format!("{with}SELECT * FROM ({text})");
        let connection = session.connection()?;
        let frame = Self::new(session, &select(&statement.text), sources, Arc::new(files));
        let frame = frame.map_err(|error| error.suggesting(|| columns_of(connection, &selects)))?;
        let Some(text) = statement.without_ties(frame.columns.len(), connection)? else {
            return Ok(frame);
        };
        Self::new(session, &select(&text), frame.sources, frame.files)
    }

    fn new(
        session: &Arc<Session>,
        select: &str,
        sources: Vec<Arc<Stored>>,
        files: Arc<BTreeSet<PathBuf>>,
    ) -> Result<Self, AnalysisError> {
        let view = session.view(select)?;
        let (columns, types) =
            session.connection()?.columns(&format!("SELECT * FROM {}", view.name))?.into_iter().unzip();
        Ok(Self { session: Arc::clone(session), view, sources, columns, types, files })
    }

    /// The names of its columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The names and types of its columns.
    pub(crate) fn types(&self) -> impl Iterator<Item = (&str, DataType)> {
        self.columns.iter().map(String::as_str).zip(self.types.iter().map(ColumnType::dtype))
    }

    /// The names of its columns with their types in SQL.
    pub(crate) fn sql_types(&self) -> impl Iterator<Item = (&str, String)> {
        self.columns.iter().map(String::as_str).zip(self.types.iter().map(ColumnType::sql))
    }

    fn connection(&self) -> Result<&Connection, AnalysisError> {
        self.session.connection()
    }

    /// A SELECT on this frame, whose name in it is that of the view.
    fn query(&self, select: &str) -> Result<Self, AnalysisError> {
        let sources = self.sources.iter().chain([&self.view]).map(Arc::clone).collect();
        Self::new(&self.session, select, sources, Arc::clone(&self.files))
    }

    /// The rows that satisfy an SQL condition.
    pub fn filter(&self, condition: &str) -> Result<Self, AnalysisError> {
        check_item(condition, self.connection()?)?;
        self.query(&format!("SELECT * FROM {} WHERE {condition}", self.view.name))
    }

    /// Selects columns: names, or expressions such as `plies / 2 as moves`.
    pub fn select(&self, items: &[String]) -> Result<Self, AnalysisError> {
        for item in items {
            check_item(item, self.connection()?)?;
        }
        self.query(&format!("SELECT {} FROM {}", items.join("\n, "), self.view.name))
    }

    /// Sorts the rows, for example by `n desc, reason`; the sort is stable.
    pub fn sort(&self, by: &str) -> Result<Self, AnalysisError> {
        check_order(by, self.connection()?)?;
        let numbered = format!("SELECT *, row_number() OVER () AS dc0_row FROM {}", self.view.name);
        self.query(&format!("SELECT * EXCLUDE (dc0_row) FROM ({numbered}) ORDER BY {by}\n, dc0_row"))
    }

    /// The first `rows` rows.
    pub fn head(&self, rows: u64) -> Result<Self, AnalysisError> {
        self.query(&format!("SELECT * FROM {} LIMIT {rows}", self.view.name))
    }

    /// Joins the rows of another frame of the same [`Session`] that are equal in the columns `on`.
    pub fn join(&self, other: &Self, on: &[String]) -> Result<Self, AnalysisError> {
        for frame in [self, other] {
            frame.check_columns(on)?;
        }
        if !Arc::ptr_eq(&self.session, &other.session) {
            return Err(AnalysisError::OtherFolder);
        }
        let columns =
            self.columns.iter().map(|name| format!("a.{} AS {}", identifier(name), identifier(name)));
        // A column of the other frame whose name is taken gets the prefix `other_`.
        let unique =
            |name: &String| if self.columns.contains(name) { format!("other_{name}") } else { name.clone() };
        let others = other.columns.iter().filter(|name| !on.contains(name));
        let others = others.map(|name| format!("b.{} AS {}", identifier(name), identifier(&unique(name))));
        let columns = columns.chain(others).collect::<Vec<_>>().join(", ");
        let equal = |name: &String| format!("a.{0} = b.{0}", identifier(name));
        let equal = on.iter().map(equal).collect::<Vec<_>>().join(" AND ");
        let (own, others) = (&self.view.name, &other.view.name);
        let sources = self.sources.iter().chain(&other.sources).chain([&self.view, &other.view]);
        let files = self.files.union(&other.files).cloned().collect();
        Self::new(
            &self.session,
            &format!("SELECT {columns} FROM {own} AS a JOIN {others} AS b ON {equal}"),
            sources.map(Arc::clone).collect(),
            Arc::new(files),
        )
    }

    /// Groups the rows that are equal in the columns `by`.
    pub fn group_by(&self, by: &[String]) -> Result<Grouped, AnalysisError> {
        self.check_columns(by)?;
        Ok(Grouped { frame: self.clone(), by: by.to_vec() })
    }

    fn check_columns(&self, names: &[String]) -> Result<(), AnalysisError> {
        match names.iter().find(|name| !self.columns.contains(name)) {
            Some(name) => Err(AnalysisError::Column { name: name.clone(), known: self.columns.clone() }),
            None => Ok(()),
        }
    }

    /// A single column.
    pub fn only(&self, column: &str) -> Result<Self, AnalysisError> {
        self.check_columns(&[column.to_owned()])?;
        self.query(&format!("SELECT {} FROM {}", identifier(column), self.view.name))
    }

    /// Counts the rows, without keeping them.
    pub fn count(&self) -> Result<u64, AnalysisError> {
        let counted = self.run(&format!("SELECT count(*) AS n FROM {}", self.view.name))?;
        Ok(Rows::new(counted).numbers("n")?.first().copied().flatten().unwrap_or_default() as u64)
    }

    /// Computes the rows.
    pub fn rows(&self) -> Result<Rows, AnalysisError> {
        let item = |(name, kind): (&String, &ColumnType)| match kind {
            ColumnType::Cast(kind) => format!("CAST({0} AS {1}) AS {0}", identifier(name), kind.sql()),
            _ => identifier(name),
        };
        let items: Vec<String> = self.columns.iter().zip(&self.types).map(item).collect();
        self.run(&format!("SELECT {} FROM {}", items.join(", "), self.view.name)).map(Rows::new)
    }

    fn run(&self, select: &str) -> Result<DataFrame, AnalysisError> {
        let connection = self.connection()?;
        connection.rows(select).map_err(|error| self.blame(connection, error))
    }

    /// The error for a failed query: names the damaged file, if there is one.
    fn blame(&self, connection: &Connection, error: EngineError) -> AnalysisError {
        if error.kind != ErrorKind::Other {
            return error.into();
        }
        let check = |file: &PathBuf| {
            let path = path_text(&file.canonicalize().unwrap_or_else(|_| file.clone()))?;
            let all = "hive_partitioning = false";
            connection
                .rows(&format!("SELECT max(hash(t))::VARCHAR AS h FROM read_parquet({path}, {all}) AS t"))
        };
        let damaged = self.files.iter().find_map(|file| Some((file, check(file).err()?)));
        match damaged {
            Some((file, cause)) => StoreError::Damaged { file: file.clone(), cause: cause.message }.into(),
            None => error.into(),
        }
    }
}

impl Grouped {
    /// One row per group: the grouping columns, then the named aggregates. Sorted by the grouping columns.
    pub fn agg(&self, aggregates: &[(String, String)]) -> Result<Frame, AnalysisError> {
        let by: Vec<String> = self.by.iter().map(|name| identifier(name)).collect();
        let mut items = by.clone();
        for (name, text) in aggregates {
            check_item(&format!("({text}\n)"), self.frame.connection()?)?;
            items.push(format!("({text}\n) AS {}", identifier(name)));
        }
        let (items, by) = (items.join(", "), by.join(", "));
        let grouped = if by.is_empty() { String::new() } else { format!(" GROUP BY {by} ORDER BY {by}") };
        self.frame.query(&format!("SELECT {items} FROM {}{grouped}", self.frame.view.name))
    }
}

/// The columns of some statements; none of one that fails.
fn columns_of(connection: &Connection, selects: &[String]) -> Vec<String> {
    let columns = selects.iter().filter_map(|select| connection.columns(select).ok());
    columns.flatten().map(|(name, _)| name).collect()
}
