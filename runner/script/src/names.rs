//! The names that a script can use, for finding misspelt ones before anything runs and for suggesting the nearest.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use rhai::{Engine, ParseErrorType};

use dc0_core::params::nearest;

use super::declared_names::DeclaredNames;
use super::location::ScriptLocation;
use super::messages;
use dc0_runs::declared::Declaration;
use dc0_runs::sources::Sources;
pub use dc0_steps::usage::Usage;

/// All functions that can be called, and the names of a script.
pub struct Names {
    known: BTreeSet<String>,
    usages: &'static [Usage],
    declaration: Arc<Declaration>,
    sources: Arc<Sources>,
    /// Names of the members of the script's maps.
    members: OnceLock<BTreeSet<String>>,
    /// Method calls on variables that functions use.
    calls_on_captured: OnceLock<Vec<CallOnCaptured>>,
}

/// A method call on a variable that some function of the same file uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CallOnCaptured {
    pub(super) variable: String,
    pub(super) method: String,
    pub(super) location: ScriptLocation,
}

/// Functions that are part of the language and therefore in no package.
const BUILT_IN: [&str; 8] =
    ["Fn", "call", "curry", "is_shared", "is_def_var", "is_def_fn", "type_of", "print"];

/// Functions that people look for and scripts do not have, with the reason or what to call instead.
const ABSENT: [(&str, &str); 5] = [
    ("timestamp", NO_CLOCK),
    ("sleep", NO_CLOCK),
    ("rand", "scripts have no randomness of their own; steps draw from the run's seed"),
    ("open_file", "scripts read and write no files"),
    (
        "distill",
        "`run.reanalyze(teacher, games, #{ search: #{ simulations: 1 } })` stores a teacher's answers, and `run.train` learns from \
         them; see experiments/distill.rhai",
    ),
];

const NO_CLOCK: &str = "scripts have no clock, so that the same script asks for the same steps";

impl Names {
    /// From what an engine has registered; `usages` are the host's own functions.
    pub fn new(
        engine: &Engine,
        usages: &'static [Usage],
        declaration: Arc<Declaration>,
        sources: Arc<Sources>,
    ) -> Self {
        let registered = engine.collect_fn_metadata(None, |info| Some(info.metadata.name.to_string()), true);
        let known = registered.into_iter().chain(BUILT_IN.map(str::to_owned)).chain(["debug".to_owned()]);
        let known = known.filter(|name| name != "sleep").collect();
        Self {
            known,
            usages,
            declaration,
            sources,
            members: OnceLock::new(),
            calls_on_captured: OnceLock::new(),
        }
    }

    /// Sets the names of the members of the scripts' maps; a member may be a function.
    pub(super) fn set_members(&self, members: impl FnOnce() -> BTreeSet<String>) -> &BTreeSet<String> {
        self.members.get_or_init(members)
    }

    /// Sets the method calls on variables that functions use.
    pub(super) fn set_calls_on_captured(&self, calls: impl FnOnce() -> Vec<CallOnCaptured>) {
        self.calls_on_captured.get_or_init(calls);
    }

    /// Whether the engine has a function of this name.
    pub(super) fn has(&self, function: &str) -> bool {
        self.known.contains(function)
    }

    /// A digest of the texts of the script and its imports.
    pub fn texts_digest(&self) -> String {
        self.sources.digest()
    }

    /// The message for an unknown function; `own` are those of the scripts.
    pub(super) fn unknown_function(&self, name: &str, own: &BTreeSet<&str>) -> String {
        if let Some((_, why)) = ABSENT.iter().find(|(absent, _)| *absent == name) {
            return format!("there is no function `{name}`: {why}");
        }
        let host = self.usages.iter().map(|usage| usage.name);
        let near =
            nearest(name, self.known.iter().map(String::as_str).chain(own.iter().copied()).chain(host));
        format!("there is no function `{name}`{}", did_you_mean(near))
    }

    /// The message for a call that matches no function; the signature looks like `self_play (Run, map)`.
    pub fn missing_function(&self, signature: &str, source: &str) -> String {
        let name = signature.split(" (").next().unwrap_or(signature);
        if name.starts_with("anon$") {
            return "the function takes the wrong number of arguments; a schedule is a function of one whole number, \
                    a sweep's of one trial"
                .to_owned();
        }
        if let Some((module, name)) = name.split_once("::") {
            return self.missing_in_module(module, name, signature, source);
        }
        let declared = self.declared(source);
        match self.usages.iter().find(|usage| usage.name == name) {
            Some(usage) => {
                format!("`{name}` is not called with {}; call it as {}", arguments(signature), usage.form)
            }
            None if declared.functions.contains(name) => {
                format!(
                    "`{name}` is not called with {}; it takes a different number of arguments",
                    arguments(signature)
                )
            }
            None if self.known.contains(name) => {
                format!("`{name}` is not defined for {}", arguments(signature))
            }
            None => self.unknown_function(name, &declared.functions.iter().map(String::as_str).collect()),
        }
    }

    /// The message for a call into an imported script that matches no function.
    fn missing_in_module(&self, module: &str, name: &str, signature: &str, source: &str) -> String {
        let others = self.sources.texts().into_iter().filter(|(file, _)| file != source);
        let declared: Vec<DeclaredNames> = others.map(|(_, text)| DeclaredNames::of(&text)).collect();
        let functions: BTreeSet<&str> =
            declared.iter().flat_map(|names| &names.functions).map(String::as_str).collect();
        if functions.contains(name) {
            let is_called = |form: &&String| form.split('(').next() == Some(name);
            let forms = declared.iter().flat_map(|names| &names.forms).filter(is_called);
            let forms: Vec<String> = forms.map(|form| format!("{module}::{form}")).collect();
            return format!(
                "`{module}::{name}` is not called with {}; call it as {}",
                arguments(signature),
                forms.join(" or ")
            );
        }
        unknown_in_module(module, name, functions)
    }

    /// The message for a function that uses the variable on which a method is called with it.
    pub(super) fn captured_receiver(variable: &str, method: &str) -> String {
        format!(
            "a function given to a call of `{method}` on `{variable}` cannot use `{variable}`; assign what it needs to a variable before \
             the call, and use that"
        )
    }

    /// The message and the location for such a function that was found only when it was called; `what` is the engine's text on it,
    /// such as `argument #1 of function 'filter'`.
    pub(super) fn locked_variable(&self, what: &str, location: ScriptLocation) -> (String, ScriptLocation) {
        let method = what.split('\'').nth(1).unwrap_or_default();
        let calls = self.calls_on_captured.get().into_iter().flatten();
        let mut calls = calls.filter(|call| call.method == method && call.location.source == location.source);
        let Some(first) = calls.next() else {
            let given = if method.is_empty() { String::new() } else { format!(" given to `{method}`") };
            let message = format!(
                "a function{given} uses a variable on which a method is being called, such as the run whose step calls the function; \
                 assign what it needs to a variable before the call, and use that"
            );
            return (message, location);
        };
        let mut message = Self::captured_receiver(&first.variable, method);
        let others: Vec<String> = calls.filter_map(|call| Some(call.location.point?.0.to_string())).collect();
        if !others.is_empty() {
            message = format!("{message} (here, or in line {})", others.join(", "));
        }
        (message, first.location.clone())
    }

    fn declared(&self, source: &str) -> DeclaredNames {
        self.sources.text(source).map(|text| DeclaredNames::of(&text)).unwrap_or_default()
    }

    /// The message for a name that a map does not have.
    pub fn missing_property(&self, name: &str) -> String {
        let rows = self.declaration.rows();
        let paths = rows.iter().flat_map(|row| row.path.split('.'));
        let others = self.members.get().into_iter().flatten().map(String::as_str);
        // A map may lack a name that others have; that name is no hint.
        let is_other = |other: &&str| *other != name;
        let near = nearest(name, paths.filter(is_other)).or_else(|| nearest(name, others.filter(is_other)));
        format!("there is no `{name}` in this map{}", did_you_mean(near))
    }

    /// The message for an undeclared variable.
    pub fn missing_variable(&self, name: &str, source: &str) -> String {
        let declared = self.declared(source);
        let near = nearest(name, declared.variables.iter().map(String::as_str).filter(|near| *near != name));
        if near.is_none() && declared.variables.contains(name) {
            return format!("there is no variable `{name}` here; one of this name is declared elsewhere");
        }
        if near.is_none() && (self.known.contains(name) || declared.functions.contains(name)) {
            return format!("there is no variable `{name}`; it is a function, called as {name}(…)");
        }
        format!("there is no variable `{name}`{}", did_you_mean(near))
    }

    /// The message for a module that was not imported.
    pub fn missing_module(&self, name: &str, source: &str) -> String {
        let declared = self.declared(source);
        let near = nearest(name, declared.modules.iter().map(String::as_str).filter(|near| *near != name));
        match near {
            Some(near) => format!("there is no module `{name}`{}", did_you_mean(Some(near))),
            None => format!(
                "there is no module `{name}`; import it before, as in import \"lib/{name}\" as {name};"
            ),
        }
    }

    /// The message for a syntax error.
    pub fn syntax(&self, error: &ParseErrorType, location: &ScriptLocation) -> String {
        let found = || found(location, &self.sources);
        let keyword = || messages::keyword_as_name(error, &found()?, &after_word(location, &self.sources)?);
        if let Some(message) = keyword() {
            return message;
        }
        match error {
            ParseErrorType::VariableUndefined(name) => self.missing_variable(name, &location.source),
            ParseErrorType::ModuleUndefined(name) => self.missing_module(name, &location.source),
            ParseErrorType::MissingToken(token, _) if token == ";" && found().as_deref() == Some(":") => {
                MAP_FORM.to_owned()
            }
            ParseErrorType::VariableExpected | ParseErrorType::PropertyExpected => {
                let expected = messages::describe_syntax(error).unwrap_or_default();
                let got = found().map(|found| format!(", got `{found}`")).unwrap_or_default();
                format!("{expected}{got}")
            }
            other => messages::describe_syntax(other).unwrap_or_else(|| other.to_string()),
        }
    }
}

/// The message for an unexpected `:`: most likely a map without its `#`.
pub const MAP_FORM: &str = "unexpected `:`; a map is written #{ name: value }, with # before its brace";

/// The identifier or symbol at a location.
fn found(location: &ScriptLocation, sources: &Sources) -> Option<String> {
    let code = code_at(location, sources)?;
    let identifier: String = code.chars().take_while(is_identifier).collect();
    if identifier.is_empty() { code.chars().next().map(String::from) } else { Some(identifier) }
}

/// What follows the word there.
fn after_word(location: &ScriptLocation, sources: &Sources) -> Option<String> {
    Some(code_at(location, sources)?.chars().skip_while(is_identifier).collect())
}

/// The line from a location on.
fn code_at(location: &ScriptLocation, sources: &Sources) -> Option<String> {
    let (line, column) = location.point?;
    Some(sources.line(&location.source, line)?.chars().skip(column - 1).collect())
}

fn is_identifier(letter: &char) -> bool {
    letter.is_alphanumeric() || *letter == '_'
}

/// The message for a function that an imported script does not have.
pub(super) fn unknown_in_module<'a>(
    module: &str,
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> String {
    let near = nearest(name, known);
    format!("there is no function `{name}` in `{module}`{}", did_you_mean(near))
}

fn did_you_mean(near: Option<&str>) -> String {
    near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
}

/// The arguments of a signature in parentheses.
fn arguments(signature: &str) -> String {
    let inner = signature.split_once(" (").map_or("", |(_, arguments)| arguments);
    let inner = inner.strip_suffix(')').unwrap_or(inner);
    let kinds: Vec<&str> = inner.split(", ").map(messages::kind).collect();
    format!("({})", kinds.join(", "))
}
