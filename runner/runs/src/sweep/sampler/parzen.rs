//! Tree-structured Parzen estimators, one for each dimension, rebuilt from what was told for every question.
//!
//! Bergstra et al. 2011, "Algorithms for hyper-parameter optimization". Numbers are modelled on the unit interval that
//! their scale unrolls to, choices by their counts. A trial in which a dimension was not there says nothing of it.

use dc0_core::params::Value;
use dc0_core::rng::Stream;
use tpe::{
    TpeOptimizer, TpeOptimizerBuilder, categorical_range, histogram_estimator, parzen_estimator, range,
};

use super::SamplerParams;
use crate::sweep::space::{Domain, Point};
use crate::sweep::told::{Direction, Told, TrialState};

/// The number of trials with a value.
pub(super) fn measured(told: &[Told]) -> usize {
    told.iter().filter(|told| value(told).is_some()).count()
}

/// The value of a trial that has come to some end.
fn value(told: &Told) -> Option<f64> {
    let has_ended = matches!(told.state, TrialState::Complete | TrialState::Paused | TrialState::Pruned);
    told.value.filter(|value| has_ended && value.is_finite())
}

/// The points of all trials that say something, the best first: complete ones by value, then stopped ones, those that
/// came further before others; last those that failed or are still at work.
pub(super) fn best_first(told: &[Told], direction: Direction) -> Vec<&Point> {
    let says_something = |told: &&Told| !matches!(told.state, TrialState::Stale | TrialState::Killed);
    let mut told: Vec<&Told> = told.iter().filter(says_something).collect();
    let reached = |told: &Told| match (value(told), told.state) {
        (None, _) => None,
        (Some(value), TrialState::Complete) => Some((u32::MAX, direction.gain(value))),
        (Some(value), _) => Some((told.at, direction.gain(value))),
    };
    told.sort_by(|one, other| {
        let by_merit = match (reached(one), reached(other)) {
            (Some((at, gain)), Some((other_at, other_gain))) => {
                other_at.cmp(&at).then(other_gain.total_cmp(&gain))
            }
            (one, other) => other.is_some().cmp(&one.is_some()),
        };
        by_merit.then(one.number.cmp(&other.number))
    });
    told.into_iter().map(|told| &told.point).collect()
}

/// The most promising of some drawn values of one dimension.
pub(super) fn ask(
    params: &SamplerParams,
    name: &str,
    domain: &Domain,
    trials: &[&Point],
    stream: &mut Stream,
) -> Value {
    let mut optimizer = optimizer(params, domain);
    for (rank, point) in trials.iter().enumerate() {
        // NaN says that the trial has no value for this dimension.
        let place = point.get(name).and_then(|value| place(domain, value)).unwrap_or(f64::NAN);
        optimizer.tell(place, rank as f64).expect("a place within the range");
    }
    let Ok(asked) = optimizer.ask(stream);
    match domain {
        Domain::Choice(values) => values[asked as usize].clone(),
        _ => domain.at_unit(asked),
    }
}

fn optimizer(params: &SamplerParams, domain: &Domain) -> TpeOptimizer {
    let (estimator, range) = match domain {
        Domain::Choice(values) => (histogram_estimator(), categorical_range(values.len())),
        _ => (parzen_estimator(), range(0.0, 1.0)),
    };
    let mut builder = TpeOptimizerBuilder::new();
    builder.gamma(params.gamma).candidates(params.candidates as usize);
    builder.build(estimator, range.expect("a range with room")).expect("settings within their ranges")
}

/// Where the estimators see a value: below the end of their range, which they exclude.
fn place(domain: &Domain, value: &Value) -> Option<f64> {
    match domain {
        Domain::Choice(values) => values.iter().position(|known| known == value).map(|index| index as f64),
        _ => domain.unit_of(value).map(|unit| unit.min(1.0_f64.next_down())),
    }
}
