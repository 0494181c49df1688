//! The values of one dimension, and their mapping to the unit interval in which samplers work.

use dc0_core::params::Value;

/// Significant digits of a number drawn on a logarithmic scale. On a linear scale, numbers are rounded to this many digits
/// relative to the smallest power of ten that is at least the range.
const DIGITS: i32 = 4;

/// The values that a dimension takes.
#[derive(Debug, Clone, PartialEq)]
pub enum Domain {
    /// One of some plain values of any kinds, each once.
    Choice(Vec<Value>),
    /// Whole numbers `low, low + step, …`, none above `high`.
    Int {
        /// The first value.
        low: i64,
        /// No value is above this.
        high: i64,
        /// The difference between neighbours; 1 on a logarithmic scale.
        step: i64,
        /// Whether the scale is logarithmic.
        log: bool,
    },
    /// Numbers of a closed interval.
    Float {
        /// The smallest.
        low: f64,
        /// The largest; above `low`.
        high: f64,
        /// Whether the scale is logarithmic.
        log: bool,
        /// The number of values of a grid, evenly spaced on the scale and including both ends; other samplers use the interval.
        points: Option<u32>,
    },
}

impl Domain {
    /// Whether the domain contains a value; rounding of numbers is ignored.
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

    /// Whether there are finitely many values; false for an interval, even if a grid uses only some of its numbers.
    pub fn is_discrete(&self) -> bool {
        !matches!(self, Self::Float { .. })
    }

    /// The number of values of a grid; `None` for an interval without `points`.
    pub fn count(&self) -> Option<u64> {
        match *self {
            Self::Choice(ref values) => Some(values.len() as u64),
            Self::Int { low, high, step, .. } => Some(((high - low) / step) as u64 + 1),
            Self::Float { points, .. } => points.map(u64::from),
        }
    }

    /// The grid's value at `index`, below [`Domain::count`]; `None` for an interval without `points`.
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

    /// The index of a value of a discrete dimension, of which [`Domain::nth`] makes the value; `None` for intervals, and for what is not
    /// in the domain.
    pub fn index_of(&self, value: &Value) -> Option<u64> {
        match (self, value) {
            (Self::Choice(values), value) => {
                values.iter().position(|known| known == value).map(|at| at as u64)
            }
            (&Self::Int { low, step, .. }, &Value::Int(number)) if self.contains(value) => {
                Some(((number - low) / step) as u64)
            }
            _ => None,
        }
    }

    /// Maps a unit in `[0, 1]` to a value: uniform units give values that are uniform on the dimension's scale.
    ///
    /// Each value of a discrete dimension owns an interval; on a logarithmic scale that of `v` goes from `v − ½` to
    /// `v + ½`. Numbers of an interval are rounded so that tables show them exactly and people can type them: to four
    /// significant digits on a logarithmic scale, to a thousandth to a ten-thousandth of the range on a linear one, and never
    /// beyond the ends.
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

    /// Maps a value to its unit in `[0, 1]`, the middle of its interval if it owns one; `None` if it is not in the domain.
    pub fn unit_of(&self, value: &Value) -> Option<f64> {
        if !self.contains(value) {
            return None;
        }
        let fraction = |value: f64, (from, to): (f64, f64)| (value - from) / (to - from);
        Some(match (self, value) {
            (&Self::Int { low, high, log: true, .. }, &Value::Int(value)) => {
                fraction((value as f64).ln(), half_beyond(low, high))
            }
            (Self::Choice(_) | Self::Int { .. }, value) => {
                (self.index_of(value)? as f64 + 0.5) / self.count()? as f64
            }
            (&Self::Float { low, high, log: true, .. }, &Value::Float(value)) => {
                fraction(value.ln(), (low.ln(), high.ln()))
            }
            (&Self::Float { low, high, .. }, &Value::Float(value)) => fraction(value, (low, high)),
            _ => return None,
        })
    }
}

/// The logarithms of the ends of the intervals that the integers `low..=high` own.
fn half_beyond(low: i64, high: i64) -> (f64, f64) {
    ((low as f64 - 0.5).ln(), (high as f64 + 0.5).ln())
}

/// The exponent of the largest power of ten that is at most a positive number.
fn magnitude(value: f64) -> i32 {
    value.abs().log10().floor() as i32
}

/// Rounds to [`DIGITS`] digits below `10^power`, or more if the range is narrow, and clamps to the range.
fn short(value: f64, power: i32, (low, high): (f64, f64)) -> f64 {
    let span = (high - low).log10().ceil() as i32;
    let rounded = round_to(value, power.min(span) - DIGITS);
    rounded.clamp(low, high)
}

/// The multiple of `10^power` nearest to `value`, exactly as its decimal text parses.
fn round_to(value: f64, power: i32) -> f64 {
    if power > 0 {
        let unit = 10_f64.powi(power);
        return (value / unit).round() * unit;
    }
    let text = format!("{value:.*}", power.unsigned_abs() as usize);
    let rounded: f64 = text.parse().expect("a number that was just written");
    // Turns −0 into 0.
    rounded + 0.0
}
