//! The tables there are, each as polars reads it: its current files, preceded by columns that say where a row comes from.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use dc0_core::store::peek_wide;
use polars::prelude::{Column, DataType, IntoLazy, LazyFrame, PlSmallStr, PolarsResult, Scalar, Schema};
use polars_core::utils::try_get_supertype;

use crate::column_docs;
use crate::column_types::{data_type, widened};
use crate::computed_tables::{self, RunRowRef};
use crate::error::AnalysisError;
use crate::parquet_scan::{self, Constant, ParquetFile, stored_schema};
use crate::source::{Files, RunRow, RunSource, StepRow, SweepSource};
use crate::stored_tables::{self, Stored};
use crate::table_files::files_of;

/// The table of the steps' costs.
pub(crate) const COSTS: &str = "costs";
/// The table of a sweep's trials.
pub(crate) const TRIALS: &str = "trials";

/// A table before it is queried.
pub(crate) struct Scan {
    pub(crate) lazy: LazyFrame,
    /// The files that it reads, so that an error can name a damaged one.
    pub(crate) files: Arc<BTreeSet<PathBuf>>,
}

/// The tables of some runs and sweeps.
#[derive(Debug, Clone)]
pub(crate) struct Catalog {
    pub(crate) runs: Vec<RunSource>,
    pub(crate) sweeps: Vec<SweepSource>,
    pub(crate) stored: Arc<[Stored]>,
}

impl Catalog {
    pub(crate) fn new(runs: Vec<RunSource>, sweeps: Vec<SweepSource>) -> Self {
        Self { runs, sweeps, stored: stored_tables::all().into() }
    }

    /// The tables of a single run.
    pub(crate) fn of_one(&self, run: &RunSource) -> Self {
        Self { runs: vec![run.clone()], sweeps: Vec::new(), stored: Arc::clone(&self.stored) }
    }

    /// A table stored in numbered files, by name.
    pub(crate) fn stored(&self, name: &str) -> Option<&Stored> {
        self.stored.iter().find(|table| table.name == name)
    }

    /// A table by name, preceded by the columns that say where a row comes from.
    pub(crate) fn scan(&self, name: &str) -> Result<Scan, AnalysisError> {
        if let Some(table) = self.stored(name) {
            return self.scan_stored(table);
        }
        match name {
            TRIALS => self.scan_trials(),
            COSTS => self.scan_costs(),
            "runs" => self.runs_table(),
            _ => self.steps_table(),
        }
    }

    /// A table's number of rows.
    pub(crate) fn count(&self, name: &str) -> Result<u64, AnalysisError> {
        if let Some(table) = self.stored(name) {
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
            _ => Ok(self.runs.iter().map(|run| run.steps.len() as u64).sum()),
        }
    }

    fn steps_table(&self) -> Result<Scan, AnalysisError> {
        let rows: Vec<RunRowRef<'_, StepRow>> =
            self.runs.iter().flat_map(|run| run.steps.iter().map(move |step| (run, step))).collect();
        self.computed(&rows, computed_tables::steps(&rows))
    }

    fn runs_table(&self) -> Result<Scan, AnalysisError> {
        let rows: Vec<RunRowRef<'_, RunRow>> =
            self.runs.iter().filter_map(|run| Some((run, run.about.as_ref()?))).collect();
        self.computed(&rows, computed_tables::runs(&rows))
    }

    /// A table without files, from its rows and its own columns.
    pub(crate) fn computed<R>(
        &self,
        rows: &[RunRowRef<'_, R>],
        columns: PolarsResult<Vec<Column>>,
    ) -> Result<Scan, AnalysisError> {
        let runs = rows.iter().map(|(run, _)| *run);
        let table = columns.and_then(|columns| computed_tables::table(runs, self.has_trials(), columns));
        let table = table.map_err(|error| AnalysisError::from_execution(&error))?;
        Ok(Scan { lazy: table.lazy(), files: Arc::default() })
    }

    fn has_trials(&self) -> bool {
        self.runs.iter().any(|run| run.trial.is_some())
    }

    /// The columns that name the run and trial that a row comes from.
    fn origin(&self, run: &RunSource) -> Vec<Constant> {
        let number = |number: Option<u32>| {
            number.map_or_else(|| Scalar::null(DataType::Int64), |number| Scalar::from(i64::from(number)))
        };
        let mut origin = vec![("run", text(&run.name))];
        if self.has_trials() {
            origin.push(("trial", number(run.trial.map(|trial| trial.trial))));
            origin.push(("replicate", number(run.trial.map(|trial| trial.replicate))));
        }
        origin
    }

    /// The types of those columns, followed by a table's own.
    fn schema<'a>(&self, columns: impl Iterator<Item = (&'a str, &'a str)>) -> Schema {
        let trial = [("trial", "u32"), ("replicate", "u32")].into_iter().filter(|_| self.has_trials());
        let columns = [("run", "text")].into_iter().chain(trial).chain(columns);
        columns.map(|(name, kind)| (PlSmallStr::from(name), data_type(kind))).collect()
    }

    fn scan_stored(&self, table: &Stored) -> Result<Scan, AnalysisError> {
        let mut files = Vec::new();
        for run in &self.runs {
            for file in files_of(run, table)? {
                (table.peek)(&file.path)?;
                let number = (table.numbering.column(), Scalar::from(i64::from(file.number)));
                let constants = self.origin(run).into_iter().chain([number]).collect();
                files.push(ParquetFile { path: file.path, constants });
            }
        }
        let columns = table.columns.iter().map(|column| (column.name, column.kind.as_str()));
        read(files, self.schema([(table.numbering.column(), "u32")].into_iter().chain(columns)))
    }

    /// The costs of the runs' steps. A file's column types follow from its cells, so columns are cast to the documented types.
    fn scan_costs(&self) -> Result<Scan, AnalysisError> {
        let mut files = Vec::new();
        for run in &self.runs {
            let Some(path) = costs_file(run) else { continue };
            peek_wide(&path, COSTS)?;
            files.push(ParquetFile { path, constants: self.origin(run) });
        }
        let columns = wide_columns(COSTS);
        read(files, self.schema(columns.iter().map(|(name, kind)| (name.as_str(), *kind))))
    }

    /// The trials of all sweeps; columns of parameters that a sweep lacks are empty in its rows.
    fn scan_trials(&self) -> Result<Scan, AnalysisError> {
        let (mut files, mut seen) = (Vec::new(), BTreeSet::new());
        let mut schema = Schema::from_iter([(PlSmallStr::from("run"), data_type("text"))]);
        for sweep in &self.sweeps {
            let path = trials_file(sweep);
            if !path.is_file() || !seen.insert(path.clone()) {
                continue;
            }
            peek_wide(&path, TRIALS)?;
            let merged = stored_schema(&path).and_then(|stored| add_columns(&mut schema, &stored));
            merged.map_err(|error| AnalysisError::from_execution(&error))?;
            files.push(ParquetFile { path, constants: vec![("run", text(&sweep.name))] });
        }
        if files.is_empty() {
            let columns = wide_columns(TRIALS);
            schema.extend(
                columns.iter().map(|(name, kind)| (PlSmallStr::from(name.as_str()), data_type(kind))),
            );
        }
        read(files, schema)
    }
}

fn text(text: &str) -> Scalar {
    Scalar::from(PlSmallStr::from(text))
}

fn read(files: Vec<ParquetFile>, schema: Schema) -> Result<Scan, AnalysisError> {
    let paths = files.iter().map(|file| file.path.clone()).collect();
    let lazy = parquet_scan::scan(files, schema).map_err(|error| AnalysisError::from_execution(&error))?;
    Ok(Scan { lazy, files: Arc::new(paths) })
}

/// Adds the columns of another file; a column that both have gets their common supertype.
fn add_columns(schema: &mut Schema, stored: &Schema) -> PolarsResult<()> {
    for (name, kind) in stored.iter() {
        let kind = widened(kind);
        let kind =
            schema.get(name).map_or_else(|| Ok(kind.clone()), |known| try_get_supertype(known, &kind))?;
        schema.insert(name.clone(), kind);
    }
    Ok(())
}

/// The documented columns, with their types, of a table whose files have no fixed types.
fn wide_columns(table: &str) -> Vec<(String, &'static str)> {
    let kind = |documented: &str| match documented {
        "text" => "text",
        "number" => "f64",
        _ => "i64",
    };
    let columns = column_docs::columns(table).into_iter().filter(|(name, _)| !name.contains('…'));
    columns.map(|(name, documented)| (name, kind(&documented))).collect()
}

/// A run's file of costs, if there is one and all of the run's files are read. It belongs to no step, and a script's results must
/// not depend on times.
fn costs_file(run: &RunSource) -> Option<PathBuf> {
    let file = run.folder.join("costs.parquet");
    (run.files == Files::All && file.is_file()).then_some(file)
}

fn trials_file(sweep: &SweepSource) -> PathBuf {
    sweep.folder.join("trials.parquet")
}
