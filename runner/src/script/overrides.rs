//! `--set name=value`: values from the command line for what a script declares with `params(#{…})`.

use rhai::{Dynamic, FnPtr, Map};

use dc0_core::params::{ParamErrors, Problems, Value, nearest};
use thiserror::Error;

use super::convert::{scalar, to_dynamic};

/// One `--set`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Override {
    /// The dotted name.
    pub path: String,
    /// The value as typed.
    pub text: String,
}

/// A `--set` that is not of the form `name=value`.
#[derive(Debug, Error)]
#[error("expected name=value, such as generations=3 or search.c_puct=1.5, got \"{given}\"")]
pub struct OverrideForm {
    given: String,
}

impl std::str::FromStr for Override {
    type Err = OverrideForm;

    fn from_str(given: &str) -> Result<Self, OverrideForm> {
        match given.split_once('=') {
            Some((path, text)) if !path.trim().is_empty() => {
                Ok(Self { path: path.trim().to_owned(), text: text.trim().to_owned() })
            }
            _ => Err(OverrideForm { given: given.to_owned() }),
        }
    }
}

/// Puts the values of the command line into the declared map; a later one for the same name wins.
pub fn apply(declared: &mut Map, overrides: &[Override]) -> Result<(), ParamErrors> {
    let mut problems = Problems::default();
    for given in overrides {
        let parts: Vec<&str> = given.path.split('.').collect();
        set(declared, &parts, given, &mut problems);
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.into_errors("--set")) }
}

fn set(map: &mut Map, parts: &[&str], given: &Override, problems: &mut Problems) {
    let [name, rest @ ..] = parts else { return };
    let known: Vec<&str> = map.keys().map(rhai::Identifier::as_str).collect();
    let Some(member) = map.get(*name) else {
        return unknown(&given.path, name, &known, problems);
    };
    if rest.is_empty() {
        match read_like(member, &given.text) {
            Ok(value) => _ = map.insert((*name).into(), value),
            Err(message) => problems.add(&given.path, message),
        }
        return;
    }
    let group = map.get_mut(*name).and_then(Dynamic::write_lock::<Map>);
    match group {
        Some(mut group) => set(&mut group, rest, given, problems),
        None => problems.add(&given.path, format!("`{name}` is no group; set it with --set {name}=…")),
    }
}

fn unknown(path: &str, name: &str, known: &[&str], problems: &mut Problems) {
    let hint = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "there are no parameters here".to_owned(),
        None => format!("declared are {}", known.join(", ")),
    };
    problems.add(path, format!("the script declares no such parameter; {hint}"));
}

/// Reads text as the kind of value the default has; a whole number is welcome where the default has a fraction.
fn read_like(default: &Dynamic, text: &str) -> Result<Dynamic, String> {
    let wrong = |expected: &str| format!("expected {expected}, got \"{text}\"");
    let json = || serde_json::from_str::<Value>(text).ok();
    if default.is_map() {
        return Err("is a group; set its members, such as --set group.name=1".to_owned());
    }
    if default.is_array() {
        let list = json().filter(|value| matches!(value, Value::List(_)));
        return list.as_ref().map(to_dynamic).ok_or_else(|| wrong("a list such as [1, 2]"));
    }
    if default.is::<FnPtr>() {
        let number = json().filter(|value| value.as_f64().is_some());
        return number.as_ref().map(to_dynamic).ok_or_else(|| wrong("a number in place of the function"));
    }
    match scalar(default) {
        Some(Value::Bool(_)) => text.parse::<bool>().map(Dynamic::from).map_err(|_| wrong("true or false")),
        Some(Value::Int(_)) => {
            let expected = format!("a whole number like the default {default}");
            text.parse::<i64>().map(Dynamic::from).map_err(|_| wrong(&expected))
        }
        Some(Value::Float(_)) => {
            let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
            number.map(Dynamic::from).ok_or_else(|| wrong("a number"))
        }
        Some(Value::None) => Ok(json().as_ref().map_or_else(|| text.to_owned().into(), to_dynamic)),
        _ => Ok(text.to_owned().into()),
    }
}
