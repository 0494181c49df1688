//! The parameters that a script declares with `params(#{…})`, which its users may change.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
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
    /// The source of the value.
    pub origin: Origin,
    /// The script's own value.
    pub default: Value,
    /// The allowed values as far as the script restricts them: at least their kind.
    pub allowed: String,
    /// The script's description of it.
    pub doc: String,
}

/// The parameters of one script: declared once, then fixed.
#[derive(Debug)]
pub struct Declaration {
    overrides: Vec<Override>,
    /// Whether the script is stopped once it has declared its parameters.
    ends: bool,
    declared: Mutex<Option<Vec<Declared>>>,
    /// Whether a run or sweep is open, whose record has the parameters.
    is_closed: AtomicBool,
}

impl Declaration {
    /// Starts with the values from the command line.
    pub fn new(overrides: Vec<Override>) -> Self {
        Self { overrides, ends: false, declared: Mutex::new(None), is_closed: AtomicBool::new(false) }
    }

    /// For a script that is run only to list its parameters: once it has declared them, an error stops it.
    pub fn listing(overrides: Vec<Override>) -> Self {
        Self { ends: true, ..Self::new(overrides) }
    }

    /// Whether the script has reached its declaration.
    pub fn is_made(&self) -> bool {
        self.declared().is_some()
    }

    /// Notes that a run or sweep was opened.
    pub fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
    }

    /// Whether it is too late to declare parameters.
    pub fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Relaxed)
    }

    fn declared(&self) -> MutexGuard<'_, Option<Vec<Declared>>> {
        self.declared.lock().ignore_poison()
    }

    /// The values from the command line.
    pub fn overrides(&self) -> &[Override] {
        &self.overrides
    }

    /// Stores what the script has declared, with the values in use. Returns whether the script is to stop here.
    pub fn make(&self, rows: Vec<Declared>) -> bool {
        *self.declared() = Some(rows);
        self.ends
    }

    /// The declared parameters with the values in use; empty before the declaration.
    pub fn rows(&self) -> Vec<Declared> {
        self.declared().clone().unwrap_or_default()
    }

    /// The values from the command line as typed; of several for one name, the one that applies.
    pub fn given(&self) -> BTreeMap<String, String> {
        let rows = self.rows();
        // A group without members is a value only of a parameter that is no group.
        let is_value = |given: &&Override| {
            given.origin != Origin::EmptyGroup || rows.iter().any(|row| row.path == given.path)
        };
        let values = self.overrides.iter().filter(is_value);
        values.map(|given| (given.path.clone(), given.text.clone())).collect()
    }

    /// Which options give values while the script declares no parameters, and which values: `--set gives games`.
    pub fn unused(&self) -> Option<String> {
        if self.declared().is_some() || self.overrides.is_empty() {
            return None;
        }
        let names: Vec<&str> = self.overrides.iter().map(|given| given.path.as_str()).collect();
        let options: Vec<String> = self.overrides.iter().map(Override::option).collect();
        let options = joined(&options);
        let verb = if options.contains(" and ") { "give" } else { "gives" };
        Some(format!("{options} {verb} {}", names.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use dc0_core::params::Value;

    use super::{Declaration, Declared};
    use crate::overrides::{Origin, Override};

    #[test]
    fn a_group_without_members_is_given_where_the_parameter_is_no_group() {
        let origin = Origin::EmptyGroup;
        let empty =
            |path: &str| Override { origin, path: path.to_owned(), text: "{}".to_owned(), file: None };
        let declaration = Declaration::new(vec![empty("root_noise"), empty("search")]);
        let row = |path: &str| Declared {
            path: path.to_owned(),
            value: Value::None,
            origin,
            default: Value::None,
            allowed: String::new(),
            doc: String::new(),
        };
        declaration.make(vec![row("root_noise"), row("search.c_puct")]);
        assert_eq!(declaration.given(), [("root_noise".to_owned(), "{}".to_owned())].into());
    }
}
