//! `params(#{…})`: declares the parameters that users of a script can change.

use rhai::{Dynamic, EvalAltResult, Map, NativeCallContext, Position};

use dc0_core::params::{Problem, Value};
use dc0_runs::declared::{Declaration, Declared};
use dc0_runs::overrides::Origin;

use crate::call::{Answer, Call};
use crate::convert::{Sampling, to_value};
use crate::engine::Stopped;
use crate::failure::Failure;
use crate::values::{self, ParamProblems, Typed};

/// Implements `params`: returns the declared map with the values from the command line.
pub fn declare(declaration: &Declaration, context: &NativeCallContext<'_>, mut map: Map) -> Answer<Map> {
    let call = Call::new("params", context);
    if declaration.is_made() {
        return Err(call.misuse("is called a second time; declare all parameters in one call at the top"));
    }
    if declaration.is_closed() {
        return Err(call.misuse(
            "is called after the run or sweep was opened, whose record has the parameters; call it at the top",
        ));
    }
    let mut problems = ParamProblems::default();
    let typed = values::insert_defaults(&mut map, "", &mut problems);
    let mut rows = Vec::new();
    list(context, &map, "", &typed, &mut rows)?;
    values::apply(&mut map, &typed, declaration.overrides(), &mut problems);
    if let Some((errors, location)) = problems.into_error(call.location()) {
        return Err(Failure::from(&errors).into_rhai(location));
    }
    apply_overrides(declaration, context, &map, &mut rows)?;
    if declaration.make(rows) {
        return Err(EvalAltResult::ErrorTerminated(Dynamic::from(Stopped), Position::NONE).into());
    }
    Ok(map)
}

/// Updates the rows with the values from the command line.
fn apply_overrides(
    declaration: &Declaration,
    context: &NativeCallContext<'_>,
    map: &Map,
    rows: &mut [Declared],
) -> Answer<()> {
    for row in rows {
        let given = declaration.overrides().iter().filter(|given| given.path == row.path);
        let Some(origin) = given.map(|given| given.origin).max() else { continue };
        if let Some(value) = member(map, &row.path) {
            (row.value, row.origin) = (shown(context, &row.path, &value)?, origin);
        }
    }
    Ok(())
}

/// Lists every parameter with its default.
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
        let value = shown(context, &path, member)?;
        let (allowed, doc) = match typed.get(&path) {
            Some((checked, _)) => (checked.allowed.to_string(), checked.doc.clone()),
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

/// A declared value for listings; an error if it is no plain data. A function is not sampled, since the call that will use it is not
/// known yet.
fn shown(context: &NativeCallContext<'_>, name: &str, member: &Dynamic) -> Answer<Value> {
    if member.is_fnptr() {
        return Ok(Value::Text("function".to_owned()));
    }
    let mut problems = Vec::new();
    let value = to_value(member, "", Sampling(0), context, &mut problems)?;
    let Some(Problem { path, message }) = problems.first() else { return Ok(value) };
    Err(Call::new("params", context).misuse(format!("{name}{path}: {message}")))
}
