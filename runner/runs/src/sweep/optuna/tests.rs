use std::collections::BTreeMap;

use dc0_core::params::Value;
use serde_json::{Value as Json, json};

use super::{Study, Trial, journal};
use crate::sweep::observation::{Direction, Observation, TrialState};
use crate::sweep::pruner::Reported;
use crate::sweep::space::{Point, Space};

fn value(json: Json) -> Value {
    serde_json::from_value(json).expect("test JSON")
}

fn point(json: Json) -> Point {
    let Value::Group(point) = value(json) else { panic!("a point is a group") };
    point
}

fn space() -> Space {
    let space = json!({
        "c_puct": { "kind": "log_uniform", "low": 0.5, "high": 4 },
        "blocks": { "kind": "choice", "values": [2, [4, 4], null] },
        "filters": { "kind": "int", "low": 16, "high": 63, "step": 16, "when": { "blocks": 2 } },
    });
    Space::from_value(&value(space)).expect("a sound space")
}

fn trial(number: u32, state: TrialState, given: Json, objective: Option<f64>) -> Trial {
    Trial {
        observation: Observation { number, point: point(given), state, value: objective, at: 0 },
        reports: Vec::new(),
        interval: None,
        attributes: BTreeMap::new(),
    }
}

fn lines(direction: Direction, trials: Vec<Trial>) -> Vec<Json> {
    let space = space();
    let attributes = BTreeMap::from([("question".to_owned(), Value::Text("Which \"c\"?\n".to_owned()))]);
    let journal = journal(&Study { name: "nets", direction, space: &space, attributes, trials });
    assert!(journal.ends_with('\n'));
    journal.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

#[test]
fn a_study_has_a_line_of_its_own_and_one_per_attribute() {
    let lines = lines(Direction::Maximize, vec![]);
    let study = json!({ "op_code": 0, "worker_id": "dc0", "study_name": "nets", "directions": [2] });
    let attribute = json!({ "op_code": 2, "worker_id": "dc0", "study_id": 0, "user_attr": { "question": "Which \"c\"?\n" } });
    assert_eq!(lines, [study, attribute]);
}

#[test]
fn a_trial_is_exported_with_all_its_data() {
    let given = json!({ "c_puct": 1.414, "blocks": 2, "filters": 48 });
    let mut complete = trial(0, TrialState::Complete, given, Some(0.25));
    let exact = Reported { at: 1, value: 0.1, low: 0.1, high: 0.1 };
    complete.reports = vec![exact, Reported { at: 3, value: 0.2, low: 0.125, high: 0.5 }];
    complete.interval = Some((0.0, 0.5));
    complete.attributes.insert("replicates".to_owned(), Value::Int(2));
    let categorical = r#"{"attributes":{"choices":[2,"[4,4]",null]},"name":"CategoricalDistribution"}"#;
    let float = r#"{"attributes":{"high":4.0,"log":true,"low":0.5,"step":null},"name":"FloatDistribution"}"#;
    let int = r#"{"attributes":{"high":48,"log":false,"low":16,"step":16},"name":"IntDistribution"}"#;
    let expected = json!({
        "op_code": 4, "worker_id": "dc0", "study_id": 0, "state": 1, "value": 0.25,
        "datetime_start": null,
        "params": { "blocks": 0.0, "c_puct": 1.414, "filters": 48.0 },
        "distributions": { "blocks": categorical, "c_puct": float, "filters": int },
        "intermediate_values": { "1": 0.1, "3": 0.2 },
        "user_attrs": {
            "replicates": 2, "state": "complete", "low": 0.0, "high": 0.5, "intervals": { "3": [0.125, 0.5] },
            "point": r#"{"blocks":2,"c_puct":1.414,"filters":48}"#,
        },
        "system_attrs": {},
    });
    assert_eq!(lines(Direction::Minimize, vec![complete])[2], expected);
}

#[test]
fn states_that_optuna_lacks_are_kept_as_an_attribute() {
    let states = [
        (TrialState::Running, None, 0),
        (TrialState::Complete, Some(1.0), 1),
        (TrialState::Complete, Some(f64::NAN), 3),
        (TrialState::Paused, Some(1.0), 2),
        (TrialState::Pruned, None, 2),
        (TrialState::Failed, None, 3),
        (TrialState::Killed, Some(1.0), 3),
        (TrialState::Stale, Some(1.0), 3),
    ];
    let given = json!({ "c_puct": 1.0, "blocks": null });
    let trials =
        (0..).zip(states).map(|(number, (state, value, _))| trial(number, state, given.clone(), value));
    let lines = lines(Direction::Maximize, trials.collect());
    for (line, (state, value, code)) in lines[2..].iter().zip(states) {
        assert_eq!((&line["state"], &line["user_attrs"]["state"]), (&json!(code), &json!(state.name())));
        let has_value = matches!(code, 1 | 2) && value.is_some();
        assert_eq!(line["value"].is_number(), has_value, "{state:?}");
    }
}

#[test]
fn inactive_dimensions_and_values_outside_the_space_are_left_out() {
    let names = |line: &Json| -> Vec<String> {
        line["params"].as_object().expect("a group").keys().cloned().collect()
    };
    let conditional = trial(0, TrialState::Complete, json!({ "c_puct": 1.0, "blocks": [4, 4] }), Some(1.0));
    let stale = trial(1, TrialState::Stale, json!({ "c_puct": 9.0, "blocks": 2, "filters": 17 }), Some(1.0));
    let lines = lines(Direction::Maximize, vec![conditional, stale]);
    assert_eq!(
        (names(&lines[2]), &lines[2]["params"]["blocks"]),
        (vec!["blocks".to_owned(), "c_puct".to_owned()], &json!(1.0))
    );
    assert_eq!(names(&lines[3]), ["blocks"]);
    assert_eq!(lines[3]["user_attrs"]["point"], r#"{"blocks":2,"c_puct":9.0,"filters":17}"#);
}
