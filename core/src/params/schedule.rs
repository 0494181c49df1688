//! Schedules: numbers that change with a counter, such as plies of a game or updates of a training step.

use super::types::Bounds;
use super::{Param, ParamKind, Problems, Value};

/// A piecewise constant function of a whole number.
///
/// Scripts write a number, a list of points, or a closure of one integer that the runner samples into a table before the step starts,
/// so a step's parameters are always plain data.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    /// `(first counter, value)`; counters increase from 0 and neighbouring values differ.
    points: Vec<(u32, f64)>,
}

impl Schedule {
    /// The same value for every counter.
    pub fn constant(value: f64) -> Self {
        Self { points: vec![(0, value)] }
    }

    /// From one sample per counter; the last one holds for all later counters. `None` without samples.
    pub fn from_samples(samples: &[f64]) -> Option<Self> {
        let numbered = (0..).zip(samples.iter().copied());
        Self::from_points(numbered.collect())
    }

    /// From `(first counter, value)` points; `None` unless their counters increase from 0. Points that repeat the previous value are
    /// dropped.
    pub fn from_points(mut points: Vec<(u32, f64)>) -> Option<Self> {
        let increasing = points.windows(2).all(|pair| pair[0].0 < pair[1].0);
        if points.first()?.0 != 0 || !increasing {
            return None;
        }
        points.dedup_by(|later, earlier| later.1 == earlier.1);
        Some(Self { points })
    }

    /// The value at a counter.
    pub fn at(&self, counter: u32) -> f64 {
        let after = self.points.partition_point(|point| point.0 <= counter);
        self.points[after - 1].1
    }

    /// The largest value of the schedule.
    pub fn max(&self) -> f64 {
        self.max_below(u32::MAX)
    }

    /// The largest value at counters below `end`, or at 0.
    pub fn max_below(&self, end: u32) -> f64 {
        let reached = self.points.partition_point(|point| point.0 < end).max(1);
        self.points[..reached].iter().map(|point| point.1).fold(f64::NEG_INFINITY, f64::max)
    }
}

impl Default for Schedule {
    fn default() -> Self {
        Self::constant(0.0)
    }
}

fn point(item: &Value) -> Option<(u32, f64)> {
    let Value::List(pair) = item else { return None };
    match pair.as_slice() {
        [Value::Int(counter), value] => Some((u32::try_from(*counter).ok()?, value.as_f64()?)),
        _ => None,
    }
}

impl Param for Schedule {
    fn kind() -> ParamKind {
        ParamKind::Schedule
    }

    fn read(value: &Value, path: &str, range: Option<Bounds>, problems: &mut Problems) -> Option<Self> {
        let Value::List(items) = value else {
            return f64::read(value, path, range, problems).map(Self::constant);
        };
        let before = problems.len();
        let mut points = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let Some((counter, number)) = point(item) else {
                let expected = "expected a pair of a counter and the value from there on, such as [0, 0.5]";
                problems.add(&format!("{path}[{index}]"), format!("{expected}, got {item}"));
                continue;
            };
            f64::read(&Value::Float(number), &format!("{path}[{counter}]"), range, problems);
            points.push((counter, number));
        }
        let schedule = Self::from_points(points);
        if schedule.is_none() && problems.len() == before {
            problems.add(path, "expected counters that rise from 0, one value each");
        }
        schedule.filter(|_| problems.len() == before)
    }

    fn to_value(&self) -> Value {
        if let [(_, value)] = self.points[..] {
            return Value::Float(value);
        }
        let pair = |point: &(u32, f64)| Value::List(vec![Value::Int(point.0.into()), Value::Float(point.1)]);
        Value::List(self.points.iter().map(pair).collect())
    }
}
