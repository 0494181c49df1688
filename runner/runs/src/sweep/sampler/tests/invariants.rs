//! Invariants of every sampler in every space.

use dc0_core::params::Value;
use dc0_core::rng::{Purpose, Seed, Stream};
use rand::RngExt;

use super::{KINDS, complete, of_kind, search, space};
use crate::sweep::observation::{Direction, Observation};
use crate::sweep::sampler::{Sampler, SamplerKind};
use crate::sweep::space::{Domain, Point, Space};

/// A random dimension, as a script writes it.
fn dimension(rng: &mut Stream) -> String {
    match rng.random_range(0..4) {
        0 => {
            let values: Vec<String> =
                (0..rng.random_range(1..5)).map(|value| format!("\"v{value}\"")).collect();
            format!(r#""kind": "choice", "values": [{}]"#, values.join(", "))
        }
        1 => {
            let (low, log) = (rng.random_range(1..50), rng.random::<bool>());
            let (high, step) = (low + rng.random_range(0..100), if log { 1 } else { rng.random_range(1..9) });
            format!(r#""kind": "int", "low": {low}, "high": {high}, "step": {step}, "log": {log}"#)
        }
        kind => {
            let kind = if kind == 2 { "uniform" } else { "log_uniform" };
            let low = 10_f64.powi(rng.random_range(-6..4)) * rng.random_range(1.0..10.0);
            let high = low * (1.0 + 10_f64.powi(rng.random_range(-3..5)));
            format!(r#""kind": "{kind}", "low": {low:?}, "high": {high:?}"#)
        }
    }
}

/// A random space of up to six dimensions, some active only for the first value of an earlier choice.
fn random_space(seed: u64) -> Space {
    let mut rng = Seed { run: seed, step: 0 }.stream(0, Purpose::Opening);
    let mut dimensions = vec![r#""d0": {"kind": "choice", "values": ["v0", 1]}"#.to_owned()];
    let mut choices = vec!["d0".to_owned()];
    for number in 1..rng.random_range(2..7) {
        let name = format!("d{number}");
        let body = dimension(&mut rng);
        let mut when = String::new();
        if rng.random_bool(0.4) {
            let on = &choices[rng.random_range(0..choices.len())];
            when = format!(r#", "when": {{"{on}": "v0"}}"#);
        }
        if body.contains("choice") {
            choices.push(name.clone());
        }
        dimensions.push(format!(r#""{name}": {{{body}{when}}}"#));
    }
    space(&format!("{{{}}}", dimensions.join(", ")))
}

/// An objective that depends on every dimension.
fn objective(space: &Space, point: &Point) -> f64 {
    let units = space.dimensions().filter_map(|(name, dimension)| dimension.domain.unit_of(point.get(name)?));
    units.map(|unit| (unit - 0.3).powi(2)).sum()
}

#[test]
fn every_chosen_point_lies_in_the_space() {
    let mut count = 0;
    for seed in 0..150 {
        let space = random_space(seed);
        for kind in KINDS {
            let trials = search(&space, &of_kind(kind), seed, 14, |point| objective(&space, point));
            for trial in &trials {
                assert!(space.contains(&trial.point), "{kind:?}, seed {seed}: {:?}", trial.point);
            }
            count += trials.len();
        }
    }
    assert!(count > 5000, "{count}");
}

#[test]
fn samplers_are_deterministic_and_ignore_the_order_of_trials() {
    for seed in 0..20 {
        let space = random_space(seed);
        for kind in KINDS {
            let params = of_kind(kind);
            let trials = search(&space, &params, seed, 14, |point| objective(&space, point));
            let sampler = Sampler { space: &space, params: &params, direction: Direction::Minimize, seed };
            let point = sampler.ask(14, &trials);
            let backwards: Vec<Observation> = trials.iter().rev().cloned().collect();
            assert_eq!(sampler.ask(14, &backwards), point, "{kind:?}, seed {seed}");
            let again = search(&space, &params, seed, 14, |point| objective(&space, point));
            assert_eq!(again, trials, "{kind:?}, seed {seed}");
        }
    }
}

#[test]
fn other_seeds_and_trials_draw_other_points() {
    let space = space(r#"{"x": {"kind": "uniform", "low": 0, "high": 1}}"#);
    for kind in KINDS {
        let params = of_kind(kind);
        let ask = |seed, number| {
            Sampler { space: &space, params: &params, direction: Direction::Minimize, seed }.ask(number, &[])
        };
        assert_ne!(ask(1, 0), ask(2, 0), "{kind:?}");
        assert_ne!(ask(1, 0), ask(1, 1), "{kind:?}");
        assert_ne!(ask(1, 7), ask(1, 7 + (1 << 16)), "{kind:?}");
    }
}

#[test]
fn a_new_dimension_does_not_change_the_draws_of_the_others() {
    let x = r#""x": {"kind": "uniform", "low": 0, "high": 1}"#;
    let (one, two) = (
        space(&format!("{{{x}}}")),
        space(&format!(r#"{{"a": {{"kind": "int", "low": 1, "high": 9}}, {x}}}"#)),
    );
    for kind in [SamplerKind::Random, SamplerKind::Tpe] {
        let params = of_kind(kind);
        let ask = |space, trials: &[Observation]| {
            let sampler = Sampler { space, params: &params, direction: Direction::Minimize, seed: 5 };
            sampler.ask(20, trials).expect("an infinite space")["x"].clone()
        };
        let trials = search(&two, &params, 5, 20, |point| point["x"].as_f64().expect("a number"));
        let without_a: Vec<Observation> = trials
            .iter()
            .map(|trial| Observation {
                point: Point::from([("x".to_owned(), trial.point["x"].clone())]),
                ..trial.clone()
            })
            .collect();
        assert_eq!(ask(&two, &trials), ask(&one, &without_a), "{kind:?}");
    }
}

#[test]
fn maximizing_a_value_is_minimizing_its_negative() {
    let space = random_space(4);
    let params = of_kind(SamplerKind::Tpe);
    let trials = search(&space, &params, 1, 12, |point| objective(&space, point));
    let negated: Vec<Observation> = trials
        .iter()
        .map(|trial| complete(trial.number, trial.point.clone(), -trial.value.expect("complete")))
        .collect();
    let ask = |direction, trials: &[Observation]| {
        Sampler { space: &space, params: &params, direction, seed: 1 }.ask(12, trials)
    };
    assert_eq!(ask(Direction::Minimize, &trials), ask(Direction::Maximize, &negated));
    assert_ne!(ask(Direction::Minimize, &trials), ask(Direction::Maximize, &trials));
}

#[test]
fn sixteen_sobol_points_are_stratified_in_each_dimension() {
    let sixteenths = r#"{"kind": "int", "low": 0, "high": 15}"#;
    let space = space(&format!(
        r#"{{"a": {sixteenths}, "b": {sixteenths}, "c": {sixteenths}, "x": {{"kind": "uniform", "low": 0, "high": 1}}}}"#
    ));
    for seed in 0..20 {
        let trials = search(&space, &of_kind(SamplerKind::Sobol), seed, 16, |_| 0.0);
        for name in ["a", "b", "c"] {
            let mut values: Vec<i64> = trials
                .iter()
                .map(|trial| match trial.point[name] {
                    Value::Int(value) => value,
                    _ => panic!("a whole number"),
                })
                .collect();
            values.sort_unstable();
            assert_eq!(values, (0..16).collect::<Vec<i64>>(), "{name}, seed {seed}");
        }
    }
}

#[test]
fn random_points_are_uniform_on_the_scale_of_each_dimension() {
    let space = space(
        r#"{"log": {"kind": "log_uniform", "low": 0.01, "high": 100}, "linear": {"kind": "uniform", "low": -1, "high": 3},
            "word": {"kind": "choice", "values": ["a", "b", "c", "d"]}}"#,
    );
    let trials = search(&space, &of_kind(SamplerKind::Random), 8, 4000, |_| 0.0);
    for (name, dimension) in space.dimensions() {
        let low_half = trials.iter().filter(|trial| half(&dimension.domain, &trial.point[name])).count();
        // Three standard deviations of a fair coin: 95.
        assert!(low_half.abs_diff(2000) < 95, "{name}: {low_half} of 4000");
    }
}

/// Whether a value lies in the lower half of its dimension.
fn half(domain: &Domain, value: &Value) -> bool {
    domain.unit_of(value).expect("a value of the dimension") < 0.5
}
