//! Options that programs declare, and the values given for them.

use std::collections::BTreeMap;

use dc0_core::params::{ParamErrors, Problems, Value, nearest};

/// The option of UCI engines that limits their strength to [`ELO`].
const LIMIT_STRENGTH: &str = "UCI_LimitStrength";

/// The option of UCI engines for their strength. Without [`LIMIT_STRENGTH`] they ignore it.
const ELO: &str = "UCI_Elo";

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
    /// What the program does without a value; `None` if it does not say.
    fn default(&self) -> Option<Value> {
        match self {
            Self::Check(default) => default.map(Value::Bool),
            Self::Spin(default, _, _) => default.map(Value::Int),
            Self::Combo(default, _) | Self::Text(default) => default.clone().map(Value::Text),
            Self::Button => Some(Value::Bool(false)),
        }
    }

    /// What was expected, if the value does not fit.
    fn fault(&self, value: &Value) -> Option<String> {
        let found = || format!("got {value} ({})", value.kind());
        // What is a text for the program, and is written like another kind of value.
        let quoted = || match value {
            Value::Int(_) | Value::Bool(_) => format!("; write \"{value}\""),
            _ => String::new(),
        };
        match (self, value) {
            (Self::Check(_) | Self::Button, Value::Bool(_)) | (Self::Text(_), Value::Text(_)) => None,
            (Self::Spin(_, least, most), Value::Int(value)) if (least..=most).contains(&value) => None,
            (Self::Combo(_, choices), Value::Text(value)) if choices.contains(value) => None,
            (Self::Check(_), _) => Some(format!("expected true or false, {}", found())),
            (Self::Spin(_, least, most), _) => {
                Some(format!("expected a whole number in {least}..={most}, {}", found()))
            }
            (Self::Combo(_, choices), _) => {
                let is_one = choices.contains(&value.to_string());
                let hint = if is_one { quoted() } else { String::new() };
                Some(format!("expected one of {}, {}{hint}", choices.join(", "), found()))
            }
            (Self::Text(_), _) => Some(format!("expected text, {}{}", found(), quoted())),
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
    if given.contains_key(ELO) && in_force(LIMIT_STRENGTH, given, declared) == Some(Value::Bool(false)) {
        let message = format!(
            "is ignored by the program while {LIMIT_STRENGTH} is false; set that to true, or leave this out"
        );
        problems.add(&format!("options.{ELO}"), message);
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.into_errors(call)) }
}

/// The value of an option: as given, or the program's default.
fn in_force(name: &str, given: &BTreeMap<String, Value>, declared: &[Declared]) -> Option<Value> {
    let default = || declared.iter().find(|option| option.name == name)?.kind.default();
    given.get(name).cloned().or_else(default)
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

/// The given options that change something, as in names of players. A limited strength is always among them, even that which the program
/// has by default.
pub(crate) fn changes(given: &BTreeMap<String, Value>, declared: &[Declared]) -> Vec<String> {
    let is_default = |name: &str, value: &Value| {
        let option = declared.iter().find(|option| option.name == name);
        option.and_then(|option| option.kind.default()).as_ref() == Some(value)
    };
    let mut changed = given.clone();
    changed.retain(|name, value| !is_default(name, value));
    if in_force(LIMIT_STRENGTH, given, declared) == Some(Value::Bool(true))
        && let Some(elo) = in_force(ELO, given, declared)
    {
        changed.insert(ELO.to_owned(), elo);
    }
    changed
        .iter()
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

    #[test]
    fn every_wrong_option_is_named_with_what_it_takes() {
        let wrong = given([
            ("Skil Level", Value::Int(1)),
            ("Skill Level", Value::Int(21)),
            ("clear hash", Value::Bool(true)),
            ("Clear Hash", Value::Int(1)),
            ("Style", Value::from("Wild")),
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
            ("Style", Value::from("Solid")),
            ("EvalFile", Value::from("/nets/b.nnue")),
            ("Clear Hash", Value::Bool(false)),
        ]);
        assert!(check("uci", &given, &declared(), &[]).is_ok());
        assert_eq!(changes(&given, &declared()), ["EvalFile b.nnue", "Skill Level 0"]);
        assert_eq!(changes(&given, &[]).len(), 4);
    }

    #[test]
    fn an_elo_needs_the_switch_that_limits_the_strength() {
        let of = |is_limited, levels: &[(&str, Value)]| {
            let option = |name: &str, kind| Declared { name: name.to_owned(), kind };
            let declared = [
                option("UCI_LimitStrength", Kind::Check(is_limited)),
                option("UCI_Elo", Kind::Spin(Some(1350), 1350, 2850)),
            ];
            let given = levels.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
            check("uci", &given, &declared, &[])
                .map(|()| changes(&given, &declared).join(", "))
                .map_err(|errors| errors.to_string())
        };
        let (elo, on, off) = (
            |elo| ("UCI_Elo", Value::Int(elo)),
            ("UCI_LimitStrength", Value::Bool(true)),
            ("UCI_LimitStrength", Value::Bool(false)),
        );
        let ignored = "uci: 1 problem in its parameters\n  options.UCI_Elo: is ignored by the program while UCI_LimitStrength is false; \
                       set that to true, or leave this out";
        assert_eq!(of(Some(false), &[elo(1400)]), Err(ignored.to_owned()));
        assert_eq!(of(Some(true), &[elo(1400), off.clone()]), Err(ignored.to_owned()));
        // Players are named by the level that they play at.
        let both = "UCI_Elo 1350, UCI_LimitStrength true".to_owned();
        assert_eq!(of(Some(false), &[elo(1350), on.clone()]), Ok(both.clone()));
        assert_eq!(of(Some(false), &[on]), Ok(both));
        assert_eq!(of(Some(true), &[]), Ok("UCI_Elo 1350".to_owned()));
        assert_eq!(of(Some(false), &[off]), Ok(String::new()));
        // Some engines are limited by the Elo alone.
        assert_eq!(of(None, &[elo(1400)]), Ok("UCI_Elo 1400".to_owned()));
    }
}
