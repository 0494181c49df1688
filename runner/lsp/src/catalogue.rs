//! What scripts can call and read, from the declarations that the reference is printed from: nothing is written down a second time.

use std::collections::BTreeMap;

use dc0_core::network::presets;
use dc0_core::params::{Row, Value};
use rhai::{Array, Dynamic, Engine, Map, Scope};

use super::scan::Kind;
use super::script::Script;
use dc0_script::dynamic::scalar;
use dc0_script::host::{TRIAL_NAMES, fields_of, usages};
use dc0_script::names::Usage;
use dc0_script::reference::script::{forms, planning_engine};
use dc0_script::reference::{CallParameters, of_calls};
use dc0_steps::handles::Opponent;

/// What a value is, as far as the declarations tell.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Given {
    /// A run, a net, games: what it is called.
    Handle(String),
    /// Plain data, such as this.
    Data(Value),
}

/// A function of Rhai's own packages.
#[derive(Debug, Default)]
pub(super) struct BuiltIn {
    /// Its signatures.
    pub(super) forms: Vec<String>,
    /// What its author says of it, as Markdown.
    pub(super) doc: String,
}

/// Everything that scripts can call, with what it takes and gives.
pub(super) struct Catalogue {
    calls: Vec<CallParameters>,
    /// Names to read from values of each kind, with an example of each.
    fields: BTreeMap<String, Vec<(String, Value)>>,
    /// What functions give, by the function.
    gives: BTreeMap<String, Given>,
    /// Rhai's own functions by name.
    pub(super) built_in: BTreeMap<String, BuiltIn>,
}

/// What a trial of a sweep is called.
pub(super) const TRIAL: &str = "Trial";

impl Catalogue {
    /// Reads the declarations, and plans the examples of the reference for what functions give.
    pub(super) fn new() -> Self {
        let engine = planning_engine();
        let mut catalogue = Self {
            calls: of_calls(),
            fields: BTreeMap::new(),
            gives: BTreeMap::new(),
            built_in: built_in(&engine),
        };
        let mut scope = Scope::new();
        for usage in usages() {
            // An example that fails teaches nothing; a test holds that none does.
            if engine.run_with_scope(&mut scope, usage.example).is_ok() {
                catalogue.learn(usage, &scope);
            }
        }
        // A fork needs another run, which no example has.
        let run = catalogue.gives.get("open_run").cloned();
        catalogue.gives.extend(run.map(|run| ("fork".to_owned(), run)));
        catalogue
    }

    /// Takes in what an example has made.
    fn learn(&mut self, usage: &Usage, scope: &Scope<'_>) {
        let script = Script::new(usage.example);
        let made = script
            .declared
            .iter()
            .find(|declared| declared.value.is_some_and(|value| calls(&script, value, usage.name)));
        let Some(value) = made.and_then(|made| scope.get(&made.name)) else { return };
        let given = match fields_of(value) {
            Some((kind, fields)) => {
                let known = self.fields.entry(kind.to_owned()).or_default();
                let is_new = |(name, _): &(String, Value)| !known.iter().any(|(other, _)| other == name);
                let fields: Vec<_> = fields.into_iter().filter(is_new).collect();
                known.extend(fields);
                Given::Handle(kind.to_owned())
            }
            None => Given::Data(plain(value)),
        };
        self.gives.insert(usage.name.to_owned(), given);
    }

    /// What a function of dc0 gives.
    pub(super) fn gives(&self, function: &str) -> Option<&Given> {
        self.gives.get(function)
    }

    /// The names to read from a value of a kind.
    pub(super) fn fields(&self, kind: &str) -> Vec<(String, Option<Value>)> {
        if kind == TRIAL {
            let own = TRIAL_NAMES.iter().filter(|name| usage(name).is_none());
            return own.map(|name| ((*name).to_owned(), None)).collect();
        }
        let fields = self.fields.get(kind).into_iter().flatten();
        fields.map(|(name, value)| (name.clone(), Some(value.clone()))).collect()
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

/// How a function of dc0 is called.
pub(super) fn usage(name: &str) -> Option<&'static Usage> {
    usages().iter().find(|usage| usage.name == name)
}

/// The functions of dc0 that are called on values of a kind; on all kinds without one.
pub(super) fn methods(kind: Option<&str>) -> Vec<&'static Usage> {
    let fits = |usage: &&Usage| {
        receiver(usage).is_some_and(|own| kind.is_none_or(|kind| kind.eq_ignore_ascii_case(own)))
    };
    usages().iter().filter(fits).collect()
}

/// The functions of dc0 that are called by their names alone.
pub(super) fn functions() -> Vec<&'static Usage> {
    usages().iter().filter(|usage| receiver(usage).is_none()).collect()
}

/// The words that an argument of a call can be.
pub(super) fn words(call: &str, argument: usize) -> Vec<(String, String)> {
    match (call, argument) {
        ("network_preset", 0) => {
            presets().into_iter().map(|preset| (preset.name.to_owned(), preset.about.to_owned())).collect()
        }
        ("arena", 1) => {
            Opponent::WORDS.map(|word| (word.to_owned(), "an opponent without a net".to_owned())).into()
        }
        _ => Vec::new(),
    }
}

/// What a function's form is called on: `run` of `run.train(…)`.
pub(super) fn receiver(usage: &Usage) -> Option<&'static str> {
    let before = usage.form.split('(').next()?;
    before.split_once('.').map(|(receiver, _)| receiver)
}

/// The forms of a call, one for each number of arguments.
pub(super) fn forms_of(usage: &Usage) -> Vec<String> {
    forms(usage.form)
}

/// The arguments of a form as its parentheses list them.
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

/// Whether a value that begins with a token is what a function gives: the function is called, and nothing comes behind.
fn calls(script: &Script, first: usize, function: &str) -> bool {
    let of_function = (first..script.tokens.len()).find(|token| script.word(*token) == function);
    let end = of_function.and_then(|name| script.partner(name + 1));
    end.is_some_and(|end| matches!(script.kind(end + 1), Some(Kind::Symbol)) && script.word(end + 1) == ";")
}

/// A script's value as plain data; functions become nothing.
fn plain(value: &Dynamic) -> Value {
    if let Some(map) = value.read_lock::<Map>() {
        return Value::Group(map.iter().map(|(name, member)| (name.to_string(), plain(member))).collect());
    }
    if let Some(items) = value.read_lock::<Array>() {
        return Value::List(items.iter().map(plain).collect());
    }
    scalar(value).unwrap_or(Value::None)
}

/// Rhai's own functions; operators, and functions that no script calls by name, are left out.
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
    // What is said of lists goes before what is said of bytes.
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
    use super::{Catalogue, Given, arguments, forms_of, receiver, usages};

    #[test]
    fn every_example_of_the_reference_teaches_what_its_function_gives() {
        let catalogue = Catalogue::new();
        let no_value = ["summary", "note", "assert", "table", "log", "report"];
        for usage in usages().iter().filter(|usage| !no_value.contains(&usage.name)) {
            assert!(catalogue.gives(usage.name).is_some(), "{}", usage.name);
        }
        assert_eq!(catalogue.gives("train"), Some(&Given::Handle("Network".to_owned())));
        assert_eq!(catalogue.gives("sweep"), Some(&Given::Handle("Sweep".to_owned())));
        assert!(matches!(catalogue.gives("network_preset"), Some(Given::Data(_))));
        for (kind, name) in [
            ("Network", "policy_loss"),
            ("Verdict", "score_low"),
            ("Run", "generation"),
            ("Trial", "goes_on"),
        ] {
            assert!(catalogue.fields(kind).iter().any(|(known, _)| known == name), "{kind}.{name}");
        }
    }

    #[test]
    fn members_of_groups_are_told_from_those_of_their_groups() {
        let catalogue = Catalogue::new();
        let names = |path: &[&str]| -> Vec<String> {
            let path: Vec<String> = path.iter().map(|name| (*name).to_owned()).collect();
            catalogue.members("self_play", &path).iter().map(|row| row.path.clone()).collect()
        };
        assert!(
            names(&[]).contains(&"games".to_owned()) && !names(&[]).contains(&"search.c_puct".to_owned())
        );
        assert!(names(&["search"]).contains(&"search.c_puct".to_owned()));
        assert!(names(&["search", "root"]).contains(&"search.root.rule".to_owned()));
        assert!(names(&["searc"]).is_empty());
        let rule = catalogue
            .parameter("self_play", &["search", "root", "rule"].map(ToOwned::to_owned))
            .expect("a rule");
        assert!(rule.kind.words().contains(&"gumbel"));
    }

    #[test]
    fn forms_fall_into_their_arguments() {
        let arena = usages().iter().find(|usage| usage.name == "arena").expect("arena");
        assert_eq!(receiver(arena), Some("run"));
        let forms = forms_of(arena);
        assert_eq!(arguments(&forms[0]), ["network", "network or \"random\" or \"greedy\"", "#{…}"]);
        assert!(arguments("run.summary()").is_empty());
    }

    #[test]
    fn functions_of_rhai_have_their_documentation() {
        let catalogue = Catalogue::new();
        assert!(catalogue.built_in["push"].doc.contains("array"), "{:?}", catalogue.built_in["push"]);
        assert!(!catalogue.built_in.contains_key("timestamp") && !catalogue.built_in.contains_key("train"));
    }
}
