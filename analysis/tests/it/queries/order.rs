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

#[test]
fn rows_that_an_order_leaves_equal_are_sorted_by_all_columns() {
    // Two lengths have one game each, and the order of groups is DuckDB's own.
    check(
        "select count(*) as n, len(moves) as l from games group by l order by n limit 2",
        "n  l\n1  3\n1  4",
    );
    check(
        "select distinct 0 as x, result from games order by x",
        "x  result\n0      -1\n0       0\n0       1",
    );
    check("select * from (values (1, 'b'), (1, 'a'), (0, 'c')) t(n, x) order by n", "n  x\n0  c\n1  a\n1  b");
    check(
        "select 1 as n, 'b' as x union all select 1, 'a' union all select 0, 'c' order by n desc limit 2",
        "n  x\n1  a\n1  b",
    );
    check("select 'b' as x union all select 'a' order by all", "x\na\nb");
    check(
        "select distinct on (n) n, x from (values (1, 'b'), (1, 'a'), (0, 'c')) t(n, x) order by n desc",
        "n  x\n1  a\n0  c",
    );
    check(
        "with t as (select 2 as n, 'z' as x union all select 2, 'y') select x from t order by n",
        "x\ny\nz",
    );
}

/// Enough rows for all threads, of which each begins elsewhere in each call.
#[test]
fn equal_statements_have_equal_answers_at_a_limit() {
    let folder = super::runs::run();
    let answer = || {
        let run = dc0_analysis::RunSource::from_folder("run", folder.path());
        let database = dc0_analysis::Database::new(vec![run], Vec::new(), dc0_analysis::Work::Fast);
        let statement = "select a, count(*) as n from range(300000) t(a), (select 1 from games limit 2) \
             group by a order by n desc limit 3";
        super::runs::table(&database.query(statement).expect("a frame"))
    };
    for _ in 0..12 {
        assert_eq!(answer(), "a  n\n0  2\n1  2\n2  2");
    }
}
