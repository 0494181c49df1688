//! Query results by column, as reports read them.

use dc0_core::params::Value;

use crate::error::AnalysisError;
use crate::rows::Rows;

/// The result of a query.
pub(crate) struct Answer(Rows);

impl Answer {
    pub(crate) fn new(rows: Rows) -> Self {
        Self(rows)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// A column of numbers; NaN for empty cells.
    pub(crate) fn numbers(&self, column: &str) -> Result<Vec<f64>, AnalysisError> {
        Ok(self.options(column)?.into_iter().map(|number| number.unwrap_or(f64::NAN)).collect())
    }

    /// A column of numbers; `None` for empty cells.
    pub(crate) fn options(&self, column: &str) -> Result<Vec<Option<f64>>, AnalysisError> {
        self.0.numbers(column)
    }

    /// The same for a column that the table may lack.
    pub(crate) fn options_or_none(&self, column: &str) -> Result<Vec<Option<f64>>, AnalysisError> {
        if self.has(column) { self.options(column) } else { Ok(vec![None; self.len()]) }
    }

    fn has(&self, column: &str) -> bool {
        self.0.columns().iter().any(|(name, _)| name == column)
    }

    /// A column of texts; empty for empty cells.
    pub(crate) fn texts(&self, column: &str) -> Result<Vec<String>, AnalysisError> {
        let text = |value| if let Value::Text(text) = value { text } else { String::new() };
        Ok(self.values(column)?.into_iter().map(text).collect())
    }

    /// A column of lists of integers; empty for empty cells.
    pub(crate) fn lists(&self, column: &str) -> Result<Vec<Vec<i64>>, AnalysisError> {
        let list = |value| match value {
            Value::List(items) => {
                items.iter().filter_map(|item| item.as_f64().map(|item| item as i64)).collect()
            }
            _ => Vec::new(),
        };
        Ok(self.values(column)?.into_iter().map(list).collect())
    }

    pub(crate) fn values(&self, column: &str) -> Result<Vec<Value>, AnalysisError> {
        self.0.column(column)
    }

    /// The names of the columns with a prefix.
    pub(crate) fn columns_with_prefix(&self, prefix: &str) -> Vec<String> {
        self.0.columns().into_iter().map(|(name, _)| name).filter(|name| name.starts_with(prefix)).collect()
    }
}
