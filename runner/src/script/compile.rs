//! From a script's text to what the engine runs, with every misspelt name reported at once.

use rhai::{AST, Engine, ParseError, ParseErrorType, Scope};

use super::failure::Failure;
use super::names::{MAP_FORM, Names};
use super::place::Place;
use crate::exit::Exit;

/// More misspelt variables than anyone wants to read of.
const MOST_PROBLEMS: usize = 20;

/// Compiles a script; `source` is its name, under which the text is among the sources.
///
/// The engine stops at the first variable that it does not know. Each such variable is taken as declared and the text compiled
/// again, so that all of them are found, and all functions that nobody has.
pub fn compile(engine: &Engine, names: &Names, source: &str, text: &str) -> Result<AST, Failure> {
    let (mut scope, mut found) = (Scope::new(), Vec::new());
    let script = loop {
        match engine.compile_with_scope(&scope, text) {
            Ok(script) => break Some(script),
            Err(ParseError(error, position)) => {
                let place = Place::new(source, position);
                let message = names.syntax(&error, &place);
                if message == MAP_FORM {
                    // The map was read as a block, and its names as variables.
                    found.clear();
                }
                found.push(Failure::at(place, Exit::BadInput, message));
                let ParseErrorType::VariableUndefined(name) = *error else { break None };
                if scope.contains(&name) || found.len() >= MOST_PROBLEMS {
                    break None;
                }
                scope.push(name, ());
            }
        }
    };
    let unknown = script.as_ref().map(|script| names.unknown_calls(script)).unwrap_or_default();
    let of_call = |(message, position)| Failure::at(Place::new(source, position), Exit::BadInput, message);
    found.extend(unknown.into_iter().take(MOST_PROBLEMS).map(of_call));
    match (Failure::of_all(found), script) {
        (None, Some(mut script)) => {
            script.set_source(source);
            Ok(script)
        }
        (failure, _) => {
            Err(failure.unwrap_or_else(|| Failure::new(Exit::BadInput, "the script does not compile")))
        }
    }
}
