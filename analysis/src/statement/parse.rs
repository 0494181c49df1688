//! Texts as parts of statements, and back.

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

/// A part of a statement, behind which nothing follows.
fn part<T>(
    text: &str,
    parse: impl FnOnce(&mut Parser<'static>) -> Result<T, ParserError>,
) -> Result<T, AnalysisError> {
    let mut parser = parser(text)?;
    let part = parse(&mut parser).map_err(|error| syntax(&error))?;
    parser.expect_token(&Token::EOF).map_err(|error| syntax(&error))?;
    Ok(part)
}

/// An expression as a part of a statement; anything behind it is an error.
pub(crate) fn expression(text: &str) -> Result<String, AnalysisError> {
    Ok(part(text, Parser::parse_expr)?.to_string())
}

/// An expression that may have a name, as in `plies + 1 as moves`.
pub(crate) fn item(text: &str) -> Result<String, AnalysisError> {
    Ok(part(text, Parser::parse_select_item)?.to_string())
}

/// What rows are sorted by, as in `n desc, reason`.
pub(crate) fn order(text: &str) -> Result<String, AnalysisError> {
    let parts = part(text, |parser| parser.parse_comma_separated(Parser::parse_order_by_expr))?;
    Ok(parts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
}

/// A column's name as SQL takes it whatever it is.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A call of a function with one argument.
pub(super) fn call(function: &str, argument: &Expr) -> Option<Expr> {
    part(&format!("{function}({argument})"), Parser::parse_expr).ok()
}

/// A statement that is written here.
pub(super) fn query(text: &str) -> Option<Query> {
    part(text, Parser::parse_query).ok().map(|query| *query)
}

/// All rows of a table.
pub(super) fn select_all(table: &str) -> SetExpr {
    *query(&format!("SELECT * FROM {table}")).expect("a table's name is a word").body
}

/// What a SELECT reads first.
pub(super) fn first_relation(text: &str) -> Option<TableFactor> {
    let SetExpr::Select(select) = *query(text)?.body else { return None };
    select.from.into_iter().next().map(|from| from.relation)
}
