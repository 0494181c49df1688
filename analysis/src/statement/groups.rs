//! Rewrites GROUP BY to mean what users expect. polars computes a grouping expression again on the groups, where its columns no
//! longer exist, and treats a grouping column as a list in HAVING. So grouping expressions become columns beforehand, and HAVING
//! compares the first value of the group, whose values are all equal.

use std::ops::ControlFlow;

use polars::sql::SQLContext;
use sqlparser::ast::{
    Expr, GroupByExpr, Ident, OrderByExpr, OrderByKind, Query, Select, SelectItem, SetExpr, TableFactor,
    Value, VisitMut, VisitorMut,
};

use super::aggregates::{expression, has_aggregate, is_aggregate};
use super::parse::{self, call, first_relation, quoted};

/// The prefix of the columns that hold grouping expressions.
const COLUMN: &str = "dc0_key_";

/// Rewrites every SELECT that groups.
pub(super) struct Groups<'a>(pub(super) &'a mut SQLContext);

/// A grouping expression.
struct Key {
    /// As the user wrote it.
    expression: Expr,
    /// As polars gets it; a column if the expression is computed beforehand.
    column: Expr,
    /// Its position in the select list, from 1, if it is selected.
    position: Option<usize>,
}

impl VisitorMut for Groups<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        let with = query.with.as_ref().map(ToString::to_string).unwrap_or_default();
        let keys = self.body(&mut query.body, &with);
        if let Some(OrderByKind::Expressions(orders)) = query.order_by.as_mut().map(|order| &mut order.kind) {
            for order in orders {
                use_position(order, &keys);
            }
        }
        ControlFlow::Continue(())
    }
}

/// Sorts by the position of a key that would otherwise be computed again.
fn use_position(order: &mut OrderByExpr, keys: &[Key]) {
    let matches = |key: &&Key| is_computed(&key.expression) && same(&key.expression, &order.expr);
    if let Some(position) = keys.iter().find(matches).and_then(|key| key.position) {
        order.expr = Expr::value(Value::Number(position.to_string(), false));
    }
}

impl Groups<'_> {
    /// Rewrites a body; returns its keys if it is a single SELECT.
    fn body(&mut self, body: &mut SetExpr, with: &str) -> Vec<Key> {
        match body {
            SetExpr::Select(select) => self.select(select, with),
            SetExpr::SetOperation { left, right, .. } => {
                self.body(left, with);
                self.body(right, with);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn select(&mut self, select: &mut Select, with: &str) -> Vec<Key> {
        if matches!(&select.group_by, GroupByExpr::Expressions(by, _) if by.is_empty()) {
            return Vec::new();
        }
        let from = select.from.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let columns = self.names(&format!("{with} SELECT * FROM {from}"));
        resolve(select, columns.as_deref());
        let GroupByExpr::Expressions(by, _) = &select.group_by else { return Vec::new() };
        let keys = keys(by, select);
        if keys.iter().any(|key| key.column != key.expression) {
            let mut name = |expression: &Expr| {
                let named = self.names(&format!("{with} SELECT {expression} FROM {from}"));
                named.and_then(|names| names.into_iter().next()).unwrap_or_else(|| expression.to_string())
            };
            select.projection.iter_mut().for_each(|item| use_columns(item, &keys, &mut name));
            compute(select, &keys);
        }
        compare_first(select, &keys, &columns.unwrap_or_default());
        if let GroupByExpr::Expressions(by, _) = &mut select.group_by {
            *by = keys.iter().map(|key| key.column.clone()).collect();
        }
        keys
    }

    /// The columns that a statement returns; `None` if polars cannot plan it yet.
    fn names(&mut self, statement: &str) -> Option<Vec<String>> {
        let schema = self.0.execute(statement).ok()?.collect_schema().ok()?;
        Some(schema.iter_names().map(ToString::to_string).collect())
    }
}

/// Replaces positions, aliases and ALL in GROUP BY by the selected expressions. A name that may be a column's is left to polars.
fn resolve(select: &mut Select, columns: Option<&[String]>) {
    let Select { projection, group_by, .. } = select;
    if let GroupByExpr::All(modifiers) = group_by {
        let selected = projection.iter().map(expression).collect::<Option<Vec<_>>>();
        let Some(selected) = selected else { return };
        let by = selected.into_iter().filter(|part| !has_aggregate(part)).cloned().collect();
        *group_by = GroupByExpr::Expressions(by, std::mem::take(modifiers));
    }
    let GroupByExpr::Expressions(by, _) = group_by else { return };
    for group in by {
        let selected = match &*group {
            Expr::Value(number) => {
                let position = number.to_string().parse::<usize>().ok();
                let index = position.and_then(|position| position.checked_sub(1));
                index.and_then(|index| expression(projection.get(index)?))
            }
            Expr::Identifier(name) if columns.is_some_and(|columns| !columns.contains(&name.value)) => {
                projection.iter().find_map(|item| match item {
                    SelectItem::ExprWithAlias { expr, alias } if alias.value == name.value => Some(expr),
                    _ => None,
                })
            }
            _ => None,
        };
        if let Some(selected) = selected.cloned() {
            *group = selected;
        }
    }
}

fn keys(by: &[Expr], select: &Select) -> Vec<Key> {
    let can_compute = named_table(select).is_some();
    let key = |(number, group): (usize, &Expr)| Key {
        column: if can_compute && is_computed(group) {
            Expr::Identifier(Ident::new(format!("{COLUMN}{number}")))
        } else {
            group.clone()
        },
        position: position(select, group),
        expression: group.clone(),
    };
    by.iter().enumerate().map(key).collect()
}

fn is_computed(group: &Expr) -> bool {
    match group {
        Expr::Nested(inner) => is_computed(inner),
        other => !matches!(other, Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Value(_)),
    }
}

/// Whether two expressions are equal up to parentheses, quotes and the table's name.
fn same(a: &Expr, b: &Expr) -> bool {
    match (a, b) {
        (Expr::Nested(inner), other) | (other, Expr::Nested(inner)) => same(inner, other),
        (Expr::Identifier(a), Expr::Identifier(b)) => a.value == b.value,
        (Expr::Identifier(name), Expr::CompoundIdentifier(path))
        | (Expr::CompoundIdentifier(path), Expr::Identifier(name)) => {
            path.last().is_some_and(|last| last.value == name.value)
        }
        (a, b) => a == b,
    }
}

/// The name or alias of the only table that a SELECT reads; `None` if it reads several.
fn named_table(select: &Select) -> Option<Ident> {
    let [from] = select.from.as_slice() else { return None };
    match &from.relation {
        _ if !from.joins.is_empty() => None,
        TableFactor::Table { alias: Some(alias), .. } | TableFactor::Derived { alias: Some(alias), .. } => {
            Some(alias.name.clone())
        }
        TableFactor::Table { name, .. } => name.0.last()?.as_ident().cloned(),
        _ => None,
    }
}

/// Replaces computed keys in a selected expression by their columns. The selected column keeps its name.
fn use_columns(item: &mut SelectItem, keys: &[Key], name: &mut impl FnMut(&Expr) -> String) {
    let (SelectItem::UnnamedExpr(selected) | SelectItem::ExprWithAlias { expr: selected, .. }) = item else {
        return;
    };
    let mut used = selected.clone();
    let _: ControlFlow<()> = VisitMut::visit(&mut used, &mut Columns(keys));
    if used == *selected {
        return;
    }
    match item {
        SelectItem::ExprWithAlias { expr, .. } => *expr = used,
        SelectItem::UnnamedExpr(selected) => {
            let alias = Ident::with_quote('"', name(selected).replace('"', "\"\""));
            *item = SelectItem::ExprWithAlias { expr: used, alias };
        }
        _ => {}
    }
}

/// Replaces computed keys by their columns, outermost expressions first.
struct Columns<'a>(&'a [Key]);

impl VisitorMut for Columns<'_> {
    type Break = ();

    fn pre_visit_expr(&mut self, part: &mut Expr) -> ControlFlow<()> {
        let matches = |key: &&Key| key.column != key.expression && same(&key.expression, part);
        if let Some(key) = self.0.iter().find(matches) {
            *part = key.column.clone();
        }
        ControlFlow::Continue(())
    }
}

/// Makes the SELECT read from an inner SELECT that applies WHERE and adds the keys' columns.
fn compute(select: &mut Select, keys: &[Key]) {
    let Some((table, from)) = named_table(select).zip(select.from.first()) else { return };
    let computed = keys.iter().filter(|key| key.column != key.expression);
    let columns: Vec<String> = computed.map(|key| format!("{} AS {}", key.expression, key.column)).collect();
    let condition =
        select.selection.as_ref().map(|condition| format!(" WHERE {condition}")).unwrap_or_default();
    let text = format!(
        "SELECT * FROM (SELECT *, {} FROM {from}{condition}) AS {}",
        columns.join(", "),
        quoted(&table.value)
    );
    if let Some(relation) = first_relation(&text) {
        select.from[0].relation = relation;
        select.selection = None;
    }
}

/// Replaces keys in HAVING by the first value of the group.
fn compare_first(select: &mut Select, keys: &[Key], columns: &[String]) {
    let Select { projection, having, .. } = select;
    let mut firsts: Vec<(Expr, Expr)> = Vec::new();
    for key in keys.iter().filter(|key| !matches!(key.expression, Expr::Value(_))) {
        let Some(first) = call("first", &key.column) else { continue };
        // An alias of a selected key stands for it, unless a column has the same name.
        let names = projection.iter().filter_map(|item| match item {
            SelectItem::ExprWithAlias { expr, alias } if same(expr, &key.column) => Some(alias),
            _ => None,
        });
        let names = names.filter(|name| !columns.contains(&name.value));
        firsts.extend(names.map(|name| (Expr::Identifier(name.clone()), first.clone())));
        firsts.push((key.expression.clone(), first));
    }
    let _: ControlFlow<()> = VisitMut::visit(having, &mut Firsts { firsts, depth: 0 });
}

/// Replaces keys outside aggregates by their first values.
struct Firsts {
    firsts: Vec<(Expr, Expr)>,
    /// The number of aggregates around the current expression.
    depth: usize,
}

impl VisitorMut for Firsts {
    type Break = ();

    fn pre_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<()> {
        if self.depth == 0
            && let Some((_, first)) = self.firsts.iter().find(|(key, _)| same(key, expression))
        {
            *expression = first.clone();
        }
        self.depth += usize::from(is_aggregate(expression));
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<()> {
        self.depth -= usize::from(is_aggregate(expression));
        ControlFlow::Continue(())
    }
}

/// Sorts groups by their keys, or by all columns if a key is not selected, unless the statement has an ORDER BY: polars returns
/// them in the order of its hash table.
pub(super) fn order(query: &mut Query) {
    if query.order_by.is_some() {
        return;
    }
    let all = || "ALL".to_owned();
    let by = match query.body.as_ref() {
        SetExpr::Select(select) => match &select.group_by {
            GroupByExpr::Expressions(by, _) if !by.is_empty() => {
                Some(positions(by, select).unwrap_or_else(all))
            }
            GroupByExpr::All(_) => Some(all()),
            GroupByExpr::Expressions(..) => select.distinct.is_some().then(all),
        },
        SetExpr::SetOperation { .. } => Some(all()),
        _ => None,
    };
    if let Some(by) = by {
        query.order_by = parse::query(&format!("SELECT 1 ORDER BY {by}")).and_then(|parsed| parsed.order_by);
    }
}

/// The position of an expression in the select list, from 1.
fn position(select: &Select, group: &Expr) -> Option<usize> {
    let matches = |item: &SelectItem| expression(item).is_some_and(|selected| same(selected, group));
    Some(select.projection.iter().position(matches)? + 1)
}

/// The positions of all keys in the select list, as ORDER BY takes them.
fn positions(by: &[Expr], select: &Select) -> Option<String> {
    let text = |group: &Expr| Some(position(select, group)?.to_string());
    Some(by.iter().map(text).collect::<Option<Vec<_>>>()?.join(", "))
}
