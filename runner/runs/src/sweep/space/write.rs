//! Writes dimensions in the form that scripts use.

use dc0_core::params::{Param, Value};

use super::{Dimension, Domain};

impl std::fmt::Display for Domain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Choice(values) => {
                let values: Vec<String> = values.iter().map(Value::to_string).collect();
                write!(f, "choice([{}])", values.join(", "))
            }
            Self::Int { low, high, step: 1, .. } => write!(f, "int({low}, {high})"),
            Self::Int { low, high, step, .. } => write!(f, "int({low}, {high}, {step})"),
            Self::Float { low, high, log: false, .. } => write!(f, "uniform({low:?}, {high:?})"),
            Self::Float { low, high, log: true, .. } => write!(f, "log_uniform({low:?}, {high:?})"),
        }
    }
}

impl Dimension {
    /// The group from which this dimension can be read back.
    pub(super) fn to_value(&self) -> Value {
        let mut members = match &self.domain {
            Domain::Choice(values) => {
                vec![("kind", "choice".into()), ("values", Value::List(values.clone()))]
            }
            &Domain::Int { low, high, step, log } => vec![
                ("kind", "int".into()),
                ("low", low.into()),
                ("high", high.into()),
                ("step", step.into()),
                ("log", log.into()),
            ],
            &Domain::Float { low, high, log, points } => {
                let kind = if log { "log_uniform" } else { "uniform" };
                let mut members = vec![("kind", kind.into()), ("low", low.into()), ("high", high.into())];
                members.extend(points.map(|points| ("points", points.to_value())));
                members
            }
        };
        if !self.when.is_empty() {
            let wanted = |(name, values): (&String, &Vec<Value>)| (name.clone(), Value::List(values.clone()));
            members.push(("when", Value::Group(self.when.iter().map(wanted).collect())));
        }
        Value::Group(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }
}
