//! `params(#{…})`: what a script lets its users change.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rhai::{Dynamic, EvalAltResult, Map, NativeCallContext, Position};

use dc0_core::params::Value;

use super::call::{Answer, Call};
use super::convert::{Sampling, to_value};
use super::engine::Stopped;
use super::failure::Failure;
use super::overrides::{Origin, Override, joined};
use super::values::{self, Typed, Wrongs};

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
        self.declared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What `params` returns: the declared map with the command line's values in it.
    pub fn declare(&self, context: &NativeCallContext<'_>, mut map: Map) -> Answer<Map> {
        let call = Call::new("params", context);
        if self.declared().is_some() {
            return Err(call.misuse("is called a second time; declare all parameters in one call at the top"));
        }
        let mut wrongs = Wrongs::default();
        let typed = values::settle(&mut map, "", &mut wrongs);
        let mut rows = Vec::new();
        list(context, &map, "", &typed, &mut rows)?;
        values::apply(&mut map, &typed, &self.overrides, &mut wrongs);
        if let Some((errors, place)) = wrongs.into_error(call.place()) {
            return Err(Failure::from(&errors).into_rhai(place));
        }
        self.take_up(context, &map, &mut rows)?;
        *self.declared() = Some(rows);
        if self.ends {
            return Err(EvalAltResult::ErrorTerminated(Dynamic::from(Stopped), Position::NONE).into());
        }
        Ok(map)
    }

    /// Takes up the values that the command line gave.
    fn take_up(&self, context: &NativeCallContext<'_>, map: &Map, rows: &mut [Declared]) -> Answer<()> {
        for row in rows {
            let given = self.overrides.iter().filter(|given| given.path == row.path);
            let Some(origin) = given.map(|given| given.origin).max() else { continue };
            if let Some(value) = member(map, &row.path) {
                (row.value, row.origin) = (shown(context, &value)?, origin);
            }
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
        let givers: Vec<String> = self.overrides.iter().map(Override::giver).collect();
        let givers = joined(&givers);
        let verb = if givers.contains(" and ") { "give" } else { "gives" };
        Some(format!("{givers} {verb} {}", names.join(", ")))
    }
}

/// Every parameter with its own value.
fn list(
    context: &NativeCallContext<'_>,
    map: &Map,
    prefix: &str,
    typed: &Typed,
    rows: &mut Vec<Declared>,
) -> Answer<()> {
    for (name, member) in map {
        let path = if prefix.is_empty() { name.to_string() } else { format!("{prefix}.{name}") };
        if let Some(group) = member.read_lock::<Map>() {
            list(context, &group, &path, typed, rows)?;
            continue;
        }
        let value = shown(context, member)?;
        let (allowed, doc) = match typed.get(&path) {
            Some((sound, _)) => (sound.allowed.to_string(), sound.doc.clone()),
            None if member.is_fnptr() => ("function".to_owned(), String::new()),
            None => (value.kind().to_owned(), String::new()),
        };
        rows.push(Declared { default: value.clone(), value, path, origin: Origin::Script, allowed, doc });
    }
    Ok(())
}

/// The member of a map at a dotted path.
fn member(map: &Map, path: &str) -> Option<Dynamic> {
    match path.split_once('.') {
        Some((name, rest)) => member(&*map.get(name)?.read_lock::<Map>()?, rest),
        None => map.get(path).cloned(),
    }
}

/// A declared value for listings; a function is only named, since nothing says yet what it will be sampled for.
fn shown(context: &NativeCallContext<'_>, member: &Dynamic) -> Answer<Value> {
    if member.is_fnptr() {
        return Ok(Value::Text("function".to_owned()));
    }
    to_value(member, "", Sampling(0), context, &mut Vec::new())
}
