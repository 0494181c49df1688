use std::collections::BTreeSet;

use dc0_core::params::{Param, Value};

use super::{Domain, Point, Space, canonical, label};

fn value(json: &str) -> Value {
    serde_json::from_str(json).expect("test JSON")
}

fn space(json: &str) -> Space {
    Space::from_value(&value(json)).expect("a sound space")
}

fn point(json: &str) -> Point {
    let Value::Group(point) = value(json) else { panic!("a point is a group") };
    point
}

fn problems(json: &str) -> String {
    Space::from_value(&value(json)).expect_err("has problems").to_string()
}

const NETS: &str = r#"{
    "c_puct": {"kind": "log_uniform", "low": 0.5, "high": 4.0, "points": 3},
    "blocks": {"kind": "choice", "values": [2, 4]},
    "filters": {"kind": "int", "low": 16, "high": 64, "step": 16},
    "rule": {"kind": "choice", "values": ["puct", "gumbel", null]},
    "considered": {"kind": "int", "low": 4, "high": 16, "log": true, "when": {"rule": "gumbel"}}
}"#;

#[test]
fn a_space_round_trips_through_its_value() {
    let nets = space(NETS);
    assert_eq!(Space::from_value(&nets.to_value()), Ok(nets.clone()));
    let names: Vec<&str> = nets.dimensions().map(|(name, _)| name).collect();
    assert_eq!(names, ["blocks", "c_puct", "rule", "considered", "filters"]);
}

#[test]
fn points_have_exactly_the_active_dimensions() {
    let nets = space(NETS);
    let inside = |json| nets.contains(&point(json));
    assert!(inside(r#"{"c_puct": 1.5, "blocks": 2, "filters": 32, "rule": "puct"}"#));
    assert!(inside(r#"{"c_puct": 1.5, "blocks": 2, "filters": 32, "rule": null}"#));
    assert!(inside(r#"{"c_puct": 1.5, "blocks": 2, "filters": 32, "rule": "gumbel", "considered": 5}"#));
    for outside in [
        r#"{"c_puct": 1.5, "blocks": 2, "filters": 32, "rule": "gumbel"}"#,
        r#"{"c_puct": 1.5, "blocks": 2, "filters": 32, "rule": "puct", "considered": 5}"#,
        r#"{"c_puct": 1.5, "blocks": 3, "filters": 32, "rule": "puct"}"#,
        r#"{"c_puct": 1.5, "blocks": 2, "filters": 33, "rule": "puct"}"#,
        r#"{"c_puct": 4.5, "blocks": 2, "filters": 32, "rule": "puct"}"#,
        r#"{"c_puct": 1.5, "blocks": 2, "filters": 32.0, "rule": "puct"}"#,
        r#"{"c_puct": 1.5, "blocks": 2, "rule": "puct"}"#,
        r#"{"c_puct": 1.5, "blocks": 2, "filters": 32, "rule": "puct", "more": 1}"#,
    ] {
        assert!(!inside(outside), "{outside}");
    }
}

#[test]
fn adding_values_keeps_old_points_and_removing_them_does_not() {
    let before = space(
        r#"{"n": {"kind": "choice", "values": [1, "two"]}, "x": {"kind": "int", "low": 1, "high": 3}}"#,
    );
    let more = space(
        r#"{"n": {"kind": "choice", "values": [4, 1, "two"]}, "x": {"kind": "int", "low": 0, "high": 9},
        "of_4": {"kind": "uniform", "low": 0, "high": 1, "when": {"n": 4}}}"#,
    );
    let fewer =
        space(r#"{"n": {"kind": "choice", "values": [1]}, "x": {"kind": "int", "low": 1, "high": 3}}"#);
    let points: Vec<Point> = before.grid().collect();
    assert_eq!(points.len(), 6);
    assert!(points.iter().all(|point| more.contains(point)));
    let kept = points.iter().filter(|point| fewer.contains(point)).count();
    assert_eq!(kept, 3);
}

#[test]
fn the_grid_has_each_point_once() {
    for (json, size) in [
        (NETS, 3 * 2 * 4 * (2 + 13)),
        (r#"{"a": {"kind": "choice", "values": [1]}}"#, 1),
        // c is active for one of b's two values, and b for two of a's three: 1 + 2 · (1 + 4).
        (
            r#"{"a": {"kind": "int", "low": 1, "high": 3},
                "b": {"kind": "choice", "values": [true, false], "when": {"a": [1, 3]}},
                "c": {"kind": "int", "low": 1, "high": 4, "when": {"b": true}}}"#,
            11,
        ),
        // Both conditions must hold: 2 · 3 points, of which one has two values of c.
        (
            r#"{"a": {"kind": "choice", "values": [1, 2]}, "b": {"kind": "choice", "values": [1, 2, 3]},
                "c": {"kind": "choice", "values": ["x", "y"], "when": {"a": 2, "b": 3}}}"#,
            7,
        ),
    ] {
        let space = space(json);
        let points: Vec<Point> = space.grid().collect();
        assert_eq!(points.len(), size, "{json}");
        let texts: BTreeSet<String> = points.iter().map(canonical).collect();
        assert_eq!(texts.len(), points.len(), "{json}");
        assert!(points.iter().all(|point| space.contains(point)), "{json}");
    }
}

#[test]
fn continuous_spaces_have_no_grid_and_huge_ones_begin_at_once() {
    let endless =
        space(r#"{"x": {"kind": "uniform", "low": 0, "high": 1}, "n": {"kind": "choice", "values": [1]}}"#);
    assert_eq!((endless.grid().count(), endless.is_discrete()), (0, false));
    let wide = r#"{"kind": "int", "low": 0, "high": 4503599627370496}"#;
    let huge = space(&format!(r#"{{"a": {wide}, "b": {wide}, "c": {wide}}}"#));
    assert_eq!(huge.grid().take(3).count(), 3);
    // More combinations of switches than could ever be gone through.
    let switch = |number| {
        format!(
            r#""on{number}": {{"kind": "choice", "values": [true, false]}},
               "x{number}": {{"kind": "int", "low": 1, "high": 9, "when": {{"on{number}": true}}}}"#
        )
    };
    let switches: Vec<String> = (0..100).map(switch).collect();
    assert_eq!(space(&format!("{{{}}}", switches.join(", "))).grid().take(3).count(), 3);
}

#[test]
fn a_grid_of_an_interval_is_evenly_spaced_on_its_scale_with_both_ends() {
    let values = |json: &str| -> Vec<String> { space(json).grid().map(|point| label(&point)).collect() };
    let linear = r#"{"x": {"kind": "uniform", "low": -1, "high": 1, "points": 5}}"#;
    assert_eq!(values(linear), ["x=-1.0", "x=-0.5", "x=0.0", "x=0.5", "x=1.0"]);
    let log = r#"{"x": {"kind": "log_uniform", "low": 0.001, "high": 10, "points": 5}}"#;
    assert_eq!(values(log), ["x=0.001", "x=0.01", "x=0.1", "x=1.0", "x=10.0"]);
    assert_eq!(values(r#"{"x": {"kind": "log_uniform", "low": 1, "high": 4, "points": 1}}"#), ["x=2.0"]);
}

#[test]
fn drawn_numbers_are_short_and_within_the_range() {
    let drawn = |low, high, log, unit| {
        let Value::Float(value) = (Domain::Float { low, high, log, points: None }).at_unit(unit) else {
            panic!("an interval has numbers")
        };
        value
    };
    assert_eq!(drawn(0.5, 4.0, true, 0.5), 1.414);
    assert_eq!(drawn(1e-5, 1e-1, true, 0.3), 0.000_158_5);
    assert_eq!(drawn(0.5, 4.0, false, 1.0 / 3.0), 1.667);
    assert_eq!(drawn(0.0, 1.0, false, 1.0 / 3.0), 0.3333);
    assert_eq!(drawn(0.0, 123_456_789.0, false, 0.5), 61_700_000.0);
    // Four significant digits would allow only two values here.
    assert_eq!(drawn(1000.0, 1001.0, false, 1.0 / 3.0), 1000.3333);
    assert_eq!(drawn(1000.0, 1001.0, true, 1.0 / 3.0), 1000.3332);
    assert_eq!((drawn(0.123_456, 2.0, false, 0.0), drawn(0.1, 0.123_456, true, 1.0)), (0.123_456, 0.123_456));
    assert_eq!(drawn(-1.0, 1.0, false, 0.499_999_9).to_string(), "0");
}

#[test]
fn units_and_values_of_a_dimension_round_trip() {
    let domains = [
        Domain::Choice(vec![Value::Int(1), Value::Text("x".to_owned()), Value::None]),
        Domain::Int { low: -3, high: 12, step: 4, log: false },
        Domain::Int { low: 1, high: 100, step: 1, log: true },
        Domain::Float { low: -2.5, high: 3.0, log: false, points: None },
        Domain::Float { low: 1e-6, high: 1e3, log: true, points: None },
    ];
    for domain in domains {
        for step in 0..=1000 {
            let value = domain.at_unit(f64::from(step) / 1000.0);
            assert!(domain.contains(&value), "{domain}: {value}");
            let unit = domain.unit_of(&value).expect("a value of the domain");
            assert!((0.0..=1.0).contains(&unit), "{domain}: {value} at {unit}");
            assert_eq!(domain.at_unit(unit), value, "{domain}");
        }
        let elsewhere = Value::Text("elsewhere".to_owned());
        assert_eq!((domain.unit_of(&elsewhere), domain.index_of(&elsewhere)), (None, None));
        for index in 0..domain.count().unwrap_or(0) {
            let value = domain.nth(index).expect("a value of the grid");
            assert_eq!(domain.index_of(&value), Some(index), "{domain}");
        }
    }
}

#[test]
fn extreme_ranges_give_values_within_them() {
    let most = 1 << 53;
    for (low, high, log) in
        [(5e-324, 1e-323, false), (5e-324, f64::MAX, true), (1e308, f64::MAX, true), (-8e307, 8e307, false)]
    {
        let json = format!(
            r#"{{"kind": "{}uniform", "low": {low:e}, "high": {high:e}}}"#,
            if log { "log_" } else { "" }
        );
        let space = space(&format!(r#"{{"x": {json}}}"#));
        for unit in [0.0, 0.1, 0.5, 0.999_999, 1.0_f64.next_down(), 1.0] {
            assert!(
                space.build(|_, domain| Some(domain.at_unit(unit))).is_some_and(|at| space.contains(&at)),
                "{json}"
            );
        }
    }
    for (low, high, step, log) in [(-most, most, 1, false), (-most, most, most, false), (1, most, 1, true)] {
        let domain = Domain::Int { low, high, step, log };
        for unit in [0.0, 0.3, 0.999_999, 1.0] {
            assert!(domain.contains(&domain.at_unit(unit)), "{domain} at {unit}");
        }
    }
    let problem = problems(r#"{"x": {"kind": "uniform", "low": -1e308, "high": 1e308}}"#);
    assert!(problem.contains("space.x.high: lies too far from low"), "{problem}");
    let problem = problems(r#"{"n": {"kind": "int", "low": 0, "high": 9223372036854775807}}"#);
    assert!(problem.contains("space.n.high: must lie in -9007199254740992..=9007199254740992"), "{problem}");
}

#[test]
fn each_integer_owns_its_share_of_the_unit_interval() {
    let count = |domain: Domain, value: i64| {
        let values = (0..100_000).map(|step| domain.at_unit((f64::from(step) + 0.5) / 100_000.0));
        values.filter(|drawn| *drawn == Value::Int(value)).count()
    };
    for value in [2, 5, 8] {
        assert_eq!(
            count(Domain::Int { low: 2, high: 10, step: 3, log: false }, value),
            33_333 + usize::from(value == 5)
        );
    }
    // On a logarithmic scale 1 owns ln(1.5 / 0.5) of ln(8.5 / 0.5).
    let share = 3.0_f64.ln() / 17.0_f64.ln();
    let counted = count(Domain::Int { low: 1, high: 8, step: 1, log: true }, 1) as f64 / 100_000.0;
    assert!((counted - share).abs() < 1e-4, "{counted} instead of {share}");
}

#[test]
fn labels_are_short_and_equal_points_have_equal_texts() {
    let one = point(r#"{"rule": "puct", "c_puct": 1.414, "gate": null, "blocks": 4, "on": true}"#);
    assert_eq!(label(&one), "blocks=4 c_puct=1.414 gate=() on=true rule=puct");
    assert_eq!(canonical(&one), r#"{"blocks":4,"c_puct":1.414,"gate":null,"on":true,"rule":"puct"}"#);
}

#[test]
fn all_problems_of_a_space_are_reported_at_once_with_paths_and_hints() {
    let expected = r#"sweep: 14 problems in its parameters
  space.2x: a name has letters, digits and _ only, and no digit first
  space.a: expected a dimension, such as choice([…]), int(low, high), uniform(low, high) or log_uniform(low, high), got 3 (whole number)
  space.b.kind: expected one of choice, int, uniform, log_uniform, got "unifrom"
  space.c.lo: unknown parameter; did you mean `low`?
  space.c.low: is missing; expected a number
  space.d.high: must not lie below low (5), got 4
  space.e.high: must lie above low (0.5), got 0.5
  space.f.low: must lie above 0 on a logarithmic scale, got 0.0
  space.g.values[2]: 1 is listed twice
  space.h.step: must lie in 1..=9007199254740992, got 0
  space.i.low: expected a whole number, got 1.5 (number)
  space.j.points: must lie in 1..=1000000, got 0
  space.k.values: is empty; give at least one value
  space.l.when: expected #{ name: value } or #{ name: [values] }, got "g" (text)"#;
    let given = r#"{
        "2x": {"kind": "choice", "values": [1]},
        "a": 3,
        "b": {"kind": "unifrom", "low": 0, "high": 1},
        "c": {"kind": "uniform", "lo": 0, "high": 1},
        "d": {"kind": "int", "low": 5, "high": 4},
        "e": {"kind": "uniform", "low": 0.5, "high": 0.5},
        "f": {"kind": "log_uniform", "low": 0, "high": 1},
        "g": {"kind": "choice", "values": [1, 2, 1]},
        "h": {"kind": "int", "low": 1, "high": 4, "step": 0},
        "i": {"kind": "int", "low": 1.5, "high": 4},
        "j": {"kind": "uniform", "low": 0, "high": 1, "points": 0},
        "k": {"kind": "choice", "values": []},
        "l": {"kind": "choice", "values": [1], "when": "g"}
    }"#;
    assert_eq!(problems(given), expected);
}

#[test]
fn conditions_that_can_never_hold_are_problems() {
    let expected = r#"sweep: 6 problems in its parameters
  space.a.when.rul: there is no dimension `rul`; did you mean `rule`?
  space.b.when.rule: never has the value "gumble"; it is choice(["puct", "gumbel"])
  space.c.when.n: never has the value 4; it is int(1, 9, 2)
  space.d.when.x: is continuous; a condition can only ask for values of choice(…) and int(…)
  space.e.when.rule: is empty, so the dimension would never be active
  space.p.when: depends on itself: p → q → p"#;
    let one = r#""kind": "choice", "values": [1]"#;
    let given = format!(
        r#"{{
        "rule": {{"kind": "choice", "values": ["puct", "gumbel"]}},
        "n": {{"kind": "int", "low": 1, "high": 9, "step": 2}},
        "x": {{"kind": "uniform", "low": 0, "high": 1}},
        "a": {{{one}, "when": {{"rul": "puct"}}}},
        "b": {{{one}, "when": {{"rule": ["puct", "gumble"]}}}},
        "c": {{{one}, "when": {{"n": 4}}}},
        "d": {{{one}, "when": {{"x": 0.5}}}},
        "e": {{{one}, "when": {{"rule": []}}}},
        "p": {{{one}, "when": {{"q": 1}}}},
        "q": {{{one}, "when": {{"p": 1}}}}
    }}"#
    );
    assert_eq!(problems(&given), expected);
}

#[test]
fn a_space_must_be_a_non_empty_group() {
    assert!(problems("[1]").contains("space: expected a group of dimensions"));
    assert!(problems("{}").contains("space: expected 1 to 256 dimensions, got 0"));
}
