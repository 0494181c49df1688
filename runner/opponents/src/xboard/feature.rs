//! Features that xboard engines declare.

use crate::options::{Declared, Kind};
use crate::process::shortened;
use crate::setup::Introduction;

/// The features that are accepted. `san` is not: moves are sent by their squares, which every engine reads.
pub(super) const KNOWN: [&str; 24] = [
    "analyze",
    "colors",
    "debug",
    "done",
    "draw",
    "exclude",
    "ics",
    "memory",
    "myname",
    "name",
    "nps",
    "option",
    "pause",
    "ping",
    "playother",
    "reuse",
    "setboard",
    "setscore",
    "sigint",
    "sigterm",
    "smp",
    "time",
    "usermove",
    "variants",
];

/// Options that are commands of their own.
pub(super) const COMMANDS: [&str; 2] = ["memory", "cores"];

/// The protocol's name of Chess960.
pub(super) const FISCHERANDOM: &str = "fischerandom";

/// The features that matter in matches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a feature of its own in the protocol")]
pub(super) struct Features {
    /// Answers to `ping`.
    pub(super) ping: bool,
    /// Takes positions.
    pub(super) setboard: bool,
    /// Takes moves after the word `usermove`.
    pub(super) usermove: bool,
    /// Can play another game after one.
    pub(super) reuse: bool,
    /// Takes the clocks.
    pub(super) time: bool,
    /// Counts nodes as time.
    pub(super) nps: bool,
    /// Plays Chess960.
    pub(super) fischerandom: bool,
    /// Whether the list is complete.
    pub(super) done: bool,
    name: String,
    options: Vec<Declared>,
}

impl Features {
    /// Those of programs of version 1, which declare none.
    pub(super) fn of_version_one() -> Self {
        Self { reuse: true, time: true, ..Self::default() }
    }

    /// Sets a declared feature; those that do not matter are skipped.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        let is_on = value == "1";
        let number =
            |name: &str| Declared { name: name.to_owned(), kind: Kind::Spin(None, 1, i64::from(i32::MAX)) };
        match name {
            "ping" => self.ping = is_on,
            "setboard" => self.setboard = is_on,
            "usermove" => self.usermove = is_on,
            "reuse" => self.reuse = is_on,
            "time" => self.time = is_on,
            "nps" => self.nps = is_on,
            "variants" => self.fischerandom = value.split(',').any(|variant| variant.trim() == FISCHERANDOM),
            "done" => self.done = is_on,
            "myname" => self.name = shortened(value),
            "memory" if is_on => self.options.push(number(COMMANDS[0])),
            "smp" if is_on => self.options.push(number(COMMANDS[1])),
            "option" => self.options.extend(option(value)),
            _ => {}
        }
    }

    pub(super) fn introduction(&self) -> Introduction {
        Introduction { name: self.name.clone(), author: String::new(), options: self.options.clone() }
    }
}

/// A line without the prompt for people that GNU Chess prints before its first answer: `White (1) : feature done=0`.
pub(super) fn without_prompt(line: &str) -> &str {
    let is_prompt = |text: &str| text.starts_with("White (") || text.starts_with("Black (");
    line.split_once(" : ").filter(|(prompt, _)| is_prompt(prompt)).map_or(line, |(_, rest)| rest)
}

/// Parses `feature NAME=VALUE NAME="several words" …`; nothing for other lines.
pub(super) fn parse(line: &str) -> Vec<(String, String)> {
    let mut features = Vec::new();
    let Some(mut rest) = without_prompt(line).strip_prefix("feature ") else { return features };
    while let Some((name, tail)) = rest.split_once('=') {
        let tail = tail.trim_start();
        let (value, tail) = match tail.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => tail.split_once(' ').unwrap_or((tail, "")),
        };
        features.push((name.trim().to_owned(), value.trim().to_owned()));
        rest = tail;
    }
    features
}

/// Parses `NAME -TYPE VALUES`.
fn option(text: &str) -> Option<Declared> {
    let (name, rest) = text.split_once(" -")?;
    let (kind, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let kind = match kind {
        "button" | "save" | "reset" => Kind::Button,
        "check" => Kind::Check(Some(rest.trim() == "1")),
        "string" | "file" | "path" => Kind::Text(Some(rest.trim().to_owned())),
        "spin" | "slider" => {
            let numbers: Vec<i64> = rest.split_whitespace().filter_map(|word| word.parse().ok()).collect();
            let [default, least, most] = numbers[..] else { return None };
            Kind::Spin(Some(default), least, most)
        }
        "combo" => {
            let choices = rest.split("///").map(str::trim);
            let default = choices
                .clone()
                .find_map(|choice| choice.strip_prefix('*'))
                .or_else(|| choices.clone().next());
            let names = choices.clone().map(|choice| choice.trim_start_matches('*').to_owned());
            Kind::Combo(default.map(str::to_owned), names.collect())
        }
        _ => return None,
    };
    Some(Declared { name: name.trim().to_owned(), kind })
}

#[cfg(test)]
mod tests {
    use super::{Features, Kind, option, parse};

    #[test]
    fn features_are_parsed_with_and_without_quotes() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            parse("feature myname=\"Phalanx XXV\" ping=1 setboard=0 done=1"),
            [pair("myname", "Phalanx XXV"), pair("ping", "1"), pair("setboard", "0"), pair("done", "1")]
        );
        assert_eq!(parse("tellics say feature ping=1"), []);
        assert_eq!(parse("feature done"), []);
        assert_eq!(parse("White (1) : feature done=0"), [pair("done", "0")]);
        assert_eq!(parse("Hint : feature done=0"), []);
    }

    #[test]
    fn options_have_the_types_of_the_protocol() {
        let kind = |text: &str| option(text).expect("is an option").kind;
        assert_eq!(option("Resign Threshold -spin 800 200 1200").unwrap().name, "Resign Threshold");
        assert_eq!(kind("Resign Threshold -spin 800 200 1200"), Kind::Spin(Some(800), 200, 1200));
        assert_eq!(kind("Resign -check 0"), Kind::Check(Some(false)));
        assert_eq!(kind("Clear Hash -button"), Kind::Button);
        assert_eq!(kind("Ini File -file /a b"), Kind::Text(Some("/a b".to_owned())));
        let names = vec!["a".to_owned(), "b c".to_owned()];
        assert_eq!(kind("Rules -combo a /// *b c"), Kind::Combo(Some("b c".to_owned()), names));
        assert_eq!(
            (option("Rules -spin 1 2"), option("Rules -colour red"), option("Rules")),
            (None, None, None)
        );
    }

    #[test]
    fn programs_without_features_are_those_of_version_one() {
        let mut features = Features::of_version_one();
        assert!(features.reuse && features.time && !features.ping && !features.usermove);
        features.set("memory", "1");
        features.set("reuse", "0");
        assert!(!features.reuse && features.introduction().options[0].name == "memory");
        features.set("variants", "normal,xfischerandom");
        assert!(!features.fischerandom);
        features.set("variants", "normal, fischerandom,3check");
        assert!(features.fischerandom);
    }
}
