//! What scripts can call and read, taken from the declarations that the reference is printed from, so that nothing is declared twice.
//!
//! Only this module knows how functions are declared.

use std::collections::BTreeMap;

use dc0_core::arena::BASELINES;
use dc0_core::network::presets;
use dc0_core::params::{Row, Value};
use dc0_runs::{StepContent, StepKind};
use dc0_script::dynamic::scalar;
use dc0_script::host::{TRIAL_NAMES, fields_of, usages};
use dc0_script::names::Usage;
use dc0_script::reference::script::{forms, planning_engine};
use dc0_script::reference::{CallParameters, all_calls};
use rhai::{Array, Dynamic, Engine, Map, Scope};

use super::script::Script;
use dc0_script::scan::TokenKind;

/// A function of dc0.
#[derive(Debug)]
pub(super) struct Function {
    /// Its name.
    pub(super) name: &'static str,
    /// Its signatures, one for each number of arguments.
    pub(super) forms: Vec<String>,
    /// All its signatures in one line.
    pub(super) form: &'static str,
    /// Its receiver: `run` of `run.train(…)`.
    pub(super) receiver: Option<&'static str>,
    /// What it does.
    pub(super) meaning: &'static str,
    /// What it returns, as the reference says it.
    pub(super) gives: &'static str,
    /// A line of a script that uses it.
    pub(super) example: &'static str,
}

impl Function {
    fn new(usage: &Usage) -> Self {
        let Usage { name, form, returns: gives, meaning, example } = *usage;
        let callee = form.split('(').next().unwrap_or_default();
        let receiver = callee.split_once('.').map(|(receiver, _)| receiver);
        Self { name, forms: forms(form), form, receiver, meaning, gives, example }
    }
}

/// What a function returns, as far as its example shows.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ReturnType {
    /// A run, a net, games: the name of its type.
    Handle(String),
    /// Plain data, by an example of its value.
    Data(Value),
}

/// A function of Rhai's own packages.
#[derive(Debug, Default)]
pub(super) struct BuiltIn {
    /// Its signatures.
    pub(super) forms: Vec<String>,
    /// Its documentation, as Markdown.
    pub(super) doc: String,
}

/// Everything that scripts can call, with what it takes and returns.
pub(super) struct ApiIndex {
    /// The functions of dc0, in the order of the reference.
    pub(super) functions: Vec<Function>,
    calls: Vec<CallParameters>,
    /// Fields of values of each kind, with an example of each.
    fields: BTreeMap<String, Vec<(String, Value)>>,
    /// Return types by function name.
    returns: BTreeMap<String, ReturnType>,
    /// Rhai's own functions by name.
    pub(super) built_in: BTreeMap<String, BuiltIn>,
}

/// The type name of a sweep's trials.
pub(super) const TRIAL: &str = "Trial";

impl ApiIndex {
    /// Reads the declarations, and plans the examples of the reference to learn what functions return.
    pub(super) fn new() -> Self {
        let engine = planning_engine();
        let mut index = Self {
            functions: usages().iter().map(Function::new).collect(),
            calls: all_calls(),
            fields: BTreeMap::new(),
            returns: BTreeMap::new(),
            built_in: built_in(&engine),
        };
        let mut scope = Scope::new();
        for usage in usages() {
            // A failing example is skipped; a test asserts that none fails.
            if engine.run_with_scope(&mut scope, usage.example).is_ok() {
                index.learn(usage, &scope);
            }
        }
        // No example can fork, which needs the run of another script.
        let run = index.returns.get("open_run").cloned();
        index.returns.extend(run.map(|run| ("fork".to_owned(), run)));
        // Nor read files of games and datasets, which must exist.
        let imports = StepKind::ALL.iter().filter(|kind| matches!(kind.content, StepContent::Imported(_)));
        let imports = imports.map(|kind| (kind.name, StepKind::SELF_PLAY.name));
        for (reader, alike) in imports.chain([("load_dataset", "window")]) {
            let games = index.returns.get(alike).cloned();
            index.returns.extend(games.map(|games| (reader.to_owned(), games)));
        }
        // Nor can one name a program that is installed everywhere.
        for program in ["uci", "xboard"] {
            let player = index.returns.get("player").cloned();
            index.returns.extend(player.map(|player| (program.to_owned(), player)));
        }
        index
    }

    /// Records the type and fields of what an example returned.
    fn learn(&mut self, usage: &Usage, scope: &Scope<'_>) {
        let script = Script::new(usage.example);
        let is_made = |value| calls(&script, value, usage.name);
        let made = script.declarations.iter().find(|declaration| declaration.value.is_some_and(is_made));
        let Some(value) = made.and_then(|made| scope.get(&made.name)) else { return };
        let returned = match fields_of(value) {
            Some((kind, fields)) => {
                let known = self.fields.entry(kind.to_owned()).or_default();
                let is_new = |(name, _): &(String, Value)| !known.iter().any(|(other, _)| other == name);
                let fields: Vec<_> = fields.into_iter().filter(is_new).collect();
                known.extend(fields);
                ReturnType::Handle(kind.to_owned())
            }
            None => ReturnType::Data(plain(value)),
        };
        self.returns.insert(usage.name.to_owned(), returned);
    }

    /// A function of dc0.
    pub(super) fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.name == name)
    }

    /// What a function of dc0 returns.
    pub(super) fn returns(&self, function: &str) -> Option<&ReturnType> {
        self.returns.get(function)
    }

    /// The fields of handles of a kind, with an example of each value.
    pub(super) fn fields(&self, kind: &str) -> &[(String, Value)] {
        self.fields.get(kind).map_or(&[], Vec::as_slice)
    }

    /// The fields of handles of all kinds: the kind, the name, and an example of its value.
    pub(super) fn all_fields(&self) -> impl Iterator<Item = (&str, &str, &Value)> {
        let of_kind = |(kind, fields)| {
            let (kind, fields): (&String, &Vec<(String, Value)>) = (kind, fields);
            fields.iter().map(move |(name, value)| (kind.as_str(), name.as_str(), value))
        };
        self.fields.iter().flat_map(of_kind)
    }

    /// The fields of a sweep's trial, except for the dimensions of its space.
    pub(super) fn fields_of_trials(&self) -> impl Iterator<Item = &'static str> {
        TRIAL_NAMES.iter().copied().filter(|name| self.function(name).is_none())
    }

    /// What all parameters of a call are about.
    pub(super) fn about(&self, call: &str) -> Option<&'static str> {
        self.calls.iter().find(|known| known.call == call).map(|known| known.about)
    }

    /// A parameter of a call by its dotted name.
    pub(super) fn parameter(&self, call: &str, path: &[String]) -> Option<&Row> {
        let path = path.join(".");
        self.rows(call).iter().find(|row| row.path == path)
    }

    /// The parameters in a group of a call; an empty path is the call's own map.
    pub(super) fn members(&self, call: &str, path: &[String]) -> Vec<&Row> {
        let prefix: String = path.iter().map(|name| format!("{name}.")).collect();
        let is_member = |row: &&Row| {
            row.path.strip_prefix(&prefix).is_some_and(|rest| !rest.is_empty() && !rest.contains('.'))
        };
        self.rows(call).iter().filter(is_member).collect()
    }

    fn rows(&self, call: &str) -> &[Row] {
        self.calls.iter().find(|known| known.call == call).map_or(&[], |known| &known.rows)
    }
}

/// The strings that an argument of a call accepts, each with a description.
pub(super) fn argument_strings(call: &str, argument: usize) -> Vec<(String, String)> {
    match (call, argument) {
        ("network_preset", 0) => {
            presets().into_iter().map(|preset| (preset.name.to_owned(), preset.about.to_owned())).collect()
        }
        ("arena", 1) => BASELINES
            .iter()
            .map(|baseline| (baseline.name().to_owned(), baseline.about().to_owned()))
            .collect(),
        _ => Vec::new(),
    }
}

/// The arguments in the parentheses of a signature.
pub(super) fn arguments(form: &str) -> Vec<&str> {
    let Some(inner) = form.split_once('(').and_then(|(_, inner)| inner.strip_suffix(')')) else {
        return Vec::new();
    };
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (at, c) in inner.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(inner[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    let last = inner[start..].trim();
    found.extend((!last.is_empty()).then_some(last));
    found
}

/// Whether the value that begins with a token is exactly a call of the function, with nothing after it.
fn calls(script: &Script, first: usize, function: &str) -> bool {
    let of_function = (first..script.tokens.len()).find(|token| script.word(*token) == function);
    let end = of_function.and_then(|name| script.partner(name + 1));
    end.is_some_and(|end| {
        matches!(script.kind(end + 1), Some(TokenKind::Symbol)) && script.word(end + 1) == ";"
    })
}

/// A script's value as plain data; functions become `Value::None`.
fn plain(value: &Dynamic) -> Value {
    if let Some(map) = value.read_lock::<Map>() {
        return Value::Group(map.iter().map(|(name, member)| (name.to_string(), plain(member))).collect());
    }
    if let Some(items) = value.read_lock::<Array>() {
        return Value::List(items.iter().map(plain).collect());
    }
    scalar(value).unwrap_or(Value::None)
}

/// Rhai's own functions, without operators and functions that no script calls by name.
fn built_in(engine: &Engine) -> BTreeMap<String, BuiltIn> {
    let is_name = |name: &str| name.starts_with(|c: char| c.is_ascii_lowercase()) && !name.contains('$');
    let mut found = engine.collect_fn_metadata(
        None,
        |info| {
            let metadata = info.metadata;
            is_name(&metadata.name).then(|| {
                let lines = metadata.comments.iter().flat_map(|comment| comment.lines());
                let plain =
                    lines.map(|line| line.trim_start().trim_start_matches('/').trim_start_matches(' '));
                let comments: Vec<&str> = plain.collect();
                let form = metadata.gen_signature(|kind| engine.map_type_name(kind).to_owned().into());
                (metadata.name.to_string(), form, comments.join("\n"))
            })
        },
        true,
    );
    // Documentation for arrays comes before documentation for blobs.
    found.sort_by_key(|(_, form, _)| form.contains("Blob"));
    let mut functions: BTreeMap<String, BuiltIn> = BTreeMap::new();
    for (name, form, doc) in found {
        let absent = name == "sleep" || usages().iter().any(|usage| usage.name == name);
        if absent {
            continue;
        }
        let function = functions.entry(name).or_default();
        if function.doc.is_empty() {
            function.doc = doc;
        }
        if !function.forms.contains(&form) {
            function.forms.push(form);
        }
    }
    functions
}

#[cfg(test)]
mod tests {
    use super::{ApiIndex, ReturnType, arguments};

    #[test]
    fn every_function_has_a_return_type_from_its_example() {
        let api = ApiIndex::new();
        // What `installed` returns depends on the machine.
        let no_value = ["summary", "note", "assert", "table", "log", "report", "installed"];
        for function in api.functions.iter().filter(|function| !no_value.contains(&function.name)) {
            assert!(api.returns(function.name).is_some(), "{}", function.name);
        }
        assert_eq!(api.returns("train"), Some(&ReturnType::Handle("Network".to_owned())));
        assert_eq!(api.returns("sweep"), Some(&ReturnType::Handle("Sweep".to_owned())));
        assert!(matches!(api.returns("network_preset"), Some(ReturnType::Data(_))));
        for (kind, name) in [("Network", "policy_loss"), ("MatchResult", "score_low"), ("Run", "generation")]
        {
            assert!(api.fields(kind).iter().any(|(known, _)| known == name), "{kind}.{name}");
        }
        assert!(api.fields_of_trials().any(|name| name == "goes_on"));
    }

    #[test]
    fn members_of_nested_groups_are_kept_apart() {
        let api = ApiIndex::new();
        let names = |path: &[&str]| -> Vec<String> {
            let path: Vec<String> = path.iter().map(|name| (*name).to_owned()).collect();
            api.members("self_play", &path).iter().map(|row| row.path.clone()).collect()
        };
        assert!(
            names(&[]).contains(&"games".to_owned()) && !names(&[]).contains(&"search.c_puct".to_owned())
        );
        assert!(names(&["search"]).contains(&"search.c_puct".to_owned()));
        assert!(names(&["search", "root"]).contains(&"search.root.rule".to_owned()));
        assert!(names(&["searc"]).is_empty());
        let rule =
            api.parameter("self_play", &["search", "root", "rule"].map(ToOwned::to_owned)).expect("a rule");
        assert!(rule.kind.choices().contains(&"gumbel"));
    }

    #[test]
    fn signatures_are_split_into_arguments() {
        let api = ApiIndex::new();
        let arena = api.function("arena").expect("arena");
        assert_eq!(arena.receiver, Some("run"));
        assert_eq!(arguments(&arena.forms[0]), ["player", "player", "#{…}"]);
        assert!(arguments("run.summary()").is_empty());
    }

    #[test]
    fn rhai_functions_have_their_documentation() {
        let api = ApiIndex::new();
        assert!(api.built_in["push"].doc.contains("array"), "{:?}", api.built_in["push"]);
        assert!(!api.built_in.contains_key("timestamp") && !api.built_in.contains_key("train"));
    }
}
