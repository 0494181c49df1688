//! Errors of scripts as the user reads them: where, what, the line with a caret, and the calls that led there.

use std::fmt::Write;

use rhai::{EvalAltResult, Position};
use serde_json::{Value as Json, json};

use super::engine::Stopped;
use super::failure::Failure;
use super::names::Names;
use super::place::Place;
use super::wording;
use dc0_process::exit::Exit;
use dc0_runs::sources::Sources;

/// The text of a failure: `error: file:line:column: message`, the calls, the line, a caret; then whatever else is wrong.
pub fn render(failure: &Failure, sources: &Sources) -> String {
    let all = std::iter::once(failure).chain(&failure.further.others);
    all.map(|failure| render_one(failure, sources)).collect::<Vec<_>>().join("\n")
}

fn render_one(failure: &Failure, sources: &Sources) -> String {
    let Some(place) = &failure.place else {
        return format!("error: {}", failure.message);
    };
    let mut text = format!("error: {place}: {}", failure.message);
    for call in &failure.further.calls {
        let _ = write!(text, "\n  called from {call}");
    }
    let Some((line, column)) = place.point else {
        return text;
    };
    if let Some(code) = sources.line(&place.source, line) {
        let number = line.to_string();
        let gutter = " ".repeat(number.len());
        let indent: String =
            code.chars().take(column - 1).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let _ = write!(text, "\n{gutter} |\n{number} | {code}\n{gutter} | {indent}^");
    }
    text
}

/// A failure for programs: one line of JSON for each thing that is wrong. Lines and columns count from 1, columns in
/// characters; `endColumn` is behind the word at the place.
pub fn render_json(failure: &Failure, sources: &Sources) -> String {
    let all = std::iter::once(failure).chain(&failure.further.others);
    all.map(|failure| json_of(failure, sources).to_string()).collect::<Vec<_>>().join("\n")
}

/// One failure without the others.
fn json_of(failure: &Failure, sources: &Sources) -> Json {
    let mut object = json!({ "kind": "error", "exit": failure.exit as u8, "message": failure.message });
    let placed = |object: &mut Json, place: &Place| {
        object["file"] = place.source.as_str().into();
        if let Some((line, column)) = place.point {
            object["line"] = line.into();
            object["column"] = column.into();
        }
    };
    if let Some(place) = &failure.place {
        placed(&mut object, place);
        if let Some(end) = end_column(place, sources) {
            object["endColumn"] = end.into();
        }
    }
    let problem =
        |problem: &dc0_core::params::Problem| json!({ "path": problem.path, "message": problem.message });
    object["problems"] = failure.further.problems.iter().map(problem).collect();
    let call = |place: &Place| {
        let mut object = json!({});
        placed(&mut object, place);
        object
    };
    object["calls"] = failure.further.calls.iter().map(call).collect();
    object
}

/// Behind the word that begins at a place, counted from 1; none where no word does.
pub fn end_column(place: &Place, sources: &Sources) -> Option<usize> {
    let (line, column) = place.point?;
    let code = sources.line(&place.source, line)?;
    let length = code.chars().skip(column - 1).take_while(|c| c.is_alphanumeric() || *c == '_').count();
    (length > 0).then_some(column + length)
}

/// Turns what the engine gives back into a failure; `source` is the script that was started.
pub fn from_rhai(error: &EvalAltResult, source: &str, names: &Names) -> Failure {
    let mut calls = Vec::new();
    let (innermost, source) = unwrap(error, source.to_owned(), &mut calls);
    let mut failure = describe(innermost, &source, names);
    calls.reverse();
    calls.dedup();
    calls.retain(|call| Some(call) != failure.place.as_ref());
    failure.further.calls = calls;
    failure
}

/// Follows an error inwards, and keeps where each function was called or module imported.
fn unwrap<'a>(
    error: &'a EvalAltResult,
    source: String,
    calls: &mut Vec<Place>,
) -> (&'a EvalAltResult, String) {
    let (within, inner, position) = match error {
        EvalAltResult::ErrorInFunctionCall(_, within, inner, position)
        | EvalAltResult::ErrorInModule(within, inner, position) => (within, inner, *position),
        innermost => return (innermost, source),
    };
    if !position.is_none() {
        calls.push(Place::new(&source, position));
    }
    unwrap(inner, if within.is_empty() { source } else { within.clone() }, calls)
}

fn describe(error: &EvalAltResult, source: &str, names: &Names) -> Failure {
    let place = Place::new(source, error.position());
    let message = match error {
        EvalAltResult::ErrorRuntime(token, _) | EvalAltResult::ErrorTerminated(token, _)
            if token.is::<Failure>() =>
        {
            return token.clone().cast::<Failure>();
        }
        EvalAltResult::ErrorTerminated(token, _) if token.is::<Stopped>() => {
            return Failure::at(place, Exit::Interrupted, "stopped on request");
        }
        EvalAltResult::ErrorRuntime(token, _) => {
            return Failure::at(place, Exit::Failed, format!("the script threw: {}", wording::shown(token)));
        }
        EvalAltResult::ErrorFunctionNotFound(signature, _) => names.missing_function(signature, source),
        EvalAltResult::ErrorPropertyNotFound(name, _) => names.missing_property(name),
        EvalAltResult::ErrorModuleNotFound(name, _) => names.missing_module(name, source),
        EvalAltResult::ErrorVariableNotFound(name, _) => names.missing_variable(name, source),
        EvalAltResult::ErrorParsing(error, _) => names.syntax(error, &place),
        other => wording::of(other).unwrap_or_else(|| without_place(other)),
    };
    Failure::at(place, Exit::BadInput, message)
}

/// The engine's own message, which names its place at the end.
fn without_place(error: &EvalAltResult) -> String {
    let text = error.to_string();
    let position = error.position();
    let place = if position == Position::NONE { String::new() } else { format!(" ({position})") };
    text.strip_suffix(&place).map_or(text.clone(), ToOwned::to_owned)
}
