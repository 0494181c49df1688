//! Tables as polars reads them: the files that lie there now, with where their rows come from in front.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use dc0_core::store::peek_wide;
use polars::io::HiveOptions;
use polars::prelude::{
    DataFrame, DataType, Expr, Field, IntoLazy, LazyFrame, NULL, PlRefPath, PolarsResult, ScanArgsParquet,
    ScanSources, Schema, UnionArgs, col, concat, concat_lf_diagonal, lit,
};
use polars_plan::plans::HintIR;

use crate::database::{COSTS, Database, RATINGS, TRIALS};
use crate::error::AnalysisError;
use crate::files::{TableFile, files_of};
use crate::source::{Files, RunSource, SweepSource};
use crate::stored::Stored;
use crate::{frame, page, plain, standing};

/// A table before anything is asked of it.
pub(crate) struct Scan {
    pub(crate) lazy: LazyFrame,
    /// What is read for it, to name a damaged file.
    pub(crate) files: Arc<BTreeSet<PathBuf>>,
}

fn widened(mut lazy: LazyFrame) -> PolarsResult<LazyFrame> {
    let wide = |kind: &DataType| match kind {
        kind if kind.is_integer() => Some(DataType::Int64),
        DataType::List(item) if item.is_integer() => Some(DataType::List(Box::new(DataType::Int64))),
        _ => None,
    };
    let schema = lazy.collect_schema()?;
    let narrow = schema.iter().filter(|(_, kind)| wide(kind).is_some_and(|wide| wide != **kind));
    let casts: Vec<Expr> =
        narrow.filter_map(|(name, kind)| Some(col(name.clone()).strict_cast(wide(kind)?))).collect();
    Ok(lazy.with_columns(casts))
}

impl Database {
    fn has_trials(&self) -> bool {
        self.runs.iter().any(|run| run.trial.is_some())
    }

    /// A table by its name, with where its rows come from in front. Whole numbers are 64 bits wide and signed, however they are
    /// stored: polars' sums and differences of narrower ones wrap around in silence.
    pub(crate) fn scan(&self, name: &str) -> Result<Scan, AnalysisError> {
        let Scan { lazy, files } = self.scan_as_stored(name)?;
        let lazy = widened(lazy).map_err(|error| AnalysisError::of_work(&error))?;
        Ok(Scan { lazy, files })
    }

    fn scan_as_stored(&self, name: &str) -> Result<Scan, AnalysisError> {
        if let Some(table) = self.stored.iter().find(|table| table.name == name) {
            return self.scan_stored(table);
        }
        let failed = |error| AnalysisError::of_work(&error);
        match name {
            TRIALS => self.scan_trials(),
            COSTS => self.scan_costs(),
            RATINGS => self.plain_ratings(),
            "runs" => self.plain_runs().map(unread).map_err(failed),
            _ => self.plain_steps().map(unread).map_err(failed),
        }
    }

    /// The columns that say where a row comes from.
    fn origin(&self) -> Vec<&'static str> {
        if self.has_trials() { vec!["run", "trial", "replicate"] } else { vec!["run"] }
    }

    fn plain_steps(&self) -> PolarsResult<DataFrame> {
        let rows: Vec<_> =
            self.runs.iter().flat_map(|run| run.steps.iter().map(move |step| (run, step))).collect();
        let runs: Vec<&RunSource> = rows.iter().map(|(run, _)| *run).collect();
        let mut columns = plain::origin(&runs, self.has_trials())?;
        columns.extend(plain::steps(&rows)?);
        plain::table(columns)
    }

    fn plain_ratings(&self) -> Result<Scan, AnalysisError> {
        let mut rows = Vec::new();
        for run in &self.runs {
            rows.extend(standing::of_run(self, run)?.into_iter().map(|rated| (run, rated)));
        }
        let runs: Vec<&RunSource> = rows.iter().map(|(run, _)| *run).collect();
        let rated: Vec<_> = rows.iter().map(|(_, rated)| rated).collect();
        let columns = plain::origin(&runs, self.has_trials()).and_then(|mut columns| {
            columns.extend(plain::ratings(&rated)?);
            plain::table(columns)
        });
        columns.map(unread).map_err(|error| AnalysisError::of_work(&error))
    }

    fn plain_runs(&self) -> PolarsResult<DataFrame> {
        let rows: Vec<_> = self.runs.iter().filter_map(|run| Some((run, run.about.as_ref()?))).collect();
        let runs: Vec<&RunSource> = rows.iter().map(|(run, _)| *run).collect();
        let mut columns = plain::origin(&runs, self.has_trials())?;
        columns.extend(plain::runs(&rows)?);
        plain::table(columns)
    }

    fn scan_stored(&self, table: &Stored) -> Result<Scan, AnalysisError> {
        let (mut parts, mut read) = (Vec::new(), BTreeSet::new());
        for run in &self.runs {
            let files = files_of(run, table)?;
            for file in &files {
                (table.peek)(&file.path)?;
            }
            let scans = scans(table, &files).map_err(|error| AnalysisError::of_work(&error))?;
            read.extend(files.into_iter().map(|file| file.path));
            parts.extend(scans.into_iter().map(|scan| self.in_order(scan, run, table)));
        }
        if parts.is_empty() {
            return Ok(unread(DataFrame::empty_with_schema(&self.schema(table))));
        }
        let lazy = joined(parts).map_err(|error| AnalysisError::of_work(&error))?;
        Ok(Scan { lazy, files: Arc::new(read) })
    }

    /// The rows of a run with where they come from in front.
    fn in_order(&self, scan: LazyFrame, run: &RunSource, table: &Stored) -> LazyFrame {
        let own = table.columns.iter().map(|column| column.name);
        let names = self.origin().into_iter().chain([table.numbering.column()]).chain(own);
        // Not selected at once: a column that is a constant alone would have a single row.
        scan.with_columns(self.origin_of(run)).select(names.map(col).collect::<Vec<_>>())
    }

    fn origin_of(&self, run: &RunSource) -> Vec<Expr> {
        let mut origin = vec![lit(run.name.clone()).alias("run")];
        if self.has_trials() {
            origin.push(number(run.trial.map(|trial| trial.trial)).alias("trial"));
            origin.push(number(run.trial.map(|trial| trial.replicate)).alias("replicate"));
        }
        origin
    }

    fn schema(&self, table: &Stored) -> Schema {
        let number = (table.numbering.column(), "u32");
        let own = table.columns.iter().map(|column| (column.name, column.kind.as_str()));
        self.fields([number].into_iter().chain(own))
    }

    /// Columns behind those that say where a row comes from.
    fn fields<'a>(&self, own: impl Iterator<Item = (&'a str, &'a str)>) -> Schema {
        let of_path =
            self.origin().into_iter().map(|name| (name, if name == "run" { "text" } else { "u32" }));
        of_path.chain(own).map(|(name, kind)| Field::new(name.into(), plain::data_type(kind))).collect()
    }

    /// What the steps of runs took. The types of a file's columns follow from its cells, so each gets the page's.
    fn scan_costs(&self) -> Result<Scan, AnalysisError> {
        let failed = |error| AnalysisError::of_work(&error);
        let own: Vec<_> = wide_columns(COSTS);
        let (mut parts, mut seen) = (Vec::new(), BTreeSet::new());
        for run in &self.runs {
            let Some(file) = costs_file(run) else { continue };
            peek_wide(&file, COSTS)?;
            let typed = own.iter().map(|(name, kind)| col(name.as_str()).cast(plain::data_type(kind)));
            let names = self.origin().into_iter().map(col).chain(typed).collect::<Vec<_>>();
            let scan = scan_files([&file].into_iter()).map_err(failed)?;
            parts.push(scan.with_columns(self.origin_of(run)).select(names));
            seen.insert(file);
        }
        if parts.is_empty() {
            let schema = self.fields(own.iter().map(|(name, kind)| (name.as_str(), *kind)));
            return Ok(unread(DataFrame::empty_with_schema(&schema)));
        }
        let lazy = joined(parts).map_err(failed)?;
        Ok(Scan { lazy, files: Arc::new(seen) })
    }

    /// The tables of trials; the columns of parameters that a sweep does not have are empty in its rows.
    fn scan_trials(&self) -> Result<Scan, AnalysisError> {
        let failed = |error| AnalysisError::of_work(&error);
        let (mut parts, mut seen) = (Vec::new(), BTreeSet::new());
        for sweep in &self.sweeps {
            let file = trials_file(sweep);
            if !file.is_file() || !seen.insert(file.clone()) {
                continue;
            }
            peek_wide(&file, TRIALS)?;
            let mut scan = scan_files([&file].into_iter()).map_err(failed)?;
            let own: Vec<String> = frame::names(&mut scan).map_err(failed)?;
            let run = lit(sweep.name.clone()).alias("run");
            let names = ["run"].into_iter().chain(own.iter().map(String::as_str));
            parts.push(scan.with_column(run).select(names.map(col).collect::<Vec<_>>()));
        }
        if parts.is_empty() {
            let own = wide_columns(TRIALS)
                .into_iter()
                .map(|(name, kind)| Field::new(name.into(), plain::data_type(kind)));
            let run = Field::new("run".into(), plain::data_type("text"));
            let schema: Schema = [run].into_iter().chain(own).collect();
            return Ok(unread(DataFrame::empty_with_schema(&schema)));
        }
        let args = UnionArgs { diagonal: true, to_supertypes: true, ..UnionArgs::default() };
        let lazy = concat_lf_diagonal(parts, args).and_then(countable).map_err(failed)?;
        Ok(Scan { lazy, files: Arc::new(seen) })
    }
}

/// Tables of equal columns, one after the other.
fn joined(parts: Vec<LazyFrame>) -> PolarsResult<LazyFrame> {
    concat(parts, UnionArgs::default()).and_then(countable)
}

/// polars adds the lengths of parts up as 128-bit numbers, which it knows only with a feature that doubles its code. A hint that says
/// nothing lies between a count and the parts, and is gone before anything is computed.
fn countable(table: LazyFrame) -> PolarsResult<LazyFrame> {
    table.hint(HintIR::Sorted([].into()))
}

/// A table that no file holds.
fn unread(rows: DataFrame) -> Scan {
    Scan { lazy: rows.lazy(), files: Arc::default() }
}

/// A number that is the same in all rows.
fn number(number: Option<u32>) -> Expr {
    number.map_or_else(|| lit(NULL), lit).cast(plain::data_type("u32"))
}

/// The columns that the page lists for a table whose files have no fixed types, each with its type.
fn wide_columns(table: &str) -> Vec<(String, &'static str)> {
    let kind = |word: &str| match word {
        "text" => "text",
        "number" => "f64",
        _ => "i64",
    };
    let of_page = page::columns(table).into_iter().filter(|(name, _)| !name.contains('…'));
    of_page.map(|(name, word)| (name, kind(&word))).collect()
}

/// A run's table of costs, where there is one and all of the run's files are asked for: it belongs to no step, and times must decide
/// nothing in a script.
pub(crate) fn costs_file(run: &RunSource) -> Option<PathBuf> {
    let file = run.folder.join("costs.parquet");
    (run.files == Files::All && file.is_file()).then_some(file)
}

pub(crate) fn trials_file(sweep: &SweepSource) -> PathBuf {
    sweep.folder.join("trials.parquet")
}

/// A run's files of a table: a scan for each of its numbers.
fn scans(table: &Stored, files: &[TableFile]) -> PolarsResult<Vec<LazyFrame>> {
    let column = table.numbering.column();
    let scan = |files: &[TableFile]| {
        let rows = scan_files(files.iter().map(|file| &file.path))?;
        Ok(rows.with_column(number(Some(files[0].number)).alias(column)))
    };
    files.chunk_by(|one, next| one.number == next.number).map(scan).collect()
}

/// The rows of some files, one after the other.
pub(crate) fn scan_files<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> PolarsResult<LazyFrame> {
    let paths = paths.map(|path| PlRefPath::try_from_path(path)).collect::<PolarsResult<Vec<_>>>()?;
    // Whatever folders are called, nothing of a path is read as a value.
    let hive_options = HiveOptions::new_disabled();
    let args = ScanArgsParquet { hive_options, glob: false, ..ScanArgsParquet::default() };
    LazyFrame::scan_parquet_sources(ScanSources::Paths(paths.into_iter().collect()), args)
}
