//! The parameters that a script declares, each with its doc text or else the comment at the end of its line.

use std::collections::BTreeMap;
use std::fmt::Write;

use rhai::{Engine, Token};

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
    let mut help = first_comment(text);
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

/// The comment at the start of the script, without its slashes.
fn first_comment(text: &str) -> String {
    let lines = text.lines().skip_while(|line| line.trim().is_empty() || line.starts_with("#!"));
    let comment = lines.map_while(|line| line.strip_prefix("//"));
    let comment = comment.map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end());
    comment.collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

fn table(text: &str, declared: &[Declared]) -> String {
    let lines = lines_of_parameters(text);
    let comment = |path: &str| {
        let (line, name) = (text.lines().nth(*lines.get(path)?)?, path.rsplit('.').next()?);
        comment_of(line, name)
    };
    let row = |row: &Declared| cells(row, comment(&row.path).unwrap_or_default());
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

/// The lines, from 0, of the parameters in the call of `params`, by their dotted names. A line of several has the first one.
fn lines_of_parameters(text: &str) -> BTreeMap<String, usize> {
    let engine = Engine::new_raw();
    let (tokens, _control) = engine.lex([&text]);
    let mut tokens = tokens.take_while(|(token, _)| *token != Token::EOF).peekable();
    let (mut lines, mut last_line) = (BTreeMap::new(), None);
    // Names of the maps that are open; those of the call itself and of functions' bodies have none.
    let (mut groups, mut key): (Vec<Option<String>>, Option<String>) = <_>::default();
    let mut is_in_call = false;
    while let Some((token, position)) = tokens.next() {
        let next = tokens.peek().map(|(token, _)| token);
        match token {
            Token::Identifier(name) if !is_in_call => {
                is_in_call = *name == "params" && next == Some(&Token::LeftParen);
            }
            _ if !is_in_call => {}
            Token::Identifier(name) if next == Some(&Token::Colon) => {
                let path: Vec<&str> =
                    groups.iter().flatten().map(String::as_str).chain([name.as_str()]).collect();
                let line = position.line().map(|line| line - 1);
                if let Some(line) = line.filter(|_| line != last_line) {
                    lines.insert(path.join("."), line);
                }
                (key, last_line) = (Some(name.to_string()), line);
            }
            Token::MapStart => groups.push(key.take()),
            Token::LeftBrace => groups.push(None),
            Token::RightBrace => {
                groups.pop();
                if groups.is_empty() {
                    break;
                }
            }
            _ => {}
        }
    }
    lines
}

/// The comment after `name: value,` on the same line.
fn comment_of<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let rest = line.trim_start().strip_prefix(name)?.trim_start().strip_prefix(':')?;
    let mut is_quoted = false;
    for (index, letter) in rest.char_indices() {
        is_quoted ^= letter == '"';
        if !is_quoted && rest[index..].starts_with("//") {
            return Some(rest[index + 2..].trim());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{comment_of, first_comment, lines_of_parameters};

    #[test]
    fn the_first_comment_ends_at_the_first_line_without_slashes() {
        let text = "// Which is better?\n//\n//     dc0-run x.rhai   \n\n// not this\nlet x = 1;\n";
        assert_eq!(first_comment(text), "Which is better?\n\n    dc0-run x.rhai");
        assert_eq!(first_comment("let x = 1; // no"), "");
    }

    #[test]
    fn a_parameter_has_the_comment_of_its_own_line() {
        let text = "let games = #{ games: 1 }; // no\nlet p = params(#{\n    train: #{ games: 5, rate: |n| { 1.0 } }, // of the group\n    \
                    games: 3, // of an iteration\n    arena: #{\n        games: 40, // of a match\n    },\n});\nlet x = #{\n    late: 1, // no\n};";
        let lines = lines_of_parameters(text);
        let expected = [("arena", 4), ("arena.games", 5), ("games", 3), ("train", 2)];
        assert_eq!(lines.iter().map(|(path, line)| (path.as_str(), *line)).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn the_comment_after_a_parameter_is_found() {
        assert_eq!(comment_of("    games: 256, // in each iteration", "games"), Some("in each iteration"));
        assert_eq!(comment_of("url: \"a//b\", // where", "url"), Some("where"));
        assert_eq!(comment_of("url: \"a//b\",", "url"), None);
        assert_eq!(comment_of("quick_games: 3, // no", "games"), None);
        assert_eq!(comment_of("games(3) // no", "games"), None);
    }
}
