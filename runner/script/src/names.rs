//! The functions a script can call, for finding misspelt ones before anything runs and for naming the nearest.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use rhai::{Engine, ParseErrorType};

use dc0_core::params::nearest;

use super::place::Place;
use super::wording;
use super::words::Words;
use dc0_runs::declared::Declaration;
use dc0_runs::sources::Sources;
pub use dc0_steps::usage::Usage;

/// Everything that can be called.
pub struct Names {
    known: BTreeSet<String>,
    usages: &'static [Usage],
    declaration: Arc<Declaration>,
    sources: Arc<Sources>,
    /// Names of the members of the script's maps.
    members: OnceLock<BTreeSet<String>>,
}

/// Functions that are part of the language and therefore in no package.
const BUILT_IN: [&str; 8] =
    ["Fn", "call", "curry", "is_shared", "is_def_var", "is_def_fn", "type_of", "print"];

/// What other scripts have and these do not.
const ABSENT: [(&str, &str); 4] = [
    ("timestamp", NO_CLOCK),
    ("sleep", NO_CLOCK),
    ("rand", "scripts have no chance of their own; steps draw from the run's seed"),
    ("open_file", "scripts read and write no files"),
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
        Self { known, usages, declaration, sources, members: OnceLock::new() }
    }

    /// Takes note of the names that the members of the scripts' maps have; a member may be a function.
    pub(super) fn know_members(&self, members: impl FnOnce() -> BTreeSet<String>) -> &BTreeSet<String> {
        self.members.get_or_init(members)
    }

    /// Whether the engine has a function of this name.
    pub(super) fn has(&self, function: &str) -> bool {
        self.known.contains(function)
    }

    /// A digest of the texts of the script and of all that it imports.
    pub fn texts_digest(&self) -> String {
        self.sources.digest()
    }

    /// What to say of a function that nobody has; `own` are those of scripts.
    pub(super) fn unknown_function(&self, name: &str, own: &BTreeSet<&str>) -> String {
        if let Some((_, why)) = ABSENT.iter().find(|(absent, _)| *absent == name) {
            return format!("there is no function `{name}`: {why}");
        }
        let host = self.usages.iter().map(|usage| usage.name);
        let near =
            nearest(name, self.known.iter().map(String::as_str).chain(own.iter().copied()).chain(host));
        format!("there is no function `{name}`{}", did_you_mean(near))
    }

    /// What to say of a call that found no function: a signature such as `self_play (Run, map)`.
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
        let words = self.words(source);
        match self.usages.iter().find(|usage| usage.name == name) {
            Some(usage) => {
                format!("`{name}` is not called with {}; call it as {}", arguments(signature), usage.form)
            }
            None if words.functions.contains(name) => {
                format!(
                    "`{name}` is not called with {}; it takes another number of arguments",
                    arguments(signature)
                )
            }
            None if self.known.contains(name) => {
                format!("`{name}` is not defined for {}", arguments(signature))
            }
            None => self.unknown_function(name, &words.functions.iter().map(String::as_str).collect()),
        }
    }

    /// A call into an imported script that has no such function.
    fn missing_in_module(&self, module: &str, name: &str, signature: &str, source: &str) -> String {
        let functions: BTreeSet<String> = self
            .sources
            .texts()
            .into_iter()
            .filter(|(file, _)| file != source)
            .flat_map(|(_, text)| Words::of(&text).functions)
            .collect();
        if functions.contains(name) {
            return format!("`{module}::{name}` is not called with {}", arguments(signature));
        }
        unknown_in_module(module, name, functions.iter().map(String::as_str))
    }

    fn words(&self, source: &str) -> Words {
        self.sources.text(source).map(|text| Words::of(&text)).unwrap_or_default()
    }

    /// What to say of a name that a map does not have.
    pub fn missing_property(&self, name: &str) -> String {
        let rows = self.declaration.rows();
        let declared = rows.iter().flat_map(|row| row.path.split('.'));
        let others = || self.members.get().into_iter().flatten().map(String::as_str);
        let near = nearest(name, declared).or_else(|| nearest(name, others().filter(|other| *other != name)));
        format!("there is no `{name}` in this map{}", did_you_mean(near))
    }

    /// What to say of a variable that nobody has declared.
    pub fn missing_variable(&self, name: &str, source: &str) -> String {
        let words = self.words(source);
        let near = nearest(name, words.variables.iter().map(String::as_str).filter(|near| *near != name));
        if near.is_none() && words.variables.contains(name) {
            return format!("there is no variable `{name}` here; one of this name is declared elsewhere");
        }
        if near.is_none() && (self.known.contains(name) || words.functions.contains(name)) {
            return format!("there is no variable `{name}`; it is a function, called as {name}(…)");
        }
        format!("there is no variable `{name}`{}", did_you_mean(near))
    }

    /// What to say of a module that nobody has imported.
    pub fn missing_module(&self, name: &str, source: &str) -> String {
        let words = self.words(source);
        let near = nearest(name, words.modules.iter().map(String::as_str).filter(|near| *near != name));
        match near {
            Some(near) => format!("there is no module `{name}`{}", did_you_mean(Some(near))),
            None => format!(
                "there is no module `{name}`; import it before, as in import \"lib/{name}\" as {name};"
            ),
        }
    }

    /// What to say of a text that does not compile.
    pub fn syntax(&self, error: &ParseErrorType, place: &Place) -> String {
        let found = || found(place, &self.sources);
        match error {
            ParseErrorType::VariableUndefined(name) => self.missing_variable(name, &place.source),
            ParseErrorType::ModuleUndefined(name) => self.missing_module(name, &place.source),
            ParseErrorType::MissingToken(token, _) if token == ";" && found().as_deref() == Some(":") => {
                MAP_FORM.to_owned()
            }
            ParseErrorType::VariableExpected | ParseErrorType::PropertyExpected => {
                let expected = wording::of_syntax(error).unwrap_or_default();
                let got = found().map(|found| format!(", got `{found}`")).unwrap_or_default();
                format!("{expected}{got}")
            }
            other => wording::of_syntax(other).unwrap_or_else(|| other.to_string()),
        }
    }
}

/// What a script most likely meant that has a `:` where none can be.
pub const MAP_FORM: &str = "unexpected `:`; a map is written #{ name: value }, with # before its brace";

/// The word or symbol at a place.
fn found(place: &Place, sources: &Sources) -> Option<String> {
    let (line, column) = place.point?;
    let code = sources.line(&place.source, line)?;
    let is_word = |c: &char| c.is_alphanumeric() || *c == '_';
    let word: String = code.chars().skip(column - 1).take_while(is_word).collect();
    let symbol = || code.chars().nth(column - 1).map(String::from);
    if word.is_empty() { symbol() } else { Some(word) }
}

/// What to say of a function that an imported script does not have.
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
    let kinds: Vec<&str> = inner.split(", ").map(wording::kind).collect();
    format!("({})", kinds.join(", "))
}
