//! Statements before polars gets them: parses a single SELECT, finds its tables, and rewrites it to mean what users expect.

mod aggregates;
mod groups;
mod parse;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use polars::prelude::{LazyFrame, PolarsResult};
use polars::sql::SQLContext;
use sqlparser::ast::{
    BinaryOperator, Expr, JoinConstraint, JoinOperator, ObjectName, ObjectNamePart, Query, Select, SetExpr,
    Statement as Sql, TableFactor, Visit, VisitMut, Visitor, visit_expressions,
};

use crate::error::AnalysisError;
use crate::functions;
pub(crate) use parse::{expression, item, order, quoted};
use parse::{first_relation, parser, select_all, syntax};

/// One SELECT statement.
#[derive(Debug, Clone)]
pub(crate) struct Statement(Box<Query>);

impl Statement {
    /// Parses a text that is one SELECT statement.
    pub(crate) fn parse(text: &str) -> Result<Self, AnalysisError> {
        let mut statements = parser(text)?.parse_statements().map_err(|error| syntax(&error))?;
        match (statements.pop(), statements.len()) {
            (Some(Sql::Query(query)), 0) => match (one_sided(&query), aggregates::over_groups(&query)) {
                (Some(condition), _) => Err(AnalysisError::OneSidedJoin { condition }),
                (None, Some(expression)) => Err(AnalysisError::OverGroups { expression }),
                (None, None) => Ok(Self(query)),
            },
            (Some(other), 0) => {
                let text = other.to_string();
                let word = text.split(' ').next().unwrap_or_default().to_owned();
                Err(AnalysisError::NotASelect { found: format!("a statement that begins with {word}") })
            }
            (Some(_), more) => Err(AnalysisError::NotASelect { found: format!("{} statements", more + 1) }),
            (None, _) => Err(AnalysisError::NotASelect { found: "nothing".to_owned() }),
        }
    }

    /// The tables that the statement reads: those it names but does not define in WITH. A definition that has the name of a known
    /// table may read that table.
    pub(crate) fn tables(&self, known: &[String]) -> Vec<String> {
        let (Names { used, defined }, mut seen) = (self.names(), BTreeSet::new());
        let is_read = |name: &String| known.contains(name) || !defined.contains(name);
        used.into_iter().filter(|name| is_read(name) && seen.insert(name.clone())).collect()
    }

    fn names(&self) -> Names {
        let mut names = Names::default();
        let _: ControlFlow<()> = self.0.visit(&mut names);
        names
    }

    /// Hands the statement to polars.
    pub(crate) fn execute(mut self, context: &mut SQLContext) -> PolarsResult<LazyFrame> {
        self.group(context);
        // Where WITH defines a table with the name of an existing one, polars uses the existing one everywhere.
        let defined = self.names().defined;
        if self.uses_own_functions() || context.get_tables().iter().any(|table| defined.contains(table)) {
            lift(&mut self.0, context, &mut 0)?;
        }
        context.execute(&self.0.to_string())
    }

    /// Rewrites GROUP BY to mean what users expect, and gives groups a fixed order.
    fn group(&mut self, context: &mut SQLContext) {
        let _: ControlFlow<()> = VisitMut::visit(&mut self.0, &mut groups::Groups(context));
        groups::order(&mut self.0);
    }

    fn uses_own_functions(&self) -> bool {
        let mut calls = Calls(false);
        let _: ControlFlow<()> = self.0.visit(&mut calls);
        calls.0
    }
}

/// Names of tables: those used, and those defined in WITH.
#[derive(Default)]
struct Names {
    used: Vec<String>,
    defined: BTreeSet<String>,
}

impl Visitor for Names {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let tables = query.with.iter().flat_map(|with| &with.cte_tables);
        self.defined.extend(tables.map(|table| table.alias.name.value.clone()));
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
        let part = relation.0.last().and_then(ObjectNamePart::as_ident);
        self.used.push(part.map_or_else(|| relation.to_string(), |part| part.value.clone()));
        ControlFlow::Continue(())
    }
}

/// Whether one of dc0's own functions is called.
struct Calls(bool);

impl Visitor for Calls {
    type Break = ();

    fn pre_visit_expr(&mut self, expression: &Expr) -> ControlFlow<()> {
        if let Expr::Function(function) = expression {
            self.0 |= functions::is_own(&function.name.to_string().to_lowercase());
        }
        ControlFlow::Continue(())
    }
}

/// A condition in a join's ON with no column on one side, if there is one; polars computes such joins wrongly.
fn one_sided(query: &Query) -> Option<String> {
    match query.visit(&mut Joins) {
        ControlFlow::Break(condition) => Some(condition),
        ControlFlow::Continue(()) => None,
    }
}

struct Joins;

impl Visitor for Joins {
    type Break = String;

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<String> {
        let joins = select.from.iter().flat_map(|from| &from.joins);
        let found = joins.filter_map(|join| on(&join.join_operator)).find_map(without_column);
        found.map_or(ControlFlow::Continue(()), ControlFlow::Break)
    }
}

fn on(operator: &JoinOperator) -> Option<&Expr> {
    use JoinOperator as Join;
    match operator {
        Join::Join(JoinConstraint::On(on))
        | Join::Inner(JoinConstraint::On(on))
        | Join::Left(JoinConstraint::On(on))
        | Join::LeftOuter(JoinConstraint::On(on))
        | Join::Right(JoinConstraint::On(on))
        | Join::RightOuter(JoinConstraint::On(on))
        | Join::FullOuter(JoinConstraint::On(on))
        | Join::Semi(JoinConstraint::On(on))
        | Join::LeftSemi(JoinConstraint::On(on))
        | Join::Anti(JoinConstraint::On(on))
        | Join::LeftAnti(JoinConstraint::On(on)) => Some(on),
        _ => None,
    }
}

/// The part of a condition that has no column on one side.
fn without_column(condition: &Expr) -> Option<String> {
    match condition {
        Expr::Nested(inner) => without_column(inner),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            without_column(left).or_else(|| without_column(right))
        }
        Expr::BinaryOp { left, right, .. } => {
            let is_missing = !has_column(left) || !has_column(right);
            is_missing.then(|| condition.to_string())
        }
        _ => None,
    }
}

fn has_column(expression: &Expr) -> bool {
    let is_column = |part: &Expr| match part {
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    visit_expressions(expression, is_column).is_break()
}

/// Computes inner SELECTs beforehand, as separate tables: polars does not find dc0's functions in WITH, in FROM (SELECT …) and in
/// the parts of a UNION. SELECTs within conditions stay, because they may depend on the outer row.
fn lift(query: &mut Query, context: &mut SQLContext, count: &mut usize) -> PolarsResult<()> {
    if let Some(with) = query.with.take() {
        for mut table in with.cte_tables {
            let name = computed(&mut table.query, context, count)?;
            let columns: Vec<String> = table.alias.columns.iter().map(ToString::to_string).collect();
            let rows = context.execute(&renamed(&name, &columns))?;
            context.register(&table.alias.name.value, rows);
        }
    }
    lift_body(&mut query.body, context, count)
}

/// Computes a query as a table with a new name. The tables of its WITH are visible only within it.
fn computed(query: &mut Query, context: &mut SQLContext, count: &mut usize) -> PolarsResult<String> {
    let defined = query.with.iter().flat_map(|with| &with.cte_tables);
    let names: Vec<String> = defined.map(|table| table.alias.name.value.clone()).collect();
    let shadowed: Vec<Option<LazyFrame>> =
        names.iter().map(|name| context.execute(&format!("SELECT * FROM {}", quoted(name))).ok()).collect();
    lift(query, context, count)?;
    let table = table(&query.to_string(), context, count)?;
    for (name, shadowed) in names.iter().zip(shadowed) {
        match shadowed {
            Some(rows) => context.register(name, rows),
            None => context.unregister(name),
        }
    }
    Ok(table)
}

/// A SELECT of a table that renames its columns, if names are given.
fn renamed(table: &str, names: &[String]) -> String {
    if names.is_empty() {
        format!("SELECT * FROM {table}")
    } else {
        format!("SELECT * FROM (SELECT * FROM {table}) AS renamed({})", names.join(", "))
    }
}

fn lift_body(body: &mut SetExpr, context: &mut SQLContext, count: &mut usize) -> PolarsResult<()> {
    match body {
        SetExpr::Select(select) => {
            for from in &mut select.from {
                let joined = from.joins.iter_mut().map(|join| &mut join.relation);
                for relation in std::iter::once(&mut from.relation).chain(joined) {
                    lift_relation(relation, context, count)?;
                }
            }
            Ok(())
        }
        SetExpr::Query(query) => lift(query, context, count),
        SetExpr::SetOperation { left, right, .. } => {
            for side in [left, right] {
                let name = match side.as_mut() {
                    SetExpr::Query(query) => computed(query, context, count)?,
                    body => {
                        lift_body(body, context, count)?;
                        table(&body.to_string(), context, count)?
                    }
                };
                **side = select_all(&name);
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn lift_relation(
    relation: &mut TableFactor,
    context: &mut SQLContext,
    count: &mut usize,
) -> PolarsResult<()> {
    if let TableFactor::NestedJoin { table_with_joins, .. } = relation {
        let joined = table_with_joins.joins.iter_mut().map(|join| &mut join.relation);
        for relation in std::iter::once(&mut table_with_joins.relation).chain(joined) {
            lift_relation(relation, context, count)?;
        }
    }
    if let TableFactor::Derived { lateral: false, subquery, alias, .. } = relation {
        let name = computed(subquery, context, count)?;
        let alias = alias.as_ref().map(ToString::to_string).unwrap_or_default();
        let text = format!("SELECT * FROM {name} {alias}");
        if let Some(named) = first_relation(&text) {
            *relation = named;
        }
    }
    Ok(())
}

/// Computes a SELECT as a table with a new name.
fn table(select: &str, context: &mut SQLContext, count: &mut usize) -> PolarsResult<String> {
    *count += 1;
    let name = format!("dc0_inner_{count}");
    let rows = context.execute(select)?;
    context.register(&name, rows);
    Ok(name)
}

#[cfg(test)]
mod tests;
