//! Tree-structured Parzen estimators (TPE), one per dimension, rebuilt from the observations for every point.
//!
//! Bergstra et al. 2011, "Algorithms for hyper-parameter optimization". Numbers are modelled on the unit interval to which
//! their scale is mapped, choices by their counts. Trials in which a dimension is inactive are ignored for it.

use dc0_core::params::Value;
use dc0_core::rng::Stream;
use tpe::{
    TpeOptimizer, TpeOptimizerBuilder, categorical_range, histogram_estimator, parzen_estimator, range,
};

use super::SamplerParams;
use crate::sweep::observation::{Direction, Observation, TrialState};
use crate::sweep::space::{Domain, Point};

/// The number of trials with a value.
pub(super) fn measured(trials: &[Observation]) -> usize {
    trials.iter().filter(|trial| value(trial).is_some()).count()
}

/// The value of a trial that is complete, paused or pruned.
fn value(trial: &Observation) -> Option<f64> {
    let has_ended = matches!(trial.state, TrialState::Complete | TrialState::Paused | TrialState::Pruned);
    trial.value.filter(|value| has_ended && value.is_finite())
}

/// The points of all trials but stale and killed ones, the best first: complete trials by value, then stopped ones by progress and
/// value, last those that failed or are running.
pub(super) fn best_first(trials: &[Observation], direction: Direction) -> Vec<&Point> {
    let is_informative =
        |trial: &&Observation| !matches!(trial.state, TrialState::Stale | TrialState::Killed);
    let mut trials: Vec<&Observation> = trials.iter().filter(is_informative).collect();
    let merit = |trial: &Observation| match (value(trial), trial.state) {
        (None, _) => None,
        (Some(value), TrialState::Complete) => Some((u32::MAX, direction.gain(value))),
        (Some(value), _) => Some((trial.at, direction.gain(value))),
    };
    trials.sort_by(|one, other| {
        let by_merit = match (merit(one), merit(other)) {
            (Some((at, gain)), Some((other_at, other_gain))) => {
                other_at.cmp(&at).then(other_gain.total_cmp(&gain))
            }
            (one, other) => other.is_some().cmp(&one.is_some()),
        };
        by_merit.then(one.number.cmp(&other.number))
    });
    trials.into_iter().map(|trial| &trial.point).collect()
}

/// How many of these trials count as good: only such as have a value.
pub(super) fn good(trials: usize, measured: usize, gamma: f64) -> usize {
    ((trials as f64 * gamma).ceil() as usize).min(measured)
}

/// The share by which the library splits so many trials from the others: it rounds up, so half a trial less is safe.
pub(super) fn share(trials: usize, measured: usize, gamma: f64) -> f64 {
    (good(trials, measured, gamma) as f64 - 0.5) / trials as f64
}

/// Draws candidates for one dimension and returns the most promising one. `ranked` are the points of trials, best first, of which the
/// first `measured` have a value, at least one.
pub(super) fn ask(
    params: &SamplerParams,
    name: &str,
    domain: &Domain,
    (ranked, measured): (&[&Point], usize),
    stream: &mut Stream,
) -> Value {
    let mut optimizer = optimizer(params, domain, share(ranked.len(), measured, params.gamma));
    for (rank, point) in ranked.iter().enumerate() {
        // NaN means that the trial has no value for this dimension.
        let coordinate = point.get(name).and_then(|value| coordinate(domain, value)).unwrap_or(f64::NAN);
        optimizer.tell(coordinate, rank as f64).expect("a coordinate within the range");
    }
    let Ok(candidate) = optimizer.ask(stream);
    match domain {
        Domain::Choice(values) => values[candidate as usize].clone(),
        _ => domain.at_unit(candidate),
    }
}

fn optimizer(params: &SamplerParams, domain: &Domain, share: f64) -> TpeOptimizer {
    let (estimator, range) = match domain {
        Domain::Choice(values) => (histogram_estimator(), categorical_range(values.len())),
        _ => (parzen_estimator(), range(0.0, 1.0)),
    };
    let mut builder = TpeOptimizerBuilder::new();
    builder.gamma(share).candidates(params.candidates as usize);
    builder.build(estimator, range.expect("a non-empty range")).expect("settings within their ranges")
}

/// A value as the estimators see it: an index or a number in `[0, 1)`, since they exclude the end of the range.
fn coordinate(domain: &Domain, value: &Value) -> Option<f64> {
    match domain {
        Domain::Choice(_) => domain.index_of(value).map(|index| index as f64),
        _ => domain.unit_of(value).map(|unit| unit.min(1.0_f64.next_down())),
    }
}
