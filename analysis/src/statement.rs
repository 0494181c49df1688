//! Statements before they are run, read with DuckDB's own parser.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::duckdb::Connection;
use crate::error::AnalysisError;
use crate::quoting::text;

/// One SELECT statement.
#[derive(Debug, Clone)]
pub(crate) struct Statement {
    /// Its text, without comments.
    pub(crate) text: String,
    /// The tables that it names.
    pub(crate) tables: Vec<Named>,
    tree: Value,
}

impl Statement {
    /// Reads a text that is one SELECT statement. Without ORDER BY, groups and distinct rows of the outermost SELECT are sorted by all columns, so that equal
    /// queries return equal rows.
    pub(crate) fn parse(statement: &str, connection: &Connection) -> Result<Self, AnalysisError> {
        let mut tree = tree(statement, connection)?;
        let mut names = Names::default();
        names.collect(&tree);
        sort(outermost(&mut tree));
        Ok(Self { text: sql(&tree, connection)?, tables: names.read(), tree })
    }

    /// Its text with rows that its own ORDER BY leaves equal sorted by all of its columns; `None` if it has no such order.
    pub(crate) fn without_ties(
        &self,
        columns: usize,
        connection: &Connection,
    ) -> Result<Option<String>, AnalysisError> {
        let mut tree = self.tree.clone();
        let modifiers = outermost(&mut tree)["modifiers"].as_array_mut().into_iter().flatten();
        let mut orders = modifiers.filter_map(|modifier| modifier["orders"].as_array_mut());
        let Some(orders) = orders.next() else { return Ok(None) };
        // ORDER BY ALL leaves no ties.
        if orders.iter().any(|order| order["expression"]["class"] == "STAR") {
            return Ok(None);
        }
        orders.extend((1..=columns).map(|column| order_by(&position(column))));
        sql(&tree, connection).map(Some)
    }
}

/// The outermost SELECT of a syntax tree.
fn outermost(tree: &mut Value) -> &mut Value {
    &mut tree["statements"][0]["node"]
}

/// The text of a syntax tree.
fn sql(tree: &Value, connection: &Connection) -> Result<String, AnalysisError> {
    let json = text(&tree.to_string());
    Ok(connection.text(&format!("SELECT json_deserialize_sql({json}::JSON)"))?)
}

/// Names of tables in a syntax tree.
#[derive(Default)]
struct Names {
    used: BTreeSet<String>,
    /// Those that WITH defines.
    defined: BTreeSet<String>,
}

impl Names {
    fn collect(&mut self, node: &Value) {
        match node {
            Value::Array(items) => items.iter().for_each(|item| self.collect(item)),
            Value::Object(members) => {
                if node["type"] == "BASE_TABLE" {
                    self.used.extend(node["table_name"].as_str().map(str::to_lowercase));
                }
                let defined = node["cte_map"]["map"].as_array().into_iter().flatten();
                self.defined.extend(defined.filter_map(|table| Some(table["key"].as_str()?.to_lowercase())));
                members.values().for_each(|member| self.collect(member));
            }
            _ => {}
        }
    }

    /// The tables that are read, and those that WITH may have defined under the name of one.
    fn read(self) -> Vec<Named> {
        let named = |name: String| Named { is_defined: self.defined.contains(&name), name };
        self.used.into_iter().map(named).collect()
    }
}

/// A table that a statement names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    /// Its name in lower case.
    pub(crate) name: String,
    /// Whether WITH defines it somewhere. It may be read elsewhere, or by its own definition.
    pub(crate) is_defined: bool,
}

/// DuckDB's syntax tree of a SELECT.
fn tree(statement: &str, connection: &Connection) -> Result<Value, AnalysisError> {
    let found = |found: String| AnalysisError::NotASelect { found };
    match connection.count_statements(statement)? {
        0 => return Err(found("nothing".to_owned())),
        1 => {}
        // DuckDB reads such a PIVOT as a type of its own and a SELECT.
        _ if !statement.trim_end().trim_end_matches(';').contains(';') => {
            let message = "a PIVOT needs its values here: `pivot games on reason in ('checkmate', 'ply_cap') using count(*)`";
            return Err(AnalysisError::Statement { message: message.to_owned() });
        }
        more => return Err(found(format!("{more} statements"))),
    }
    let json = connection.text(&format!("SELECT json_serialize_sql({})", text(statement)))?;
    let tree: Value = serde_json::from_str(&json).map_err(|cause| {
        // JSON has no infinity, which is what DuckDB makes of such a number.
        let found = json.get(cause.column().saturating_sub(1)..).unwrap_or_default();
        if ["inf", "Inf"].iter().any(|infinite| found.trim_start_matches('-').starts_with(infinite)) {
            let message = "a number is too large; the largest is about 1.8e308".to_owned();
            return AnalysisError::Statement { message };
        }
        if cause.to_string().starts_with("recursion limit exceeded") {
            let message = "the statement is nested too deeply: about 60 operators can follow each other; use `list_sum`, `concat` or IN";
            return AnalysisError::Statement { message: message.to_owned() };
        }
        AnalysisError::Failed { message: format!("the statement cannot be read: {cause}") }
    })?;
    if tree["error"] != Value::Bool(true) {
        // It would list what this program has defined in DuckDB so far.
        if shows_names(&tree) {
            let found = "SHOW or DESCRIBE without a table, where `dc0-run sql RUN --tables` lists all tables";
            return Err(AnalysisError::NotASelect { found: found.to_owned() });
        }
        return Ok(tree);
    }
    let message = tree["error_message"].as_str().unwrap_or_default();
    if message.starts_with("Only SELECT") {
        let word = statement.split_whitespace().next().unwrap_or_default().to_uppercase();
        return Err(found(format!("a statement that begins with {word}")));
    }
    Err(AnalysisError::Syntax { message: message.to_owned() })
}

/// Whether a SELECT contains `SHOW TABLES` or the like.
fn shows_names(node: &Value) -> bool {
    match node {
        Value::Array(items) => items.iter().any(shows_names),
        Value::Object(members) => {
            let kind = node["show_type"].as_str();
            kind.is_some_and(|kind| !["DESCRIBE", "SUMMARY"].contains(&kind))
                || members.values().any(shows_names)
        }
        _ => false,
    }
}

/// Adds ORDER BY ALL to a SELECT that has groups or distinct rows and no order of its own.
fn sort(node: &mut Value) {
    let is_grouped = node["group_expressions"].as_array().is_some_and(|groups| !groups.is_empty())
        || node["aggregate_handling"] == "FORCE_AGGREGATES"
        || node["from_table"]["aggregates"].as_array().is_some_and(|pivoted| !pivoted.is_empty());
    let is_set = node["type"] == "SET_OPERATION_NODE" && node["setop_all"] != Value::Bool(true);
    let Some(modifiers) = node["modifiers"].as_array_mut() else { return };
    let index_of = |kind: &str| modifiers.iter().position(|modifier| modifier["type"] == kind);
    let distinct = index_of("DISTINCT_MODIFIER");
    if index_of("ORDER_MODIFIER").is_none() && (is_grouped || is_set || distinct.is_some()) {
        // Before LIMIT, which takes the first of the sorted rows.
        let all = json!({ "type": "ORDER_MODIFIER", "orders": [order_by(&all_columns())] });
        modifiers.insert(distinct.map_or(0, |distinct| distinct + 1), all);
    }
}

fn order_by(expression: &Value) -> Value {
    json!({ "type": "ORDER_DEFAULT", "null_order": "ORDER_DEFAULT", "expression": expression })
}

fn all_columns() -> Value {
    json!({
        "class": "STAR", "type": "STAR", "alias": "", "query_location": 0, "relation_name": "", "exclude_list": [],
        "replace_list": [], "columns": true, "expr": null, "qualified_exclude_list": [], "rename_list": [],
    })
}

/// A column of the answer by its position, from 1.
fn position(column: usize) -> Value {
    let value = json!({ "type": { "id": "INTEGER", "type_info": null }, "is_null": false, "value": column });
    json!({ "class": "CONSTANT", "type": "VALUE_CONSTANT", "alias": "", "query_location": 0, "value": value })
}

/// Checks that a text is a single expression, without or with a name (`plies / 2 as moves`).
pub(crate) fn check_item(item: &str, connection: &Connection) -> Result<(), AnalysisError> {
    let tree = tree(&format!("SELECT {item}\n"), connection)?;
    let node = &tree["statements"][0]["node"];
    let is_single = node["select_list"].as_array().is_some_and(|items| items.len() == 1);
    if is_single && has_only(node, "EMPTY", &[]) { Ok(()) } else { Err(not_only(item, "an expression")) }
}

/// Checks that a text is what follows ORDER BY, such as `n desc, reason`.
pub(crate) fn check_order(order: &str, connection: &Connection) -> Result<(), AnalysisError> {
    let tree = tree(&format!("SELECT 1 ORDER BY {order}\n"), connection)?;
    if has_only(&tree["statements"][0]["node"], "EMPTY", &["ORDER_MODIFIER"]) {
        Ok(())
    } else {
        Err(not_only(order, "columns to sort by"))
    }
}

/// Whether a SELECT has no clauses but these.
fn has_only(node: &Value, from: &str, modifiers: &[&str]) -> bool {
    let is_empty = |name: &str| {
        let clause = &node[name];
        clause.is_null() || clause.as_array().is_some_and(Vec::is_empty)
    };
    let kinds = node["modifiers"].as_array().into_iter().flatten();
    node["type"] == "SELECT_NODE"
        && node["from_table"]["type"] == from
        && ["where_clause", "group_expressions", "having", "qualify", "sample"]
            .iter()
            .all(|name| is_empty(name))
        && kinds.map(|modifier| modifier["type"].as_str().unwrap_or_default()).eq(modifiers.iter().copied())
}

fn not_only(text: &str, expected: &str) -> AnalysisError {
    AnalysisError::Syntax { message: format!("expected {expected}, got `{text}`") }
}
