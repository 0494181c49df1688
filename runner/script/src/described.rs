//! The parameters that a script declares, each with its doc text or else the comment at the end of its line.

use std::fmt::Write;

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
    let rows: Vec<[String; 5]> = declared.iter().map(|row| cells(text, row)).collect();
    let align = |column| if column == 1 { Align::Right } else { Align::Left };
    let lines = aligned(&rows, align).into_iter().map(|line| format!("  {line}"));
    lines.collect::<Vec<_>>().join("\n")
}

fn cells(text: &str, row: &Declared) -> [String; 5] {
    let name = row.path.rsplit('.').next().unwrap_or(&row.path);
    let comment = || text.lines().find_map(|line| comment_of(line, name)).unwrap_or_default().to_owned();
    let doc = if row.doc.is_empty() { comment() } else { row.doc.clone() };
    let is_default = row.value == row.default;
    let default = if is_default { String::new() } else { format!(", default {}", row.default) };
    let allowed = format!("{}{default}", row.allowed);
    [row.path.clone(), row.value.to_string(), row.origin.name().to_owned(), allowed, doc]
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
    use super::{comment_of, first_comment};

    #[test]
    fn the_first_comment_ends_at_the_first_line_without_slashes() {
        let text = "// Which is better?\n//\n//     dc0-run x.rhai   \n\n// not this\nlet x = 1;\n";
        assert_eq!(first_comment(text), "Which is better?\n\n    dc0-run x.rhai");
        assert_eq!(first_comment("let x = 1; // no"), "");
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
