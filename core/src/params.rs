//! Parameters, declared once.
//!
//! [`params!`] turns one declaration (type, default, range, doc line) into a struct, its `Default`, a reader from a
//! plain [`Value`] tree that reports *all* problems at once, and rows for the documentation. [`param_enum!`] does the
//! same for a choice of names. Nothing here knows where values come from; the runner converts script maps to [`Value`].

mod declare;
mod kind;
mod problems;
mod schedule;
mod types;
mod value;

pub use kind::ParamKind;
pub use problems::{Advice, ParamErrors, Problem, Problems, advice, intended, nearest};
pub use schedule::Schedule;
pub use types::{Bounds, Param, Row, group_row};
pub use value::Value;

/// A struct declared by [`params!`].
pub trait Params: Param + Default {
    /// The struct's own doc line.
    fn about() -> &'static str;
    /// Names of the fields, in the order of declaration.
    fn names() -> &'static [&'static str];
    /// One row for every leaf parameter, nested groups expanded with dotted paths.
    fn rows() -> Vec<Row>;
}

/// Reads a struct from a group of values; `what` names the call in the error.
pub fn read<T: Params>(what: &str, value: &Value) -> Result<T, ParamErrors> {
    let mut problems = Problems::default();
    let read = T::read(value, "", None, &mut problems);
    match (read, problems.is_empty()) {
        (Some(params), true) => Ok(params),
        _ => Err(problems.into_errors(what)),
    }
}

#[cfg(test)]
mod tests;
