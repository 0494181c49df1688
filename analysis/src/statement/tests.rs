//! The statements that polars gets for those that users write.

use polars::prelude::{DataFrame, IntoLazy, NamedFrom, Series};
use polars::sql::SQLContext;

use super::Statement;
use crate::error::AnalysisError;
use crate::functions;

/// A table `games` with the columns `result` and `reason`.
fn context() -> SQLContext {
    let columns = vec![
        Series::new("result".into(), [1_i64, -1, 0]).into(),
        Series::new("reason".into(), ["checkmate", "checkmate", "stalemate"]).into(),
    ];
    let context = SQLContext::new().with_function_registry(functions::registry());
    context.register("games", DataFrame::new(3, columns).expect("columns of one length").lazy());
    context
}

/// The text of a statement after its groups are rewritten.
fn rewritten(text: &str) -> String {
    let mut statement = Statement::parse(text).expect("a statement");
    statement.group(&mut context());
    statement.0.to_string()
}

#[test]
fn a_grouping_expression_becomes_a_column_after_where() {
    assert_eq!(
        rewritten("select abs(result) as size, count(*) from games where result < 1 group by abs(result)"),
        "SELECT dc0_key_0 AS size, count(*) FROM (SELECT *, abs(result) AS dc0_key_0 FROM games WHERE result < 1) \
         AS \"games\" GROUP BY dc0_key_0 ORDER BY 1"
    );
}

#[test]
fn group_by_takes_positions_aliases_and_all() {
    let expected = "SELECT reason AS why, count(*) FROM games GROUP BY reason ORDER BY 1";
    for by in ["1", "why", "all", "reason"] {
        assert_eq!(rewritten(&format!("select reason as why, count(*) from games group by {by}")), expected);
    }
}

#[test]
fn having_compares_the_first_value_of_a_group() {
    assert_eq!(
        rewritten(
            "select reason, count(*) as n from games group by reason having reason = 'stalemate' and max(result) = 0"
        ),
        "SELECT reason, count(*) AS n FROM games GROUP BY reason HAVING first(reason) = 'stalemate' AND max(result) = 0 \
         ORDER BY 1"
    );
}

#[test]
fn groups_without_an_order_are_sorted() {
    assert_eq!(
        rewritten("select distinct reason from games"),
        "SELECT DISTINCT reason FROM games ORDER BY ALL"
    );
    assert_eq!(
        rewritten("select count(*) from games group by reason"),
        "SELECT count(*) FROM games GROUP BY reason ORDER BY ALL"
    );
    for text in ["SELECT reason FROM games", "SELECT reason FROM games GROUP BY reason ORDER BY reason DESC"]
    {
        assert_eq!(rewritten(text), text);
    }
}

#[test]
fn statements_that_polars_gets_wrong_are_rejected() {
    let rejected = |text: &str| Statement::parse(text).expect_err(text);
    assert!(matches!(
        rejected("select * from games a join games b on a.result = b.result and a.result = 1"),
        AnalysisError::OneSidedJoin { condition } if condition == "a.result = 1"
    ));
    for text in [
        "select max(count(*)) from games group by reason",
        "select sum(max(result)) over () from games group by reason",
    ] {
        assert!(matches!(rejected(text), AnalysisError::OverGroups { .. }), "{text}");
    }
}

#[test]
fn tables_defined_in_with_are_not_read_unless_they_shadow_a_known_table() {
    let tables = |text: &str| Statement::parse(text).expect("a statement").tables(&["games".to_owned()]);
    assert_eq!(tables("with own as (select * from games) select * from own"), ["games"]);
    assert_eq!(tables("with games as (select * from games) select * from games"), ["games"]);
    assert_eq!(tables("select * from game"), ["game"]);
}

#[test]
fn inner_selects_are_computed_beforehand() {
    let text = "select count(*) as n from (select fen_side from (select side(reason) as fen_side from games) as inner_one) as outer_one";
    for text in [text, "with inside as (select result from games) select count(*) as n from inside"] {
        let rows = Statement::parse(text).and_then(|statement| {
            statement.execute(&mut context()).map_err(|error| AnalysisError::from_execution(&error))
        });
        let rows = rows.expect("a plan").collect().expect("rows");
        assert_eq!(rows.column("n").expect("n").get(0).expect("a row").extract::<i64>(), Some(3), "{text}");
    }
}
