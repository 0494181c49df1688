//! The tables of some runs, and questions to them.

use std::collections::BTreeMap;
use std::sync::Arc;

use dc0_core::store::peek_wide;
use polars::prelude::{Field, SchemaExt};

use crate::error::AnalysisError;
use crate::files::files_of;
use crate::frame::Frame;
use crate::scan::{Scan, costs_file, trials_file};
use crate::source::{Files, RunSource, SweepSource};
use crate::statement::Statement;
use crate::stored::{Numbering, Stored};
use crate::{page, plain, standing, stored};

/// How answers are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// By all cores, piece by piece, in little memory. Sums of fractions may differ in their last digit from one time to the next.
    Fast,
    /// Whole tables in memory, so that equal questions to equal tables get equal answers.
    Exact,
}

/// The tables of some runs. Files are looked at when a question names their table.
#[derive(Debug, Clone)]
pub struct Database {
    pub(crate) runs: Vec<RunSource>,
    pub(crate) sweeps: Vec<SweepSource>,
    pub(crate) stored: Arc<[Stored; 7]>,
    work: Work,
}

/// The tables of one iteration of a run.
pub(crate) struct Iteration {
    pub(crate) run: String,
    pub(crate) number: u32,
    pub(crate) database: Database,
}

/// How games and positions lie in folders.
const PER_ITERATION: Numbering = Numbering::Folder("iteration");

/// A table as users see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableInfo {
    /// Its name.
    pub name: String,
    /// What it is.
    pub about: String,
    /// Its columns in order.
    pub columns: Vec<ColumnInfo>,
    /// Its rows.
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

/// The tables that a run has whole, not in numbered files.
const WHOLE: [&str; 4] = [RATINGS, "steps", COSTS, "runs"];
/// The table of how players of matches stand.
pub(crate) const RATINGS: &str = "ratings";
/// The table of what steps took.
pub(crate) const COSTS: &str = "costs";
/// The table that sweeps have.
pub(crate) const TRIALS: &str = "trials";

impl Database {
    /// Of runs, and of sweeps whose trials' runs are among them.
    pub fn new(runs: Vec<RunSource>, sweeps: Vec<SweepSource>, work: Work) -> Self {
        Self { runs, sweeps, stored: Arc::new(stored::all()), work }
    }

    /// The names of all tables, in the order of listings.
    pub fn names(&self) -> Vec<String> {
        let stored = self.stored.iter().map(|table| table.name);
        let trials = (!self.sweeps.is_empty()).then_some(TRIALS);
        stored.chain(WHOLE).chain(trials).map(str::to_owned).collect()
    }

    /// All tables with their columns and rows.
    pub fn tables(&self) -> Result<Vec<TableInfo>, AnalysisError> {
        self.names().into_iter().map(|name| self.info(name)).collect()
    }

    fn info(&self, name: String) -> Result<TableInfo, AnalysisError> {
        let schema =
            self.scan(&name)?.lazy.collect_schema().map_err(|error| AnalysisError::of_work(&error))?;
        let known = plain::columns(&name).unwrap_or_default();
        let stored = self.stored.iter().find(|table| table.name == name);
        let column = |field: Field| {
            let column = field.name().to_string();
            let of_file = stored.and_then(|table| table.columns.iter().find(|known| known.name == column));
            let of_plain =
                known.iter().find(|(known, _)| *known == column).map(|(_, kind)| (*kind).to_owned());
            let kind = of_file.map(|known| known.kind.clone()).or(of_plain);
            let kind = kind.unwrap_or_else(|| crate::rows::kind(field.dtype()));
            ColumnInfo { meaning: page::meaning(&name, &column), name: column, kind }
        };
        let columns = schema.iter_fields().map(column).collect();
        Ok(TableInfo { about: page::about(&name), columns, rows: self.count(&name)?, name })
    }

    fn count(&self, name: &str) -> Result<u64, AnalysisError> {
        if let Some(table) = self.stored.iter().find(|table| table.name == name) {
            let mut rows = 0;
            for run in &self.runs {
                for file in files_of(run, table)? {
                    rows += (table.peek)(&file.path)?;
                }
            }
            return Ok(rows);
        }
        match name {
            TRIALS => {
                let files = self.sweeps.iter().map(trials_file).filter(|file| file.is_file());
                files.map(|file| Ok(peek_wide(&file, TRIALS)?)).sum()
            }
            COSTS => {
                let files = self.runs.iter().filter_map(costs_file);
                files.map(|file| Ok(peek_wide(&file, COSTS)?)).sum()
            }
            "runs" => Ok(self.runs.iter().filter(|run| run.about.is_some()).count() as u64),
            RATINGS => self.runs.iter().map(|run| Ok(standing::of_run(self, run)?.len() as u64)).sum(),
            _ => Ok(self.runs.iter().map(|run| run.steps.len() as u64).sum()),
        }
    }

    /// A run alone.
    pub(crate) fn of_one(&self, run: &RunSource) -> Self {
        Self { runs: vec![run.clone()], sweeps: Vec::new(), ..self.clone() }
    }

    /// Each iteration alone, run by run: its games and positions, and nothing else. Questions that go through all positions are
    /// asked of one after the other, so that memory holds one.
    pub(crate) fn iterations(&self) -> Result<Vec<Iteration>, AnalysisError> {
        let mut found = Vec::new();
        for run in &self.runs {
            let mut files: BTreeMap<u32, Vec<String>> = BTreeMap::new();
            for table in self.stored.iter().filter(|table| table.numbering == PER_ITERATION) {
                for file in files_of(run, table)? {
                    let own = file.path.strip_prefix(&run.folder).unwrap_or(&file.path);
                    let parts: Vec<_> = own.iter().map(|part| part.to_string_lossy()).collect();
                    files.entry(file.number).or_default().push(parts.join("/"));
                }
            }
            found.extend(files.into_iter().map(|(number, files)| {
                let run = RunSource { files: Files::Only(files), steps: Vec::new(), ..run.clone() };
                let database = self.of_one(&run);
                Iteration { run: run.name, number, database }
            }));
        }
        Ok(found)
    }

    /// Asks with one SELECT statement.
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
        Frame::of_statement(statement, tables, self.work)
    }

    /// A table whole.
    pub fn table(&self, name: &str) -> Result<Frame, AnalysisError> {
        let known = self.names();
        if known.iter().any(|table| table == name) {
            Frame::new(self.scan(name)?, self.work)
        } else {
            Err(AnalysisError::Table { name: name.to_owned(), known })
        }
    }
}
