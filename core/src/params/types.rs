//! Reading, checking and writing each type of parameter.

use std::ops::RangeInclusive;

use super::{ParamKind, Problems, Value};

/// The closed range that a number must lie in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    min: f64,
    max: f64,
    whole: bool,
}

impl Bounds {
    /// The smallest and the largest number of a range of whole numbers; `None` for other ranges.
    pub fn whole_numbers(self) -> Option<(i64, i64)> {
        self.whole.then_some((self.min as i64, self.max as i64))
    }

    fn contains(self, value: f64) -> bool {
        // NaN compares false with everything, so it lies in no range.
        self.min <= value && value <= self.max
    }
}

impl std::fmt::Display for Bounds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.whole {
            write!(f, "{}..={}", self.min, self.max)
        } else {
            write!(f, "{:?}..={:?}", self.min, self.max)
        }
    }
}

macro_rules! bounds_from {
    ($($number:ty: $whole:literal),*) => {$(
        impl From<RangeInclusive<$number>> for Bounds {
            fn from(range: RangeInclusive<$number>) -> Self {
                Self { min: *range.start() as f64, max: *range.end() as f64, whole: $whole }
            }
        }
    )*};
}
bounds_from!(i32: true, i64: true, f64: false);

/// One line of the parameter reference.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Dotted path from the group's root.
    pub path: String,
    /// The kind of value.
    pub kind: ParamKind,
    /// The default, in script syntax.
    pub default: String,
    /// The allowed range, if there is one.
    pub range: Option<Bounds>,
    /// The declaration's doc text.
    pub doc: String,
}

/// A type that a parameter can have.
pub trait Param: Sized {
    /// The kind of value, as named in errors and the reference.
    fn kind() -> ParamKind;

    /// Reads a value; problems are added under `path`, and the result is `None`.
    fn read(value: &Value, path: &str, range: Option<Bounds>, problems: &mut Problems) -> Option<Self>;

    /// The value that is read back as `self`.
    fn to_value(&self) -> Value;

    /// The reference rows for the members of a group, with their own defaults; none for other types.
    fn member_rows(_path: &str) -> Vec<Row> {
        Vec::new()
    }

    /// The reference rows for a parameter of this type.
    fn rows_at(path: &str, default: &Self, range: Option<Bounds>, doc: &str) -> Vec<Row> {
        vec![Row {
            path: path.to_owned(),
            kind: Self::kind(),
            default: default.to_value().to_string(),
            range,
            doc: doc.to_owned(),
        }]
    }
}

/// The row for a group itself, which precedes its members' rows; none without a doc text.
pub fn group_row(path: &str, doc: &str) -> Vec<Row> {
    if doc.is_empty() {
        return Vec::new();
    }
    vec![Row {
        path: path.to_owned(),
        kind: ParamKind::Group,
        default: String::new(),
        range: None,
        doc: doc.to_owned(),
    }]
}

fn wrong_kind<T: Param>(value: &Value, path: &str, problems: &mut Problems) -> Option<T> {
    problems.add(path, format!("expected {}, got {value} ({})", T::kind(), value.kind()));
    None
}

fn in_range(number: f64, shown: &Value, range: Option<Bounds>, path: &str, problems: &mut Problems) -> bool {
    match range {
        Some(range) if !range.contains(number) => {
            problems.add(path, format!("must lie in {range}, got {shown}"));
            false
        }
        _ => true,
    }
}

impl Param for f64 {
    fn kind() -> ParamKind {
        ParamKind::Number
    }

    fn read(value: &Value, path: &str, range: Option<Bounds>, problems: &mut Problems) -> Option<Self> {
        let Some(number) = value.as_f64() else { return wrong_kind(value, path, problems) };
        if !number.is_finite() {
            problems.add(path, format!("expected a finite number, got {value}"));
            return None;
        }
        in_range(number, value, range, path, problems).then_some(number)
    }

    fn to_value(&self) -> Value {
        Value::Float(*self)
    }
}

macro_rules! whole_number {
    ($($number:ty),*) => {$(
        impl Param for $number {
            fn kind() -> ParamKind {
                ParamKind::WholeNumber
            }

            fn read(value: &Value, path: &str, range: Option<Bounds>, problems: &mut Problems) -> Option<Self> {
                let Value::Int(number) = *value else { return wrong_kind(value, path, problems) };
                if !in_range(number as f64, value, range, path, problems) {
                    return None;
                }
                let read = <$number>::try_from(number).ok();
                if read.is_none() {
                    let message = format!("must lie in {}..={}, got {number}", <$number>::MIN, <$number>::MAX);
                    problems.add(path, message);
                }
                read
            }

            fn to_value(&self) -> Value {
                Value::Int(i64::try_from(*self).expect("parameters fit into 63 bits"))
            }
        }
    )*};
}
whole_number!(i32, u32, u64, usize);

impl Param for bool {
    fn kind() -> ParamKind {
        ParamKind::Bool
    }

    fn read(value: &Value, path: &str, _: Option<Bounds>, problems: &mut Problems) -> Option<Self> {
        let Value::Bool(read) = *value else { return wrong_kind(value, path, problems) };
        Some(read)
    }

    fn to_value(&self) -> Value {
        Value::Bool(*self)
    }
}

impl Param for String {
    fn kind() -> ParamKind {
        ParamKind::Text
    }

    fn read(value: &Value, path: &str, _: Option<Bounds>, problems: &mut Problems) -> Option<Self> {
        let Value::Text(read) = value else { return wrong_kind(value, path, problems) };
        Some(read.clone())
    }

    fn to_value(&self) -> Value {
        Value::Text(self.clone())
    }
}

impl<T: Param> Param for Option<T> {
    fn kind() -> ParamKind {
        ParamKind::Optional(Box::new(T::kind()))
    }

    fn read(value: &Value, path: &str, range: Option<Bounds>, problems: &mut Problems) -> Option<Self> {
        match value {
            Value::None => Some(None),
            value => T::read(value, path, range, problems).map(Some),
        }
    }

    fn to_value(&self) -> Value {
        self.as_ref().map_or(Value::None, Param::to_value)
    }

    fn rows_at(path: &str, default: &Self, range: Option<Bounds>, doc: &str) -> Vec<Row> {
        let row = Row {
            path: path.to_owned(),
            kind: Self::kind(),
            default: default.to_value().to_string(),
            range,
            doc: doc.to_owned(),
        };
        [vec![row], T::member_rows(path)].concat()
    }
}

impl<T: Param> Param for Vec<T> {
    fn kind() -> ParamKind {
        ParamKind::List(Box::new(T::kind()))
    }

    fn read(value: &Value, path: &str, range: Option<Bounds>, problems: &mut Problems) -> Option<Self> {
        let Value::List(items) = value else { return wrong_kind(value, path, problems) };
        let read = |(index, item)| T::read(item, &format!("{path}[{index}]"), range, problems);
        let read: Vec<Option<T>> = items.iter().enumerate().map(read).collect();
        read.into_iter().collect()
    }

    fn to_value(&self) -> Value {
        Value::List(self.iter().map(Param::to_value).collect())
    }
}
