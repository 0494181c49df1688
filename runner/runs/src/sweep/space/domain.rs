//! The values of one dimension: what lies in it, and how it unrolls onto the unit interval that samplers work in.

use dc0_core::params::Value;

/// Significant digits of a number drawn on a logarithmic scale; the step of one drawn on a linear scale is this many
/// places below the power of ten that holds the whole range.
const DIGITS: i32 = 4;

/// The values that a dimension takes.
#[derive(Debug, Clone, PartialEq)]
pub enum Domain {
    /// One of some plain values, of whatever kinds; none twice.
    Choice(Vec<Value>),
    /// Whole numbers `low, low + step, …`, none above `high`.
    Int {
        /// The first.
        low: i64,
        /// None is above.
        high: i64,
        /// From one to the next; 1 on a logarithmic scale.
        step: i64,
        /// Whether samplers draw evenly by ratio, not by difference.
        log: bool,
    },
    /// Numbers of a closed interval.
    Float {
        /// The smallest.
        low: f64,
        /// The largest; above `low`.
        high: f64,
        /// Whether samplers draw evenly by ratio, not by difference.
        log: bool,
        /// How many values a grid takes, evenly spaced on the scale with both ends; other samplers take them all.
        points: Option<u32>,
    },
}

impl Domain {
    /// Whether a sampler could give this value, up to the rounding of numbers.
    pub fn contains(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Choice(values), value) => values.contains(value),
            (&Self::Int { low, high, step, .. }, &Value::Int(value)) => {
                (low..=high).contains(&value) && (value - low) % step == 0
            }
            (&Self::Float { low, high, .. }, &Value::Float(value)) => (low..=high).contains(&value),
            _ => false,
        }
    }

    /// Whether the values can be counted: not those of an interval, even where a grid takes only some of them.
    pub fn is_discrete(&self) -> bool {
        !matches!(self, Self::Float { .. })
    }

    /// The number of values that a grid takes; none for an interval without `points`.
    pub fn count(&self) -> Option<u64> {
        match *self {
            Self::Choice(ref values) => Some(values.len() as u64),
            Self::Int { low, high, step, .. } => Some(((high - low) / step) as u64 + 1),
            Self::Float { points, .. } => points.map(u64::from),
        }
    }

    /// One of the values that a grid takes, `index` below [`Domain::count`]; none for an interval without `points`.
    pub fn nth(&self, index: u64) -> Option<Value> {
        match *self {
            Self::Choice(ref values) => values.get(index as usize).cloned(),
            Self::Int { low, step, .. } => Some(Value::Int(low + step * index as i64)),
            Self::Float { points: None, .. } => None,
            Self::Float { points: Some(1), .. } => Some(self.at_unit(0.5)),
            Self::Float { points: Some(points), .. } => {
                Some(self.at_unit(index as f64 / f64::from(points - 1)))
            }
        }
    }

    /// The value at a place in `[0, 1]`: evenly drawn places give values evenly drawn on the dimension's scale.
    ///
    /// Each value of a discrete dimension owns an interval; on a logarithmic scale that of `v` goes from `v − ½` to
    /// `v + ½`. Numbers of an interval are rounded to what a table shows and a person types: four significant digits on
    /// a logarithmic scale, a thousandth to a ten-thousandth of the range on a linear one. Never beyond the ends.
    pub fn at_unit(&self, unit: f64) -> Value {
        match *self {
            Self::Choice(ref values) => {
                let index = (unit * values.len() as f64) as usize;
                values[index.min(values.len() - 1)].clone()
            }
            Self::Int { low, high, log: true, .. } => {
                let (from, to) = half_beyond(low, high);
                let value = (from + unit * (to - from)).exp().round() as i64;
                Value::Int(value.clamp(low, high))
            }
            Self::Int { low, high, step, .. } => {
                let last = (high - low) / step;
                let index = (unit * (last + 1) as f64) as i64;
                Value::Int(low + step * index.min(last))
            }
            Self::Float { low, high, log: true, .. } => {
                let value = (low.ln() + unit * (high.ln() - low.ln())).exp().clamp(low, high);
                Value::Float(short(value, magnitude(value) + 1, (low, high)))
            }
            Self::Float { low, high, .. } => {
                Value::Float(short(low + unit * (high - low), i32::MAX, (low, high)))
            }
        }
    }

    /// The place of a value in `[0, 1]`, the middle of its interval where it owns one; none for what does not lie in it.
    pub fn unit_of(&self, value: &Value) -> Option<f64> {
        if !self.contains(value) {
            return None;
        }
        let place = |value: f64, (from, to): (f64, f64)| (value - from) / (to - from);
        Some(match (self, value) {
            (Self::Choice(values), value) => {
                let index = values.iter().position(|known| known == value)?;
                (index as f64 + 0.5) / values.len() as f64
            }
            (&Self::Int { low, high, log: true, .. }, &Value::Int(value)) => {
                place((value as f64).ln(), half_beyond(low, high))
            }
            (&Self::Int { low, step, .. }, &Value::Int(value)) => {
                (((value - low) / step) as f64 + 0.5) / self.count()? as f64
            }
            (&Self::Float { low, high, log: true, .. }, &Value::Float(value)) => {
                place(value.ln(), (low.ln(), high.ln()))
            }
            (&Self::Float { low, high, .. }, &Value::Float(value)) => place(value, (low, high)),
            _ => return None,
        })
    }
}

/// The logarithms of the ends of the intervals that the whole numbers `low..=high` own.
fn half_beyond(low: i64, high: i64) -> (f64, f64) {
    ((low as f64 - 0.5).ln(), (high as f64 + 0.5).ln())
}

/// The power of ten at or below a positive number.
fn magnitude(value: f64) -> i32 {
    value.abs().log10().floor() as i32
}

/// The number with [`DIGITS`] digits below `10^power`, or more where the range is narrow, within the range.
fn short(value: f64, power: i32, (low, high): (f64, f64)) -> f64 {
    let span = (high - low).log10().ceil() as i32;
    let rounded = round_to(value, power.min(span) - DIGITS);
    rounded.clamp(low, high)
}

/// The number nearest to `value` that is a multiple of `10^power`, as its decimal text reads.
fn round_to(value: f64, power: i32) -> f64 {
    if power > 0 {
        let unit = 10_f64.powi(power);
        return (value / unit).round() * unit;
    }
    let text = format!("{value:.*}", power.unsigned_abs() as usize);
    let rounded: f64 = text.parse().expect("a number that was just written");
    // −0 becomes 0, which is what a person types.
    rounded + 0.0
}
