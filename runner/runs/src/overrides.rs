//! `--set name=value` and `--params FILE`: values from the command line for the parameters that a script declares.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use thiserror::Error;

use dc0_process::exit::Exit;
use dc0_process::fault::Fault;

/// The source of a parameter's value; each takes precedence over the ones above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The script's own declaration.
    Script,
    /// A file given with `--params`.
    File,
    /// A group without members in such a file: it must be a group of the script, too, or a parameter whose default is `()`, which it
    /// then replaces.
    EmptyGroup,
    /// `--set`.
    Set,
}

impl Origin {
    /// Its name in plans and errors.
    pub fn name(self) -> &'static str {
        match self {
            Self::Script => "script",
            Self::File | Self::EmptyGroup => "--params",
            Self::Set => "--set",
        }
    }
}

/// One value from the command line or a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Override {
    /// The source of the value.
    pub origin: Origin,
    /// The dotted name.
    pub path: String,
    /// The value as typed.
    pub text: String,
    /// The file that contains it, unless it was typed.
    pub file: Option<PathBuf>,
}

impl Override {
    /// The option that gives the value, with its file, as errors name it.
    pub fn option(&self) -> String {
        match &self.file {
            Some(file) => format!("{} {}", self.origin.name(), file.display()),
            None => self.origin.name().to_owned(),
        }
    }
}

/// The argument of a `--set` is not of the form `name=value`.
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
                let (path, text) = (path.trim().to_owned(), text.trim().to_owned());
                Ok(Self { origin: Origin::Set, path, text, file: None })
            }
            _ => Err(OverrideForm { given: given.to_owned() }),
        }
    }
}

/// A file of parameters cannot be used.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ParamsFileError {
    #[error("cannot read the parameters in {}", .path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        cause: std::io::Error,
    },
    /// It is not valid TOML or JSON, or not a group of values.
    #[error("{}: expected {expected}", .path.display())]
    Form {
        path: PathBuf,
        /// The expected form, and what was found.
        expected: String,
    },
}

impl Fault for ParamsFileError {
    fn exit(&self) -> Exit {
        Exit::BadInput
    }
}

/// Reads the values of a TOML file, or of a JSON file if its name ends in `.json`.
pub fn read_file(path: &Path) -> Result<Vec<Override>, ParamsFileError> {
    let unreadable = |cause| ParamsFileError::Unreadable { path: path.to_owned(), cause };
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    let text = text.trim_start_matches('\u{feff}');
    let form = |expected: String| ParamsFileError::Form { path: path.to_owned(), expected };
    let is_json = path.extension().is_some_and(|kind| kind.eq_ignore_ascii_case("json"));
    let values: Json = if is_json {
        serde_json::from_str(text).map_err(|cause| form(format!("JSON; {cause}")))?
    } else {
        toml::from_str(text).map_err(|cause| form(format!("TOML; {}", cause.to_string().trim_end())))?
    };
    let mut overrides = Vec::new();
    match values {
        Json::Object(members) => flatten("", &members, path, &mut overrides),
        other => return Err(form(format!("names with values, got {other}"))),
    }
    Ok(overrides)
}

/// Adds every leaf as if it had been typed with `--set`.
fn flatten(
    prefix: &str,
    members: &serde_json::Map<String, Json>,
    file: &Path,
    overrides: &mut Vec<Override>,
) {
    for (name, value) in members {
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        let (origin, text) = match value {
            Json::Object(members) if members.is_empty() => (Origin::EmptyGroup, value.to_string()),
            Json::Object(members) => {
                flatten(&path, members, file, overrides);
                continue;
            }
            Json::String(text) => (Origin::File, text.clone()),
            other => (Origin::File, other.to_string()),
        };
        overrides.push(Override { origin, path, text, file: Some(file.to_owned()) });
    }
}

/// Lists options for an error, each once.
pub fn joined(options: &[String]) -> String {
    let mut each: Vec<&str> = Vec::new();
    for option in options {
        if !each.contains(&option.as_str()) {
            each.push(option);
        }
    }
    each.join(" and ")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Origin, Override, read_file};

    #[test]
    fn values_from_toml_and_json_equal_typed_ones_with_a_byte_order_mark_or_without() {
        let folder = tempfile::tempdir().expect("a folder");
        let expected = [("games", "4"), ("rule", "puct"), ("search.c_puct", "1.5"), ("sizes", "[1,2]")];
        for (name, text) in [
            ("a.toml", "games = 4\nrule = \"puct\"\nsizes = [1, 2]\n[search]\nc_puct = 1.5\n"),
            ("a.json", r#"{ "games": 4, "rule": "puct", "search": { "c_puct": 1.5 }, "sizes": [1, 2] }"#),
            ("b.toml", "\u{feff}games = 4\nrule = \"puct\"\nsizes = [1, 2]\n[search]\nc_puct = 1.5\n"),
        ] {
            let file = folder.path().join(name);
            fs::write(&file, text).expect("writes");
            let mut read = read_file(&file).expect("reads");
            read.sort_by(|a, b| a.path.cmp(&b.path));
            let from_file = |(path, text): (&str, &str)| Override {
                origin: Origin::File,
                path: path.to_owned(),
                text: text.to_owned(),
                file: Some(file.clone()),
            };
            assert_eq!(read, expected.map(from_file), "{name}");
        }
        let file = folder.path().join("c.json");
        fs::write(&file, r#"{ "group": {}, "text": "{}" }"#).expect("writes");
        let read = read_file(&file).expect("reads");
        let origins: Vec<(&str, Origin)> =
            read.iter().map(|given| (given.path.as_str(), given.origin)).collect();
        assert_eq!(origins, [("group", Origin::EmptyGroup), ("text", Origin::File)]);
        fs::write(folder.path().join("b.json"), "[1]").expect("writes");
        let error = read_file(&folder.path().join("b.json")).expect_err("not a group").to_string();
        assert!(error.ends_with("b.json: expected names with values, got [1]"), "{error}");
    }
}
