//! GROUP BY: expressions, aliases, positions and HAVING.

use super::runs::{check, rejected};

const BY_LENGTH: &str = "count(*) as n from games group by len(moves)";

#[test]
fn rows_are_grouped_by_expressions() {
    check(
        "select length(reason) as length, count(*) as n from games group by length(reason)",
        "length  n\n     9  5",
    );
    check(&format!("select len(moves), {BY_LENGTH}"), "moves  n\n    2  3\n    3  1\n    4  1");
    check(
        &format!("select len(moves) as plies, {BY_LENGTH} order by len(moves) desc"),
        "plies  n\n    4  1\n    3  1\n    2  3",
    );
    check(&format!("select {BY_LENGTH}"), "n\n1\n1\n3");
    check(&format!("select max(n) as most from (select len(moves), {BY_LENGTH})"), "most\n   3");
    check(
        &format!("with by_length as (select len(moves) as l, {BY_LENGTH}) select sum(n) as n from by_length"),
        "n\n5",
    );
}

#[test]
fn selected_expressions_may_use_grouping_expressions() {
    check(
        "select abs(result) as size, abs(result) + 1 as more, count(*) as n from games group by abs(result)",
        "size  more  n\n   0     1  2\n   1     2  3",
    );
    check("select upper(reason) || '!' as v from games group by upper(reason)", "v\nCHECKMATE!\nTHREEFOLD!");
    check(
        "select sum(len(moves)) as s, len(moves) * 2 as d from games group by len(moves)",
        "s  d\n3  6\n4  8\n6  4",
    );
}

#[test]
fn an_alias_with_a_columns_name_does_not_change_the_groups() {
    let expected = "result  n\n     0  2\n     1  3";
    check(
        "select abs(games.result) as result, count(*) as n from games group by abs(games.result)",
        expected,
    );
    check("select abs(g.result) as result, count(*) as n from games g group by abs(g.result)", expected);
    check("select abs(result), count(*) as n from games group by abs(result)", expected);
    check(
        "select upper(reason) as network, count(*) as n from games group by upper(reason)",
        "network    n\nCHECKMATE  3\nTHREEFOLD  2",
    );
    check(
        "select result + 1 as reason, count(*) as n from games group by result + 1",
        "reason  n\n     0  1\n     1  2\n     2  2",
    );
}

#[test]
fn rows_are_grouped_by_positions_and_aliases() {
    let expected = "l  n\n2  3\n3  1\n4  1";
    for by in ["1", "l", "all", "(len(moves))"] {
        check(&format!("select len(moves) as l, count(*) as n from games group by {by}"), expected);
    }
}

#[test]
fn having_filters_by_grouping_expressions() {
    check(&format!("select len(moves), {BY_LENGTH} having len(moves) > 3"), "moves  n\n    4  1");
    check(&format!("select {BY_LENGTH} having len(moves) > 3 or count(*) > 2"), "n\n1\n3");
    let threefold = "r          n\nthreefold  2";
    for (by, having) in [
        ("reason", "reason = 'threefold' and max(result) = 0"),
        ("reason", "r = 'threefold'"),
        ("\"reason\"", "reason = 'threefold'"),
        ("games.reason", "reason = 'threefold'"),
        ("1", "reason like 'three%'"),
        ("all", "reason = 'threefold'"),
        ("reason", "count(reason) = 2"),
    ] {
        check(
            &format!("select reason as r, count(*) as n from games group by {by} having {having}"),
            threefold,
        );
    }
}

#[test]
fn each_part_of_a_union_has_its_own_groups() {
    let part = format!("select len(moves) as l, {BY_LENGTH}");
    check(
        &format!("{part} having len(moves) = 2 union all {part} having len(moves) = 4"),
        "l  n\n2  3\n4  1",
    );
}

#[test]
fn expressions_over_groups_need_a_separate_select() {
    for expression in ["sum(count(*)) OVER ()", "row_number() OVER (ORDER BY reason)", "max(count(*))"] {
        let statement = format!("select reason, {expression} as x from games group by reason");
        let expected = format!(
            "`{expression}` is computed over groups; group in WITH, and compute it in a SELECT from that"
        );
        assert_eq!(rejected(&statement).to_string(), expected);
    }
    check(
        "with g as (select reason, count(*) as n from games group by reason) \
         select reason, n / sum(n) over () as share from g order by reason",
        "reason     share\ncheckmate    0.6\nthreefold    0.4",
    );
    check("select game, count(*) over () as n from games limit 1", "game  n\n   0  5");
}

#[test]
fn rows_of_joins_are_grouped() {
    check(
        "select g.reason as r, count(*) as n from games g join positions p on g.game = p.game and g.iteration = p.iteration \
         group by g.reason having g.reason = 'threefold'",
        "r          n\nthreefold  5",
    );
}
