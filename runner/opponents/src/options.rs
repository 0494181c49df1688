//! Options that programs declare, and the values given for them.

use std::collections::BTreeMap;

use dc0_core::params::{ParamErrors, Problems, Value, nearest};

/// An option of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Declared {
    /// Its name.
    pub(crate) name: String,
    /// What it takes.
    pub(crate) kind: Kind,
}

/// What an option takes. Defaults are absent where the program gives none that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// True or false.
    Check(Option<bool>),
    /// A whole number between two others.
    Spin(Option<i64>, i64, i64),
    /// One of several texts.
    Combo(Option<String>, Vec<String>),
    /// Any text.
    Text(Option<String>),
    /// No value: it does something.
    Button,
}

impl Kind {
    /// Whether a value is the default, so that it changes nothing.
    fn is_default(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Check(default), Value::Bool(value)) => *default == Some(*value),
            (Self::Spin(default, _, _), Value::Int(value)) => *default == Some(*value),
            (Self::Combo(default, _) | Self::Text(default), Value::Text(value)) => {
                default.as_ref() == Some(value)
            }
            (Self::Button, Value::Bool(pressed)) => !pressed,
            _ => false,
        }
    }

    /// What was expected, if the value does not fit.
    fn fault(&self, value: &Value) -> Option<String> {
        let found = || format!("got {value} ({})", value.kind());
        match (self, value) {
            (Self::Check(_) | Self::Button, Value::Bool(_)) | (Self::Text(_), Value::Text(_)) => None,
            (Self::Spin(_, least, most), Value::Int(value)) if (least..=most).contains(&value) => None,
            (Self::Combo(_, choices), Value::Text(value)) if choices.contains(value) => None,
            (Self::Check(_), _) => Some(format!("expected true or false, {}", found())),
            (Self::Spin(_, least, most), _) => {
                Some(format!("expected a whole number in {least}..={most}, {}", found()))
            }
            (Self::Combo(_, choices), _) => {
                Some(format!("expected one of {}, {}", choices.join(", "), found()))
            }
            (Self::Text(_), Value::Int(number)) => {
                Some(format!("expected text, {}; write \"{number}\"", found()))
            }
            (Self::Text(_), _) => Some(format!("expected text, {}", found())),
            (Self::Button, _) => Some(format!("expected true, which presses this button, {}", found())),
        }
    }
}

/// Checks given options against the declared ones; `refused` are names with the reason why dc0 sets them itself.
pub(crate) fn check(
    call: &str,
    given: &BTreeMap<String, Value>,
    declared: &[Declared],
    refused: &[(&str, &str)],
) -> Result<(), ParamErrors> {
    let mut problems = Problems::default();
    for (name, value) in given {
        let path = format!("options.{name}");
        if let Some((_, reason)) = refused.iter().find(|(refused, _)| refused == name) {
            problems.add(&path, format!("cannot be set: {reason}"));
            continue;
        }
        match declared.iter().find(|option| option.name == *name) {
            None => problems.add(&path, unknown(name, declared)),
            Some(option) => {
                if let Some(fault) = option.kind.fault(value) {
                    problems.add(&path, fault);
                }
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.into_errors(call)) }
}

fn unknown(name: &str, declared: &[Declared]) -> String {
    let names = || declared.iter().map(|option| option.name.as_str());
    let same = names().find(|known| known.eq_ignore_ascii_case(name));
    match same.or_else(|| nearest(name, names())) {
        Some(near) => format!("the program has no such option; did you mean `{near}`?"),
        None if declared.is_empty() => "the program has no options; leave it out".to_owned(),
        None => format!("the program has no such option; it has {}", names().collect::<Vec<_>>().join(", ")),
    }
}

/// The given options that change something, as in names of players.
pub(crate) fn changes(given: &BTreeMap<String, Value>, declared: &[Declared]) -> Vec<String> {
    let is_default = |name: &str, value: &Value| {
        declared.iter().find(|option| option.name == name).is_some_and(|option| option.kind.is_default(value))
    };
    let changed = given.iter().filter(|(name, value)| !is_default(name, value));
    changed
        .map(|(name, value)| match value {
            Value::Text(text) => format!("{name} {}", text.rsplit('/').next().unwrap_or(text)),
            value => format!("{name} {value}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{BTreeMap, Declared, Kind, Value, changes, check};

    fn declared() -> Vec<Declared> {
        let option = |name: &str, kind| Declared { name: name.to_owned(), kind };
        vec![
            option("Skill Level", Kind::Spin(Some(20), 0, 20)),
            option("Ponder", Kind::Check(Some(false))),
            option(
                "Style",
                Kind::Combo(Some("Solid".to_owned()), vec!["Solid".to_owned(), "Risky".to_owned()]),
            ),
            option("EvalFile", Kind::Text(Some("a.nnue".to_owned()))),
            option("Clear Hash", Kind::Button),
        ]
    }

    fn given<const N: usize>(options: [(&str, Value); N]) -> BTreeMap<String, Value> {
        options.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    #[test]
    fn every_wrong_option_is_named_with_what_it_takes() {
        let wrong = given([
            ("Skil Level", Value::Int(1)),
            ("Skill Level", Value::Int(21)),
            ("clear hash", Value::Bool(true)),
            ("Clear Hash", Value::Int(1)),
            ("Style", text("Wild")),
            ("EvalFile", Value::Int(7)),
            ("Ponder", Value::Bool(true)),
            ("xyz", Value::Int(1)),
        ]);
        let error =
            check("uci(\"engine\")", &wrong, &declared(), &[("Ponder", "no")]).unwrap_err().to_string();
        let expected = "uci(\"engine\"): 8 problems in its parameters
  options.Clear Hash: expected true, which presses this button, got 1 (whole number)
  options.EvalFile: expected text, got 7 (whole number); write \"7\"
  options.Ponder: cannot be set: no
  options.Skil Level: the program has no such option; did you mean `Skill Level`?
  options.Skill Level: expected a whole number in 0..=20, got 21 (whole number)
  options.Style: expected one of Solid, Risky, got \"Wild\" (text)
  options.clear hash: the program has no such option; did you mean `Clear Hash`?
  options.xyz: the program has no such option; it has Skill Level, Ponder, Style, EvalFile, Clear Hash";
        assert_eq!(error, expected);
    }

    #[test]
    fn names_of_players_have_the_options_that_change_something() {
        let given = given([
            ("Skill Level", Value::Int(0)),
            ("Style", text("Solid")),
            ("EvalFile", text("/nets/b.nnue")),
            ("Clear Hash", Value::Bool(false)),
        ]);
        assert!(check("uci", &given, &declared(), &[]).is_ok());
        assert_eq!(changes(&given, &declared()), ["EvalFile b.nnue", "Skill Level 0"]);
        assert_eq!(changes(&given, &[]).len(), 4);
    }
}
