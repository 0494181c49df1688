//! Reports of trials, and what several replicates say together.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How good a trial is so far.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Reported {
    /// How far the trial has come: its iterations, or whatever it counts.
    pub at: u32,
    /// The objective there.
    pub value: f64,
    /// The lower end of the value's interval; the value itself where the script gives none.
    pub low: f64,
    /// The upper end of the value's interval; the value itself where the script gives none.
    pub high: f64,
}

/// The reports of a trial from those of its replicates: at each place the mean over the replicates that have come there.
///
/// The intervals add up as independent errors: each side of the mean's is the root of the sum of squares of the sides,
/// divided by their number. Differences between seeds beyond the measured noise are not in it: two or three replicates
/// say too little about them to stop a trial by.
pub fn pool(replicates: &[Vec<Reported>]) -> Vec<Reported> {
    let mut places: BTreeMap<u32, Vec<Reported>> = BTreeMap::new();
    for report in replicates.iter().flatten() {
        places.entry(report.at).or_default().push(*report);
    }
    places.into_iter().map(|(at, reports)| mean(at, &reports)).collect()
}

fn mean(at: u32, reports: &[Reported]) -> Reported {
    let count = reports.len() as f64;
    let value = reports.iter().map(|report| report.value).sum::<f64>() / count;
    let side = |end: fn(&Reported) -> f64| {
        reports.iter().map(|report| (end(report) - report.value).powi(2)).sum::<f64>().sqrt() / count
    };
    Reported { at, value, low: value - side(|report| report.low), high: value + side(|report| report.high) }
}
