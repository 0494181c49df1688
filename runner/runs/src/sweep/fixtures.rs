//! Parameters and events of small sweeps over one dimension, `x`, for tests. A replicate is written as (trial, replicate).

use dc0_core::params::{Value, read};

use super::events::{Ending, Event, Measured, Replicate, Spent};
use super::params::SweepParams;
use super::pruner::Reported;

/// Parameters of five trials, with further members in JSON, which replace those of the same name.
pub(super) fn params(more: &str) -> SweepParams {
    let space = r#"{"x": {"kind": "choice", "values": [0, 1, 2, 3, 4, 5, 6, 7]}}"#;
    let text = format!(r#"{{"name": "s", "trials": 5, "space": {space}{more}}}"#);
    read("sweep", &serde_json::from_str::<Value>(&text).expect("JSON")).expect("parameters")
}

/// A trial at the point of its number.
pub(super) fn suggested(trial: u32) -> Event {
    suggested_at(trial, trial.into())
}

pub(super) fn suggested_at(trial: u32, x: i64) -> Event {
    Event::Suggested { trial, point: [("x".to_owned(), Value::Int(x))].into() }
}

pub(super) fn started((trial, replicate): (u32, u32)) -> Event {
    Event::Started { replicate: Replicate { trial, replicate } }
}

pub(super) fn reported((trial, replicate): (u32, u32), at: u32, value: f64) -> Event {
    let report = Reported { at, value, low: value, high: value };
    Event::Reported { replicate: Replicate { trial, replicate }, report }
}

pub(super) fn ended((trial, replicate): (u32, u32), ending: Ending, value: f64) -> Event {
    let (replicate, result) = (Replicate { trial, replicate }, Some(Measured::exact(value)));
    Event::Ended { replicate, ending, result, because: None, spent: Spent::default() }
}
