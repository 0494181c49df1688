//! Asynchronous successive halving (Li et al. 2020, "A system for massively parallel hyperparameter tuning", algorithm 2).
//!
//! A trial stands on a rung once it has a report at its place or beyond, with the first of these. The paper promotes the
//! best `1/reduction` of a rung; here the worst of those sets the bar, and every paused trial whose interval reaches it
//! goes on. Without intervals the two are the same, up to ties.

use super::{Job, Progress, Pruner, Reported, TrialState};

/// The promotion to make, from the highest rung that has one; the trial that may hope for most first.
pub(super) fn promotion(pruner: &Pruner<'_>, trials: &[Progress]) -> Option<Job> {
    let rungs: Vec<u32> = (0..).map_while(|rung| pruner.params.rung(rung)).collect();
    for (rung, &place) in rungs.iter().enumerate().rev() {
        if let Some(number) = promotable(pruner, trials, (place, rungs.get(rung + 1))) {
            return Some(Job::Promote { number, until: rungs.get(rung + 1).copied() });
        }
    }
    None
}

/// The paused trial to promote from the rung at `place`, below the `next` one if there is one.
fn promotable(pruner: &Pruner<'_>, trials: &[Progress], (place, next): (u32, Option<&u32>)) -> Option<u32> {
    let on_rung: Vec<(&Progress, &Reported)> =
        trials.iter().filter_map(|trial| Some((trial, standing(trial, place)?))).collect();
    let bar = bar(pruner, &on_rung)?;
    let waits_here = |trial: &Progress| {
        trial.state == TrialState::Paused && next.is_none_or(|next| standing(trial, *next).is_none())
    };
    let hopeful =
        on_rung.into_iter().filter(|(trial, report)| waits_here(trial) && pruner.hope(report) >= bar);
    let best = hopeful.max_by(|(one, report), (other, other_report)| {
        let by_hope = pruner.hope(report).total_cmp(&pruner.hope(other_report));
        by_hope.then(other.number.cmp(&one.number))
    });
    best.map(|(trial, _)| trial.number)
}

/// The gain of the worst of the best `1/reduction` of a rung; none while that is no trial.
fn bar(pruner: &Pruner<'_>, on_rung: &[(&Progress, &Reported)]) -> Option<f64> {
    let mut gains: Vec<f64> = on_rung.iter().map(|(_, report)| pruner.direction.gain(report.value)).collect();
    gains.sort_by(|one, other| other.total_cmp(one));
    let best = gains.len() / pruner.params.reduction as usize;
    best.checked_sub(1).map(|worst| gains[worst])
}

/// A trial's first report at a place or beyond.
fn standing(trial: &Progress, place: u32) -> Option<&Reported> {
    trial.reports.iter().find(|report| report.at >= place)
}
