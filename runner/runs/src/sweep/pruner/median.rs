//! The median stopping rule.

use super::{Pruner, Reported, Reports};

/// Whether the whole interval of a report is worse than the median of the other trials at the same progress.
///
/// Trials may report at different times: one that has come that far counts with the last reports up to there of its replicates that have
/// come that far or are complete. Golovin et al. 2017, section 3.2.1, compare the trial's best value so far with the median of the complete
/// trials' averages up to there instead.
pub(super) fn is_below(pruner: &Pruner<'_>, report: &Reported, others: &[Reports]) -> bool {
    let params = pruner.params;
    let mut gains: Vec<f64> = others
        .iter()
        .filter_map(|reports| value_at(reports, report.at))
        .map(|value| pruner.direction.gain(value))
        .collect();
    if report.at < params.warmup || gains.len() < params.startup as usize {
        return false;
    }
    gains.sort_by(f64::total_cmp);
    pruner.optimistic_gain(report) < median(&gains)
}

fn value_at(reports: &Reports, at: u32) -> Option<f64> {
    let has_reached = reports.last_at().is_some_and(|last| last >= at);
    reports.up_to(at).filter(|_| has_reached).map(|report| report.value)
}

/// The median of sorted numbers, at least one.
fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { f64::midpoint(sorted[middle - 1], sorted[middle]) }
}
