//! Exports a sweep as an Optuna journal, which Optuna and its dashboard can open.
//!
//! The format is that of `JournalStorage` with a file backend (Optuna 4 and 5): one JSON object per line,
//! distinguished by `op_code`. A study is one line that creates it, one per attribute, and one per trial.

use std::collections::BTreeMap;

use dc0_core::params::{Param, Value};
use serde_json::{Map, Value as Json, json};

use super::observation::{Direction, Observation, TrialState};
use super::pruner::Reported;
use super::space::{Domain, Space, canonical};

/// A sweep to export.
#[derive(Debug, Clone)]
pub struct Study<'a> {
    /// The name by which Optuna loads it.
    pub name: &'a str,
    /// Whether the objective is maximized or minimized.
    pub direction: Direction,
    /// The search space.
    pub space: &'a Space,
    /// User attributes, shown with the study.
    pub attributes: BTreeMap<String, Value>,
    /// The trials, numbered from 0 in order: Optuna numbers them by their lines.
    pub trials: Vec<Trial>,
}

/// A trial to export.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The trial as samplers see it.
    pub observation: Observation,
    /// Its reports, at most one per progress value (Optuna's step).
    pub reports: Vec<Reported>,
    /// The interval of its value over replicates, if there is one.
    pub interval: Option<(f64, f64)>,
    /// User attributes, shown with the trial.
    pub attributes: BTreeMap<String, Value>,
}

const CREATE_STUDY: u8 = 0;
const SET_STUDY_ATTRIBUTE: u8 = 2;
const CREATE_TRIAL: u8 = 4;

/// The whole journal as text.
///
/// Optuna has no states for killed and stale trials: both are exported as failed, with dc0's state in the attribute `state`.
/// Paused trials are exported as pruned. Values that no longer lie in the space appear only in the attribute `point`.
pub fn journal(study: &Study<'_>) -> String {
    let direction = match study.direction {
        Direction::Minimize => 1,
        Direction::Maximize => 2,
    };
    let create = json!({ "study_name": study.name, "directions": [direction] });
    let attribute = |(name, value): (&String, &Value)| {
        line(SET_STUDY_ATTRIBUTE, json!({ "study_id": 0, "user_attr": { name.as_str(): value } }))
    };
    let attributes = study.attributes.iter().map(attribute);
    let trials = study.trials.iter().map(|trial| line(CREATE_TRIAL, trial_json(study.space, trial)));
    std::iter::once(line(CREATE_STUDY, create)).chain(attributes).chain(trials).collect()
}

fn line(operation: u8, mut members: Json) -> String {
    members["op_code"] = json!(operation);
    members["worker_id"] = json!("dc0");
    format!("{members}\n")
}

fn trial_json(space: &Space, trial: &Trial) -> Json {
    let observation = &trial.observation;
    let value = observation.value.filter(|value| value.is_finite());
    let state = match observation.state {
        TrialState::Running => 0,
        TrialState::Complete if value.is_some() => 1,
        TrialState::Paused | TrialState::Pruned => 2,
        TrialState::Complete | TrialState::Failed | TrialState::Killed | TrialState::Stale => 3,
    };
    let (params, distributions) = params(space, observation);
    let reports = || trial.reports.iter().filter(|report| report.value.is_finite());
    let values: Map<String, Json> =
        reports().map(|report| (report.at.to_string(), json!(report.value))).collect();
    let mut members = json!({
        "study_id": 0,
        "state": state,
        // Runs and sweeps hold no times.
        "datetime_start": null,
        "params": params,
        "distributions": distributions,
        "intermediate_values": values,
        "user_attrs": attributes(trial),
        "system_attrs": {},
    });
    if matches!(state, 1 | 2) {
        members["value"] = json!(value);
    }
    members
}

/// The values of the active dimensions as numbers, with their distributions. Distributions are always those of the current
/// space, so that all trials have the same.
fn params(space: &Space, observation: &Observation) -> (Map<String, Json>, Map<String, Json>) {
    let (mut params, mut distributions) = (Map::new(), Map::new());
    for (name, dimension) in space.dimensions() {
        let value = observation.point.get(name).and_then(|value| number(&dimension.domain, value));
        if let Some(value) = value {
            params.insert(name.to_owned(), json!(value));
            // The journal stores distributions as JSON text within JSON.
            distributions.insert(name.to_owned(), json!(distribution(&dimension.domain).to_string()));
        }
    }
    (params, distributions)
}

/// A value as Optuna stores it: a choice as its index.
fn number(domain: &Domain, value: &Value) -> Option<f64> {
    match domain {
        Domain::Choice(_) => domain.index_of(value).map(|index| index as f64),
        domain => value.as_f64().filter(|_| domain.contains(value)),
    }
}

fn distribution(domain: &Domain) -> Json {
    match domain {
        Domain::Choice(values) => {
            let choices: Vec<Json> = values.iter().map(choice).collect();
            json!({ "name": "CategoricalDistribution", "attributes": { "choices": choices } })
        }
        &Domain::Int { low, high, step, log } => {
            let last = high - (high - low) % step;
            let attributes = json!({ "low": low, "high": last, "step": step, "log": log });
            json!({ "name": "IntDistribution", "attributes": attributes })
        }
        &Domain::Float { low, high, log, .. } => {
            let attributes = json!({ "low": low, "high": high, "step": null, "log": log });
            json!({ "name": "FloatDistribution", "attributes": attributes })
        }
    }
}

/// Optuna's choices are scalars: lists and groups become JSON text.
fn choice(value: &Value) -> Json {
    match value {
        Value::List(_) | Value::Group(_) => json!(value.canonical()),
        plain => json!(plain),
    }
}

/// The attributes of a trial, including what has no field in Optuna: dc0's state, the complete point, and the intervals of the
/// value and of the reports.
fn attributes(trial: &Trial) -> Map<String, Json> {
    let mut attributes: Map<String, Json> =
        trial.attributes.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    attributes.insert("state".to_owned(), json!(trial.observation.state.to_value()));
    attributes.insert("point".to_owned(), json!(canonical(&trial.observation.point)));
    if let Some((low, high)) = trial.interval {
        attributes.insert("low".to_owned(), json!(low));
        attributes.insert("high".to_owned(), json!(high));
    }
    let interval = |report: &Reported| (report.at.to_string(), json!([report.low, report.high]));
    let known = trial.reports.iter().filter(|report| report.low < report.high);
    let intervals: Map<String, Json> = known.map(interval).collect();
    if !intervals.is_empty() {
        attributes.insert("intervals".to_owned(), json!(intervals));
    }
    attributes
}

#[cfg(test)]
mod tests;
