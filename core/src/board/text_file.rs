//! Text files of positions and games: their decoding, and all their problems at once.

use thiserror::Error;

/// The most problems that are listed.
const MAX_LISTED: usize = 20;

/// The most characters of a file that a message quotes.
const MAX_QUOTED: usize = 60;

/// One problem of a text file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextProblem {
    /// The line, from 1; 0 for the whole file.
    pub line: usize,
    /// What was expected, and what was found.
    pub message: String,
}

/// All problems of a text file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}: {}{}", count(.problems.len()), list(.problems))]
pub struct TextFileError {
    /// The file's name.
    pub file: String,
    /// At least one, in the order of the lines.
    pub problems: Vec<TextProblem>,
}

impl TextFileError {
    /// A single problem of a whole file.
    pub fn of_file(file: &str, message: &str) -> Self {
        let problem = TextProblem { line: 0, message: message.to_owned() };
        Self { file: file.to_owned(), problems: vec![problem] }
    }

    /// An error if there are problems.
    pub(crate) fn check(file: &str, problems: Vec<TextProblem>) -> Result<(), Self> {
        if problems.is_empty() { Ok(()) } else { Err(Self { file: file.to_owned(), problems }) }
    }
}

fn count(problems: usize) -> String {
    if problems == 1 { "1 problem".to_owned() } else { format!("{problems} problems") }
}

fn list(problems: &[TextProblem]) -> String {
    let shown = |problem: &TextProblem| match problem.line {
        0 => format!("\n  {}", problem.message),
        line => format!("\n  line {line}: {}", problem.message),
    };
    let more = problems.len().saturating_sub(MAX_LISTED);
    let more = (more > 0).then(|| format!("\n  … and {more} more"));
    problems.iter().take(MAX_LISTED).map(shown).chain(more).collect()
}

/// The text of a file in UTF-8 or, as the PGN standard has it, in Latin-1; without a byte order mark.
pub(super) fn decoded(file: &str, content: &[u8]) -> Result<String, TextFileError> {
    if content.contains(&0) {
        let cause = "is not text: it contains bytes that are 0; expected UTF-8 or Latin-1";
        return Err(TextFileError::of_file(file, cause));
    }
    let text = match std::str::from_utf8(content) {
        Ok(text) => text.to_owned(),
        Err(_) => content.iter().map(|byte| char::from(*byte)).collect(),
    };
    Ok(text.strip_prefix('\u{feff}').map(ToOwned::to_owned).unwrap_or(text))
}

/// A part of a file for a message: on one line, and not too long.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", shortened(text))
}

/// As [`quoted`], without quotation marks.
pub(super) fn shortened(text: &str) -> String {
    let escape = |letter: char| match letter {
        letter if letter.is_control() => letter.escape_default().to_string(),
        letter => letter.to_string(),
    };
    let shown: String = text.chars().take(MAX_QUOTED).map(escape).collect();
    let dots = if text.chars().nth(MAX_QUOTED).is_some() { "…" } else { "" };
    shown + dots
}

#[cfg(test)]
mod tests {
    use super::{TextFileError, TextProblem, decoded, quoted};

    #[test]
    fn problems_are_listed_up_to_a_limit() {
        let problem = |line| TextProblem { line, message: format!("problem {line}") };
        let error =
            |count| TextFileError { file: "x.epd".to_owned(), problems: (1..=count).map(problem).collect() };
        assert_eq!(error(1).to_string(), "x.epd: 1 problem\n  line 1: problem 1");
        let long = error(1000).to_string();
        assert!(long.starts_with("x.epd: 1000 problems\n  line 1: problem 1\n  line 2: "), "{long}");
        assert!(long.ends_with("\n  line 20: problem 20\n  … and 980 more"), "{long}");
        assert_eq!(TextFileError::of_file("x.epd", "is empty").to_string(), "x.epd: 1 problem\n  is empty");
    }

    #[test]
    fn files_are_utf_8_or_latin_1_and_other_files_are_refused() {
        assert_eq!(decoded("x", "\u{feff}Réti".as_bytes()).unwrap(), "Réti");
        assert_eq!(decoded("x", b"R\xe9ti").unwrap(), "Réti");
        let utf_16 = decoded("x.epd", b"\xff\xfeR\0e\0").unwrap_err().to_string();
        assert!(utf_16.contains("x.epd: 1 problem\n  is not text"), "{utf_16}");
    }

    #[test]
    fn quotes_are_short_and_on_one_line() {
        assert_eq!(quoted("a\tb\u{1b}[31m"), "\"a\\tb\\u{1b}[31m\"");
        assert_eq!(quoted(&"é".repeat(100)), format!("\"{}…\"", "é".repeat(60)));
    }
}
