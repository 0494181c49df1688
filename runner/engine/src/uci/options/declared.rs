//! Options as they are declared to chess programs.

/// What an option takes.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Button,
    Check(bool),
    Spin { default: i64, least: i64, most: i64 },
    Combo { default: String, names: Vec<String> },
    Text(String),
}

/// An option as it is declared to chess programs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Declared {
    pub(super) name: String,
    pub(super) kind: Kind,
}

fn shown(text: &str) -> &str {
    if text.is_empty() { "<empty>" } else { text }
}

impl Declared {
    /// The line that declares it.
    pub(super) fn line(&self) -> String {
        let name = &self.name;
        match &self.kind {
            Kind::Button => format!("option name {name} type button"),
            Kind::Check(default) => format!("option name {name} type check default {default}"),
            Kind::Spin { default, least, most } => {
                format!("option name {name} type spin default {default} min {least} max {most}")
            }
            Kind::Combo { default, names } => {
                let values: String = names.iter().map(|name| format!(" var {name}")).collect();
                format!("option name {name} type combo default {default}{values}")
            }
            Kind::Text(default) => format!("option name {name} type string default {}", shown(default)),
        }
    }

    /// Whether a checked value is the one that it is declared with.
    pub(super) fn is_default(&self, value: &str) -> bool {
        match &self.kind {
            Kind::Button => true,
            Kind::Check(default) => value == default.to_string(),
            Kind::Spin { default, .. } => value == default.to_string(),
            Kind::Combo { default, .. } | Kind::Text(default) => value == default,
        }
    }

    /// What the option takes, for messages.
    pub(super) fn expected(&self) -> String {
        match &self.kind {
            Kind::Button => "no value".to_owned(),
            Kind::Check(_) => "true or false".to_owned(),
            Kind::Spin { least, most, .. } => format!("a whole number in {least}..={most}"),
            Kind::Combo { names, .. } => format!("one of {}", names.join(", ")),
            Kind::Text(_) => "text".to_owned(),
        }
    }

    /// The value in its canonical form; `None` if the option does not take it.
    pub(super) fn checked(&self, value: &str) -> Option<String> {
        let lower = value.to_ascii_lowercase();
        match &self.kind {
            Kind::Check(_) => ["true", "false"].contains(&lower.as_str()).then_some(lower),
            Kind::Spin { least, most, .. } => {
                let number = value.parse::<i64>().ok().filter(|number| (*least..=*most).contains(number));
                number.map(|number| number.to_string())
            }
            Kind::Combo { names, .. } => {
                names.iter().find(|name| name.to_ascii_lowercase() == lower).cloned()
            }
            Kind::Button | Kind::Text(_) => Some(value.to_owned()),
        }
    }
}
