//! The functions of scripts: a page for people and a definition file for editors, both from one declaration.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use rhai::Engine;

use super::parameters;
use crate::engine::{Surroundings, engine};
use crate::host::{self, Session, usages};
use crate::limits::MAX_OPERATIONS;
use dc0_runs::declared::Declaration;
use dc0_steps::Asking;
use dc0_steps::check::Planner;

const HEAD: &str = "# Functions of scripts

Every function that dc0 adds to Rhai, as `dc0-run docs script` prints them from the declarations in the code. `run` is what `open_run` gives.
The examples, one after the other, are a script. [The guide](../guides/scripts.md) shows how they go together; Rhai's own functions are in
[its book](https://rhai.rs/book/).
";

/// The page.
pub(super) fn page() -> String {
    let mut page = HEAD.to_owned();
    let of_parameters = parameters();
    for usage in usages() {
        let forms: Vec<String> = forms(usage.form).iter().map(|form| format!("`{form}`")).collect();
        let (name, meaning, gives, example) = (usage.name, usage.meaning, usage.gives, usage.example);
        write!(page, "\n## `{name}`\n\n{}\n\n{meaning} Gives {gives}.", forms.join(" or "))
            .expect("text takes everything");
        if of_parameters.contains(&format!("\n## `{name}`\n")) {
            write!(page, " [Parameters](parameters.md#{name}).").expect("text takes everything");
        }
        write!(page, "\n\n```rhai\n{example}\n```\n").expect("text takes everything");
    }
    page.truncate(page.trim_end().len());
    page
}

/// The forms of a call; within parentheses ` or ` joins arguments.
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

/// An engine with all functions of scripts, whose steps are only planned.
pub fn planning_engine() -> Engine {
    let asking = Asking { device: Some("cpu".to_owned()), ..Asking::below("nowhere") };
    let declaration = Arc::new(Declaration::new(Vec::new()));
    let planner = Planner::new("", asking, Arc::clone(&declaration));
    let session = Arc::new(Session::new(Arc::new(planner), declaration));
    let surroundings = Surroundings {
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
        for (arguments, _) in overloads {
            let (meaning, gives) = (usage.meaning, usage.gives);
            let arguments = named(arguments);
            write!(file, "\n/// {meaning} Gives {gives}.\n{start}{arguments});\n")
                .expect("text takes everything");
        }
    }
    file.truncate(file.trim_end().len());
    file
}

/// Arguments with names, where the engine knows their types only: each its type's, numbered where a type comes again.
fn named(arguments: &str) -> String {
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
        let again = seen.iter().filter(|other| other.starts_with(&name)).count();
        let number = if again == 0 { String::new() } else { (again + 1).to_string() };
        seen.push(format!("{name}{number}: {kind}"));
    }
    seen.join(", ")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Asking, forms, usages};
    use crate::rehearsal::Rehearsal;

    #[test]
    fn forms_are_told_apart_from_arguments() {
        assert_eq!(forms("a(x) or a(x, y or z)"), ["a(x)", "a(x, y or z)"]);
    }

    #[test]
    fn the_examples_are_a_script_that_can_be_planned() {
        let text: Vec<&str> = usages().iter().map(|usage| usage.example).collect();
        let asking = Asking { device: Some("cpu".to_owned()), ..Asking::below("nowhere") };
        let rehearsed = Rehearsal {
            path: Path::new("examples.rhai"),
            text: &text.join("\n"),
            overrides: Vec::new(),
            asking,
            operations: 1_000_000,
            is_stopped: Box::new(|| false),
        }
        .run();
        assert_eq!(rehearsed.error(), None);
    }
}
