//! `number(…)`, `whole(…)`, `choice(…)`, `flag(…)`, `text(…)`: a parameter with its allowed values, its default and its doc text.

use dc0_core::params::{Value, nearest};
use rhai::{Dynamic, Map};

use super::dynamic::{scalar, to_dynamic};
use super::location::ScriptLocation;

/// A parameter as a script writes it. It is checked only by `params` or a sweep, which report the problems of all parameters at
/// once.
#[derive(Debug, Clone)]
pub struct Parameter {
    kind: Kind,
    default: Dynamic,
    /// The limits as members of a sweep's dimension: `low` and `high`, or `values`.
    limits: Map,
    doc: Dynamic,
    location: ScriptLocation,
}

/// The type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A number between two others.
    Number,
    /// A whole number between two others.
    Whole,
    /// One of some values.
    Choice,
    /// True or false.
    Flag,
    /// Any text.
    Text,
}

/// The values that a parameter may have.
#[derive(Debug, Clone, PartialEq)]
pub enum Allowed {
    /// Numbers from the first to the second.
    Number(f64, f64),
    /// Whole numbers from the first to the second.
    Whole(i64, i64),
    /// One of these.
    Choice(Vec<Value>),
    /// True or false.
    Flag,
    /// Any text.
    Text,
}

/// A parameter that passed its checks.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedParameter {
    /// The allowed values.
    pub allowed: Allowed,
    /// One of them.
    pub default: Value,
    /// What it is for; empty if the script does not say.
    pub doc: String,
}

impl Parameter {
    /// A parameter as written; `limits` are `low` and `high`, or `values`, or nothing.
    pub fn new<const N: usize>(
        kind: Kind,
        default: Dynamic,
        limits: [(&str, Dynamic); N],
        doc: Dynamic,
        location: ScriptLocation,
    ) -> Self {
        let limits = limits.into_iter().map(|(name, value)| (name.into(), value)).collect();
        Self { kind, default, limits, doc, location }
    }

    /// Where the script writes it.
    pub fn location(&self) -> &ScriptLocation {
        &self.location
    }

    /// The parameter as a dimension of a sweep, which checks it.
    pub fn dimension(&self) -> Map {
        let kind = match self.kind {
            Kind::Number => "uniform",
            Kind::Whole => "int",
            Kind::Choice | Kind::Flag => "choice",
            Kind::Text => "text",
        };
        let mut dimension = self.limits.clone();
        if self.kind == Kind::Flag {
            dimension.insert("values".into(), vec![Dynamic::FALSE, Dynamic::TRUE].into());
        }
        dimension.insert("kind".into(), kind.into());
        dimension
    }

    /// The checked parameter, or everything that is wrong with it.
    pub fn check(&self) -> Result<CheckedParameter, Vec<String>> {
        let mut problems = Vec::new();
        let allowed = match self.kind {
            Kind::Number => {
                self.range(&mut problems, "a number", number).map(|(low, high)| Allowed::Number(low, high))
            }
            Kind::Whole => self
                .range(&mut problems, "a whole number", whole)
                .map(|(low, high)| Allowed::Whole(low, high)),
            Kind::Choice => self.values(&mut problems).map(Allowed::Choice),
            Kind::Flag => Some(Allowed::Flag),
            Kind::Text => Some(Allowed::Text),
        };
        let default = allowed.as_ref().and_then(|allowed| {
            let admitted = scalar(&self.default)
                .ok_or_else(|| shown(&self.default))
                .and_then(|value| allowed.admit(&value).ok_or_else(|| value.to_string()));
            admitted.map_err(|got| problems.push(format!("the default must be {allowed}, got {got}"))).ok()
        });
        let doc = self.doc.clone().into_immutable_string();
        if doc.is_err() && !self.doc.is_unit() {
            problems.push(format!("expected a text on what it is for at the end, got {}", shown(&self.doc)));
        }
        match (allowed, default) {
            (Some(allowed), Some(default)) if problems.is_empty() => Ok(CheckedParameter {
                allowed,
                default,
                doc: doc.map(|doc| doc.to_string()).unwrap_or_default(),
            }),
            _ => Err(problems),
        }
    }

    fn range<T: PartialOrd + Copy>(
        &self,
        problems: &mut Vec<String>,
        expected: &str,
        read: fn(&Value) -> Option<T>,
    ) -> Option<(T, T)> {
        let mut end = |name: &str| {
            let given = self.limits.get(name)?;
            let end = scalar(given).as_ref().and_then(read);
            if end.is_none() {
                problems.push(format!("{name}: expected {expected}, got {}", shown(given)));
            }
            end
        };
        let (low, high) = (end("low"), end("high"));
        let (low, high) = (low?, high?);
        if low > high {
            let end = |name| self.limits.get(name).map(ToString::to_string).unwrap_or_default();
            problems.push(format!("high: must not lie below low ({}), got {}", end("low"), end("high")));
            return None;
        }
        Some((low, high))
    }

    fn values(&self, problems: &mut Vec<String>) -> Option<Vec<Value>> {
        let count_before = problems.len();
        let given = self.limits.get("values")?.clone();
        let Ok(items) = given.clone().into_array() else {
            problems.push(format!("expected a list of values behind the default, got {}", shown(&given)));
            return None;
        };
        if items.is_empty() {
            problems.push("values: is empty; give at least one".to_owned());
        }
        let mut values: Vec<Value> = Vec::new();
        for (index, item) in items.iter().enumerate() {
            match scalar(item) {
                Some(value) if values.contains(&value) => {
                    problems.push(format!("values[{index}]: {value} is given twice"));
                }
                Some(value) => values.push(value),
                None => {
                    problems.push(format!("values[{index}]: expected a plain value, got {}", shown(item)));
                }
            }
        }
        (problems.len() == count_before).then_some(values)
    }
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64().filter(|number| number.is_finite())
}

fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Int(number) => Some(*number),
        _ => None,
    }
}

/// A script's value as messages show it.
fn shown(given: &Dynamic) -> String {
    match scalar(given) {
        Some(value) => format!("{value} ({})", value.kind()),
        None if given.is_array() => "a list".to_owned(),
        None if given.is_map() => "a map".to_owned(),
        None if given.is_fnptr() => "a function".to_owned(),
        None => "something else".to_owned(),
    }
}

impl Allowed {
    /// The value converted to the parameter's type if it is allowed; a number may be given as a whole number.
    pub fn admit(&self, value: &Value) -> Option<Value> {
        match (self, value) {
            (&Self::Number(low, high), value) => {
                number(value).filter(|number| (low..=high).contains(number)).map(Value::Float)
            }
            (&Self::Whole(low, high), value) => {
                whole(value).filter(|number| (low..=high).contains(number)).map(Value::Int)
            }
            (Self::Choice(values), value) => {
                let is_equal = |known: &&Value| {
                    *known == value || (known.as_f64().is_some() && known.as_f64() == value.as_f64())
                };
                values.iter().find(is_equal).cloned()
            }
            (Self::Flag, Value::Bool(_)) | (Self::Text, Value::Text(_)) => Some(value.clone()),
            (Self::Flag | Self::Text, _) => None,
        }
    }

    /// Parses a user's text.
    pub fn read(&self, text: &str) -> Result<Value, String> {
        let text_value = Value::Text(text.to_owned());
        let read = match self {
            Self::Number(..) => text.parse().ok().map(Value::Float),
            Self::Whole(..) => text.parse().ok().map(Value::Int),
            Self::Flag => text.parse().ok().map(Value::Bool),
            Self::Text => Some(text_value),
            Self::Choice(values) if values.contains(&text_value) => Some(text_value),
            Self::Choice(_) => serde_json::from_str(text).ok(),
        };
        read.and_then(|value| self.admit(&value)).ok_or_else(|| {
            let hint = self.near(text).map(|near| format!("; did you mean \"{near}\"?"));
            format!("expected {self}, got \"{text}\"{}", hint.unwrap_or_default())
        })
    }

    fn near(&self, text: &str) -> Option<&str> {
        let Self::Choice(values) = self else { return None };
        let texts = values.iter().filter_map(|value| match value {
            Value::Text(text) => Some(text.as_str()),
            _ => None,
        });
        nearest(text, texts)
    }
}

impl std::fmt::Display for Allowed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(low, high) => write!(f, "a number in {low:?}..={high:?}"),
            Self::Whole(low, high) => write!(f, "a whole number in {low}..={high}"),
            Self::Choice(values) => {
                let values: Vec<String> = values.iter().map(Value::to_string).collect();
                write!(f, "one of {}", values.join(", "))
            }
            Self::Flag => f.write_str("true or false"),
            Self::Text => f.write_str("text"),
        }
    }
}

impl CheckedParameter {
    /// The default as a script sees it.
    pub fn to_dynamic(&self) -> Dynamic {
        to_dynamic(&self.default)
    }
}

#[cfg(test)]
mod tests {
    use super::{Allowed, Value};

    fn check(allowed: &Allowed, right: &[(&str, Value)], wrong: &[(&str, &str)]) {
        for (text, value) in right {
            assert_eq!(allowed.read(text).as_ref(), Ok(value), "{allowed}");
        }
        for (text, message) in wrong {
            assert_eq!(allowed.read(text), Err((*message).to_owned()), "{allowed}");
        }
    }

    #[test]
    fn texts_are_parsed_by_type_and_never_clamped() {
        let text = |text: &str| Value::Text(text.to_owned());
        check(
            &Allowed::Number(0.5, 4.0),
            &[("4", Value::Float(4.0)), ("0.5", Value::Float(0.5))],
            &[
                ("4.5", "expected a number in 0.5..=4.0, got \"4.5\""),
                ("NaN", "expected a number in 0.5..=4.0, got \"NaN\""),
                ("much", "expected a number in 0.5..=4.0, got \"much\""),
            ],
        );
        check(
            &Allowed::Whole(1, 9),
            &[("9", Value::Int(9))],
            &[
                ("0", "expected a whole number in 1..=9, got \"0\""),
                ("1.0", "expected a whole number in 1..=9, got \"1.0\""),
            ],
        );
        let mixed = Allowed::Choice(vec![text("puct"), Value::Float(2.0), Value::None]);
        check(
            &mixed,
            &[("puct", text("puct")), ("2", Value::Float(2.0)), ("null", Value::None)],
            &[("putc", "expected one of \"puct\", 2.0, (), got \"putc\"; did you mean \"puct\"?")],
        );
        check(&Allowed::Flag, &[("true", Value::Bool(true))], &[("1", "expected true or false, got \"1\"")]);
        check(&Allowed::Text, &[("3", text("3"))], &[]);
    }
}
