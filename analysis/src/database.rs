//! The tables of some runs, and queries on them.

use std::collections::BTreeMap;

use polars::prelude::{Field, SchemaExt};

use crate::answer::Answer;
use crate::catalog::{COSTS, Catalog, Scan, TRIALS};
use crate::column_types::type_name;
use crate::engine::Work;
use crate::error::AnalysisError;
use crate::frame::Frame;
use crate::source::{Files, RunSource, SweepSource};
use crate::standings::{self, RATINGS};
use crate::statement::Statement;
use crate::stored_tables::Numbering;
use crate::table_files::files_of;
use crate::{column_docs, computed_tables};

/// The tables of some runs. A table's files are listed when a query names it.
#[derive(Debug, Clone)]
pub struct Database {
    catalog: Catalog,
    work: Work,
}

/// The tables of one iteration of a run.
pub(crate) struct Iteration {
    pub(crate) run: String,
    pub(crate) number: u32,
    pub(crate) database: Database,
}

/// How the files of games and positions are numbered.
const PER_ITERATION: Numbering = Numbering::Folder("iteration");

/// A table as users see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableInfo {
    /// Its name.
    pub name: String,
    /// Its description.
    pub about: String,
    /// Its columns in order.
    pub columns: Vec<ColumnInfo>,
    /// Its number of rows.
    pub rows: u64,
}

/// A column as users see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnInfo {
    /// Its name.
    pub name: String,
    /// Its type, such as `list<u16>`.
    pub kind: String,
    /// What it means.
    pub meaning: String,
}

/// The tables that are not stored in numbered files.
const UNNUMBERED: [&str; 4] = [RATINGS, "steps", COSTS, "runs"];

impl Database {
    /// The tables of runs, and of sweeps, whose trials' runs are among `runs`.
    pub fn new(runs: Vec<RunSource>, sweeps: Vec<SweepSource>, work: Work) -> Self {
        Self { catalog: Catalog::new(runs, sweeps), work }
    }

    /// The names of all tables, in the order in which they are listed.
    pub fn names(&self) -> Vec<String> {
        let stored = self.catalog.stored.iter().map(|table| table.name);
        let trials = (!self.catalog.sweeps.is_empty()).then_some(TRIALS);
        stored.chain(UNNUMBERED).chain(trials).map(str::to_owned).collect()
    }

    /// All tables with their columns and numbers of rows.
    pub fn tables(&self) -> Result<Vec<TableInfo>, AnalysisError> {
        self.names().into_iter().map(|name| self.info(name)).collect()
    }

    fn info(&self, name: String) -> Result<TableInfo, AnalysisError> {
        let schema =
            self.scan(&name)?.lazy.collect_schema().map_err(|error| AnalysisError::from_execution(&error))?;
        let known = match name.as_str() {
            RATINGS => standings::columns(),
            other => computed_tables::columns(other).unwrap_or_default(),
        };
        let stored = self.catalog.stored(&name);
        let column = |field: Field| {
            let column = field.name().to_string();
            let in_file = stored.and_then(|table| table.columns.iter().find(|known| known.name == column));
            let in_table =
                known.iter().find(|(known, _)| *known == column).map(|(_, kind)| (*kind).to_owned());
            let kind = in_file.map(|known| known.kind.clone()).or(in_table);
            let kind = kind.unwrap_or_else(|| type_name(field.dtype()));
            ColumnInfo { meaning: column_docs::meaning(&name, &column), name: column, kind }
        };
        let columns = schema.iter_fields().map(column).collect();
        Ok(TableInfo { about: column_docs::about(&name), columns, rows: self.count(&name)?, name })
    }

    fn count(&self, name: &str) -> Result<u64, AnalysisError> {
        match name {
            RATINGS => standings::count(&self.catalog, self.work),
            other => self.catalog.count(other),
        }
    }

    fn scan(&self, name: &str) -> Result<Scan, AnalysisError> {
        match name {
            RATINGS => standings::table(&self.catalog, self.work),
            other => self.catalog.scan(other),
        }
    }

    /// A database for each iteration of each run, with its games and positions only. Queries over all positions run on one
    /// iteration at a time, so that only one is in memory.
    pub(crate) fn iterations(&self) -> Result<Vec<Iteration>, AnalysisError> {
        let mut found = Vec::new();
        for run in &self.catalog.runs {
            let mut files: BTreeMap<u32, Vec<String>> = BTreeMap::new();
            for table in self.catalog.stored.iter().filter(|table| table.numbering == PER_ITERATION) {
                for file in files_of(run, table)? {
                    let relative = file.path.strip_prefix(&run.folder).unwrap_or(&file.path);
                    let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
                    files.entry(file.number).or_default().push(parts.join("/"));
                }
            }
            found.extend(files.into_iter().map(|(number, files)| {
                let run = RunSource { files: Files::Only(files), steps: Vec::new(), ..run.clone() };
                let database = Self { catalog: self.catalog.of_one(&run), work: self.work };
                Iteration { run: run.name, number, database }
            }));
        }
        Ok(found)
    }

    /// Prepares a query from one SELECT statement.
    pub fn query(&self, statement: &str) -> Result<Frame, AnalysisError> {
        let statement = Statement::parse(statement)?;
        let known = self.names();
        let named = statement.tables(&known);
        if let Some(unknown) = named.iter().find(|name| !known.contains(name)) {
            return Err(AnalysisError::Table { name: unknown.clone(), known });
        }
        let tables: Vec<(String, Scan)> = named
            .into_iter()
            .map(|name| Ok((name.clone(), self.scan(&name)?)))
            .collect::<Result<_, AnalysisError>>()?;
        Frame::from_statement(statement, tables, self.work)
    }

    /// Runs one of the report's queries.
    pub(crate) fn fetch(&self, statement: &str) -> Result<Answer, AnalysisError> {
        Ok(Answer::new(self.query(statement)?.rows()?))
    }

    /// A whole table.
    pub fn table(&self, name: &str) -> Result<Frame, AnalysisError> {
        let known = self.names();
        if known.iter().any(|table| table == name) {
            Frame::new(self.scan(name)?, self.work)
        } else {
            Err(AnalysisError::Table { name: name.to_owned(), known })
        }
    }
}
