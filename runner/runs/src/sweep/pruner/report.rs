//! Reports of trials, and their means over replicates.

use std::collections::BTreeSet;

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

/// The reports of a trial, those of each replicate in order.
///
/// Replicates need not report at the same progress, so each counts with the report that a rule needs, and the value is the mean over them.
/// Intervals combine as independent errors: each side of the mean's interval is the root of the sum of squares of the sides,
/// divided by their number. The variance between seeds beyond that is left out: two or three replicates are too few to
/// estimate it for a decision to stop.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reports(pub Vec<Vec<Reported>>);

impl Reports {
    /// The mean of the replicates' last reports up to a progress.
    pub fn up_to(&self, at: u32) -> Option<Reported> {
        self.mean(at, |reports| reports.iter().rfind(|report| report.at <= at))
    }

    /// The mean of the replicates' first reports at or beyond a progress.
    pub fn reaching(&self, at: u32) -> Option<Reported> {
        self.mean(at, |reports| reports.iter().find(|report| report.at >= at))
    }

    /// At each progress, the mean of the replicates that reported there.
    pub fn pooled(&self) -> Vec<Reported> {
        let all: BTreeSet<u32> = self.0.iter().flatten().map(|report| report.at).collect();
        let at_each = |at| self.mean(at, |reports| reports.iter().find(|report| report.at == at));
        all.into_iter().filter_map(at_each).collect()
    }

    /// Whether a replicate has reported again after its first report at or beyond a progress.
    pub fn goes_on_from(&self, at: u32) -> bool {
        self.0.iter().any(|reports| reports.iter().filter(|report| report.at >= at).count() > 1)
    }

    /// The progress of the last report.
    pub fn last_at(&self) -> Option<u32> {
        self.0.iter().filter_map(|reports| Some(reports.last()?.at)).max()
    }

    fn mean(&self, at: u32, counting: impl Fn(&[Reported]) -> Option<&Reported>) -> Option<Reported> {
        let reports: Vec<&Reported> = self.0.iter().filter_map(|reports| counting(reports)).collect();
        if reports.is_empty() {
            return None;
        }
        let count = reports.len() as f64;
        let value = reports.iter().map(|report| report.value).sum::<f64>() / count;
        let side = |end: fn(&Reported) -> f64| {
            reports.iter().map(|report| (end(report) - report.value).powi(2)).sum::<f64>().sqrt() / count
        };
        Some(Reported {
            at,
            value,
            low: value - side(|report| report.low),
            high: value + side(|report| report.high),
        })
    }
}
