//! A parameter of a call: what it is, and what can be given to it.

use std::fmt::Write as _;

use dc0_core::params::Row;

use super::markdown::escaped;

/// A parameter in a line: its kind, range and default.
pub(super) fn detail(row: &Row) -> String {
    let range = if row.range.is_empty() { String::new() } else { format!(" in {}", row.range) };
    let default = if row.default.is_empty() { String::new() } else { format!(" = {}", row.default) };
    format!("{}{range}{default}", row.kind)
}

/// A parameter as Markdown.
pub(super) fn documentation(row: &Row, call: &str) -> String {
    let mut text = format!("**`{}`** of `{call}`: {}", row.path, row.kind);
    for (what, value) in [("range", &row.range), ("default", &row.default)] {
        if !value.is_empty() {
            let _ = write!(text, ", {what} `{value}`");
        }
    }
    format!("{text}\n\n{}", row.doc)
}

/// What a snippet puts in for the value.
pub(super) fn value_snippet(row: &Row) -> String {
    match row.words().as_slice() {
        [] if row.is_group() => "#{ $1 \\}".to_owned(),
        [] if row.kind == "text" => "\"$1\"".to_owned(),
        [] if !row.default.is_empty() => format!("${{1:{}}}", escaped(&row.default)),
        all if row.kind.starts_with("one of") => format!("\"${{1|{}|}}\"", all.join(",")),
        _ => "$1".to_owned(),
    }
}

/// Values that can be given, the default first.
pub(super) fn values(row: &Row) -> Vec<String> {
    let mut all = vec![row.default.clone()];
    all.extend(row.words().into_iter().map(|word| format!("\"{word}\"")));
    if row.kind.starts_with("true or false") {
        all.extend(["true", "false"].map(ToOwned::to_owned));
    }
    if row.is_group() {
        all.push("#{}".to_owned());
    }
    if row.kind.ends_with("or () for none") {
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
