//! What a script lets its users change, once its call of `params(#{…})` has said so.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use dc0_core::params::Value;
use dc0_core::poison::IgnorePoison as _;

use crate::overrides::{Origin, Override, joined};

/// One declared parameter, groups expanded.
#[derive(Debug, Clone, PartialEq)]
pub struct Declared {
    /// The dotted name.
    pub path: String,
    /// The value in use.
    pub value: Value,
    /// Where it comes from.
    pub origin: Origin,
    /// The value of the script's own.
    pub default: Value,
    /// What it may be, as far as the script says so: at least its kind.
    pub allowed: String,
    /// What the script says it is for.
    pub doc: String,
}

/// The parameters of one script: declared once, then fixed.
#[derive(Debug)]
pub struct Declaration {
    overrides: Vec<Override>,
    /// Whether a script ends once it has declared its parameters.
    ends: bool,
    declared: Mutex<Option<Vec<Declared>>>,
}

impl Declaration {
    /// With the values of the command line.
    pub fn new(overrides: Vec<Override>) -> Self {
        Self { overrides, ends: false, declared: Mutex::new(None) }
    }

    /// Of a script that is only asked for its parameters: once it has declared them, an error ends it.
    pub fn listing(overrides: Vec<Override>) -> Self {
        Self { ends: true, ..Self::new(overrides) }
    }

    /// Whether the script has come to its declaration.
    pub fn is_made(&self) -> bool {
        self.declared().is_some()
    }

    fn declared(&self) -> MutexGuard<'_, Option<Vec<Declared>>> {
        self.declared.lock().ignore_poison()
    }

    /// The values of the command line.
    pub fn overrides(&self) -> &[Override] {
        &self.overrides
    }

    /// Keeps what the script has declared, with the values in use. Gives whether the script ends here.
    pub fn make(&self, rows: Vec<Declared>) -> bool {
        *self.declared() = Some(rows);
        self.ends
    }

    /// The parameters in use, once they are declared.
    pub fn rows(&self) -> Vec<Declared> {
        self.declared().clone().unwrap_or_default()
    }

    /// What the command line gives, as it was typed; of several values for a name the one that counts.
    pub fn given(&self) -> BTreeMap<String, String> {
        self.overrides.iter().map(|given| (given.path.clone(), given.text.clone())).collect()
    }

    /// Who gives values that no declaration has taken up, and which: `--set gives games`.
    pub fn unused(&self) -> Option<String> {
        if self.declared().is_some() || self.overrides.is_empty() {
            return None;
        }
        let names: Vec<&str> = self.overrides.iter().map(|given| given.path.as_str()).collect();
        let givers: Vec<String> = self.overrides.iter().map(Override::giver).collect();
        let givers = joined(&givers);
        let verb = if givers.contains(" and ") { "give" } else { "gives" };
        Some(format!("{givers} {verb} {}", names.join(", ")))
    }
}
