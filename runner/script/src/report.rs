//! Errors of scripts as the user reads them: the location, the message, the line with a caret, and the calls that led there.

use std::fmt::Write;

use rhai::{EvalAltResult, Position};
use serde_json::{Value as Json, json};

use super::engine::Stopped;
use super::failure::Failure;
use super::location::ScriptLocation;
use super::messages;
use super::names::Names;
use dc0_process::exit::Exit;
use dc0_runs::sources::Sources;

/// A failure as text: `error: file:line:column: message`, the calls, the line and a caret; then the other failures.
pub fn render(failure: &Failure, sources: &Sources) -> String {
    let all = std::iter::once(failure).chain(&failure.details.others);
    all.map(|failure| render_one(failure, sources)).collect::<Vec<_>>().join("\n")
}

fn render_one(failure: &Failure, sources: &Sources) -> String {
    let Some(location) = &failure.location else {
        return format!("error: {}", failure.message);
    };
    let mut text = format!("error: {location}: {}", failure.message);
    for call in &failure.details.calls {
        let _ = write!(text, "\n  called from {call}");
    }
    let Some((line, column)) = location.point else {
        return text;
    };
    if let Some(code) = sources.line(&location.source, line) {
        let number = line.to_string();
        let gutter = " ".repeat(number.len());
        let indent: String =
            code.chars().take(column - 1).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let _ = write!(text, "\n{gutter} |\n{number} | {code}\n{gutter} | {indent}^");
    }
    text
}

/// A failure for programs, with one line of JSON for each problem. Lines and columns count from 1, columns in characters;
/// `endColumn` is the column after the identifier at the location.
pub fn render_json(failure: &Failure, sources: &Sources) -> String {
    let all = std::iter::once(failure).chain(&failure.details.others);
    all.map(|failure| json_of(failure, sources).to_string()).collect::<Vec<_>>().join("\n")
}

/// A single failure, without `others`.
fn json_of(failure: &Failure, sources: &Sources) -> Json {
    let mut object = json!({ "kind": "error", "exit": failure.exit as u8, "message": failure.message });
    let add_location = |object: &mut Json, location: &ScriptLocation| {
        object["file"] = location.source.as_str().into();
        if let Some((line, column)) = location.point {
            object["line"] = line.into();
            object["column"] = column.into();
        }
    };
    if let Some(location) = &failure.location {
        add_location(&mut object, location);
        if let Some(end) = end_column(location, sources) {
            object["endColumn"] = end.into();
        }
    }
    let problem =
        |problem: &dc0_core::params::Problem| json!({ "path": problem.path, "message": problem.message });
    object["problems"] = failure.details.problems.iter().map(problem).collect();
    let call = |location: &ScriptLocation| {
        let mut object = json!({});
        add_location(&mut object, location);
        object
    };
    object["calls"] = failure.details.calls.iter().map(call).collect();
    object
}

/// The column after the identifier that begins at a location, counted from 1; `None` if there is no identifier.
pub fn end_column(location: &ScriptLocation, sources: &Sources) -> Option<usize> {
    let (line, column) = location.point?;
    let code = sources.line(&location.source, line)?;
    let length = code.chars().skip(column - 1).take_while(|c| c.is_alphanumeric() || *c == '_').count();
    (length > 0).then_some(column + length)
}

/// Converts an error of the engine into a failure; `source` is the script that was started.
pub fn from_rhai(error: &EvalAltResult, source: &str, names: &Names) -> Failure {
    let mut calls = Vec::new();
    let (innermost, source) = unwrap(error, source.to_owned(), &mut calls);
    let mut failure = describe(innermost, &source, names);
    calls.reverse();
    calls.dedup();
    // An error that the engine gives no place has that of the innermost call.
    if failure.location.as_ref().is_some_and(|location| location.point.is_none())
        && let Some(call) = calls.first()
    {
        failure.location = Some(call.clone());
    }
    calls.retain(|call| Some(call) != failure.location.as_ref());
    failure.details.calls = calls;
    failure
}

/// Follows an error inwards, and collects where each function was called or module imported.
fn unwrap<'a>(
    error: &'a EvalAltResult,
    source: String,
    calls: &mut Vec<ScriptLocation>,
) -> (&'a EvalAltResult, String) {
    let (within, inner, position) = match error {
        EvalAltResult::ErrorInFunctionCall(_, within, inner, position)
        | EvalAltResult::ErrorInModule(within, inner, position) => (within, inner, *position),
        innermost => return (innermost, source),
    };
    if !position.is_none() {
        calls.push(ScriptLocation::new(&source, position));
    }
    unwrap(inner, if within.is_empty() { source } else { within.clone() }, calls)
}

fn describe(error: &EvalAltResult, source: &str, names: &Names) -> Failure {
    let location = ScriptLocation::new(source, error.position());
    let message = match error {
        EvalAltResult::ErrorRuntime(token, _) | EvalAltResult::ErrorTerminated(token, _)
            if token.is::<Failure>() =>
        {
            return token.clone().cast::<Failure>();
        }
        EvalAltResult::ErrorTerminated(token, _) if token.is::<Stopped>() => {
            return Failure::at(location, Exit::Interrupted, "stopped on request");
        }
        EvalAltResult::ErrorRuntime(token, _) => {
            return Failure::at(
                location,
                Exit::Failed,
                format!("the script threw: {}", messages::shown(token)),
            );
        }
        EvalAltResult::ErrorDataRace(what, _) => {
            let (message, location) = names.locked_variable(what, location);
            return Failure::at(location, Exit::BadInput, message);
        }
        EvalAltResult::ErrorFunctionNotFound(signature, _) => names.missing_function(signature, source),
        EvalAltResult::ErrorPropertyNotFound(name, _) => names.missing_property(name),
        EvalAltResult::ErrorModuleNotFound(name, _) => names.missing_module(name, source),
        EvalAltResult::ErrorVariableNotFound(name, _) => names.missing_variable(name, source),
        EvalAltResult::ErrorParsing(error, _) => names.syntax(error, &location),
        other => messages::describe(other).unwrap_or_else(|| without_position(other)),
    };
    Failure::at(location, Exit::BadInput, message)
}

/// The engine's own message without the position at its end.
fn without_position(error: &EvalAltResult) -> String {
    let text = error.to_string();
    let position = error.position();
    let location = if position == Position::NONE { String::new() } else { format!(" ({position})") };
    text.strip_suffix(&location).map_or(text.clone(), ToOwned::to_owned)
}
