use std::collections::BTreeSet;

use dc0_core::params::{Param, Params, Problems, Value};

use super::{Sampler, SamplerKind, SamplerParams, tpe};
use crate::sweep::observation::{Direction, Observation, TrialState};
use crate::sweep::space::{Point, Space, canonical, label};

mod invariants;
mod quality;

const KINDS: [SamplerKind; 3] = [SamplerKind::Random, SamplerKind::Sobol, SamplerKind::Tpe];

fn value(json: &str) -> Value {
    serde_json::from_str(json).expect("test JSON")
}

fn space(json: &str) -> Space {
    Space::from_value(&value(json)).expect("a sound space")
}

fn of_kind(kind: SamplerKind) -> SamplerParams {
    SamplerParams { kind, startup: 4, ..SamplerParams::default() }
}

fn complete(number: u32, point: Point, value: f64) -> Observation {
    Observation { number, point, state: TrialState::Complete, value: Some(value), at: 0 }
}

/// Minimizes the objective with up to `count` trials, one after the other, until there is no next point.
fn search(
    space: &Space,
    params: &SamplerParams,
    seed: u64,
    count: u32,
    objective: impl Fn(&Point) -> f64,
) -> Vec<Observation> {
    let sampler = Sampler { space, params, direction: Direction::Minimize, seed };
    let mut trials = Vec::new();
    for number in 0..count {
        let Some(point) = sampler.ask(number, &trials) else { break };
        let value = objective(&point);
        trials.push(complete(number, point, value));
    }
    trials
}

fn read(json: &str) -> Result<SamplerParams, String> {
    let mut problems = Problems::default();
    let read = SamplerParams::read(&value(json), "sampler", None, &mut problems);
    read.filter(|_| problems.is_empty()).ok_or_else(|| problems.into_errors("sweep").to_string())
}

#[test]
fn a_bare_name_is_a_sampler_with_default_settings() {
    let random = SamplerParams { kind: SamplerKind::Random, ..SamplerParams::default() };
    assert_eq!(read(r#""random""#), Ok(random.clone()));
    assert_eq!(read(r#"{"kind": "random"}"#), Ok(random.clone()));
    assert_eq!(SamplerParams::read(&random.to_value(), "", None, &mut Problems::default()), Some(random));
    let wrong = read(r#""bayes""#).expect_err("no such sampler");
    assert!(
        wrong.contains("sampler.kind: expected one of grid, random, sobol, tpe, got \"bayes\""),
        "{wrong}"
    );
    assert!(read("3").expect_err("no group").contains("sampler: expected a group"));
    assert_eq!(SamplerParams::names(), ["kind", "startup", "candidates", "gamma"]);
}

#[test]
fn a_grid_needs_points_for_intervals() {
    let endless = space(
        r#"{"x": {"kind": "uniform", "low": 0, "high": 2}, "n": {"kind": "int", "low": 1, "high": 2}}"#,
    );
    let problems = |kind| {
        let mut problems = Problems::default();
        of_kind(kind).check(&endless, "space", &mut problems);
        problems.into_errors("sweep").to_string()
    };
    let expected = "sweep: 1 problem in its parameters\n  space.x: a grid needs finitely many values, got \
                    uniform(0.0, 2.0); say how many with points, or take another sampler";
    assert_eq!(problems(SamplerKind::Grid), expected);
    assert!(problems(SamplerKind::Tpe).contains("0 problems"));
}

#[test]
fn every_point_of_a_discrete_space_is_tried_once_by_every_sampler() {
    let space = space(
        r#"{"a": {"kind": "choice", "values": [1, "x", null]},
            "b": {"kind": "int", "low": 1, "high": 4, "when": {"a": [1, null]}},
            "c": {"kind": "int", "low": 8, "high": 64, "step": 8, "when": {"b": 4}}}"#,
    );
    let size = space.grid().count();
    assert_eq!(size, 1 + 2 * (3 + 8));
    for kind in [SamplerKind::Grid, SamplerKind::Random, SamplerKind::Sobol, SamplerKind::Tpe] {
        for seed in 0..5 {
            let trials = search(&space, &of_kind(kind), seed, 100, |point| point.len() as f64);
            let points: BTreeSet<String> = trials.iter().map(|trial| canonical(&trial.point)).collect();
            assert_eq!((trials.len(), points.len()), (size, size), "{kind:?}");
        }
    }
}

#[test]
fn a_grid_is_tried_in_order_and_added_values_later() {
    let labels =
        |trials: &[Observation]| -> Vec<String> { trials.iter().map(|trial| label(&trial.point)).collect() };
    let before = space(
        r#"{"n": {"kind": "choice", "values": [1, 3]}, "on": {"kind": "choice", "values": [true, false]}}"#,
    );
    let grid = of_kind(SamplerKind::Grid);
    let mut trials = search(&before, &grid, 0, 100, |_| 0.0);
    assert_eq!(labels(&trials), ["n=1 on=true", "n=1 on=false", "n=3 on=true", "n=3 on=false"]);
    let after = space(
        r#"{"n": {"kind": "choice", "values": [1, 2, 3]}, "on": {"kind": "choice", "values": [true, false]}}"#,
    );
    let sampler = Sampler { space: &after, params: &grid, direction: Direction::Minimize, seed: 0 };
    while let Some(point) = sampler.ask(trials.len() as u32, &trials) {
        trials.push(complete(trials.len() as u32, point, 0.0));
    }
    assert_eq!(labels(&trials[4..]), ["n=2 on=true", "n=2 on=false"]);
}

#[test]
fn points_of_running_trials_are_not_tried_again() {
    let space = space(r#"{"n": {"kind": "int", "low": 1, "high": 6}}"#);
    for kind in KINDS {
        let params = of_kind(kind);
        let sampler = Sampler { space: &space, params: &params, direction: Direction::Maximize, seed: 3 };
        let mut trials = Vec::new();
        while let Some(point) = sampler.ask(trials.len() as u32, &trials) {
            let number = trials.len() as u32;
            trials.push(Observation { number, point, state: TrialState::Running, value: None, at: 0 });
        }
        assert_eq!(trials.len(), 6, "{kind:?}");
    }
}

#[test]
fn tpe_ranks_complete_trials_by_value_then_stopped_ones_by_progress() {
    let trial = |number, state, value, at| Observation { number, point: numbered(number), state, value, at };
    let trials = [
        trial(0, TrialState::Failed, None, 0),
        trial(1, TrialState::Pruned, Some(9.0), 2),
        trial(2, TrialState::Complete, Some(3.0), 0),
        trial(3, TrialState::Paused, Some(2.0), 4),
        trial(4, TrialState::Complete, Some(5.0), 0),
        trial(5, TrialState::Killed, Some(100.0), 9),
        trial(6, TrialState::Stale, Some(100.0), 9),
        trial(7, TrialState::Running, Some(100.0), 9),
        trial(8, TrialState::Complete, Some(f64::NAN), 0),
        trial(9, TrialState::Paused, Some(3.0), 4),
    ];
    let order =
        |direction| -> Vec<Point> { tpe::best_first(&trials, direction).into_iter().cloned().collect() };
    assert_eq!(order(Direction::Maximize), [4, 2, 9, 3, 1, 0, 7, 8].map(numbered));
    assert_eq!(order(Direction::Minimize), [2, 4, 3, 9, 1, 0, 7, 8].map(numbered));
    assert_eq!(tpe::measured(&trials), 5);
}

fn numbered(number: u32) -> Point {
    Point::from([("n".to_owned(), Value::Int(number.into()))])
}

#[test]
fn tpe_avoids_regions_where_trials_fail() {
    let space = space(r#"{"x": {"kind": "uniform", "low": 0, "high": 1}}"#);
    let at = |x: f64| Point::from([("x".to_owned(), Value::Float(x))]);
    let mut trials: Vec<Observation> =
        (0..10).map(|number| complete(number, at(0.05 + 0.1 * f64::from(number)), 1.0)).collect();
    trials.extend((10..60).map(|number| Observation {
        state: TrialState::Failed,
        value: None,
        ..complete(number, at(0.5 + 0.01 * f64::from(number - 10)), 0.0)
    }));
    // Half of the trials are more than those with a value, and the others are bad all the same.
    for gamma in [0.1, 0.5] {
        let params = SamplerParams { gamma, ..of_kind(SamplerKind::Tpe) };
        let sampler = |seed| Sampler { space: &space, params: &params, direction: Direction::Maximize, seed };
        let drawn = (0..40).filter_map(|seed| sampler(seed).ask(60, &trials)?["x"].as_f64());
        let failing = drawn.filter(|x| *x > 0.5).count();
        assert!(failing <= 4, "{failing} of 40 in the failing region, gamma {gamma}");
    }
}

#[test]
fn only_trials_with_a_value_are_good() {
    assert_eq!([1, 9, 10, 11, 25].map(|trials| tpe::good(trials, trials, 0.1)), [1, 1, 1, 2, 3]);
    assert_eq!(tpe::good(100, 4, 0.1), 4);
    // The library splits at this share.
    for trials in 1..3000 {
        for measured in [1, trials / 2, trials].into_iter().filter(|measured| *measured > 0) {
            for gamma in [0.01, 0.1, 0.25, 0.5] {
                let (good, share) = (tpe::good(trials, measured, gamma), tpe::share(trials, measured, gamma));
                assert_eq!((trials as f64 * share).ceil() as usize, good, "{measured} of {trials}, {gamma}");
            }
        }
    }
}
