//! The order of rows that a statement leaves open.

use super::runs::check;

#[test]
fn groups_and_distinct_rows_are_sorted_without_an_order_by() {
    check(
        "select reason, count(*) as n from games group by reason",
        "reason     n\ncheckmate  3\nthreefold  2",
    );
    check("select count(*) as n, reason from games group by all", "n  reason\n2  threefold\n3  checkmate");
    check("select distinct result from games", "result\n    -1\n     0\n     1");
    check("select result from games union select 7", "result\n    -1\n     0\n     1\n     7");
}

#[test]
fn limit_takes_the_first_of_sorted_groups() {
    check("select len(moves) as l, count(*) as n from games group by l limit 2", "l  n\n2  3\n3  1");
    check("select distinct result from games limit 1", "result\n    -1");
}

#[test]
fn a_statements_own_order_is_kept() {
    check("select result from games order by result desc limit 1", "result\n     1");
    check(
        "select len(moves) as l, count(*) as n from games group by l order by l desc",
        "l  n\n4  1\n3  1\n2  3",
    );
    check("select distinct result from games order by result desc", "result\n     1\n     0\n    -1");
    check("select 7 as x union all select 3", "x\n7\n3");
}
