//! Compiles a script and reports every misspelt name at once: its own, and those of everything that it imports by a literal path.

use rhai::{AST, Engine, ParseError, ParseErrorType, Position, Scope};

use super::captured_receivers;
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
    found.extend(captured_receivers::problems(&all, names));
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
                if let Some(position) = unclosed_comment(engine, &scope, text) {
                    let message =
                        "this comment has no end, so the rest of the script is part of it; close it with */";
                    found.push(Failure::at(ScriptLocation::new(source, position), Exit::BadInput, message));
                }
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

/// Where a comment begins that the text, which compiles, never closes. The engine accepts that.
fn unclosed_comment(engine: &Engine, scope: &Scope<'_>, text: &str) -> Option<Position> {
    let compiles = |text: &str| engine.compile_with_scope(scope, text).is_ok();
    // Outside a comment, its end is a syntax error.
    let ends_in_comment = |text: &str| compiles(&format!("{text}\n*/"));
    if !text.contains("/*") || !ends_in_comment(text) {
        return None;
    }
    let is_start = |text: &str| compiles(text) && !ends_in_comment(text);
    let before =
        text.rmatch_indices("/*").map(|(start, _)| &text[..start]).find(|before| is_start(before))?;
    let line = before.rsplit('\n').next().unwrap_or_default();
    let count = |count: usize| u16::try_from(count + 1).unwrap_or(u16::MAX);
    Some(Position::new(count(before.matches('\n').count()), count(line.chars().count())))
}
