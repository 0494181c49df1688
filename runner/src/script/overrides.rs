//! `--set name=value` and `--params FILE`: values from the command line for what a script declares with `params(#{…})`.

use std::path::{Path, PathBuf};

use rhai::{Dynamic, FnPtr, Map};
use serde_json::Value as Json;

use dc0_core::params::{ParamErrors, Problems, Value, nearest};
use thiserror::Error;

use super::convert::{scalar, to_dynamic};
use super::failure::Fault;
use crate::exit::Exit;

/// Where the value of a parameter comes from; each goes before the ones above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The script's own declaration.
    Script,
    /// A file given with `--params`.
    File,
    /// `--set`.
    Set,
}

impl Origin {
    /// As plans and errors name it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Script => "script",
            Self::File => "--params",
            Self::Set => "--set",
        }
    }
}

/// One value from the command line or a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Override {
    /// Where it comes from.
    pub origin: Origin,
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
                Ok(Self { origin: Origin::Set, path: path.trim().to_owned(), text: text.trim().to_owned() })
            }
            _ => Err(OverrideForm { given: given.to_owned() }),
        }
    }
}

/// A file with values that cannot be used.
#[derive(Debug, Error)]
pub enum ParamsFileError {
    /// It cannot be read.
    #[error("cannot read the parameters in {}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: std::io::Error,
    },
    /// It is neither TOML nor JSON, or no group.
    #[error("{}: expected {expected}", .path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// What, and what was found.
        expected: String,
    },
}

impl Fault for ParamsFileError {
    fn exit(&self) -> Exit {
        Exit::BadInput
    }
}

/// The values of a TOML file, or of a JSON file by the end of its name.
pub fn read_file(path: &Path) -> Result<Vec<Override>, ParamsFileError> {
    let unreadable = |cause| ParamsFileError::Unreadable { path: path.to_owned(), cause };
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    let form = |expected: String| ParamsFileError::Form { path: path.to_owned(), expected };
    let is_json = path.extension().is_some_and(|kind| kind.eq_ignore_ascii_case("json"));
    let values: Json = if is_json {
        serde_json::from_str(&text).map_err(|cause| form(format!("JSON; {cause}")))?
    } else {
        toml::from_str(&text).map_err(|cause| form(format!("TOML; {}", cause.to_string().trim_end())))?
    };
    let mut overrides = Vec::new();
    match values {
        Json::Object(members) => flatten("", &members, &mut overrides),
        other => return Err(form(format!("names with values, got {other}"))),
    }
    Ok(overrides)
}

/// Every leaf as if it had been typed.
fn flatten(prefix: &str, members: &serde_json::Map<String, Json>, overrides: &mut Vec<Override>) {
    for (name, value) in members {
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        match value {
            Json::Object(members) => flatten(&path, members, overrides),
            Json::String(text) => overrides.push(Override { origin: Origin::File, path, text: text.clone() }),
            other => overrides.push(Override { origin: Origin::File, path, text: other.to_string() }),
        }
    }
}

/// Who gives these values, as an error names it.
pub fn givers(overrides: &[Override]) -> String {
    let has = |origin| overrides.iter().any(|given| given.origin == origin);
    let origins = [Origin::Set, Origin::File].into_iter().filter(|origin| has(*origin));
    origins.map(Origin::word).collect::<Vec<_>>().join(" and ")
}

/// Puts the values of the command line into the declared map; a later one for the same name wins.
pub fn apply(declared: &mut Map, overrides: &[Override]) -> Result<(), ParamErrors> {
    let mut problems = Problems::default();
    for given in overrides {
        let parts: Vec<&str> = given.path.split('.').collect();
        set(declared, &parts, given, &mut problems);
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.into_errors(&givers(overrides))) }
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Origin, Override, read_file};

    #[test]
    fn toml_and_json_say_the_same_as_typed_values() {
        let folder = tempfile::tempdir().expect("a folder");
        let of = |path: &str, text: &str| Override {
            origin: Origin::File,
            path: path.to_owned(),
            text: text.to_owned(),
        };
        let expected =
            [of("games", "4"), of("rule", "puct"), of("search.c_puct", "1.5"), of("sizes", "[1,2]")];
        for (name, text) in [
            ("a.toml", "games = 4\nrule = \"puct\"\nsizes = [1, 2]\n[search]\nc_puct = 1.5\n"),
            ("a.json", r#"{ "games": 4, "rule": "puct", "search": { "c_puct": 1.5 }, "sizes": [1, 2] }"#),
        ] {
            let file = folder.path().join(name);
            fs::write(&file, text).expect("writes");
            let mut read = read_file(&file).expect("reads");
            read.sort_by(|a, b| a.path.cmp(&b.path));
            assert_eq!(read, expected, "{name}");
        }
        fs::write(folder.path().join("b.json"), "[1]").expect("writes");
        let error = read_file(&folder.path().join("b.json")).expect_err("is no group").to_string();
        assert!(error.ends_with("b.json: expected names with values, got [1]"), "{error}");
    }
}
