//! Asynchronous successive halving (Li et al. 2020, "A system for massively parallel hyperparameter tuning", algorithm 2).
//!
//! A trial is on a rung once it has reported at or beyond it; the first such report of each replicate counts. The paper promotes the best
//! `1/reduction` of a rung. Here the worst of those sets the threshold, and every paused trial whose interval reaches it is
//! promoted. Without intervals the two rules agree, up to ties.

use super::{Job, Progress, Pruner, Reported, TrialState};

/// The next promotion: from the highest rung that has one, the trial with the best optimistic value.
pub(super) fn promotion(pruner: &Pruner<'_>, trials: &[Progress]) -> Option<Job> {
    let rungs: Vec<u32> = (0..).map_while(|rung| pruner.params.rung(rung)).collect();
    for (index, &rung) in rungs.iter().enumerate().rev() {
        let next = rungs.get(index + 1).copied();
        if let Some(number) = promotable(pruner, trials, (rung, next)) {
            return Some(Job::Promote { number, until: next });
        }
    }
    None
}

/// The paused trial to promote from a rung to the `next` one, or to its end if there is none.
fn promotable(pruner: &Pruner<'_>, trials: &[Progress], (rung, next): (u32, Option<u32>)) -> Option<u32> {
    let on_rung: Vec<(&Progress, Reported)> =
        trials.iter().filter_map(|trial| Some((trial, trial.reports.reaching(rung)?))).collect();
    let threshold = threshold(pruner, &on_rung)?;
    let is_waiting = |trial: &Progress| {
        trial.state == TrialState::Paused && next.is_none_or(|next| trial.reports.reaching(next).is_none())
    };
    let candidates = on_rung
        .into_iter()
        .filter(|(trial, report)| is_waiting(trial) && pruner.optimistic_gain(report) >= threshold);
    let best = candidates.max_by(|(one, report), (other, other_report)| {
        let by_gain = pruner.optimistic_gain(report).total_cmp(&pruner.optimistic_gain(other_report));
        by_gain.then(other.number.cmp(&one.number))
    });
    best.map(|(trial, _)| trial.number)
}

/// The gain of the worst among the best `1/reduction` of a rung; `None` while that is less than one trial.
fn threshold(pruner: &Pruner<'_>, on_rung: &[(&Progress, Reported)]) -> Option<f64> {
    let mut gains: Vec<f64> = on_rung.iter().map(|(_, report)| pruner.direction.gain(report.value)).collect();
    gains.sort_by(|one, other| other.total_cmp(one));
    let best = gains.len() / pruner.params.reduction as usize;
    best.checked_sub(1).map(|worst| gains[worst])
}
