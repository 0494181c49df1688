//! The parameters that a script declares, each with its description or else its comment.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;

use crate::scan::Bracket;
use crate::syntax::Syntax;
use dc0_core::text_table::{Align, aligned};
use dc0_runs::declared::Declared;

/// One line for each parameter: its name, value, origin, allowed values, and meaning.
pub fn described(script: &str, text: &str, declared: &[Declared]) -> String {
    if declared.is_empty() {
        return format!("{script} declares no parameters");
    }
    let heading =
        format!("{script} declares; change one with --set NAME=VALUE, or several with --params FILE:");
    format!("{heading}\n{}", table(text, declared))
}

/// The output of `SCRIPT --help`: the script's first comment, its usage, its parameters, and the program's options.
pub fn help(script: &str, text: &str, declared: &[Declared], options: &str) -> String {
    let mut help = Syntax::new(text).opening_comment();
    if !help.is_empty() {
        help.push_str("\n\n");
    }
    let parameters = if declared.is_empty() { "" } else { " [--set NAME=VALUE]…" };
    let _ = writeln!(help, "Usage: dc0-run {script}{parameters} [OPTIONS]\n");
    if !declared.is_empty() {
        let rows = table(text, declared);
        let _ = writeln!(help, "Parameters, changed with --set NAME=VALUE or --params FILE:\n{rows}\n");
    }
    let _ = write!(help, "Options:\n{}", options.trim_end());
    help
}

fn table(text: &str, declared: &[Declared]) -> String {
    let comments = comments_of_parameters(text);
    let row = |row: &Declared| cells(row, comments.get(&row.path).map_or("", String::as_str));
    let rows: Vec<[String; 5]> = declared.iter().map(row).collect();
    let align = |column| if column == 1 { Align::Right } else { Align::Left };
    let lines = aligned(&rows, align).into_iter().map(|line| format!("  {line}"));
    lines.collect::<Vec<_>>().join("\n")
}

fn cells(row: &Declared, comment: &str) -> [String; 5] {
    let doc = if row.doc.is_empty() { comment.to_owned() } else { row.doc.clone() };
    let is_default = row.value == row.default;
    let default = if is_default { String::new() } else { format!(", default {}", row.default) };
    let allowed = format!("{}{default}", row.allowed);
    [row.path.clone(), row.value.to_string(), row.origin.name().to_owned(), allowed, doc]
}

/// The comments on the parameters in the call of `params`, by their dotted names. Beside the maps of the call are those of the variables
/// and functions that it names outside of them.
fn comments_of_parameters(text: &str) -> BTreeMap<String, String> {
    let (syntax, mut comments) = (Syntax::new(text), BTreeMap::new());
    let is_call = |paren: &usize| syntax.callee(*paren).is_some_and(|name| syntax.word(name) == "params");
    let Some(paren) = (0..syntax.tokens.len()).find(is_call) else { return comments };
    let arguments = paren + 1..syntax.partner(paren).unwrap_or(syntax.tokens.len());
    let names = outside_of_maps(&syntax, arguments.clone()).filter(|token| syntax.is_word(*token));
    for definition in names.filter_map(|name| definition(&syntax, syntax.word(name))) {
        add_comments(&syntax, definition, "", &mut comments);
    }
    add_comments(&syntax, arguments, "", &mut comments);
    comments
}

/// The tokens of a range outside of its maps, with the brackets that open these.
fn outside_of_maps(syntax: &Syntax, tokens: Range<usize>) -> impl Iterator<Item = usize> {
    let mut end = 0;
    tokens.filter(move |token| {
        let is_outside = *token >= end;
        if is_outside && syntax.opens(*token, Bracket::Map) {
            end = syntax.partner(*token).unwrap_or(syntax.tokens.len());
        }
        is_outside
    })
}

/// The tokens of the first definition of a variable or function. The value of a variable may be a sum of maps.
fn definition(syntax: &Syntax, name: &str) -> Option<Range<usize>> {
    let is_defined = |at: &usize| {
        syntax.word(*at) == name
            && at.checked_sub(1).is_some_and(|at| ["let", "const", "fn"].contains(&syntax.word(at)))
    };
    let mut tokens = 0..syntax.tokens.len();
    let start = tokens.find(is_defined)?;
    let is_end = |at: &usize| syntax.word(*at) == ";" && syntax.parent(*at) == syntax.parent(start);
    let end = match syntax.word(start - 1) {
        "fn" => syntax.partner(syntax.partner(start + 1)? + 1)?,
        _ => tokens.find(is_end)?,
    };
    Some(start..end)
}

/// Adds the comments on the members of the maps in a range, whose names begin with `group`. Later ones take precedence.
fn add_comments(syntax: &Syntax, tokens: Range<usize>, group: &str, comments: &mut BTreeMap<String, String>) {
    for map in outside_of_maps(syntax, tokens).filter(|token| syntax.opens(*token, Bracket::Map)) {
        for entry in syntax.entries(map) {
            let path = format!("{group}{}", syntax.name_of(entry));
            if let Some(value) = entry.value {
                add_comments(syntax, value..syntax.end_of_value(map, value), &format!("{path}."), comments);
            }
            let comment = syntax.comment_of_entry(entry).replace('\n', " ");
            if !comment.is_empty() {
                comments.insert(path, comment);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::comments_of_parameters;

    /// The comments on parameters: `name: comment`.
    fn comments(text: &str) -> Vec<String> {
        comments_of_parameters(text).into_iter().map(|(path, comment)| format!("{path}: {comment}")).collect()
    }

    #[test]
    fn a_parameter_has_the_comment_of_its_own_line_or_the_lines_above() {
        let text = "let games = #{ games: 1 }; // no\nlet p = params(#{\n    train: #{ games: 5, rate: |n| { 1.0 } }, // of the group\n    \
                    games: 3, // of an iteration\n    arena: #{\n        // of\n        // a match\n        games: 40,\n    },\n});\n\
                    let x = #{\n    late: 1, // no\n};";
        assert_eq!(
            comments(text),
            ["arena.games: of a match", "games: of an iteration", "train: of the group"]
        );
    }

    #[test]
    fn only_maps_of_the_call_have_parameters() {
        let other = "let x = #{\n    games: 4, // no\n};\n";
        assert_eq!(comments(&format!("let p = params(lib::d());\n{other}")), [""; 0]);
        assert_eq!(comments(&format!("let p = params();\n{other}")), [""; 0]);
        let named = "fn d(n) {\n    #{\n        games: n, // of d\n    }\n}\n";
        assert_eq!(comments(&format!("{other}{named}let p = params(d(3));")), ["games: of d"]);
        assert_eq!(comments(&format!("let p = params(d(3));\n{other}{named}")), ["games: of d"]);
        let named =
            "const D = #{\n    games: 3, // 1\n    arena: #{ // 2\n        games: 9, // 3\n    },\n};\n";
        let all = ["arena: 2", "arena.games: 3", "games: 1"];
        assert_eq!(comments(&format!("{other}{named}params(D);\n{other}")), all);
        let sum = "let d = #{\n    games: 3, // 1\n} + #{\n    seed: 1, // 2\n};\n";
        assert_eq!(comments(&format!("{sum}params(d);\n{other}")), ["games: 1", "seed: 2"]);
        let base = "let d = #{\n    games: 3, // 1\n    seed: 2, // 2\n};\nparams(d + #{\n    games: 4,\n    seed: 1, // 3\n});\n";
        assert_eq!(comments(&format!("{base}{other}")), ["games: 1", "seed: 3"]);
        let both =
            "params(#{\n    games: 3, // 1\n} + #{\n    sizes: [x?[0], (1)], // 2\n    seed: 1, // 3\n});";
        assert_eq!(comments(&format!("{both}\n{other}")), ["games: 1", "seed: 3", "sizes: 2"]);
    }

    #[test]
    fn quoted_names_and_texts_with_values_are_read() {
        let text = "print(`it's ${#{ games: `${1}` }} // {`);\nparams(#{\n    label: `${1} \"${\"}\"}`, // a\n    \"games\": 3, // b\n});";
        assert_eq!(comments(text), ["games: b", "label: a"]);
    }
}
