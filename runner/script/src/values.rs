//! Applies values from the command line to the map that a script declares, and collects everything that is wrong with them.

use std::collections::BTreeMap;

use dc0_core::params::{ParamErrors, Problems, Value, nearest};
use rhai::{Dynamic, FnPtr, Map};

use super::dynamic::{scalar, to_dynamic};
use super::location::ScriptLocation;
use super::parameter::{CheckedParameter, Parameter};
use dc0_runs::overrides::{Origin, Override, joined};

/// The source of a value where a problem is in the script's own declaration.
const SCRIPT: &str = "params";

/// The parameters with declared limits, by their dotted names.
pub type Typed = BTreeMap<String, (CheckedParameter, ScriptLocation)>;

/// One problem of a declaration or a value.
#[derive(Debug)]
struct ParamProblem {
    path: String,
    message: String,
    /// The source of the value: the script or an option of the command line.
    source: String,
    /// Where the script declares the parameter.
    location: Option<ScriptLocation>,
}

/// All problems of a call of `params`.
#[derive(Debug, Default)]
pub struct ParamProblems(Vec<ParamProblem>);

impl ParamProblems {
    /// All problems as one error and its location: the declaration if all concern the same one, else the call.
    pub fn into_error(self, call: ScriptLocation) -> Option<(ParamErrors, ScriptLocation)> {
        let sources: Vec<String> = self.0.iter().map(|problem| problem.source.clone()).collect();
        let first = self.0.first()?.location.clone();
        let is_same = self.0.iter().all(|problem| problem.location == first);
        let location = first.filter(|_| is_same).unwrap_or(call);
        let heading = joined(&sources);
        let mut errors = Problems::default();
        for ParamProblem { path, message, source, location: declared } in self.0 {
            let source = if source == heading { String::new() } else { format!(" ({source})") };
            let declared = declared.filter(|declared| *declared != location);
            let declared = declared.map(|declared| format!("; declared at {declared}")).unwrap_or_default();
            errors.add(&path, format!("{message}{source}{declared}"));
        }
        Some((errors.into_errors(&heading), location))
    }
}

/// Replaces each declared parameter in the map by its default.
pub fn insert_defaults(map: &mut Map, prefix: &str, problems: &mut ParamProblems) -> Typed {
    let mut typed = Typed::new();
    for (name, member) in map.iter_mut() {
        let path = if prefix.is_empty() { name.to_string() } else { format!("{prefix}.{name}") };
        if let Some(mut group) = member.write_lock::<Map>() {
            typed.extend(insert_defaults(&mut group, &path, problems));
            continue;
        }
        let Some(parameter) = member.read_lock::<Parameter>().map(|parameter| parameter.clone()) else {
            continue;
        };
        let location = parameter.location().clone();
        match parameter.check() {
            Ok(checked) => {
                *member = checked.to_dynamic();
                typed.insert(path, (checked, location));
            }
            Err(messages) => {
                let problem = |message| ParamProblem {
                    path: path.clone(),
                    message,
                    source: SCRIPT.to_owned(),
                    location: Some(location.clone()),
                };
                problems.0.extend(messages.into_iter().map(problem));
            }
        }
    }
    typed
}

/// Puts the values from the command line into the declared map; a later one for the same name wins.
pub fn apply(declared: &mut Map, typed: &Typed, overrides: &[Override], problems: &mut ParamProblems) {
    // Each is judged by the default, not by the values that it takes the place of.
    let defaults = declared.clone();
    for given in overrides {
        let parts: Vec<&str> = given.path.split('.').collect();
        let location = typed.get(&given.path).map(|(_, location)| location.clone());
        if let Err(message) = set((declared, &defaults), &parts, given, typed) {
            problems.0.push(ParamProblem {
                path: given.path.clone(),
                message,
                source: given.option(),
                location,
            });
        }
    }
}

fn set(
    (map, defaults): (&mut Map, &Map),
    parts: &[&str],
    given: &Override,
    typed: &Typed,
) -> Result<(), String> {
    let [name, rest @ ..] = parts else { return Ok(()) };
    let known: Vec<&str> = defaults.keys().map(rhai::Identifier::as_str).collect();
    let default = defaults.get(*name).ok_or_else(|| unknown(name, &known))?;
    if rest.is_empty() {
        if given.origin == Origin::EmptyGroup && default.is_map() {
            return Ok(());
        }
        // Where the default is `()`, it is a value, as with --set.
        if given.origin == Origin::EmptyGroup && !default.is_unit() {
            return Err("expected a value, got a group without members".to_owned());
        }
        let value = match typed.get(&given.path) {
            Some((checked, _)) => to_dynamic(&checked.allowed.read(&given.text)?),
            None => read_like(default, &given.text)?,
        };
        map.insert((*name).into(), value);
        return Ok(());
    }
    let group = map.get_mut(*name).and_then(Dynamic::write_lock::<Map>);
    match (group, default.read_lock::<Map>()) {
        (Some(mut group), Some(defaults)) => set((&mut group, &defaults), rest, given, typed),
        _ => Err(format!("`{name}` is not a group; set it with --set {name}=…")),
    }
}

fn unknown(name: &str, known: &[&str]) -> String {
    let hint = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "there are no parameters here".to_owned(),
        None => format!("declared are {}", known.join(", ")),
    };
    format!("the script declares no such parameter; {hint}")
}

/// Parses text as the type of the default; a whole number is accepted where the default is a float.
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
    use rhai::{Dynamic, Map};

    use super::{ParamProblems, Typed, apply};
    use dc0_runs::overrides::{Origin, Override};

    #[test]
    fn a_group_without_members_stands_for_groups_and_where_the_default_is_none() {
        let group = Map::from([("c_puct".into(), Dynamic::from_float(1.5))]);
        let declared = Map::from([
            ("search".into(), group.into()),
            ("label".into(), "x".into()),
            ("games".into(), 4_i64.into()),
            ("root_noise".into(), Dynamic::UNIT),
        ]);
        let applied = |origin, path: &str| {
            let given = Override { origin, path: path.to_owned(), text: "{}".to_owned(), file: None };
            let (mut map, mut problems) = (declared.clone(), ParamProblems::default());
            apply(&mut map, &Typed::new(), &[given], &mut problems);
            (map, problems.0.into_iter().next().map(|problem| problem.message))
        };
        let problem = |origin, path: &str| applied(origin, path).1;
        let (map, found) = applied(Origin::EmptyGroup, "search");
        assert!(found.is_none() && map["search"].as_map_ref().is_ok_and(|group| group.len() == 1));
        for origin in [Origin::EmptyGroup, Origin::File, Origin::Set] {
            let (map, found) = applied(origin, "root_noise");
            let is_empty = map["root_noise"].as_map_ref().is_ok_and(|group| group.is_empty());
            assert!(found.is_none() && is_empty, "{found:?}");
        }
        let given = |text: &str| Override {
            origin: Origin::Set,
            path: "root_noise".to_owned(),
            text: text.to_owned(),
            file: None,
        };
        for (texts, expected) in [(["{}", "3"], "3"), (["3", "{}"], "#{}"), (["{}", "()"], "()")] {
            let (mut map, mut problems) = (declared.clone(), ParamProblems::default());
            apply(&mut map, &Typed::new(), &texts.map(given), &mut problems);
            assert!(problems.0.is_empty(), "{texts:?}");
            assert_eq!(map["root_noise"].to_string(), expected, "{texts:?}");
        }
        for path in ["label", "games"] {
            let expected = "expected a value, got a group without members";
            assert_eq!(problem(Origin::EmptyGroup, path).as_deref(), Some(expected), "{path}");
        }
        for origin in [Origin::File, Origin::Set] {
            let expected = "is a group; set its members, such as --set group.name=1";
            assert_eq!(problem(origin, "search").as_deref(), Some(expected));
            assert_eq!(problem(origin, "label"), None, "any text is one");
        }
    }
}
