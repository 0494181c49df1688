//! Errors of scripts as the user reads them: where, what, the line with a caret, and the calls that led there.

use std::fmt::Write;

use rhai::{EvalAltResult, ParseError, Position};

use super::engine::Stopped;
use super::failure::Failure;
use super::names::Names;
use super::place::Place;
use super::sources::Sources;
use crate::exit::Exit;

/// The text of a failure: `error: file:line:column: message`, the line, a caret.
pub fn render(failure: &Failure, sources: &Sources) -> String {
    let Some(place) = &failure.place else {
        return format!("error: {}", failure.message);
    };
    let mut text = format!("error: {place}: {}", failure.message);
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

/// A script that could not be compiled.
pub fn from_parse(error: &ParseError, source: &str) -> Failure {
    let place = Some(Place::new(source, error.position()));
    Failure { exit: Exit::BadInput, message: error.err_type().to_string(), place }
}

/// Turns what the engine gives back into a failure; `source` is the script that was started.
pub fn from_rhai(error: &EvalAltResult, source: &str, names: &Names) -> Failure {
    let mut calls = Vec::new();
    let (innermost, source) = unwrap(error, source.to_owned(), &mut calls);
    let mut failure = describe(innermost, &source, names);
    for call in calls.iter().rev().filter(|call| Some(*call) != failure.place.as_ref()) {
        let _ = write!(failure.message, "\n  called from {call}");
    }
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
    let position = error.position();
    let message = match error {
        EvalAltResult::ErrorRuntime(token, _) | EvalAltResult::ErrorTerminated(token, _)
            if token.is::<Failure>() =>
        {
            return token.clone().cast::<Failure>();
        }
        EvalAltResult::ErrorTerminated(token, _) if token.is::<Stopped>() => {
            return stopped(source, position);
        }
        EvalAltResult::ErrorRuntime(token, _) => {
            let place = Some(Place::new(source, position));
            return Failure { exit: Exit::Failed, message: format!("the script threw: {token}"), place };
        }
        EvalAltResult::ErrorFunctionNotFound(signature, _) => names.missing_function(signature),
        EvalAltResult::ErrorPropertyNotFound(name, _) => names.missing_property(name),
        EvalAltResult::ErrorDotExpr(message, _) if !message.is_empty() => message.clone(),
        EvalAltResult::ErrorStackOverflow(_) => {
            "functions call each other too deeply; does one call itself without an end?".to_owned()
        }
        EvalAltResult::ErrorTooManyOperations(_) => {
            "the script itself does too much work; does a loop never end?".to_owned()
        }
        other => without_place(other),
    };
    Failure { exit: Exit::BadInput, message, place: Some(Place::new(source, position)) }
}

/// The engine's own message, which names its place at the end.
fn without_place(error: &EvalAltResult) -> String {
    let text = error.to_string();
    let place = format!(" ({})", error.position());
    text.strip_suffix(&place).map_or(text.clone(), ToOwned::to_owned)
}

fn stopped(source: &str, position: Position) -> Failure {
    let place = Some(Place::new(source, position));
    Failure { exit: Exit::Interrupted, message: "stopped on request".to_owned(), place }
}
