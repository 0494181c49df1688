//! A parameter of a call: its documentation and its possible values.

use std::fmt::Write as _;

use dc0_core::params::{ParamKind, Row};

use super::markdown::escaped;

/// A parameter in one line: its kind, range and default.
pub(super) fn detail(row: &Row) -> String {
    let range = row.range.map(|range| format!(" in {range}")).unwrap_or_default();
    let default = if row.default.is_empty() { String::new() } else { format!(" = {}", row.default) };
    format!("{}{range}{default}", row.kind)
}

/// A parameter as Markdown.
pub(super) fn documentation(row: &Row, call: &str) -> String {
    let mut text = format!("**`{}`** of `{call}`: {}", row.path, row.kind);
    if let Some(range) = row.range {
        let _ = write!(text, ", range `{range}`");
    }
    if !row.default.is_empty() {
        let _ = write!(text, ", default `{}`", row.default);
    }
    format!("{text}\n\n{}", row.doc)
}

/// The snippet for the value.
pub(super) fn value_snippet(row: &Row) -> String {
    match row.kind.required() {
        ParamKind::Choice(words) => format!("\"${{1|{}|}}\"", words.join(",")),
        _ if !row.kind.choices().is_empty() => "$1".to_owned(),
        kind if kind.is_group() => "#{ $1 \\}".to_owned(),
        _ if row.kind == ParamKind::Text => "\"$1\"".to_owned(),
        _ if row.default.is_empty() => "$1".to_owned(),
        _ => format!("${{1:{}}}", escaped(&row.default)),
    }
}

/// Possible values, the default first.
pub(super) fn values(row: &Row) -> Vec<String> {
    let mut all = vec![row.default.clone()];
    all.extend(row.kind.choices().iter().map(|word| format!("\"{word}\"")));
    if *row.kind.required() == ParamKind::Bool {
        all.extend(["true", "false"].map(ToOwned::to_owned));
    }
    if row.kind.is_group() {
        all.push("#{}".to_owned());
    }
    if matches!(row.kind, ParamKind::Optional(_)) {
        all.push("()".to_owned());
    }
    let mut values: Vec<String> = Vec::new();
    for value in all {
        if !value.is_empty() && !values.contains(&value) {
            values.push(value);
        }
    }
    values
}
