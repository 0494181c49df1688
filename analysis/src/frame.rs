//! Lazy queries: a frame can be refined step by step, and its rows are computed on demand.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use dc0_core::store::StoreError;
use polars::prelude::{LazyFrame, PolarsResult};
use polars::sql::SQLContext;

use crate::catalog::Scan;
use crate::engine::{self, Panicked, Work};
use crate::error::AnalysisError;
use crate::functions;
use crate::parquet_scan;
use crate::rows::Rows;
use crate::statement::{Statement, expression, item, order, quoted};

/// A lazy query. Every method returns a new frame and resolves only the columns and their types, so mistakes show at once.
#[derive(Clone)]
pub struct Frame {
    lazy: LazyFrame,
    columns: Vec<String>,
    work: Work,
    /// The files that it reads, so that an error can name a damaged one.
    files: Arc<BTreeSet<PathBuf>>,
}

/// A frame with grouped rows.
#[derive(Clone)]
pub struct Grouped {
    frame: Frame,
    by: Vec<String>,
}

/// The frame's table name in the statements that its methods build.
const OWN: &str = "dc0_frame";
/// The other frame's table name in a join.
const OTHER: &str = "dc0_other";

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

/// The names of a frame's columns.
fn names(lazy: &mut LazyFrame) -> PolarsResult<Vec<String>> {
    Ok(lazy.collect_schema()?.iter_names().map(ToString::to_string).collect())
}

impl Frame {
    /// All rows of a table.
    pub(crate) fn new(scan: Scan, work: Work) -> Result<Self, AnalysisError> {
        let Scan { mut lazy, files } = scan;
        let columns = names(&mut lazy).map_err(|error| AnalysisError::from_execution(&error))?;
        Ok(Self { lazy, columns, work, files })
    }

    /// A statement on tables.
    pub(crate) fn from_statement(
        statement: Statement,
        tables: Vec<(String, Scan)>,
        work: Work,
    ) -> Result<Self, AnalysisError> {
        let mut context = SQLContext::new().with_function_registry(functions::registry());
        let (mut known, mut all_files) = (Vec::new(), BTreeSet::new());
        for (name, Scan { mut lazy, files }) in tables {
            all_files.extend(files.iter().cloned());
            let columns = names(&mut lazy).map_err(|error| AnalysisError::from_execution(&error))?;
            known.extend(columns.into_iter().filter(|column| !known.contains(column)).collect::<Vec<_>>());
            context.register(&name, lazy);
        }
        let plan = engine::run(work, move || {
            let mut lazy = statement.execute(&mut context)?;
            let columns = names(&mut lazy)?;
            Ok((lazy, columns))
        });
        let panicked = |Panicked| AnalysisError::Statement {
            message: "the SQL engine panicked on this statement".to_owned(),
        };
        let (lazy, columns) = plan
            .map_err(panicked)?
            .map_err(|error| AnalysisError::of_statement(&error, &known, &functions::known_names()))?;
        Ok(Self { lazy, columns, work, files: Arc::new(all_files) })
    }

    /// The names of its columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The rows that satisfy an SQL condition.
    pub fn filter(&self, condition: &str) -> Result<Self, AnalysisError> {
        self.query(&format!("SELECT * FROM {OWN} WHERE {}", expression(condition)?))
    }

    /// Selects columns: names, or expressions such as `plies / 2 as moves`.
    pub fn select(&self, items: &[String]) -> Result<Self, AnalysisError> {
        let items = items.iter().map(|text| item(text)).collect::<Result<Vec<_>, _>>()?;
        self.query(&format!("SELECT {} FROM {OWN}", items.join(", ")))
    }

    /// Sorts the rows, for example by `n desc, reason`; the sort is stable.
    pub fn sort(&self, by: &str) -> Result<Self, AnalysisError> {
        self.query(&format!("SELECT * FROM {OWN} ORDER BY {}", order(by)?))
    }

    /// The first `rows` rows.
    pub fn head(&self, rows: u64) -> Result<Self, AnalysisError> {
        self.query(&format!("SELECT * FROM {OWN} LIMIT {rows}"))
    }

    /// Joins the rows of another frame that are equal in the columns `on`.
    pub fn join(&self, other: &Self, on: &[String]) -> Result<Self, AnalysisError> {
        for frame in [self, other] {
            frame.check_columns(on)?;
        }
        let columns = self.columns.iter().map(|name| format!("{OWN}.{} AS {}", quoted(name), quoted(name)));
        // A column of the other frame whose name is taken gets the prefix `other_`.
        let unique =
            |name: &String| if self.columns.contains(name) { format!("other_{name}") } else { name.clone() };
        let others = other.columns.iter().filter(|name| !on.contains(name));
        let others = others.map(|name| format!("{OTHER}.{} AS {}", quoted(name), quoted(&unique(name))));
        let columns = columns.chain(others).collect::<Vec<_>>().join(", ");
        let equal = |name: &String| format!("{OWN}.{0} = {OTHER}.{0}", quoted(name));
        let equal = on.iter().map(equal).collect::<Vec<_>>().join(" AND ");
        let statement = Statement::parse(&format!("SELECT {columns} FROM {OWN} JOIN {OTHER} ON {equal}"))?;
        let tables = vec![(OWN.to_owned(), self.scan()), (OTHER.to_owned(), other.scan())];
        Self::from_statement(statement, tables, self.work)
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

    fn scan(&self) -> Scan {
        Scan { lazy: self.lazy.clone(), files: Arc::clone(&self.files) }
    }

    fn query(&self, statement: &str) -> Result<Self, AnalysisError> {
        let tables = vec![(OWN.to_owned(), self.scan())];
        Self::from_statement(Statement::parse(statement)?, tables, self.work)
    }

    /// A single column.
    pub fn only(&self, column: &str) -> Result<Self, AnalysisError> {
        self.check_columns(&[column.to_owned()])?;
        self.query(&format!("SELECT {} FROM {OWN}", quoted(column)))
    }

    /// Counts the rows, without keeping them.
    pub fn count(&self) -> Result<u64, AnalysisError> {
        let counted = self.query(&format!("SELECT count(*) AS n FROM {OWN}"))?.rows()?;
        Ok(counted.numbers("n")?.first().copied().flatten().unwrap_or_default() as u64)
    }

    /// Computes the rows.
    pub fn rows(&self) -> Result<Rows, AnalysisError> {
        engine::collect(&self.lazy, self.work).map(Rows::new).map_err(|cause| self.blame(&cause))
    }

    /// The error for a failed query: names the damaged file, if there is one.
    fn blame(&self, cause: &str) -> AnalysisError {
        let first_line = |cause: &str| cause.lines().next().unwrap_or_default().to_owned();
        for file in self.files.iter() {
            let cause = match engine::run(self.work, || parquet_scan::check(file)) {
                Ok(Ok(())) => continue,
                Ok(Err(error)) => first_line(&error.to_string()),
                Err(Panicked) => "the SQL engine panicked".to_owned(),
            };
            return StoreError::Damaged { file: file.clone(), cause }.into();
        }
        AnalysisError::Failed { message: first_line(cause) }
    }
}

impl Grouped {
    /// One row per group: the grouping columns, then the named aggregates. Sorted by the grouping columns.
    pub fn agg(&self, aggregates: &[(String, String)]) -> Result<Frame, AnalysisError> {
        let by: Vec<String> = self.by.iter().map(|name| quoted(name)).collect();
        let mut items = by.clone();
        for (name, text) in aggregates {
            items.push(format!("{} AS {}", expression(text)?, quoted(name)));
        }
        let (items, by) = (items.join(", "), by.join(", "));
        let grouped = if by.is_empty() { String::new() } else { format!(" GROUP BY {by} ORDER BY {by}") };
        self.frame.query(&format!("SELECT {items} FROM {OWN}{grouped}"))
    }
}
