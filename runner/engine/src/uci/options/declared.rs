//! Options as chess programs are told of them.

/// What an option takes.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Button,
    Check(bool),
    Spin { default: i64, least: i64, most: i64 },
    Combo { default: String, words: Vec<String> },
    Text(String),
}

/// An option as it is told to chess programs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Declared {
    pub(super) name: String,
    pub(super) kind: Kind,
}

fn shown(text: &str) -> &str {
    if text.is_empty() { "<empty>" } else { text }
}

impl Declared {
    /// The line that tells it.
    pub(super) fn line(&self) -> String {
        let name = &self.name;
        match &self.kind {
            Kind::Button => format!("option name {name} type button"),
            Kind::Check(default) => format!("option name {name} type check default {default}"),
            Kind::Spin { default, least, most } => {
                format!("option name {name} type spin default {default} min {least} max {most}")
            }
            Kind::Combo { default, words } => {
                let words: String = words.iter().map(|word| format!(" var {word}")).collect();
                format!("option name {name} type combo default {default}{words}")
            }
            Kind::Text(default) => format!("option name {name} type string default {}", shown(default)),
        }
    }

    /// What the option takes, in words.
    pub(super) fn expected(&self) -> String {
        match &self.kind {
            Kind::Button => "no value".to_owned(),
            Kind::Check(_) => "true or false".to_owned(),
            Kind::Spin { least, most, .. } => format!("a whole number in {least}..={most}"),
            Kind::Combo { words, .. } => format!("one of {}", words.join(", ")),
            Kind::Text(_) => "text".to_owned(),
        }
    }

    /// The value in the form that is set, if it is one of the option's.
    pub(super) fn checked(&self, value: &str) -> Option<String> {
        let lower = value.to_ascii_lowercase();
        match &self.kind {
            Kind::Check(_) => ["true", "false"].contains(&lower.as_str()).then_some(lower),
            Kind::Spin { least, most, .. } => {
                let number = value.parse::<i64>().ok().filter(|number| (*least..=*most).contains(number));
                number.map(|number| number.to_string())
            }
            Kind::Combo { words, .. } => {
                words.iter().find(|word| word.to_ascii_lowercase() == lower).cloned()
            }
            Kind::Button | Kind::Text(_) => Some(value.to_owned()),
        }
    }
}
