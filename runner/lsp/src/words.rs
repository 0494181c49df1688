//! What is told of functions, parameters and results, as Markdown, from the one declaration of each.

use std::fmt::Write as _;

use dc0_core::params::Row;

use super::catalogue::{BuiltIn, Catalogue, arguments, forms_of};
use super::outline::{Declared, What};
use super::script::{Entry, Script};
use super::types::{Member, Type, Types};
use dc0_script::names::Usage;

/// A piece of a script in Markdown.
pub(super) fn code(text: &str) -> String {
    format!("```rhai\n{text}\n```")
}

/// A function of dc0.
pub(super) fn of_usage(usage: &Usage) -> String {
    let (meaning, gives, example) = (usage.meaning, usage.gives, usage.example);
    format!(
        "{}\n\n{meaning} Gives {gives}.\n\nExample:\n\n{}",
        code(&forms_of(usage).join("\n")),
        code(example)
    )
}

/// A function of Rhai's.
pub(super) fn of_built_in(function: &BuiltIn) -> String {
    format!("{}\n\n{}", code(&function.forms.join("\n")), function.doc)
}

/// A function of a script.
pub(super) fn of_function(script: &Script, function: &Declared, module: Option<&str>) -> String {
    let form = form(function, module);
    let doc = script.doc_of(function);
    format!("{}\n\n{doc}", code(&format!("fn {form}"))).trim_end().to_owned()
}

/// How a function of a script is called.
pub(super) fn form(function: &Declared, module: Option<&str>) -> String {
    let What::Function(parameters) = &function.what else { return function.name.clone() };
    let module = module.map(|module| format!("{module}::")).unwrap_or_default();
    format!("{module}{}({})", function.name, parameters.join(", "))
}

impl Script {
    /// Whether a function cannot be called from other scripts.
    pub(super) fn is_private(&self, function: &Declared) -> bool {
        function.at.checked_sub(2).is_some_and(|before| self.word(before) == "private")
    }

    /// What is written above a function of its own.
    pub(super) fn doc_of(&self, function: &Declared) -> String {
        let before = if self.is_private(function) { 2 } else { 1 };
        self.comment_above(function.at.saturating_sub(before), "///")
    }
}

/// A parameter in a line: its kind, range and default.
pub(super) fn detail(row: &Row) -> String {
    let range = row.range.map(|range| format!(" in {range}")).unwrap_or_default();
    let default = if row.default.is_empty() { String::new() } else { format!(" = {}", row.default) };
    format!("{}{range}{default}", row.kind)
}

/// A parameter of a call.
pub(super) fn of_row(row: &Row, call: &str) -> String {
    let mut text = format!("**`{}`** of `{call}`: {}", row.path, row.kind);
    if let Some(range) = row.range {
        let _ = write!(text, ", range `{range}`");
    }
    if !row.default.is_empty() {
        let _ = write!(text, ", default `{}`", row.default);
    }
    format!("{text}\n\n{}", row.doc)
}

/// A parameter that the script itself declares.
pub(super) fn of_entry(script: &Script, map: usize, entry: Entry) -> String {
    let declared = code(&format!("{}: {}", script.name_of(entry), script.value_text(map, entry)));
    format!("{declared}\n\n{}", script.said_of(entry)).trim_end().to_owned()
}

/// A name to be read from a value.
pub(super) fn of_member(member: &Member, owner: &str) -> String {
    let detail = if member.detail.is_empty() { String::new() } else { format!(": {}", member.detail) };
    format!("`{}` of {owner}{detail}\n\n{}", member.name, member.doc).trim_end().to_owned()
}

/// What a value is called.
pub(super) fn owner(kind: &Type) -> String {
    match kind {
        Type::Handle(name) => format!("a `{name}`"),
        Type::Trial(_) => "a `Trial`".to_owned(),
        Type::Map(_) => "this map".to_owned(),
        Type::Data(_) => "this value".to_owned(),
    }
}

/// A variable: its declaration, what it is, and what the script says of it.
pub(super) fn of_variable(types: Types<'_>, declared: &Declared, offset: usize) -> String {
    let script = types.script;
    let line_start = script.text[..script.range(declared.at).start].rfind('\n').map_or(0, |at| at + 1);
    let line = script.text[line_start..].lines().next().unwrap_or_default().trim();
    let kind = types
        .of_variable(&declared.name, offset)
        .map(|kind| format!("\n\n`{}` is {}.", declared.name, whose(&kind)));
    let said = script.comment_above(declared.at.saturating_sub(1), "//");
    format!("{}{}\n\n{said}", code(line), kind.unwrap_or_default()).trim_end().to_owned()
}

fn whose(kind: &Type) -> String {
    match kind {
        Type::Map(_) => "a map".to_owned(),
        Type::Data(value) => format!("data: {}", value.kind()),
        handle => owner(handle),
    }
}

/// What a function's form puts into a text when it is chosen, with places to fill in.
pub(super) fn snippet(usage: &Usage) -> String {
    let form = forms_of(usage).pop().unwrap_or_default();
    let mut place = 0;
    let listed: Vec<String> = arguments(&form)
        .into_iter()
        .map(|argument| {
            place += 1;
            match argument {
                "#{…}" => format!("#{{ ${place} \\}}"),
                "#{ name: value }" => format!("#{{ ${{{place}:name}}: value \\}}"),
                closure if closure.starts_with('|') => format!("|trial| {{ ${place} \\}}"),
                list if list.starts_with('[') => format!("[${place}]"),
                argument => {
                    let word = argument.split(" or ").next().unwrap_or_default();
                    format!("${{{place}:{}}}", escaped(word))
                }
            }
        })
        .collect();
    format!("{}({})$0", usage.name, listed.join(", "))
}

/// A text as it stands in a snippet.
pub(super) fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('$', "\\$").replace('}', "\\}")
}

/// What a function of dc0 does, with its parameters' purpose.
pub(super) fn documentation(catalogue: &Catalogue, usage: &Usage) -> String {
    let about =
        catalogue.about(usage.name).map(|about| format!("\n\nParameters: {about}")).unwrap_or_default();
    format!("{}{about}", of_usage(usage))
}
