//! The tables of some runs, and queries on them.

use std::collections::BTreeMap;
use std::sync::Arc;

use dc0_core::params::Value;

use crate::answer::Answer;
use crate::catalog::{COSTS, Catalog, Definition, TRIALS};
use crate::column_docs;
use crate::column_types::type_name;
use crate::computed_tables;
use crate::error::AnalysisError;
use crate::frame::Frame;
use crate::session::{Session, Work};
use crate::source::{Damage, Files, RunSource, SweepSource};
use crate::staleness::{self, STALENESS};
use crate::standings::{self, RATINGS};
use crate::statement::Statement;
use crate::stored_tables::Numbering;
use crate::table_files::files_of;

/// The tables of some runs. A table's files are listed when a query names it.
#[derive(Debug, Clone)]
pub struct Database {
    catalog: Catalog,
    session: Arc<Session>,
    /// What is known to be missing or damaged.
    faults: Vec<Damage>,
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
const UNNUMBERED: [&str; 5] = [RATINGS, "steps", STALENESS, COSTS, "runs"];

impl Database {
    /// The tables of runs, and of sweeps, whose trials' runs are among `runs`.
    pub fn new(runs: Vec<RunSource>, sweeps: Vec<SweepSource>, work: Work) -> Self {
        let catalog = Catalog::new(runs, sweeps);
        let session = Arc::new(Session::new(work, &catalog.folders()));
        Self { catalog, session, faults: Vec::new() }
    }

    /// As [`new`](Self::new), for runs that may be damaged: what cannot be read is left out. `faults` is what is known to be missing.
    pub fn of_readable(
        runs: Vec<RunSource>,
        sweeps: Vec<SweepSource>,
        work: Work,
        faults: Vec<Damage>,
    ) -> Self {
        let catalog = Catalog::new(runs, sweeps);
        let session = Arc::new(Session::of_readable(work, &catalog.folders()));
        Self { catalog, session, faults }
    }

    /// Everything that is missing or damaged, as far as it is known or was noticed by queries.
    pub fn faults(&self) -> Vec<Damage> {
        // A file that is known to be damaged is noticed again when it is read.
        let is_new = |found: &Damage| self.faults.iter().all(|known| known.path != found.path);
        let found = self.session.left_out().into_iter().filter(is_new);
        self.faults.iter().cloned().chain(found).collect()
    }

    /// The tables of runs, read in a database that can read their folders.
    pub fn within(session: &Arc<Session>, runs: Vec<RunSource>) -> Self {
        let catalog = Catalog::new(runs, Vec::new());
        Self { catalog, session: Arc::clone(session), faults: Vec::new() }
    }

    pub(crate) fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    /// The tables of one of the runs.
    pub(crate) fn of_one(&self, run: &RunSource) -> Self {
        let catalog = self.catalog.of_one(run);
        Self { catalog, session: Arc::clone(&self.session), faults: Vec::new() }
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
        let frame = self.table(&name)?;
        let known = match name.as_str() {
            RATINGS => standings::columns(),
            STALENESS => staleness::columns(),
            "steps" => computed_tables::step_columns(),
            "runs" => computed_tables::run_columns(),
            _ => Vec::new(),
        };
        let stored = self.catalog.stored(&name);
        let column = |(column, kind): (String, String)| {
            let in_file = stored.and_then(|table| table.columns.iter().find(|known| known.name == column));
            let in_table =
                known.iter().find(|(known, _)| *known == column).map(|(_, kind)| (*kind).to_owned());
            let kind = in_file.map(|known| known.kind.clone()).or(in_table).unwrap_or(kind);
            ColumnInfo { meaning: column_docs::meaning(&name, &column), name: column, kind }
        };
        let columns = frame.types().map(|(name, dtype)| (name.to_owned(), type_name(&dtype))).map(column);
        let columns = columns.collect();
        Ok(TableInfo { about: column_docs::about(&name), columns, rows: self.count(&name)?, name })
    }

    fn count(&self, name: &str) -> Result<u64, AnalysisError> {
        match name {
            RATINGS => Ok(self.ratings()?.len() as u64),
            STALENESS => Ok(self.staleness().len() as u64),
            other => self.catalog.count(other, &self.session),
        }
    }

    /// The rows of `ratings`, each with its run.
    fn ratings(&self) -> Result<Vec<(&RunSource, Vec<Value>)>, AnalysisError> {
        let mut rows = Vec::new();
        for run in &self.catalog.runs {
            let matches = self.of_one(run).fetch(standings::PAIRS)?;
            rows.extend(standings::rows(run, &matches)?.into_iter().map(|row| (run, row)));
        }
        Ok(rows)
    }

    /// The rows of `staleness`, each with its run.
    fn staleness(&self) -> Vec<(&RunSource, Vec<Value>)> {
        let runs = self.catalog.runs.iter();
        runs.flat_map(|run| staleness::rows(run).into_iter().map(move |row| (run, row))).collect()
    }

    /// A table's rows as SQL.
    pub(crate) fn definition(&self, name: &str) -> Result<Definition, AnalysisError> {
        match name {
            RATINGS => self.catalog.computed(&self.session, standings::columns(), self.ratings()?),
            STALENESS => self.catalog.computed(&self.session, staleness::columns(), self.staleness()),
            other => self.catalog.definition(other, &self.session),
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
                // Of the run's digests, only those of these files: there may be many iterations.
                let digest = |file: &String| Some((file.clone(), run.digests.get(file)?.clone()));
                let digests = files.iter().filter_map(digest).collect();
                let (trial, files) = (run.trial, Files::Only(files));
                let own =
                    RunSource { trial, files, digests, ..RunSource::from_folder(&run.name, &run.folder) };
                Iteration { number, database: self.of_one(&own), run: own.name }
            }));
        }
        Ok(found)
    }

    /// Prepares a query from one SELECT statement.
    pub fn query(&self, statement: &str) -> Result<Frame, AnalysisError> {
        let statement = Statement::parse(statement, self.session.connection()?)?;
        let known = self.names();
        let (read, other): (Vec<_>, Vec<_>) =
            statement.tables.iter().partition(|table| known.contains(&table.name));
        if let Some(unknown) = other.into_iter().find(|table| !table.is_defined) {
            return Err(AnalysisError::Table { name: unknown.name.clone(), known });
        }
        let tables = read.into_iter().map(|table| Ok((self.definition(&table.name)?, table.name.clone())));
        let tables = tables.collect::<Result<Vec<_>, AnalysisError>>()?;
        Frame::from_statement(&self.session, &statement, tables)
    }

    /// Runs one of the report's queries.
    pub(crate) fn fetch(&self, statement: &str) -> Result<Answer, AnalysisError> {
        Ok(Answer::new(self.query(statement)?.rows()?))
    }

    /// A whole table.
    pub fn table(&self, name: &str) -> Result<Frame, AnalysisError> {
        let known = self.names();
        if known.iter().any(|table| table == name) {
            self.query(&format!("SELECT * FROM {name}"))
        } else {
            Err(AnalysisError::Table { name: name.to_owned(), known })
        }
    }
}

#[cfg(test)]
mod tests {
    use dc0_core::store::FileEntry;

    use super::{Database, Files, RunSource, Work};

    #[test]
    fn an_iteration_has_the_digests_of_its_own_files_only() {
        let paths = [
            "games/iteration=0000/part-0a-00000.parquet",
            "games/iteration=0001/part-0b-00000.parquet",
            "positions/iteration=0001/part-0b-00000.parquet",
        ];
        let entry = |path: &str| {
            let entry = FileEntry { path: path.to_owned(), rows: 0, bytes: 0, blake3: String::new() };
            (path.to_owned(), entry)
        };
        let run = RunSource {
            files: Files::Listed,
            digests: paths.map(entry).into(),
            ..RunSource::from_folder("x", "x")
        };
        let database = Database::new(vec![run], Vec::new(), Work::Exact);
        let iterations = database.iterations().expect("files");
        let digests: Vec<Vec<&str>> = iterations
            .iter()
            .map(|one| one.database.catalog.runs[0].digests.keys().map(String::as_str).collect())
            .collect();
        assert_eq!(digests, [paths[..1].to_vec(), paths[1..].to_vec()]);
    }
}
