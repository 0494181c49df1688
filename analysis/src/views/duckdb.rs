//! The tables as SQL for DuckDB: the same SELECTs that dc0's own statements read.

use dc0_core::params::Value;

use crate::database::Database;
use crate::error::AnalysisError;
use crate::frame::Frame;
use crate::quoting::{identifier, text};

/// dc0's functions that can be written in SQL.
const MACROS: &str = include_str!("../../macros.sql");

impl Database {
    /// SQL that defines the tables as views in DuckDB, and dc0's functions as macros.
    pub fn views(&self) -> Result<String, AnalysisError> {
        let mut parts = vec![MACROS.trim_end().to_owned()];
        for name in self.names() {
            let definition = self.definition(&name)?;
            let select = match definition.table {
                Some(_) => literal(&self.table(&name)?)?,
                None => definition.select,
            };
            parts.push(format!("CREATE OR REPLACE VIEW {} AS {select};", identifier(&name)));
        }
        Ok(parts.join("\n\n"))
    }
}

/// The rows of a frame as part of the statement.
fn literal(frame: &Frame) -> Result<String, AnalysisError> {
    let rows = frame.rows()?;
    let row = |row: usize| {
        let cells: Vec<String> = rows.row(row).iter().map(cell).collect();
        format!("({})", cells.join(", "))
    };
    let typed = frame.sql_types().map(|(name, kind)| (identifier(name), kind));
    let (names, items): (Vec<String>, Vec<String>) =
        typed.map(|(name, kind)| (name.clone(), format!("{name}::{kind} AS {name}"))).unzip();
    let items = items.join(", ");
    if rows.is_empty() {
        let empty: Vec<String> = names.iter().map(|name| format!("NULL AS {name}")).collect();
        return Ok(format!("SELECT {items} FROM (SELECT {} WHERE false)", empty.join(", ")));
    }
    let cells: Vec<String> = (0..rows.len()).map(row).collect();
    Ok(format!("SELECT {items} FROM (VALUES {}) AS t({})", cells.join(",\n  "), names.join(", ")))
}

fn cell(value: &Value) -> String {
    match value {
        Value::None => "NULL".to_owned(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => format!("{number:e}"),
        Value::Text(value) => text(value),
        other => text(&other.canonical()),
    }
}
