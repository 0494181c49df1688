//! Reads spaces from scripts, with all their problems.

use std::collections::BTreeMap;

use dc0_core::params::{Bounds, Param, ParamKind, Problems, Value};

use super::conditions::Conditions;
use super::{Condition, Dimension, Domain, Space};

/// The kinds of dimensions.
const KINDS: [&str; 4] = ["choice", "int", "uniform", "log_uniform"];

/// Beyond this, not all integers are exact as floats.
const MOST: i64 = 1 << 53;

/// The most points of an interval in a grid, more than any sweep can try.
const MOST_POINTS: i64 = 1_000_000;

/// The most dimensions: those of a Sobol sequence, and more than any sweep can search.
const MOST_DIMENSIONS: usize = 256;

type Group = BTreeMap<String, Value>;

impl Param for Space {
    fn kind() -> ParamKind {
        ParamKind::OpenGroup("a group of dimensions #{ name: choice([…]), … }")
    }

    fn read(value: &Value, path: &str, _: Option<Bounds>, problems: &mut Problems) -> Option<Self> {
        let Value::Group(given) = value else {
            problems.add(path, format!("expected {}, got {value} ({})", Self::kind(), value.kind()));
            return None;
        };
        let before = problems.len();
        if given.is_empty() || given.len() > MOST_DIMENSIONS {
            let count = given.len();
            problems.add(path, format!("expected 1 to {MOST_DIMENSIONS} dimensions, got {count}"));
        }
        let mut dimensions = BTreeMap::new();
        for (name, value) in given {
            let path = format!("{path}.{name}");
            check_name(name, &path, problems);
            let is_twin = |other: &&String| *other != name && other.eq_ignore_ascii_case(name);
            if let Some(twin) = given.keys().find(is_twin).filter(|twin| *twin < name) {
                problems
                    .add(&path, format!("differs from {twin} in case alone, which SQL does not distinguish"));
            }
            if let Some(dimension) = read_dimension(value, &path, problems) {
                dimensions.insert(name.clone(), dimension);
            }
        }
        let conditions = Conditions { given, dimensions: &dimensions, path };
        conditions.check(problems);
        let order = conditions.order(problems);
        (problems.len() == before).then_some(Self { dimensions, order })
    }

    fn to_value(&self) -> Value {
        let dimension = |(name, dimension): (&String, &Dimension)| (name.clone(), dimension.to_value());
        Value::Group(self.dimensions.iter().map(dimension).collect())
    }
}

/// Checks a dimension's name, which becomes a column of tables and a field of trials.
fn check_name(name: &str, path: &str, problems: &mut Problems) {
    let starts = |c: char| c.is_ascii_alphabetic() || c == '_';
    if !name.starts_with(starts) || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        problems.add(path, "a name has letters, digits and _ only, and no digit first");
    }
}

fn read_dimension(value: &Value, path: &str, problems: &mut Problems) -> Option<Dimension> {
    let forms = "expected a dimension, such as choice([…]), int(low, high), uniform(low, high) or \
                 log_uniform(low, high)";
    let Value::Group(given) = value else {
        problems.add(path, format!("{forms}, got {value} ({})", value.kind()));
        return None;
    };
    let kind = match given.get("kind") {
        Some(Value::Text(kind)) if KINDS.contains(&kind.as_str()) => kind.as_str(),
        Some(other) => {
            problems
                .add(&format!("{path}.kind"), format!("expected one of {}, got {other}", KINDS.join(", ")));
            return None;
        }
        None => {
            problems.add(path, format!("{forms}, got a group without a `kind`"));
            return None;
        }
    };
    let before = problems.len();
    let mut members = Members { given, path, problems };
    let domain = match kind {
        "choice" => members.choice(),
        "int" => members.int(),
        kind => members.interval(kind == "log_uniform"),
    };
    let when = members.when();
    let dimension = Dimension { domain: domain?, when: when? };
    (problems.len() == before).then_some(dimension)
}

/// The members of one dimension's group.
struct Members<'a> {
    given: &'a Group,
    path: &'a str,
    problems: &'a mut Problems,
}

impl Members<'_> {
    fn at(&self, name: &str) -> String {
        format!("{}.{name}", self.path)
    }

    fn add(&mut self, name: &str, message: impl Into<String>) {
        self.problems.add(&self.at(name), message);
    }

    fn only(&mut self, known: &[&str]) {
        for name in self.given.keys().filter(|name| !known.contains(&name.as_str())) {
            self.problems.unknown(&self.at(name), name, known);
        }
    }

    /// A member, if it is given and valid.
    fn maybe<T: Param>(&mut self, name: &str, range: Option<Bounds>) -> Option<T> {
        let value = self.given.get(name)?;
        T::read(value, &self.at(name), range, self.problems)
    }

    /// A member that must be given.
    fn needed<T: Param>(&mut self, name: &str) -> Option<T> {
        if !self.given.contains_key(name) {
            self.add(name, format!("is missing; expected {}", T::kind()));
        }
        self.maybe(name, None)
    }

    fn choice(&mut self) -> Option<Domain> {
        self.only(&["kind", "values", "when"]);
        let values = match self.given.get("values") {
            Some(Value::List(values)) if !values.is_empty() => values,
            Some(Value::List(_)) => {
                self.add("values", "is empty; give at least one value");
                return None;
            }
            Some(other) => {
                self.add("values", format!("expected a list of values, got {other} ({})", other.kind()));
                return None;
            }
            None => {
                self.add("values", "is missing; expected a list of values");
                return None;
            }
        };
        for (index, value) in values.iter().enumerate() {
            if values[..index].contains(value) {
                self.add(&format!("values[{index}]"), format!("{value} is listed twice"));
            }
            if !is_finite(value) {
                self.add(&format!("values[{index}]"), format!("expected finite numbers, got {value}"));
            }
        }
        Some(Domain::Choice(values.clone()))
    }

    fn int(&mut self) -> Option<Domain> {
        self.only(&["kind", "low", "high", "step", "log", "when"]);
        let (low, high) = (self.needed::<Whole>("low"), self.needed::<Whole>("high"));
        let step = self.maybe::<Whole>("step", Some((1..=MOST).into())).map(|Whole(step)| step);
        let log = self.maybe::<bool>("log", None).unwrap_or(false);
        if log && step.is_some_and(|step| step != 1) {
            self.add("step", "does not go with a logarithmic scale; leave one of them out");
        }
        let (Whole(low), Whole(high)) = (low?, high?);
        if low > high {
            self.add("high", format!("must not lie below low ({low}), got {high}"));
            return None;
        }
        if log && low < 1 {
            self.add("low", format!("must be at least 1 on a logarithmic scale, got {low}"));
            return None;
        }
        Some(Domain::Int { low, high, step: step.unwrap_or(1), log })
    }

    fn interval(&mut self, log: bool) -> Option<Domain> {
        self.only(&["kind", "low", "high", "points", "when"]);
        let (low, high) = (self.needed::<f64>("low"), self.needed::<f64>("high"));
        let points = self.maybe::<u32>("points", Some((1..=MOST_POINTS).into()));
        let (low, high) = (low?, high?);
        if low >= high {
            self.add("high", format!("must lie above low ({low:?}), got {high:?}"));
            return None;
        }
        if log && low <= 0.0 {
            self.add("low", format!("must lie above 0 on a logarithmic scale, got {low:?}"));
            return None;
        }
        if !(high - low).is_finite() {
            self.add("high", format!("lies too far from low ({low:?}), got {high:?}"));
            return None;
        }
        Some(Domain::Float { low, high, log, points })
    }

    fn when(&mut self) -> Option<Condition> {
        match self.given.get("when") {
            None => Some(Condition::new()),
            Some(Value::Group(given)) => {
                let values = |value: &Value| match value {
                    Value::List(values) => values.clone(),
                    value => vec![value.clone()],
                };
                Some(given.iter().map(|(name, value)| (name.clone(), values(value))).collect())
            }
            Some(other) => {
                let kind = other.kind();
                self.add(
                    "when",
                    format!("expected #{{ name: value }} or #{{ name: [values] }}, got {other} ({kind})"),
                );
                None
            }
        }
    }
}

/// An integer that a float represents exactly.
struct Whole(i64);

impl Param for Whole {
    fn kind() -> ParamKind {
        ParamKind::WholeNumber
    }

    fn read(value: &Value, path: &str, range: Option<Bounds>, problems: &mut Problems) -> Option<Self> {
        let Value::Int(number) = *value else {
            problems.add(path, format!("expected {}, got {value} ({})", Self::kind(), value.kind()));
            return None;
        };
        f64::read(value, path, range.or(Some((-MOST..=MOST).into())), problems).map(|_| Self(number))
    }

    fn to_value(&self) -> Value {
        Value::Int(self.0)
    }
}

fn is_finite(value: &Value) -> bool {
    match value {
        Value::Float(value) => value.is_finite(),
        Value::List(values) => values.iter().all(is_finite),
        Value::Group(members) => members.values().all(is_finite),
        _ => true,
    }
}
