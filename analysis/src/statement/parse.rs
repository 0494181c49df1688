//! Parses parts of statements, and prints them.

use sqlparser::ast::{Expr, Query, SetExpr, TableFactor};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

use crate::error::AnalysisError;

pub(super) fn parser(text: &str) -> Result<Parser<'static>, AnalysisError> {
    Parser::new(&GenericDialect {}).try_with_sql(text).map_err(|error| syntax(&error))
}

pub(super) fn syntax(error: &impl ToString) -> AnalysisError {
    let message = error.to_string();
    let plain = message.strip_prefix("sql parser error: ").unwrap_or(&message);
    AnalysisError::Syntax { message: plain.to_owned() }
}

/// Parses a text that is exactly one part of a statement.
fn part<T>(
    text: &str,
    parse: impl FnOnce(&mut Parser<'static>) -> Result<T, ParserError>,
) -> Result<T, AnalysisError> {
    let mut parser = parser(text)?;
    let part = parse(&mut parser).map_err(|error| syntax(&error))?;
    parser.expect_token(&Token::EOF).map_err(|error| syntax(&error))?;
    Ok(part)
}

/// Checks an expression.
pub(crate) fn expression(text: &str) -> Result<String, AnalysisError> {
    Ok(part(text, Parser::parse_expr)?.to_string())
}

/// Checks a select item: an expression with an optional alias, such as `plies + 1 as moves`.
pub(crate) fn item(text: &str) -> Result<String, AnalysisError> {
    Ok(part(text, Parser::parse_select_item)?.to_string())
}

/// Checks an ORDER BY list, such as `n desc, reason`.
pub(crate) fn order(text: &str) -> Result<String, AnalysisError> {
    let parts = part(text, |parser| parser.parse_comma_separated(Parser::parse_order_by_expr))?;
    Ok(parts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
}

/// A name as a quoted SQL identifier.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A function call with one argument.
pub(super) fn call(function: &str, argument: &Expr) -> Option<Expr> {
    part(&format!("{function}({argument})"), Parser::parse_expr).ok()
}

/// Parses a query that this crate wrote.
pub(super) fn query(text: &str) -> Option<Query> {
    part(text, Parser::parse_query).ok().map(|query| *query)
}

/// All rows of a table.
pub(super) fn select_all(table: &str) -> SetExpr {
    *query(&format!("SELECT * FROM {table}")).expect("a table's name is an identifier").body
}

/// The first table of a SELECT's FROM.
pub(super) fn first_relation(text: &str) -> Option<TableFactor> {
    let SetExpr::Select(select) = *query(text)?.body else { return None };
    select.from.into_iter().next().map(|from| from.relation)
}
