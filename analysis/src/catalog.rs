//! The tables there are, each as a SELECT on its current files, preceded by columns that say where a row comes from.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dc0_core::params::Value;
use dc0_core::store::{FileEntry, StoreError, peek_wide, verify_wide};

use crate::column_docs;
use crate::column_types::sql_type;
use crate::computed_tables::{self, RunRowRef};
use crate::duckdb::path_text;
use crate::error::AnalysisError;
use crate::quoting::{identifier, text};
use crate::session::{self, Session};
use crate::source::{Files, RunRow, RunSource, StepRow, SweepSource};
use crate::stored_tables::{self, Stored};
use crate::table_files::{TableFile, files_of};

/// The table of the steps' costs.
pub(crate) const COSTS: &str = "costs";
/// The table of a sweep's trials.
pub(crate) const TRIALS: &str = "trials";

/// A table before it is queried.
pub(crate) struct Definition {
    /// A SELECT of its rows.
    pub(crate) select: String,
    /// The files that it reads, so that an error can name a damaged one.
    pub(crate) files: BTreeSet<PathBuf>,
    /// The table that it reads, if it is not stored in files.
    pub(crate) table: Option<Arc<session::Stored>>,
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

    /// The folders with the tables' files.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        let runs = self.runs.iter().map(|run| run.folder.clone());
        runs.chain(self.sweeps.iter().map(|sweep| sweep.folder.clone())).collect()
    }

    /// A table stored in numbered files, by name.
    pub(crate) fn stored(&self, name: &str) -> Option<&Stored> {
        self.stored.iter().find(|table| table.name == name)
    }

    /// A table by name, preceded by the columns that say where a row comes from.
    pub(crate) fn definition(&self, name: &str, session: &Arc<Session>) -> Result<Definition, AnalysisError> {
        if let Some(table) = self.stored(name) {
            return self.stored_table(table, session);
        }
        match name {
            TRIALS => self.trials_table(session),
            COSTS => self.costs_table(session),
            "runs" => self.runs_table(session),
            _ => self.steps_table(session),
        }
    }

    /// A table's number of rows.
    pub(crate) fn count(&self, name: &str, session: &Session) -> Result<u64, AnalysisError> {
        if let Some(table) = self.stored(name) {
            let mut rows = 0;
            for run in &self.runs {
                for TableFile { path, .. } in files_of(run, table)? {
                    let peek = || {
                        rows += (table.peek)(&path)?;
                        Ok(())
                    };
                    session.admits(&run.name, table.name, &path, peek)?;
                }
            }
            return Ok(rows);
        }
        match name {
            TRIALS => {
                let files = self.sweeps.iter().map(|sweep| whole_trials(sweep, session));
                files.filter_map(Result::transpose).map(|file| Ok(peek_wide(&file?, TRIALS)?)).sum()
            }
            COSTS => {
                let files = self.runs.iter().map(|run| whole_costs(run, session));
                files.filter_map(Result::transpose).map(|file| Ok(peek_wide(&file?, COSTS)?)).sum()
            }
            "runs" => Ok(self.runs.iter().filter(|run| run.about.is_some()).count() as u64),
            _ => Ok(self.runs.iter().map(|run| run.steps.len() as u64).sum()),
        }
    }

    fn steps_table(&self, session: &Arc<Session>) -> Result<Definition, AnalysisError> {
        let rows: Vec<RunRowRef<'_, StepRow>> =
            self.runs.iter().flat_map(|run| run.steps.iter().map(move |step| (run, step))).collect();
        self.computed(session, computed_tables::step_columns(), computed_tables::steps(&rows))
    }

    fn runs_table(&self, session: &Arc<Session>) -> Result<Definition, AnalysisError> {
        let rows: Vec<RunRowRef<'_, RunRow>> =
            self.runs.iter().filter_map(|run| Some((run, run.about.as_ref()?))).collect();
        self.computed(session, computed_tables::run_columns(), computed_tables::runs(&rows))
    }

    /// A table without files, from its own columns and its rows, each with the run that it belongs to.
    pub(crate) fn computed(
        &self,
        session: &Arc<Session>,
        own: Vec<(&str, &str)>,
        rows: Vec<(&RunSource, Vec<Value>)>,
    ) -> Result<Definition, AnalysisError> {
        let columns: Vec<(String, String)> =
            self.origin_columns().chain(own).map(|(name, kind)| (name.to_owned(), sql_type(kind))).collect();
        let preceded = |(run, cells): (&RunSource, Vec<Value>)| {
            self.origin(run).into_iter().map(|(_, value)| value).chain(cells).collect()
        };
        let table = session.table(&columns, rows.into_iter().map(preceded).collect())?;
        let select = format!("SELECT * FROM {}", table.name);
        Ok(Definition { select, files: BTreeSet::new(), table: Some(table) })
    }

    fn has_trials(&self) -> bool {
        self.runs.iter().any(|run| run.trial.is_some())
    }

    /// The columns that name the run and trial that a row comes from.
    pub(crate) fn origin(&self, run: &RunSource) -> Vec<(&'static str, Value)> {
        let number = |number: Option<u32>| number.map_or(Value::None, |number| Value::Int(number.into()));
        let mut origin = vec![("run", Value::Text(run.name.clone()))];
        if self.has_trials() {
            origin.push(("trial", number(run.trial.map(|trial| trial.trial))));
            origin.push(("replicate", number(run.trial.map(|trial| trial.replicate))));
        }
        origin
    }

    fn origin_columns<'a>(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        let has_trials = self.has_trials();
        let trial = [("trial", "u32"), ("replicate", "u32")].into_iter().filter(move |_| has_trials);
        [("run", "text")].into_iter().chain(trial)
    }

    fn stored_table(&self, table: &Stored, session: &Session) -> Result<Definition, AnalysisError> {
        let number = table.numbering.column();
        let columns: Vec<(&str, &str)> =
            table.columns.iter().map(|column| (column.name, column.kind.as_str())).collect();
        let mut definition = Parts::default();
        for run in &self.runs {
            let files = whole_files(run, table, session)?;
            if files.is_empty() {
                continue;
            }
            let numbered = format!("{} AS {number}", table.numbering.expression());
            let origin = self.origin(run).into_iter().map(|(name, value)| constant(name, &value));
            let own = columns.iter().map(|(name, _)| identifier(name));
            let items = origin.chain([numbered]).chain(own).collect::<Vec<_>>().join(", ");
            let rows = typed(&columns, &format!("SELECT *, filename FROM {}", parquet(&run.folder, &files)?));
            definition.add(format!("SELECT {items} FROM ({rows})"), files);
        }
        let all = self.origin_columns().chain([(number, "u32")]).chain(columns);
        Ok(definition.union_or_empty(all))
    }

    /// The costs of the runs' steps. A file's column types follow from its cells, so columns are cast to the documented types.
    fn costs_table(&self, session: &Session) -> Result<Definition, AnalysisError> {
        let columns = wide_columns(COSTS);
        let columns: Vec<(&str, &str)> = columns.iter().map(|(name, kind)| (name.as_str(), *kind)).collect();
        let mut definition = Parts::default();
        for run in &self.runs {
            let Some(path) = whole_costs(run, session)? else { continue };
            let origin = self.origin(run).into_iter().map(|(name, value)| constant(name, &value));
            let own = columns.iter().map(|(name, _)| identifier(name));
            let items = origin.chain(own).collect::<Vec<_>>().join(", ");
            let files = vec![path];
            let rows = format!("SELECT *, filename FROM {}", parquet(&run.folder, &files)?);
            definition.add(format!("SELECT {items} FROM ({})", typed(&columns, &rows)), files);
        }
        Ok(definition.union_or_empty(self.origin_columns().chain(columns)))
    }

    /// The trials of all sweeps; columns of parameters that a sweep lacks are empty in its rows.
    fn trials_table(&self, session: &Session) -> Result<Definition, AnalysisError> {
        let (mut definition, mut seen) = (Parts::default(), BTreeSet::new());
        for sweep in &self.sweeps {
            let Some(path) = whole_trials(sweep, session)?.filter(|path| seen.insert(path.clone())) else {
                continue;
            };
            let files = vec![path];
            let rows = parquet(&sweep.folder, &files)?;
            definition.add(format!("SELECT {} AS run, * FROM {rows}", text(&sweep.name)), files);
        }
        let columns = wide_columns(TRIALS);
        let columns = columns.iter().map(|(name, kind)| (name.as_str(), *kind));
        Ok(definition.union_or_empty([("run", "text")].into_iter().chain(columns)))
    }
}

/// SELECTs of the rows of several runs.
#[derive(Default)]
struct Parts {
    selects: Vec<String>,
    files: BTreeSet<PathBuf>,
}

impl Parts {
    fn add(&mut self, select: String, files: Vec<PathBuf>) {
        self.selects.push(select);
        self.files.extend(files);
    }

    /// All rows; without any part, a table of these columns without rows.
    fn union_or_empty<'a>(self, columns: impl Iterator<Item = (&'a str, &'a str)>) -> Definition {
        let select =
            if self.selects.is_empty() { empty(columns) } else { self.selects.join(" UNION ALL BY NAME ") };
        Definition { select, files: self.files, table: None }
    }
}

/// A SELECT of columns without rows.
fn empty<'a>(columns: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let column = |(name, kind): (&str, &str)| format!("NULL::{} AS {}", sql_type(kind), identifier(name));
    format!("SELECT {} WHERE false", columns.map(column).collect::<Vec<_>>().join(", "))
}

/// The rows of a SELECT with the documented columns and types; a column that its files lack is empty.
fn typed(columns: &[(&str, &str)], select: &str) -> String {
    let file = ("filename", "text");
    format!("{} UNION ALL BY NAME {select}", empty(columns.iter().copied().chain([file])))
}

/// The files of a run's table, each checked, without those that are left out.
pub(crate) fn whole_files(
    run: &RunSource,
    table: &Stored,
    session: &Session,
) -> Result<Vec<PathBuf>, AnalysisError> {
    let mut files = Vec::new();
    for file in files_of(run, table)?.into_iter().map(|file| file.path) {
        if session.admits(&run.name, table.name, &file, || check(run, table, &file, session))? {
            files.push(file);
        }
    }
    Ok(files)
}

/// A run's file of costs, checked; `None` if there is none or it is left out, and where only some of the run's files are read: it
/// belongs to no step, and a script's results must not depend on times. A kill can keep the first one from being written.
pub(crate) fn whole_costs(run: &RunSource, session: &Session) -> Result<Option<PathBuf>, AnalysisError> {
    let path = run.folder.join("costs.parquet");
    if matches!(run.files, Files::Only(_)) || (!path.is_file() && run.steps.len() <= 1) {
        return Ok(None);
    }
    let check = || {
        exists(&path)?;
        Ok(verify_wide(&path, COSTS, &run.costs)?)
    };
    Ok(session.admits(&run.name, COSTS, &path, check)?.then_some(path))
}

/// A sweep's file of trials, checked; `None` if there is none or it is left out.
pub(crate) fn whole_trials(sweep: &SweepSource, session: &Session) -> Result<Option<PathBuf>, AnalysisError> {
    let path = sweep.folder.join("trials.parquet");
    if !path.is_file() && !sweep.has_values {
        return Ok(None);
    }
    let check = || {
        exists(&path)?;
        Ok(verify_wide(&path, TRIALS, &sweep.trials)?)
    };
    Ok(session.admits(&sweep.name, TRIALS, &path, check)?.then_some(path))
}

/// Checks that a file is one of its table, and as it was written.
fn check(run: &RunSource, table: &Stored, file: &Path, session: &Session) -> Result<(), AnalysisError> {
    exists(file)?;
    (table.peek)(file)?;
    match digest_of(run, file) {
        Some(entry) => Ok(session.verify(&run.folder, entry)?),
        None => session.decode(file),
    }
}

fn exists(file: &Path) -> Result<(), AnalysisError> {
    if file.exists() { Ok(()) } else { Err(StoreError::Missing { file: file.to_owned() }.into()) }
}

/// A file of a run with its digest, if that is known.
fn digest_of<'a>(run: &'a RunSource, file: &Path) -> Option<&'a FileEntry> {
    let relative = file.strip_prefix(&run.folder).ok()?;
    let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
    run.digests.get(&parts.join("/"))
}

/// The rows of files of a run or sweep.
fn parquet(folder: &Path, files: &[PathBuf]) -> Result<String, AnalysisError> {
    let root = canonical(folder);
    let path = |file: &PathBuf| path_text(&root.join(file.strip_prefix(folder).unwrap_or(file)));
    let paths = files.iter().map(path).collect::<Result<Vec<_>, _>>()?.join(", ");
    Ok(format!("read_parquet([{paths}], union_by_name = true, hive_partitioning = false)"))
}

/// A column that is the same in all rows.
fn constant(name: &str, value: &Value) -> String {
    match value {
        Value::Text(value) => format!("{} AS {name}", text(value)),
        Value::Int(number) => format!("{number}::BIGINT AS {name}"),
        _ => format!("NULL::BIGINT AS {name}"),
    }
}

pub(crate) fn canonical(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

/// The documented columns, with their types, of a table whose files have no fixed types.
pub(crate) fn wide_columns(table: &str) -> Vec<(String, &'static str)> {
    let kind = |documented: &str| match documented {
        "text" => "text",
        "number" => "f64",
        _ => "i64",
    };
    let columns = column_docs::columns(table).into_iter().filter(|(name, _)| !name.contains('…'));
    columns.map(|(name, documented)| (name, kind(&documented))).collect()
}
