//! Answers column by column, as reports want them.

use dc0_core::params::Value;

use crate::error::AnalysisError;
use crate::rows::Rows;

/// The rows of an answer.
pub(crate) struct Answer(Rows);

impl Answer {
    pub(crate) fn new(rows: Rows) -> Self {
        Self(rows)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Numbers; not a number where a cell is empty.
    pub(crate) fn numbers(&self, column: &str) -> Result<Vec<f64>, AnalysisError> {
        Ok(self.options(column)?.into_iter().map(|number| number.unwrap_or(f64::NAN)).collect())
    }

    /// Numbers that may be missing.
    pub(crate) fn options(&self, column: &str) -> Result<Vec<Option<f64>>, AnalysisError> {
        self.0.numbers(column)
    }

    /// Numbers of a column that the table may not have.
    pub(crate) fn options_if_there(&self, column: &str) -> Result<Vec<Option<f64>>, AnalysisError> {
        if self.has(column) { self.options(column) } else { Ok(vec![None; self.len()]) }
    }

    fn has(&self, column: &str) -> bool {
        self.0.columns().iter().any(|(name, _)| name == column)
    }

    /// Texts, empty where a cell is.
    pub(crate) fn texts(&self, column: &str) -> Result<Vec<String>, AnalysisError> {
        let text = |value| if let Value::Text(text) = value { text } else { String::new() };
        Ok(self.values(column)?.into_iter().map(text).collect())
    }

    /// Lists of whole numbers, empty where a cell is.
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

    /// The names of the columns that begin so.
    pub(crate) fn columns_from(&self, start: &str) -> Vec<String> {
        self.0.columns().into_iter().map(|(name, _)| name).filter(|name| name.starts_with(start)).collect()
    }
}

/// Text as SQL writes it.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
