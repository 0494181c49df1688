//! A sweep as an Optuna journal, which Optuna and its dashboard open.
//!
//! The format is that of `JournalStorage` with a file backend (Optuna 4 and 5): one JSON object a line, told apart by
//! `op_code`. A study is one line that creates it, one for each of its attributes, and one for each trial.

use std::collections::BTreeMap;
use std::time::SystemTime;

use dc0_core::params::{Param, Value};
use serde_json::{Map, Value as Json, json};

use super::pruner::Reported;
use super::space::{Domain, Space, canonical};
use super::told::{Direction, Told, TrialState};

/// A sweep, as it is exported.
#[derive(Debug, Clone)]
pub struct Study<'a> {
    /// Its name, by which Optuna loads it.
    pub name: &'a str,
    /// Which objectives are good.
    pub direction: Direction,
    /// What was searched.
    pub space: &'a Space,
    /// What else there is to say, shown with the study.
    pub attributes: BTreeMap<String, Value>,
    /// The trials, numbered from 0 in order: Optuna numbers them by their lines.
    pub trials: Vec<Trial>,
}

/// A trial, as it is exported.
#[derive(Debug, Clone)]
pub struct Trial {
    /// What a sampler hears of it.
    pub told: Told,
    /// Its reports, at most one for a place.
    pub reports: Vec<Reported>,
    /// The interval of its value over replicates, if there is one.
    pub interval: Option<(f64, f64)>,
    /// What else there is to say, shown with the trial.
    pub attributes: BTreeMap<String, Value>,
    /// When it began, if known.
    pub started: Option<SystemTime>,
    /// When it ended, if known.
    pub ended: Option<SystemTime>,
}

const CREATE_STUDY: u8 = 0;
const SET_STUDY_ATTRIBUTE: u8 = 2;
const CREATE_TRIAL: u8 = 4;

/// The whole journal as text.
///
/// Optuna has no state for what is killed or stale: both are failed there, and the attribute `state` has dc0's own word.
/// Paused trials are pruned ones. Values that do not lie in the space any more are only in the attribute `point`.
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
    let told = &trial.told;
    let value = told.value.filter(|value| value.is_finite());
    let state = match told.state {
        TrialState::Running => 0,
        TrialState::Complete if value.is_some() => 1,
        TrialState::Paused | TrialState::Pruned => 2,
        TrialState::Complete | TrialState::Failed | TrialState::Killed | TrialState::Stale => 3,
    };
    let (params, distributions) = params(space, told);
    let reports = || trial.reports.iter().filter(|report| report.value.is_finite());
    let values: Map<String, Json> =
        reports().map(|report| (report.at.to_string(), json!(report.value))).collect();
    let mut members = json!({
        "study_id": 0,
        "state": state,
        "datetime_start": trial.started.map(date),
        "params": params,
        "distributions": distributions,
        "intermediate_values": values,
        "user_attrs": attributes(trial),
        "system_attrs": {},
    });
    if matches!(state, 1 | 2) {
        members["value"] = json!(value);
    }
    if let Some(ended) = trial.ended {
        members["datetime_complete"] = json!(date(ended));
    }
    members
}

/// The values of the dimensions that are there, as numbers, and what they mean. All of the space's present values are
/// in each distribution, so that those of earlier trials agree with those of later ones.
fn params(space: &Space, told: &Told) -> (Map<String, Json>, Map<String, Json>) {
    let (mut params, mut distributions) = (Map::new(), Map::new());
    for (name, dimension) in space.dimensions() {
        let value = told.point.get(name).and_then(|value| number(&dimension.domain, value));
        if let Some(value) = value {
            params.insert(name.to_owned(), json!(value));
            // The journal holds them as text within the text.
            distributions.insert(name.to_owned(), json!(distribution(&dimension.domain).to_string()));
        }
    }
    (params, distributions)
}

/// A value as Optuna stores it: a choice by its index.
fn number(domain: &Domain, value: &Value) -> Option<f64> {
    match domain {
        Domain::Choice(values) => values.iter().position(|known| known == value).map(|index| index as f64),
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

/// Optuna's choices have no parts: lists and groups become their text.
fn choice(value: &Value) -> Json {
    match value {
        Value::List(_) | Value::Group(_) => json!(value.canonical()),
        plain => json!(plain),
    }
}

/// The attributes of a trial, and what Optuna has no place for: its state in dc0's words, its whole point, the intervals
/// of its value and of its reports by place.
fn attributes(trial: &Trial) -> Map<String, Json> {
    let mut attributes: Map<String, Json> =
        trial.attributes.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    attributes.insert("state".to_owned(), json!(trial.told.state.to_value()));
    attributes.insert("point".to_owned(), json!(canonical(&trial.told.point)));
    if let Some((low, high)) = trial.interval {
        attributes.insert("low".to_owned(), json!(low));
        attributes.insert("high".to_owned(), json!(high));
    }
    if !trial.reports.is_empty() {
        let interval = |report: &Reported| (report.at.to_string(), json!([report.low, report.high]));
        let intervals: Map<String, Json> = trial.reports.iter().map(interval).collect();
        attributes.insert("intervals".to_owned(), json!(intervals));
    }
    attributes
}

/// ISO 8601 with an offset that every Python reads.
fn date(time: SystemTime) -> String {
    humantime::format_rfc3339_millis(time).to_string().replace('Z', "+00:00")
}

#[cfg(test)]
mod tests;
