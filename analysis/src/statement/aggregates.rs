//! Aggregates, and what cannot be computed of them in the SELECT that groups.

use std::ops::ControlFlow;

use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr, Query, Select, SelectItem,
    Visit, Visitor, visit_expressions,
};

/// Functions that make one value of a group's values, as polars knows them.
const AGGREGATES: [&str; 26] = [
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
];

/// Whether an aggregate stands in an expression.
pub(super) fn aggregates(expression: &Expr) -> bool {
    let found = |part: &Expr| match part {
        part if is_aggregate(part) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    visit_expressions(expression, found).is_break()
}

/// Whether an expression is an aggregate of rows; a window is none.
pub(super) fn is_aggregate(expression: &Expr) -> bool {
    let Expr::Function(function) = expression else { return false };
    function.over.is_none() && AGGREGATES.contains(&function.name.to_string().to_lowercase().as_str())
}

/// What is selected, unless it is all columns.
pub(super) fn expression(item: &SelectItem) -> Option<&Expr> {
    match item {
        SelectItem::UnnamedExpr(expression) | SelectItem::ExprWithAlias { expr: expression, .. } => {
            Some(expression)
        }
        _ => None,
    }
}

/// What is computed of groups beside what makes them: windows, and aggregates of aggregates.
pub(super) fn of_groups(query: &Query) -> Option<String> {
    match query.visit(&mut OfGroups) {
        ControlFlow::Break(expression) => Some(expression),
        ControlFlow::Continue(()) => None,
    }
}

struct OfGroups;

impl Visitor for OfGroups {
    type Break = String;

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<String> {
        let selected = || select.projection.iter().filter_map(expression);
        let is_plain = matches!(&select.group_by, GroupByExpr::Expressions(by, _) if by.is_empty());
        // A window over rows is no aggregate, however it is called.
        if is_plain && !selected().any(aggregates) {
            return ControlFlow::Continue(());
        }
        let of_groups = |part: &Expr| match part {
            Expr::Function(function) if function.over.is_some() => ControlFlow::Break(part.to_string()),
            part if is_aggregate(part) && inner(part).any(aggregates) => ControlFlow::Break(part.to_string()),
            _ => ControlFlow::Continue(()),
        };
        for own in selected().chain(&select.having) {
            visit_expressions(own, of_groups)?;
        }
        ControlFlow::Continue(())
    }
}

/// The arguments of a function.
fn inner(function: &Expr) -> impl Iterator<Item = &Expr> {
    let list = match function {
        Expr::Function(Function { args: FunctionArguments::List(list), .. }) => list.args.as_slice(),
        _ => &[],
    };
    list.iter().filter_map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(own)) => Some(own),
        _ => None,
    })
}
