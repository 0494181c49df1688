//! The tables as a Python module for polars.

use std::path::{Path, PathBuf};

use dc0_core::params::Value;

use crate::catalog::{COSTS, TRIALS, canonical, whole_costs, whole_files, whole_trials, wide_columns};
use crate::chess::book;
use crate::database::Database;
use crate::duckdb::path_text;
use crate::error::AnalysisError;
use crate::source::RunSource;
use crate::stored_tables::Stored;

/// dc0's functions in Python, with marks where tables and openings go.
const MODULE: &str = include_str!("../../polars.py");

impl Database {
    /// A Python module that defines the tables as polars' lazy frames, and dc0's functions.
    pub fn polars(&self) -> Result<String, AnalysisError> {
        let mut tables = Vec::new();
        for name in self.names() {
            let value = match self.catalog().stored(&name) {
                Some(table) => self.stored_frame(table)?,
                None if name == COSTS => self.costs_frame()?,
                None if name == TRIALS => self.trials_frame()?,
                None => self.computed_frame(&name)?,
            };
            tables.push(format!("{name} = {value}"));
        }
        let names: Vec<String> = self.names().iter().map(|name| format!("\"{name}\": {name}")).collect();
        Ok(MODULE
            .replace("__TABLES__", &tables.join("\n"))
            .replace("__NAMES__", &names.join(", "))
            .replace("__OPENINGS__", book::LINES))
    }

    fn stored_frame(&self, table: &Stored) -> Result<String, AnalysisError> {
        let columns = table.columns.iter().map(|column| (column.name, column.kind.as_str()));
        let mut parts = Vec::new();
        for run in &self.catalog().runs {
            let files = whole_files(run, table, self.session())?;
            parts.extend(self.part(run, &files)?);
        }
        let number = table.numbering;
        let (number, pattern) = (string(number.column()), string(&number.pattern()));
        Ok(format!("_stored({number}, {pattern}, {}, [{}])", types(columns), parts.join(", ")))
    }

    fn costs_frame(&self) -> Result<String, AnalysisError> {
        let columns = wide_columns(COSTS);
        let columns = columns.iter().map(|(name, kind)| (name.as_str(), *kind));
        let mut parts = Vec::new();
        for run in &self.catalog().runs {
            let file: Vec<PathBuf> = whole_costs(run, self.session())?.into_iter().collect();
            parts.extend(self.part(run, &file)?);
        }
        Ok(format!("_stored(None, None, {}, [{}])", types(columns), parts.join(", ")))
    }

    fn trials_frame(&self) -> Result<String, AnalysisError> {
        let columns = wide_columns(TRIALS);
        let columns = columns.iter().map(|(name, kind)| (name.as_str(), *kind));
        let mut parts = Vec::new();
        for sweep in &self.catalog().sweeps {
            if let Some(file) = whole_trials(sweep, self.session())? {
                let origin = literal(&Value::Text(sweep.name.clone()));
                parts.push(format!("({{\"run\": {origin}}}, [{}])", path(&sweep.folder, &file)?));
            }
        }
        Ok(format!("_wide({}, [{}])", types(columns), parts.join(", ")))
    }

    /// A run's rows: the columns that say where they come from, and its files. `None` without files.
    fn part(&self, run: &RunSource, files: &[PathBuf]) -> Result<Option<String>, AnalysisError> {
        let paths = files.iter().map(|file| path(&run.folder, file)).collect::<Result<Vec<_>, _>>()?;
        let origin = self.catalog().origin(run).into_iter();
        let origin: Vec<String> =
            origin.map(|(name, value)| format!("{}: {}", string(name), literal(&value))).collect();
        let part = format!("({{{}}}, [{}])", origin.join(", "), paths.join(", "));
        Ok((!files.is_empty()).then_some(part))
    }

    fn computed_frame(&self, name: &str) -> Result<String, AnalysisError> {
        let frame = self.table(name)?;
        let rows = frame.rows()?;
        let columns: Vec<(String, String)> = rows.columns();
        let columns = columns.iter().map(|(name, kind)| (name.as_str(), kind.as_str()));
        let row = |row: usize| {
            let cells: Vec<String> = rows.row(row).iter().map(literal).collect();
            format!("({},)", cells.join(", "))
        };
        let rows: Vec<String> = (0..rows.len()).map(row).collect();
        Ok(format!("_computed({}, [{}])", types(columns), rows.join(",\n  ")))
    }
}

/// Columns with their types in polars, from their documented types.
fn types<'a>(columns: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let pairs: Vec<String> =
        columns.map(|(name, kind)| format!("{}: {}", string(name), polars_type(kind))).collect();
    format!("{{{}}}", pairs.join(", "))
}

/// Integers are wide, as in dc0's own queries.
fn polars_type(documented: &str) -> String {
    match documented {
        "bool" => "pl.Boolean".to_owned(),
        "f32" => "pl.Float32".to_owned(),
        "f64" => "pl.Float64".to_owned(),
        "text" => "pl.String".to_owned(),
        list if list.starts_with("list<") => {
            format!("pl.List({})", polars_type(list.trim_start_matches("list<").trim_end_matches('>')))
        }
        _ => "pl.Int64".to_owned(),
    }
}

/// A text in Python, which has the escapes of JSON.
fn string(text: &str) -> String {
    Value::Text(text.to_owned()).canonical()
}

fn path(folder: &Path, file: &Path) -> Result<String, AnalysisError> {
    let absolute = canonical(folder).join(file.strip_prefix(folder).unwrap_or(file));
    // A path that is not text is refused here as in SQL.
    path_text(&absolute)?;
    Ok(string(&absolute.to_string_lossy()))
}

fn literal(value: &Value) -> String {
    match value {
        Value::None => "None".to_owned(),
        Value::Bool(value) => if *value { "True" } else { "False" }.to_owned(),
        Value::Float(number) if number.is_nan() => "float(\"nan\")".to_owned(),
        Value::Float(number) if number.is_infinite() => format!("float(\"{number}\")"),
        Value::Float(number) => format!("{number:e}"),
        Value::Int(number) => number.to_string(),
        Value::Text(value) => string(value),
        Value::List(items) => format!("[{}]", items.iter().map(literal).collect::<Vec<_>>().join(", ")),
        Value::Group(_) => string(&value.canonical()),
    }
}
