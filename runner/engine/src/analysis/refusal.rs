//! Lines that are not served, and the line that says why.

use dc0_core::params::{ParamErrors, Problem};
use serde::Serialize;

/// Why a line is not served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    /// The line's `id`, if it has one.
    pub(super) id: Option<String>,
    /// At least one; the path is empty where the whole line is wrong.
    pub(super) problems: Vec<Problem>,
}

#[derive(Serialize)]
struct Line<'a> {
    id: Option<&'a str>,
    error: String,
    problems: Vec<Field<'a>>,
}

#[derive(Serialize)]
struct Field<'a> {
    field: Option<&'a str>,
    problem: &'a str,
}

impl Refusal {
    /// For a line that is wrong as a whole.
    pub(super) fn of_line(problem: impl Into<String>) -> Self {
        Self { id: None, problems: vec![Problem { path: String::new(), message: problem.into() }] }
    }

    /// For one field of a line.
    pub(super) fn of_field(id: Option<&str>, field: impl Into<String>, problem: impl Into<String>) -> Self {
        let problem = Problem { path: field.into(), message: problem.into() };
        Self { id: id.map(ToOwned::to_owned), problems: vec![problem] }
    }

    /// For all parameters that a reader found wrong.
    pub(super) fn of_params(id: &str, errors: ParamErrors) -> Self {
        Self { id: Some(id.to_owned()), problems: errors.problems }
    }

    /// The line that says so.
    pub(super) fn line(&self) -> String {
        let text = |problem: &Problem| match problem.path.as_str() {
            "" => problem.message.clone(),
            path => format!("{path}: {}", problem.message),
        };
        let line = Line {
            id: self.id.as_deref(),
            error: self.problems.iter().map(text).collect::<Vec<_>>().join("; "),
            problems: self
                .problems
                .iter()
                .map(|problem| Field {
                    field: (!problem.path.is_empty()).then_some(problem.path.as_str()),
                    problem: &problem.message,
                })
                .collect(),
        };
        serde_json::to_string(&line).expect("text only")
    }
}
