//! The parameters that a script declares, with what its author says of them: the comment at the end of each one's line.

use std::fmt::Write;

use super::declared::Declared;

/// One line for each parameter: its name, its value, where the value comes from, and the comment.
pub fn described(script: &str, text: &str, declared: &[Declared]) -> String {
    if declared.is_empty() {
        return format!("{script} declares no parameters");
    }
    let rows: Vec<[String; 4]> = declared.iter().map(|row| cells(text, row)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let [name, value, origin] = [width(0), width(1), width(2)];
    let mut shown =
        format!("{script} declares; change one with --set NAME=VALUE, or several with --params FILE:");
    for [path, set, from, comment] in &rows {
        let line = format!("  {path:name$}  {set:>value$}  {from:origin$}  {comment}");
        let _ = write!(shown, "\n{}", line.trim_end());
    }
    shown
}

fn cells(text: &str, row: &Declared) -> [String; 4] {
    let name = row.path.rsplit('.').next().unwrap_or(&row.path);
    let comment = text.lines().find_map(|line| comment_of(line, name)).unwrap_or_default();
    [row.path.clone(), row.value.to_string(), row.origin.word().to_owned(), comment.to_owned()]
}

/// The comment behind `name: value,` on a line of its own.
fn comment_of<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let behind = line.trim_start().strip_prefix(name)?.trim_start().strip_prefix(':')?;
    let mut is_quoted = false;
    for (at, letter) in behind.char_indices() {
        is_quoted ^= letter == '"';
        if !is_quoted && behind[at..].starts_with("//") {
            return Some(behind[at + 2..].trim());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::comment_of;

    #[test]
    fn the_comment_behind_a_parameter_is_found() {
        assert_eq!(comment_of("    games: 256, // in each iteration", "games"), Some("in each iteration"));
        assert_eq!(comment_of("url: \"a//b\", // where", "url"), Some("where"));
        assert_eq!(comment_of("url: \"a//b\",", "url"), None);
        assert_eq!(comment_of("quick_games: 3, // no", "games"), None);
        assert_eq!(comment_of("games(3) // no", "games"), None);
    }
}
