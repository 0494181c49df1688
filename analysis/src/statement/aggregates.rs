//! Aggregates, and expressions over groups that polars cannot compute in the SELECT that groups.

use std::ops::ControlFlow;

use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr, Query, Select, SelectItem,
    Visit, Visitor, visit_expressions,
};

/// The aggregate functions of polars.
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

/// Whether an expression contains an aggregate.
pub(super) fn has_aggregate(expression: &Expr) -> bool {
    let found = |part: &Expr| match part {
        part if is_aggregate(part) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    visit_expressions(expression, found).is_break()
}

/// Whether an expression is an aggregate of rows, which a window function is not.
pub(super) fn is_aggregate(expression: &Expr) -> bool {
    let Expr::Function(function) = expression else { return false };
    function.over.is_none() && AGGREGATES.contains(&function.name.to_string().to_lowercase().as_str())
}

/// The selected expression; `None` for all columns.
pub(super) fn expression(item: &SelectItem) -> Option<&Expr> {
    match item {
        SelectItem::UnnamedExpr(expression) | SelectItem::ExprWithAlias { expr: expression, .. } => {
            Some(expression)
        }
        _ => None,
    }
}

/// The first window function or aggregate of aggregates in a SELECT that groups.
pub(super) fn over_groups(query: &Query) -> Option<String> {
    match query.visit(&mut OverGroups) {
        ControlFlow::Break(expression) => Some(expression),
        ControlFlow::Continue(()) => None,
    }
}

struct OverGroups;

impl Visitor for OverGroups {
    type Break = String;

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<String> {
        let selected = || select.projection.iter().filter_map(expression);
        let is_plain = matches!(&select.group_by, GroupByExpr::Expressions(by, _) if by.is_empty());
        // In a SELECT that does not group, window functions work on rows, even those with an aggregate's name.
        if is_plain && !selected().any(has_aggregate) {
            return ControlFlow::Continue(());
        }
        let over_groups = |part: &Expr| match part {
            Expr::Function(function) if function.over.is_some() => ControlFlow::Break(part.to_string()),
            part if is_aggregate(part) && arguments(part).any(has_aggregate) => {
                ControlFlow::Break(part.to_string())
            }
            _ => ControlFlow::Continue(()),
        };
        for expression in selected().chain(&select.having) {
            visit_expressions(expression, over_groups)?;
        }
        ControlFlow::Continue(())
    }
}

/// The arguments of a function.
fn arguments(function: &Expr) -> impl Iterator<Item = &Expr> {
    let list = match function {
        Expr::Function(Function { args: FunctionArguments::List(list), .. }) => list.args.as_slice(),
        _ => &[],
    };
    list.iter().filter_map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expression)) => Some(expression),
        _ => None,
    })
}
