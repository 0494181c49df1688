//! `params(#{…})`: what a script lets its users change.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rhai::{Dynamic, Map, NativeCallContext};

use dc0_core::params::Value;

use super::call::{Answer, Call};
use super::convert::{Sampling, to_value};
use super::overrides::{self, Origin, Override};

/// One declared parameter, groups expanded.
#[derive(Debug, Clone, PartialEq)]
pub struct Declared {
    /// The dotted name.
    pub path: String,
    /// The value in use.
    pub value: Value,
    /// Where it comes from.
    pub origin: Origin,
}

/// The parameters of one script: declared once, then fixed.
#[derive(Debug)]
pub struct Declaration {
    overrides: Vec<Override>,
    declared: Mutex<Option<Vec<Declared>>>,
}

impl Declaration {
    /// With the values of the command line.
    pub fn new(overrides: Vec<Override>) -> Self {
        Self { overrides, declared: Mutex::new(None) }
    }

    fn declared(&self) -> MutexGuard<'_, Option<Vec<Declared>>> {
        self.declared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What `params` returns: the declared map with the command line's values in it.
    pub fn declare(&self, context: &NativeCallContext<'_>, mut map: Map) -> Answer<Map> {
        let call = Call::new("params", context);
        if self.declared().is_some() {
            return Err(call.misuse("is called a second time; declare all parameters in one call at the top"));
        }
        call.run(overrides::apply(&mut map, &self.overrides))?;
        let mut rows = Vec::new();
        self.list(context, &map, "", &mut rows)?;
        *self.declared() = Some(rows);
        Ok(map)
    }

    fn list(
        &self,
        context: &NativeCallContext<'_>,
        map: &Map,
        prefix: &str,
        rows: &mut Vec<Declared>,
    ) -> Answer<()> {
        for (name, member) in map {
            let path = if prefix.is_empty() { name.to_string() } else { format!("{prefix}.{name}") };
            if let Some(group) = member.read_lock::<Map>() {
                self.list(context, &group, &path, rows)?;
                continue;
            }
            let given = self.overrides.iter().filter(|given| given.path == path);
            let origin = given.map(|given| given.origin).max().unwrap_or(Origin::Script);
            rows.push(Declared { value: shown(context, member)?, path, origin });
        }
        Ok(())
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
        let givers = overrides::givers(&self.overrides);
        let verb = if givers.contains(' ') { "give" } else { "gives" };
        Some(format!("{givers} {verb} {}", names.join(", ")))
    }
}

/// A declared value for listings; a function is only named, since nothing says yet what it will be sampled for.
fn shown(context: &NativeCallContext<'_>, member: &Dynamic) -> Answer<Value> {
    if member.is_fnptr() {
        return Ok(Value::Text("function".to_owned()));
    }
    to_value(member, "", Sampling(0), context, &mut Vec::new())
}
