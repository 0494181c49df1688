//! The median stopping rule.

use super::{Pruner, Reported};

/// Whether all of a report's interval is worse than the median of the other trials there.
///
/// A trial stands at a place if it has a report at it or before and one at it or beyond, with the last value up to there;
/// so trials that report at different places compare.
pub(super) fn is_below(pruner: &Pruner<'_>, report: &Reported, others: &[Vec<Reported>]) -> bool {
    let params = pruner.params;
    let mut gains: Vec<f64> = others
        .iter()
        .filter_map(|reports| standing(reports, report.at))
        .map(|value| pruner.direction.gain(value))
        .collect();
    if report.at < params.warmup || gains.len() < params.startup as usize {
        return false;
    }
    gains.sort_by(f64::total_cmp);
    pruner.hope(report) < median(&gains)
}

fn standing(reports: &[Reported], at: u32) -> Option<f64> {
    let has_come = reports.last().is_some_and(|last| last.at >= at);
    reports.iter().rfind(|report| report.at <= at && has_come).map(|report| report.value)
}

/// The middle of at least one sorted number.
fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { f64::midpoint(sorted[middle - 1], sorted[middle]) }
}
