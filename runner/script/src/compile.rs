//! From a script's text to what the engine runs, with every misspelt name reported at once: its own, and those of all that it
//! imports by a plain path.

use rhai::{AST, Engine, ParseError, ParseErrorType, Scope};

use super::failure::Failure;
use super::imports::{self, Parsed};
use super::jail::Jail;
use super::names::{MAP_FORM, Names};
use super::place::Place;
use super::unknown;
use dc0_process::exit::Exit;

/// More misspelt names in one file than anyone wants to read of.
const MOST_PROBLEMS: usize = 20;

/// Compiles a script; `source` is its name, under which the text is among the sources. What it imports is found by `jail`.
pub fn compile(
    engine: &Engine,
    names: &Names,
    jail: &Jail,
    source: &str,
    text: &str,
) -> Result<AST, Failure> {
    let (script, mut found) = parse(engine, names, source, text);
    let Some(script) = script else {
        let nothing = || Failure::new(Exit::BadInput, "the script does not compile");
        return Err(Failure::of_all(found).unwrap_or_else(nothing));
    };
    let main = Parsed::new(source, script, Vec::new());
    let (all, of_modules) = imports::closure(main, jail, |source, text| parse(engine, names, source, text));
    found.extend(of_modules);
    found.extend(unknown::calls(&all, names, MOST_PROBLEMS));
    match Failure::of_all(found) {
        Some(failure) => Err(failure),
        None => Ok(all.into_iter().next().expect("the script itself comes first").script),
    }
}

/// The engine stops at the first variable that it does not know. Each such variable is taken as declared and the text compiled
/// again, so that all of them are found.
fn parse(engine: &Engine, names: &Names, source: &str, text: &str) -> (Option<AST>, Vec<Failure>) {
    let (mut scope, mut found) = (Scope::new(), Vec::new());
    loop {
        match engine.compile_with_scope(&scope, text) {
            Ok(mut script) => {
                script.set_source(source);
                return (Some(script), found);
            }
            Err(ParseError(error, position)) => {
                let place = Place::new(source, position);
                let message = names.syntax(&error, &place);
                if message == MAP_FORM {
                    // The map was read as a block, and its names as variables.
                    found.clear();
                }
                found.push(Failure::at(place, Exit::BadInput, message));
                let ParseErrorType::VariableUndefined(name) = *error else { return (None, found) };
                if scope.contains(&name) || found.len() >= MOST_PROBLEMS {
                    return (None, found);
                }
                scope.push(name, ());
            }
        }
    }
}
