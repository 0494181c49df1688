//! Compiles a script and reports every misspelt name at once: its own, and those of everything that it imports by a literal path.

use rhai::{AST, Engine, ParseError, ParseErrorType, Scope};

use super::failure::Failure;
use super::imports::{self, Parsed};
use super::jail::Jail;
use super::location::ScriptLocation;
use super::names::{MAP_FORM, Names};
use super::unknown_calls;
use dc0_process::exit::Exit;

/// Most misspelt names of one file that are reported.
const MOST_PROBLEMS: usize = 20;

/// Compiles a script; `source` is its name, under which the sources have its text. Imports are resolved by `jail`.
pub fn compile(
    engine: &Engine,
    names: &Names,
    jail: &Jail,
    source: &str,
    text: &str,
) -> Result<AST, Failure> {
    let (script, mut found) = parse(engine, names, source, text);
    let Some(script) = script else {
        let unknown = || Failure::new(Exit::BadInput, "the script does not compile");
        return Err(Failure::combine(found).unwrap_or_else(unknown));
    };
    let main = Parsed::new(source, script, Vec::new());
    let (all, in_modules) = imports::closure(main, jail, |source, text| parse(engine, names, source, text));
    found.extend(in_modules);
    found.extend(unknown_calls::calls(&all, names, MOST_PROBLEMS));
    match Failure::combine(found) {
        Some(failure) => Err(failure),
        None => Ok(all.into_iter().next().expect("the script itself comes first").script),
    }
}

/// The engine stops at the first unknown variable. To find all of them, each one is declared in the scope, and the text is compiled
/// again.
fn parse(engine: &Engine, names: &Names, source: &str, text: &str) -> (Option<AST>, Vec<Failure>) {
    let (mut scope, mut found) = (Scope::new(), Vec::new());
    loop {
        match engine.compile_with_scope(&scope, text) {
            Ok(mut script) => {
                script.set_source(source);
                return (Some(script), found);
            }
            Err(ParseError(error, position)) => {
                let location = ScriptLocation::new(source, position);
                let message = names.syntax(&error, &location);
                if message == MAP_FORM {
                    // The map was read as a block, and its keys as variables.
                    found.clear();
                }
                found.push(Failure::at(location, Exit::BadInput, message));
                let ParseErrorType::VariableUndefined(name) = *error else { return (None, found) };
                if scope.contains(&name) || found.len() >= MOST_PROBLEMS {
                    return (None, found);
                }
                scope.push(name, ());
            }
        }
    }
}
