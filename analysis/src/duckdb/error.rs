//! DuckDB's errors, which it writes as JSON.

use polars::error::PolarsError;

/// An error of DuckDB's, or of reading its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EngineError {
    /// What kind of error it is.
    pub(crate) kind: ErrorKind,
    /// What is wrong, in one line.
    pub(crate) message: String,
    /// What the error is about, such as a column.
    pub(crate) name: Option<String>,
    /// Names that may have been meant.
    pub(crate) candidates: Vec<String>,
}

/// What kind of error it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    /// The text is not SQL.
    Syntax,
    /// There is no such table.
    Table,
    /// There is no such column.
    Column,
    /// There is no such function.
    Function,
    /// The statement is wrong in another way, or fails on the values that it meets.
    Statement,
    /// The memory that it may use is used up.
    Memory,
    /// Anything else, such as a file that cannot be read.
    Other,
}

impl EngineError {
    pub(super) fn other(message: &str) -> Self {
        Self { kind: ErrorKind::Other, message: message.to_owned(), name: None, candidates: Vec::new() }
    }

    pub(super) fn syntax(message: &str) -> Self {
        Self { kind: ErrorKind::Syntax, ..Self::other(message) }
    }

    /// Reads a message that DuckDB wrote with `errors_as_json`; others are taken as they are.
    pub(super) fn parse(text: &str) -> Self {
        let json =
            text.find('{').and_then(|start| serde_json::from_str::<serde_json::Value>(&text[start..]).ok());
        let Some(json) = json else { return Self::other(first_line(text)) };
        let field = |name: &str| json.get(name).and_then(serde_json::Value::as_str);
        let message = field("exception_message").unwrap_or(text);
        let kind = match (field("exception_type").unwrap_or_default(), field("type"), field("error_subtype"))
        {
            ("Parser" | "Syntax", ..) => ErrorKind::Syntax,
            ("Catalog", Some("Table"), _) => ErrorKind::Table,
            ("Catalog", Some(kind), _) if kind.ends_with("Function") => ErrorKind::Function,
            ("Binder", _, Some("COLUMN_NOT_FOUND")) => ErrorKind::Column,
            ("Out of Memory", ..) => ErrorKind::Memory,
            (
                "Binder"
                | "Catalog"
                | "Conversion"
                | "Out of Range"
                | "Invalid Input"
                | "Not implemented"
                | "Mismatch Type"
                | "Expression"
                | "Permission"
                | "Parameter Not Resolved"
                | "Sequence"
                | "Division by Zero",
                ..,
            ) => ErrorKind::Statement,
            _ => ErrorKind::Other,
        };
        if kind == ErrorKind::Statement
            && let Some(unknown) = Self::of_unknown_name(message)
        {
            return unknown;
        }
        let candidates = field("candidates").unwrap_or_default().split(',').map(plain);
        Self {
            kind,
            // Settings cannot be changed here.
            message: first_line(message).split(" Use \"SET ").next().unwrap_or_default().to_owned(),
            name: field("name").map(plain),
            candidates: candidates.filter(|name| !name.is_empty()).collect(),
        }
    }

    /// What the message says of a name with its table, which DuckDB says in no member.
    fn of_unknown_name(message: &str) -> Option<Self> {
        let quoted = |text: &str| Some(text.split('"').nth(1)?.to_owned());
        let (head, candidates) = message.split_once("\nCandidate").unwrap_or((message, ""));
        let (kind, name) = if let Some((table, column)) = head.split_once(" does not have a column named ") {
            (ErrorKind::Column, format!("{}.{}", quoted(table)?, quoted(column)?))
        } else if let Some(table) =
            head.trim_end().strip_suffix(" not found!")?.strip_prefix("Referenced table ")
        {
            (ErrorKind::Table, plain(table))
        } else {
            return None;
        };
        let candidates = candidates.split('"').skip(1).step_by(2).map(ToOwned::to_owned).collect();
        Some(Self { kind, message: first_line(message).to_owned(), name: Some(name), candidates })
    }
}

impl From<PolarsError> for EngineError {
    fn from(error: PolarsError) -> Self {
        Self::other(first_line(&error.to_string()))
    }
}

/// A name without spaces and quotes around it.
fn plain(name: &str) -> String {
    name.trim().trim_matches('"').to_owned()
}

fn first_line(message: &str) -> &str {
    message.lines().next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::{EngineError, ErrorKind};

    #[test]
    fn kinds_names_and_candidates_are_read() {
        let column = r#"{"exception_type":"Binder","exception_message":"Referenced column \"reslt\" not found in FROM clause!\nCandidate bindings: \"result\"","candidates":"result, \"reason\"","error_subtype":"COLUMN_NOT_FOUND","name":"reslt"}"#;
        let error = EngineError::parse(column);
        assert_eq!((error.kind, error.name.as_deref()), (ErrorKind::Column, Some("reslt")));
        assert_eq!(error.candidates, ["result", "reason"]);
        assert_eq!(error.message, "Referenced column \"reslt\" not found in FROM clause!");
        let deep = r#"{"exception_type":"Parser","exception_message":"Max expression depth limit of 1000 exceeded. Use \"SET max_expression_depth TO x\" to increase it."}"#;
        assert_eq!(EngineError::parse(deep).message, "Max expression depth limit of 1000 exceeded.");
        let function = r#"Catalog Error: {"exception_type":"Catalog","exception_message":"Scalar Function with name foo does not exist!","type":"Scalar Function","name":"foo"}"#;
        assert_eq!(EngineError::parse(function).kind, ErrorKind::Function);
        let of = |message: &str| {
            let message = message.replace('"', "\\\"").replace('\n', "\\n");
            let text = format!(r#"{{"exception_type":"Binder","exception_message":"{message}"}}"#);
            let EngineError { kind, name, candidates, .. } = EngineError::parse(&text);
            (kind, name.expect("a name"), candidates)
        };
        assert_eq!(
            of("Values list \"g\" does not have a column named \"gamee\""),
            (ErrorKind::Column, "g.gamee".to_owned(), Vec::new())
        );
        assert_eq!(
            of("Referenced table \"h\" not found!\nCandidate tables: \"g\", \"k\""),
            (ErrorKind::Table, "h".to_owned(), vec!["g".to_owned(), "k".to_owned()])
        );
        assert_eq!(EngineError::parse("no JSON\nat all"), EngineError::other("no JSON"));
    }
}
