//! GROUP BY: by names instead of expressions, with conditions on what is grouped by, and always in the same order.

use std::ops::ControlFlow;

use sqlparser::ast::{
    Expr, GroupByExpr, Ident, Query, Select, SelectItem, SetExpr, VisitMut, VisitorMut, visit_expressions,
    visit_expressions_mut,
};

use super::Statement;

/// Gives the expressions that something is grouped by a name: polars computes them a second time from the groups, where what
/// they are made of is not there any more.
pub(super) struct Named;

impl VisitorMut for Named {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        let Query { body, order_by, .. } = query;
        if let SetExpr::Select(select) = body.as_mut() {
            let named = name(select);
            for (expression, name) in &named {
                replace(order_by, expression, name);
            }
            compare_first(select, &named);
        }
        ControlFlow::Continue(())
    }
}

/// Names what is both grouped by and selected; gives the expressions that are names now.
fn name(select: &mut Select) -> Vec<(Expr, Ident)> {
    let Select { projection, group_by, .. } = select;
    let GroupByExpr::Expressions(by, _) = group_by else { return Vec::new() };
    let mut named = Vec::new();
    for group in by.iter_mut().filter(|group| is_computed(group)) {
        let Some(name) = projection.iter_mut().find_map(|item| name_of(item, group)) else { continue };
        let expression = std::mem::replace(group, Expr::Identifier(name.clone()));
        named.push((expression, name));
    }
    named
}

fn is_computed(group: &Expr) -> bool {
    !matches!(group, Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Value(_))
}

/// The name of a selected expression, if it is this one; its own text where it has none. A name that the expression itself uses
/// for a column stays that column's.
fn name_of(item: &mut SelectItem, group: &Expr) -> Option<Ident> {
    match item {
        SelectItem::UnnamedExpr(expression) if expression == group => {
            let alias = Ident::with_quote('"', group.to_string());
            *item = SelectItem::ExprWithAlias { expr: group.clone(), alias: alias.clone() };
            Some(alias)
        }
        SelectItem::ExprWithAlias { expr, alias } if expr == group && !uses(group, alias) => {
            Some(alias.clone())
        }
        _ => None,
    }
}

fn uses(expression: &Expr, name: &Ident) -> bool {
    let is_it = |part: &Expr| match part {
        Expr::Identifier(column) if column.value.eq_ignore_ascii_case(&name.value) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    visit_expressions(expression, is_it).is_break()
}

fn replace<V: VisitMut>(within: &mut V, expression: &Expr, name: &Ident) {
    let _: ControlFlow<()> = visit_expressions_mut(within, |part| {
        if part == expression {
            *part = Expr::Identifier(name.clone());
        }
        ControlFlow::Continue(())
    });
}

/// Polars takes what is grouped by for a list in HAVING, so its first value is compared there: a group has no other.
fn compare_first(select: &mut Select, named: &[(Expr, Ident)]) {
    let GroupByExpr::Expressions(by, _) = &select.group_by else { return };
    let own = |group: &Expr| {
        let of = named.iter().find(|(_, name)| *group == Expr::Identifier(name.clone()));
        let expression = of.map_or(group, |(expression, _)| expression);
        Some((group.clone(), expression.clone(), first(expression)?))
    };
    let keys = by.iter().filter(|group| !matches!(group, Expr::Value(_))).filter_map(own).collect();
    let _: ControlFlow<()> = VisitMut::visit(&mut select.having, &mut Keys { keys, depth: 0 });
}

fn first(expression: &Expr) -> Option<Expr> {
    super::parser(&format!("first({expression})")).ok()?.parse_expr().ok()
}

/// Functions that make one value of a group's values, as polars knows them.
const AGGREGATES: [&str; 27] = [
    "array_agg",
    "avg",
    "corr",
    "count",
    "covar",
    "covar_pop",
    "covar_samp",
    "first",
    "group_concat",
    "last",
    "listagg",
    "max",
    "median",
    "min",
    "quantile_cont",
    "quantile_disc",
    "stddev",
    "stddev_samp",
    "stdev",
    "stdev_samp",
    "string_agg",
    "sum",
    "total",
    "var",
    "var_samp",
    "variance",
    "mode",
];

/// Finds what is grouped by outside of aggregates: as it stands in GROUP BY or as an expression.
struct Keys {
    keys: Vec<(Expr, Expr, Expr)>,
    /// Aggregates around what is looked at.
    depth: usize,
}

fn is_aggregate(expression: &Expr) -> bool {
    let Expr::Function(function) = expression else { return false };
    AGGREGATES.contains(&function.name.to_string().to_lowercase().as_str())
}

impl VisitorMut for Keys {
    type Break = ();

    fn pre_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<()> {
        let is_key = |(group, whole, _): &&(Expr, Expr, Expr)| expression == group || expression == whole;
        if self.depth == 0
            && let Some((.., first)) = self.keys.iter().find(is_key)
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

/// Groups come in whatever order the hash table has, so they are sorted by what makes them, or by all columns where that is not
/// among them, unless the statement says otherwise.
pub(super) fn order(query: &mut Query) {
    if query.order_by.is_some() {
        return;
    }
    let all = || "ALL".to_owned();
    let by = match query.body.as_ref() {
        SetExpr::Select(select) => match &select.group_by {
            GroupByExpr::Expressions(by, _) if by.iter().any(is_computed) => Some(all()),
            GroupByExpr::Expressions(by, _) if !by.is_empty() => Some(words(by)),
            GroupByExpr::All(_) => Some(all()),
            GroupByExpr::Expressions(..) => select.distinct.is_some().then(all),
        },
        SetExpr::SetOperation { .. } => Some(all()),
        _ => None,
    };
    if let Some(by) = by {
        query.order_by =
            Statement::parse(&format!("SELECT 1 ORDER BY {by}")).ok().and_then(|parsed| parsed.0.order_by);
    }
}

fn words(expressions: &[Expr]) -> String {
    expressions.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
