//! The reference of script functions: a page for people and a definition file for editors, from the same declarations.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use rhai::Engine;

use super::parameters;
use crate::engine::{EngineHooks, engine};
use crate::host::{self, Session, usages};
use crate::limits::MAX_OPERATIONS;
use dc0_runs::declared::Declaration;
use dc0_steps::check::Planner;
use dc0_steps::{Assumption, RunOptions};

const HEAD: &str = "# Functions of scripts

Every function that dc0 adds to Rhai, as `dc0-run docs script` prints them from the declarations in the code. `run` is a run that
`open_run` or `fork` returns. The examples, in order, form one script. [The guide](../guides/scripts.md) shows how the functions work
together; Rhai's own functions are in [its book](https://rhai.rs/book/).
";

/// The page.
pub(super) fn page() -> String {
    let mut page = HEAD.to_owned();
    let parameters_page = parameters();
    for usage in usages() {
        let forms: Vec<String> = forms(usage.form).iter().map(|form| format!("`{form}`")).collect();
        let (name, meaning, returns, example) = (usage.name, usage.meaning, usage.returns, usage.example);
        write!(page, "\n## `{name}`\n\n{}\n\n{meaning} Returns {returns}.", forms.join(" or "))
            .expect("text takes everything");
        if parameters_page.contains(&format!("\n## `{name}`\n")) {
            write!(page, " [Parameters](parameters.md#{name}).").expect("text takes everything");
        }
        write!(page, "\n\n```rhai\n{example}\n```\n").expect("text takes everything");
    }
    page.truncate(page.trim_end().len());
    page
}

/// The forms of a call; an ` or ` within parentheses separates alternative arguments.
pub fn forms(form: &str) -> Vec<String> {
    let mut forms: Vec<String> = Vec::new();
    for part in form.split(" or ") {
        let is_open = |last: &&mut String| last.matches('(').count() > last.matches(')').count();
        match forms.last_mut().filter(is_open) {
            Some(last) => *last = format!("{last} or {part}"),
            None => forms.push(part.to_owned()),
        }
    }
    forms
}

/// An engine with all script functions, whose steps are only planned.
pub fn planning_engine() -> Engine {
    let options = RunOptions { device: Some("cpu".to_owned()), ..RunOptions::below("nowhere") };
    let declaration = Arc::new(Declaration::new(Vec::new()));
    let planner = Planner::new("", options, Arc::clone(&declaration), Assumption::Even);
    let session = Arc::new(Session::new(Arc::new(planner), declaration));
    let surroundings = EngineHooks {
        sources: Arc::default(),
        print: Box::new(|_| {}),
        debug: Box::new(|_| {}),
        is_stopped: Box::new(|| false),
        operations: MAX_OPERATIONS,
    };
    let mut engine = engine(Path::new("."), surroundings);
    host::register(&mut engine, &session);
    engine
}

/// All functions with the types of their arguments, as Rhai's own tools read them.
pub(super) fn definitions() -> String {
    let engine = planning_engine();
    let all = engine.definitions().static_module();
    let mut file = "// The functions that dc0 adds to Rhai, as `dc0-run docs definitions` prints them.\nmodule static;\n".to_owned();
    for usage in usages() {
        let start = format!("fn {}(", usage.name);
        let overloads = all.lines().filter_map(|line| line.strip_prefix(&start)?.split_once(") ->"));
        // Functions that replace some of the engine's have names for their arguments.
        let own = overloads.filter(|(arguments, _)| arguments.is_empty() || arguments.starts_with("_: "));
        for (arguments, _) in own {
            let (meaning, returns) = (usage.meaning, usage.returns);
            let arguments = with_names(arguments);
            write!(file, "\n/// {meaning} Returns {returns}.\n{start}{arguments});\n")
                .expect("text takes everything");
        }
    }
    file.truncate(file.trim_end().len());
    file
}

/// Adds names to arguments of which the engine knows only the types: each is named after its type, and repeated ones are numbered.
fn with_names(arguments: &str) -> String {
    let mut seen: Vec<String> = Vec::new();
    let kinds = arguments.split(", ").filter_map(|argument| argument.strip_prefix("_: "));
    for kind in kinds {
        let name = match kind {
            "?" => "value".to_owned(),
            "string" => "text".to_owned(),
            "map" => "parameters".to_owned(),
            "Fn" => "function".to_owned(),
            "array" => "list".to_owned(),
            "int" => "at".to_owned(),
            "bool" => "condition".to_owned(),
            kind => kind.to_lowercase(),
        };
        let repeats = seen.iter().filter(|other| other.starts_with(&name)).count();
        let number = if repeats == 0 { String::new() } else { (repeats + 1).to_string() };
        seen.push(format!("{name}{number}: {kind}"));
    }
    seen.join(", ")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{RunOptions, forms, usages};
    use crate::plans::ScriptToPlan;

    #[test]
    fn forms_are_split_but_alternative_arguments_are_not() {
        assert_eq!(forms("a(x) or a(x, y or z)"), ["a(x)", "a(x, y or z)"]);
    }

    #[test]
    fn the_examples_form_a_script_that_can_be_planned() {
        let examples: Vec<&str> = usages().iter().map(|usage| usage.example).collect();
        let (text, path) = (examples.join("\n"), Path::new("examples.rhai"));
        let options = RunOptions { device: Some("cpu".to_owned()), ..RunOptions::below("nowhere") };
        assert_eq!(ScriptToPlan::new(path, &text, options).plan().error(), None);
    }
}
