//! Query results: rows in memory, read cell by cell as plain values.

use dc0_core::params::Value;
use polars::prelude::{AnyValue, Column, DataFrame};

use crate::column_types::type_name;
use crate::error::AnalysisError;

/// The rows of a query's result.
#[derive(Debug, Clone)]
pub struct Rows {
    pub(crate) frame: DataFrame,
}

impl Rows {
    pub(crate) fn new(frame: DataFrame) -> Self {
        Self { frame }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.frame.height()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The names of the columns with their types, such as `list<u16>`.
    pub fn columns(&self) -> Vec<(String, String)> {
        self.frame
            .columns()
            .iter()
            .map(|column| (column.name().to_string(), type_name(column.dtype())))
            .collect()
    }

    /// A column's cells, from the first row to the last; an empty cell is [`Value::None`].
    pub fn column(&self, name: &str) -> Result<Vec<Value>, AnalysisError> {
        let column = self.find(name)?;
        Ok((0..self.len()).map(|row| cell(column, row)).collect())
    }

    /// A column of numbers.
    pub fn numbers(&self, name: &str) -> Result<Vec<Option<f64>>, AnalysisError> {
        Ok(self.column(name)?.iter().map(Value::as_f64).collect())
    }

    /// A row's cells in the order of the columns.
    pub fn row(&self, row: usize) -> Vec<Value> {
        self.frame.columns().iter().map(|column| cell(column, row)).collect()
    }

    fn find(&self, name: &str) -> Result<&Column, AnalysisError> {
        let known = || self.columns().into_iter().map(|(name, _)| name).collect();
        self.frame.column(name).map_err(|_| AnalysisError::Column { name: name.to_owned(), known: known() })
    }
}

fn cell(column: &Column, row: usize) -> Value {
    column.get(row).map_or(Value::None, |value| plain(&value))
}

fn plain(value: &AnyValue<'_>) -> Value {
    match value {
        AnyValue::Null => Value::None,
        AnyValue::Boolean(value) => Value::Bool(*value),
        AnyValue::String(text) => Value::Text((*text).to_owned()),
        AnyValue::StringOwned(text) => Value::Text(text.to_string()),
        AnyValue::Float64(value) => Value::Float(*value),
        // Through text: 0.1 stays 0.1, where a cast would give 0.10000000149011612.
        AnyValue::Float32(value) => Value::Float(value.to_string().parse().unwrap_or(f64::from(*value))),
        AnyValue::List(items) => Value::List(items.iter().map(|item| plain(&item)).collect()),
        other => match other.extract::<i64>() {
            Some(integer) if other.is_integer() => Value::Int(integer),
            _ => Value::Text(other.to_string()),
        },
    }
}
