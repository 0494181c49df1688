//! Exports of sweeps, read by the programs they are for: Optuna loads the study, TensorBoard's reader the curves.
//! `cargo xtask test` installs both; without them these tests fail and say so.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::{interop_command, interop_script, stdout_of};
use dc0_core::params::Value;
use dc0_runs::sweep::observation::{Direction, Observation, TrialState};
use dc0_runs::sweep::optuna::{self, Study, Trial};
use dc0_runs::sweep::pruner::Reported;
use dc0_runs::sweep::sampler::{Sampler, SamplerKind, SamplerParams};
use dc0_runs::sweep::space::{Point, Space};
use dc0_runs::sweep::tensorboard::{self, Scalar};
use serde_json::{Value as Json, json};

fn space() -> Space {
    let space = json!({
        "c_puct": { "kind": "log_uniform", "low": 0.5, "high": 4.0 },
        "blocks": { "kind": "choice", "values": [2, 4, "wide", true, null, [1, 2], 0.5] },
        "filters": { "kind": "int", "low": 16, "high": 70, "step": 16 },
        "share": { "kind": "uniform", "low": -1.0, "high": 1.0 },
        "considered": { "kind": "int", "low": 1, "high": 64, "log": true, "when": { "blocks": [2, 4] } },
    });
    Space::from_value(&serde_json::from_value(space).expect("a value")).expect("a sound space")
}

/// The states of the study's trials, each with its name in Optuna.
const STATES: [(TrialState, &str); 40] = {
    let mut states = [(TrialState::Complete, "COMPLETE"); 40];
    states[3] = (TrialState::Failed, "FAIL");
    states[5] = (TrialState::Pruned, "PRUNED");
    states[8] = (TrialState::Paused, "PRUNED");
    states[11] = (TrialState::Killed, "FAIL");
    states[39] = (TrialState::Running, "RUNNING");
    states
};

/// An objective that depends almost only on `c_puct`.
fn objective(point: &Point) -> f64 {
    let number = |name: &str| point[name].as_f64().expect("a number");
    -(number("c_puct").ln() - 0.4).powi(2) - number("share").powi(2) / 100.0
}

fn trial(number: u32, point: Point, state: TrialState) -> Trial {
    let objective = objective(&point);
    let report = |at: u32| {
        let value = objective - 1.0 / f64::from(at);
        Reported { at, value, low: value - 0.5, high: value + 0.25 }
    };
    let value =
        matches!(state, TrialState::Complete | TrialState::Pruned | TrialState::Paused).then_some(objective);
    Trial {
        observation: Observation { number, point, state, value, at: 3 },
        reports: [1, 3].map(report).to_vec(),
        interval: value.map(|value| (value - 0.5, value + 0.5)),
        attributes: BTreeMap::from([("replicates".to_owned(), Value::Int(2))]),
    }
}

/// A random sweep, with trials in every state.
fn trials(space: &Space) -> Vec<Trial> {
    let params = SamplerParams { kind: SamplerKind::Random, ..SamplerParams::default() };
    let sampler = Sampler { space, params: &params, direction: Direction::Maximize, seed: 2 };
    let point = |number| sampler.ask(number, &[]).expect("an endless space");
    (0..).zip(STATES).map(|(number, (state, _))| trial(number, point(number), state)).collect()
}

/// A trial as `read_study.py` prints it, computed from dc0's data alone.
fn expected(trial: &Trial, state: &str) -> Json {
    let params: BTreeMap<&String, Json> = trial
        .observation
        .point
        .iter()
        .map(|(name, value)| match value {
            Value::List(_) => (name, json!(value.canonical())),
            value => (name, json!(value)),
        })
        .collect();
    let mut attributes = json!({
        "replicates": 2,
        "state": trial.observation.state.name(),
        "point": Value::Group(trial.observation.point.clone()).canonical(),
        "intervals": {
            "1": [trial.reports[0].low, trial.reports[0].high],
            "3": [trial.reports[1].low, trial.reports[1].high],
        },
    });
    if let Some((low, high)) = trial.interval {
        attributes["low"] = json!(low);
        attributes["high"] = json!(high);
    }
    json!({
        "number": trial.observation.number,
        "state": state,
        "value": trial.observation.value,
        "params": params,
        "reports": { "1": trial.reports[0].value, "3": trial.reports[1].value },
        "attributes": attributes,
    })
}

fn read_study(study: &Study<'_>) -> Json {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("optuna.journal");
    fs::write(&path, optuna::journal(study)).expect("a file");
    let printed = stdout_of(interop_command("read_study.py").arg(&path).arg(study.name));
    serde_json::from_str(&printed).expect("the script prints JSON")
}

#[test]
fn optuna_reads_every_trial_with_parameters_and_reports() {
    let space = space();
    let attributes = BTreeMap::from([("question".to_owned(), Value::Text("which “c”?".to_owned()))]);
    let study = Study {
        name: "nets",
        direction: Direction::Maximize,
        space: &space,
        attributes,
        trials: trials(&space),
    };
    let found = read_study(&study);
    assert_eq!(
        (&found["direction"], &found["attributes"]),
        (&json!("MAXIMIZE"), &json!({ "question": "which “c”?" }))
    );
    let listed = found["trials"].as_array().expect("a list");
    assert_eq!(listed.len(), study.trials.len());
    for ((trial, (_, state)), found) in study.trials.iter().zip(STATES).zip(listed) {
        assert_eq!(found, &expected(trial, state));
    }
    let conditional: BTreeSet<bool> =
        study.trials.iter().map(|trial| trial.observation.point.contains_key("considered")).collect();
    assert_eq!(conditional.len(), 2, "some trials have the conditional dimension, some have not");
}

#[test]
fn optuna_finds_the_best_trial_and_importances_and_continues_the_study() {
    let space = space();
    for direction in [Direction::Maximize, Direction::Minimize] {
        let mut trials = trials(&space);
        let sign = if direction == Direction::Maximize { 1.0 } else { -1.0 };
        for trial in &mut trials {
            trial.observation.value = trial.observation.value.map(|value| sign * value);
        }
        let complete = trials.iter().filter(|trial| trial.observation.state == TrialState::Complete);
        let gain = |trial: &&Trial| direction.gain(trial.observation.value.expect("complete"));
        let best =
            complete.max_by(|one, other| gain(one).total_cmp(&gain(other))).expect("some").observation.number;
        let study = Study { name: "nets", direction, space: &space, attributes: BTreeMap::new(), trials };
        let found = read_study(&study);
        assert_eq!(found["best"], json!(best));
        // The list is sorted by importance, highest first.
        assert_eq!(found["importances"][0][0], "c_puct", "{}", found["importances"]);
        assert!(found["importances"][0][1].as_f64().expect("a share") > 0.5, "{}", found["importances"]);
        assert_eq!(found["next"], json!(STATES.len()));
    }
}

#[test]
fn optuna_reads_the_ranges_that_dc0_searches() {
    let space = space();
    let study = Study {
        name: "nets",
        direction: Direction::Maximize,
        space: &space,
        attributes: BTreeMap::new(),
        trials: trials(&space),
    };
    let expected = json!({
        "c_puct": "FloatDistribution(high=4.0, log=True, low=0.5, step=None)",
        "blocks": "CategoricalDistribution(choices=(2, 4, 'wide', True, None, '[1,2]', 0.5))",
        "filters": "IntDistribution(high=64, log=False, low=16, step=16)",
        "share": "FloatDistribution(high=1.0, log=False, low=-1.0, step=None)",
        "considered": "IntDistribution(high=64, log=True, low=1, step=1)",
    });
    assert_eq!(read_study(&study)["distributions"], expected);
}

#[test]
fn tensorboard_reads_back_every_point_of_every_curve() {
    let folder = tempfile::tempdir().expect("a folder");
    let tags = ["loss/policy", "loss/value", "score against “greedy”"];
    let scalar = |number: i64| Scalar {
        tag: tags[number as usize % 3].to_owned(),
        step: number * 10,
        wall_time: 1_700_000_000.0 + 0.25 * number as f64,
        value: if number == 0 { 0.0 } else { (number as f64).sin() * 10_f64.powi(number as i32 % 20 - 10) },
    };
    let scalars: Vec<Scalar> = (0..3000).map(scalar).collect();
    let path = folder.path().join(tensorboard::FILE_NAME);
    fs::write(path, tensorboard::event_file(&scalars)).expect("a file");
    let printed = interop_script("read_curves.py", folder.path());
    let found: Json = serde_json::from_str(&printed).expect("the script prints JSON");
    let mut expected: BTreeMap<&str, Vec<Json>> = BTreeMap::new();
    for Scalar { tag, step, wall_time, value } in &scalars {
        // The file holds values as 32-bit floats.
        expected.entry(tag).or_default().push(json!([wall_time, step, f64::from(*value as f32)]));
    }
    assert_eq!(found, json!({ "version": 2.0, "curves": expected }));
}
