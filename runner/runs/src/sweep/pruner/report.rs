//! Reports of trials, and their pooling over replicates.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// An intermediate value of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Reported {
    /// The trial's progress: its iterations, or whatever it counts.
    pub at: u32,
    /// The objective at that point.
    pub value: f64,
    /// The lower end of the value's interval; the value itself if the script gives none.
    pub low: f64,
    /// The upper end of the value's interval; the value itself if the script gives none.
    pub high: f64,
}

/// Pools the reports of a trial's replicates: at each progress the mean over the replicates that reported there.
///
/// Intervals combine as independent errors: each side of the mean's interval is the root of the sum of squares of the sides,
/// divided by their number. The variance between seeds beyond that is left out: two or three replicates are too few to
/// estimate it for a decision to stop.
pub fn pool(replicates: &[Vec<Reported>]) -> Vec<Reported> {
    let mut by_progress: BTreeMap<u32, Vec<Reported>> = BTreeMap::new();
    for report in replicates.iter().flatten() {
        by_progress.entry(report.at).or_default().push(*report);
    }
    by_progress.into_iter().map(|(at, reports)| mean(at, &reports)).collect()
}

fn mean(at: u32, reports: &[Reported]) -> Reported {
    let count = reports.len() as f64;
    let value = reports.iter().map(|report| report.value).sum::<f64>() / count;
    let side = |end: fn(&Reported) -> f64| {
        reports.iter().map(|report| (end(report) - report.value).powi(2)).sum::<f64>().sqrt() / count
    };
    Reported { at, value, low: value - side(|report| report.low), high: value + side(|report| report.high) }
}
