//! Pages that are written from the code are fresh.

use std::process::Command;

use crate::program::{PROGRAM, root, succeed};

/// Compares a stored page with what the program prints.
fn is_fresh(page: &str, file: &str) {
    let mut command = Command::new(PROGRAM);
    let printed = succeed(command.args(["docs", page])).stdout;
    let stored = root().join(format!("docs/reference/{file}"));
    let stored = std::fs::read_to_string(stored).expect("the page is checked in");
    assert!(
        stored == String::from_utf8(printed).expect("UTF-8"),
        "docs/reference/{file} is out of date; write it anew with `dc0-run docs {page} > docs/reference/{file}`"
    );
}

#[test]
fn the_reference_of_parameters_is_what_the_program_prints() {
    is_fresh("parameters", "parameters.md");
}

#[test]
fn the_reference_of_encodings_is_what_the_program_prints() {
    is_fresh("encodings", "encodings.md");
}

#[test]
fn the_reference_of_functions_is_what_the_program_prints() {
    is_fresh("script", "script.md");
}

#[test]
fn the_definitions_for_editors_are_what_the_program_prints() {
    is_fresh("definitions", "dc0.d.rhai");
}

#[test]
fn without_a_page_the_parameters_are_printed() {
    let printed = |page: &[&str]| succeed(Command::new(PROGRAM).arg("docs").args(page)).stdout;
    assert_eq!(printed(&[]), printed(&["parameters"]));
}

#[test]
fn the_guide_to_sql_shows_every_question_and_names_every_function() {
    let page = root().join("docs/guides/sql.md");
    let page = std::fs::read_to_string(page).expect("the guide");
    for question in dc0_analysis::questions() {
        let block = format!("### {}\n\n```sql\n{}\n```\n", question.title, question.statement);
        assert!(page.contains(&block), "docs/guides/sql.md lacks this block:\n{block}");
    }
    for function in dc0_analysis::functions().iter().filter(|function| !function.form.contains("list")) {
        let name = function.form.split('(').next().expect("a name");
        assert!(page.contains(&format!("`{name}(")), "docs/guides/sql.md does not name {name}");
    }
}
