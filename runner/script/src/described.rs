//! The parameters that a script declares, each with its doc text or else the comment at the end of its line.

use std::collections::BTreeMap;
use std::fmt::Write;

use rhai::{Engine, Position, Token};

use dc0_core::text_table::{Align, aligned};
use dc0_runs::declared::Declared;

/// A token of a script, and where it begins.
type Lexed = (Token, Position);

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

/// The lines, from 0, of the parameters in the call of `params`, by their dotted names. Beside the maps of the call are those of
/// the variables and functions that it names outside of them.
fn lines_of_parameters(text: &str) -> BTreeMap<String, usize> {
    let tokens = tokens(text);
    let is_call = |pair: &[Lexed]| name(&pair[0]) == Some("params") && pair[1].0 == Token::LeftParen;
    let Some(call) = tokens.windows(2).position(is_call) else { return BTreeMap::new() };
    let arguments = until(&tokens[call + 1..], &[Token::RightParen]);
    let mut depth = 0;
    let outside = arguments.iter().filter(|(token, _)| {
        match token {
            Token::MapStart | Token::LeftBrace => depth += 1,
            Token::RightBrace => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    let definitions = outside.filter_map(name).filter_map(|name| definition(&tokens, name));
    definitions.flat_map(lines_of_keys).chain(lines_of_keys(arguments)).collect()
}

/// The tokens of a script. Behind the `}` of a `${…}`, the lexer has to be set back to the text around it.
fn tokens(text: &str) -> Vec<Lexed> {
    let engine = Engine::new_raw();
    let (lexer, control) = engine.lex([&text]);
    let mut tokens: Vec<Lexed> = Vec::new();
    // Whether each brace that is open is that of a `${…}`.
    let mut braces = Vec::new();
    for (token, position) in lexer.take_while(|(token, _)| *token != Token::EOF) {
        match token {
            Token::LeftBrace => {
                braces.push(matches!(tokens.last(), Some((Token::InterpolatedString(_), _))));
            }
            Token::MapStart => braces.push(false),
            Token::RightBrace => control.borrow_mut().is_within_text = braces.pop() == Some(true),
            _ => {}
        }
        tokens.push((token, position));
    }
    tokens
}

fn name((token, _): &Lexed) -> Option<&str> {
    match token {
        Token::Identifier(name) => Some(name.as_str()),
        _ => None,
    }
}

/// The first definition of a variable or function, from its name on.
fn definition<'a>(tokens: &'a [Lexed], wanted: &str) -> Option<&'a [Lexed]> {
    let defines = |pair: &[Lexed]| {
        matches!(pair[0].0, Token::Let | Token::Const | Token::Fn) && name(&pair[1]) == Some(wanted)
    };
    let keyword = tokens.windows(2).position(defines)?;
    // The value of a variable may be a sum of maps.
    let end = if tokens[keyword].0 == Token::Fn { Token::RightBrace } else { Token::SemiColon };
    Some(until(&tokens[keyword + 1..], &[end]))
}

/// The tokens up to the first of some others behind which no bracket is open.
fn until<'a>(tokens: &'a [Lexed], ends: &[Token]) -> &'a [Lexed] {
    let mut depth = 0;
    for (index, (token, _)) in tokens.iter().enumerate() {
        match token {
            Token::LeftParen
            | Token::LeftBracket
            | Token::QuestionBracket
            | Token::LeftBrace
            | Token::MapStart => depth += 1,
            Token::RightParen | Token::RightBracket | Token::RightBrace => depth -= 1,
            _ => {}
        }
        if depth == 0 && ends.contains(token) {
            return &tokens[..=index];
        }
    }
    tokens
}

/// The lines, from 0, of the keys of maps, by their dotted names. A line of several has the first one.
fn lines_of_keys(tokens: &[Lexed]) -> BTreeMap<String, usize> {
    let (mut lines, mut last_line) = (BTreeMap::new(), None);
    // Names of the maps that are open; those of the outermost ones and of functions' bodies have none.
    let (mut groups, mut key): (Vec<Option<String>>, Option<String>) = <_>::default();
    for (index, (token, position)) in tokens.iter().enumerate() {
        let is_key = tokens.get(index + 1).is_some_and(|(next, _)| *next == Token::Colon);
        match token {
            Token::Identifier(name) | Token::StringConstant(name) if is_key => {
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
                key = None;
            }
            _ => {}
        }
    }
    lines
}

/// The comment after `name: value,` on the same line.
fn comment_of<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (line, quoted) = (line.trim_start(), format!("\"{name}\""));
    let rest = line.strip_prefix(name).or_else(|| line.strip_prefix(&quoted))?;
    let rest = rest.trim_start().strip_prefix(':')?;
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
    fn only_maps_of_the_call_have_parameters() {
        let lines = |text: &str| {
            lines_of_parameters(text)
                .into_iter()
                .map(|(path, line)| format!("{path}:{line}"))
                .collect::<Vec<_>>()
        };
        let other = "let x = #{\n    games: 4, // of something else\n};\n";
        assert_eq!(lines(&format!("let p = params(lib::d());\n{other}")), [""; 0]);
        assert_eq!(lines(&format!("let p = params();\n{other}")), [""; 0]);
        let named = "fn d(n) {\n    #{\n        games: n,\n    }\n}\n";
        assert_eq!(lines(&format!("{other}{named}let p = params(d(3));")), ["games:5"]);
        assert_eq!(lines(&format!("let p = params(d(3));\n{other}{named}")), ["games:6"]);
        let named = "const D = #{\n    games: 3,\n    arena: #{\n        games: 9,\n    },\n};\n";
        assert_eq!(
            lines(&format!("{other}{named}params(D);\n{other}")),
            ["arena:5", "arena.games:6", "games:4"]
        );
        let sum = "let d = #{\n    games: 3,\n} + #{\n    seed: 1,\n};\n";
        assert_eq!(lines(&format!("{sum}params(d);\n{other}")), ["games:1", "seed:3"]);
        let base = "let d = #{\n    games: 3,\n    seed: 2,\n};\nparams(d + #{\n    seed: 1,\n});\n";
        assert_eq!(lines(&format!("{base}{other}")), ["games:1", "seed:5"]);
        let both = "params(#{\n    games: 3,\n} + #{\n    sizes: [x?[0], (1)],\n    seed: 1,\n});";
        assert_eq!(lines(&format!("{both}\n{other}")), ["games:1", "seed:4", "sizes:3"]);
    }

    #[test]
    fn quoted_names_and_texts_with_values_are_read() {
        let text = "print(`it's ${#{ games: `${1}` }} // {`);\nparams(#{\n    label: `${1} \"${\"}\"}`,\n    \"games\": 3,\n});";
        let lines = lines_of_parameters(text);
        let expected = [("games", 3), ("label", 2)];
        assert_eq!(lines.iter().map(|(path, line)| (path.as_str(), *line)).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn the_comment_after_a_parameter_is_found() {
        assert_eq!(comment_of("    games: 256, // in each iteration", "games"), Some("in each iteration"));
        assert_eq!(comment_of("url: \"a//b\", // where", "url"), Some("where"));
        assert_eq!(comment_of("url: \"a//b\",", "url"), None);
        assert_eq!(comment_of("\"games\": 3, // in each iteration", "games"), Some("in each iteration"));
        assert_eq!(comment_of("quick_games: 3, // no", "games"), None);
        assert_eq!(comment_of("games(3) // no", "games"), None);
    }
}
