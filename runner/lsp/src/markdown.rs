//! Documentation of functions, variables and results as Markdown, from the one declaration of each.

use super::api_index::{ApiIndex, BuiltIn, Function, arguments};
use super::members::{Member, Members, Receiver};
use super::script::{Declaration, DeclarationKind, Script};
use dc0_script::syntax::Entry;

/// A piece of a script in Markdown.
pub(super) fn code(text: &str) -> String {
    format!("```rhai\n{text}\n```")
}

/// A function of dc0, with a summary of its parameters.
pub(super) fn of_function(api: &ApiIndex, function: &Function) -> String {
    let Function { meaning, gives, .. } = function;
    let (forms, example) = (code(&function.forms.join("\n")), code(function.example));
    let about = api.about(function.name).map(|about| format!("\n\nParameters: {about}")).unwrap_or_default();
    format!("{forms}\n\n{meaning} Returns {gives}.\n\nExample:\n\n{example}{about}")
}

/// A built-in function of Rhai.
pub(super) fn of_built_in(function: &BuiltIn) -> String {
    format!("{}\n\n{}", code(&function.forms.join("\n")), function.doc)
}

/// A function that a script declares.
pub(super) fn of_own_function(script: &Script, function: &Declaration, module: Option<&str>) -> String {
    let form = form(function, module);
    format!("{}\n\n{}", code(&format!("fn {form}")), script.doc_of(function)).trim_end().to_owned()
}

/// The signature of a function that a script declares.
pub(super) fn form(function: &Declaration, module: Option<&str>) -> String {
    let DeclarationKind::Function(parameters) = &function.kind else { return function.name.clone() };
    let module = module.map(|module| format!("{module}::")).unwrap_or_default();
    format!("{module}{}({})", function.name, parameters.join(", "))
}

/// An imported script: its opening comment, and its functions.
pub(super) fn of_module(name: &str, script: &Script) -> String {
    let forms: Vec<String> =
        script.public_functions().map(|function| format!("fn {}", form(function, None))).collect();
    format!("`{name}`\n\n{}\n\n{}", script.opening_comment(), code(&forms.join("\n")))
}

/// A member of a map in the script.
pub(super) fn of_entry(script: &Script, map: usize, entry: Entry) -> String {
    let declaration = code(&format!("{}: {}", script.name_of(entry), script.value_text(map, entry)));
    format!("{declaration}\n\n{}", script.doc_of_entry(entry)).trim_end().to_owned()
}

/// A member of a value.
pub(super) fn of_member(member: &Member, owner: &str) -> String {
    let detail = if member.detail.is_empty() { String::new() } else { format!(": {}", member.detail) };
    format!("`{}` of {owner}{detail}\n\n{}", member.name, member.doc).trim_end().to_owned()
}

/// How a value is referred to.
pub(super) fn owner(receiver: &Receiver) -> String {
    match receiver {
        Receiver::Map(_) => "this map".to_owned(),
        Receiver::Data(_) => "this value".to_owned(),
        handle => format!("a `{}`", handle.handle().unwrap_or_default()),
    }
}

/// A variable: its declaration, its type, and the script's comment on it.
pub(super) fn of_variable(members: Members<'_>, declaration: &Declaration, offset: usize) -> String {
    let script = members.script;
    let line_start = script.text[..script.range(declaration.at).start].rfind('\n').map_or(0, |at| at + 1);
    let line = script.text[line_start..].lines().next().unwrap_or_default().trim();
    let what = members.variable(&declaration.name, offset).map(|receiver| match receiver {
        Receiver::Map(_) => "a map".to_owned(),
        Receiver::Data(value) => format!("data: {}", value.kind()),
        handle => owner(&handle),
    });
    let what = what.map(|what| format!("\n\n`{}` is {what}.", declaration.name)).unwrap_or_default();
    format!("{}{what}\n\n{}", code(line), script.doc_of(declaration)).trim_end().to_owned()
}

/// The snippet of a function call, with placeholders for its arguments.
pub(super) fn snippet(function: &Function) -> String {
    let form = function.forms.last().map(String::as_str).unwrap_or_default();
    let placeholder = |(number, argument): (usize, &str)| match argument {
        "#{…}" => format!("#{{ ${number} \\}}"),
        "#{ name: value }" => format!("#{{ ${{{number}:name}}: value \\}}"),
        closure if closure.starts_with('|') => format!("|trial| {{ ${number} \\}}"),
        list if list.starts_with('[') => format!("[${number}]"),
        argument => {
            format!("${{{number}:{}}}", escaped(argument.split(" or ").next().unwrap_or_default()))
        }
    };
    let placeholders: Vec<String> = (1..).zip(arguments(form)).map(placeholder).collect();
    format!("{}({})$0", function.name, placeholders.join(", "))
}

/// A text with the special characters of snippets escaped.
pub(super) fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('$', "\\$").replace('}', "\\}")
}
