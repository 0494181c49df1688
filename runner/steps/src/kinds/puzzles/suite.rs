//! A suite of puzzles, from a file or from a script's lines.

use std::path::Path;

use dc0_core::arena::{Puzzle, read_puzzles};
use dc0_core::params::Problem;
use dc0_core::{durable, regular};

/// A puzzle, for messages.
const EXAMPLE: &str = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - bm Ra8#;";

/// A suite as it is read.
#[derive(Default)]
pub(super) struct Suite {
    pub(super) name: String,
    pub(super) digest: String,
    /// Its text.
    pub(super) content: Vec<u8>,
    pub(super) puzzles: Vec<Puzzle>,
}

impl Suite {
    /// Reads the suite of a file; what is wrong with it becomes problems with their lines.
    pub(super) fn of_file(file: &str, problems: &mut Vec<Problem>) -> Self {
        match regular::read(Path::new(file)) {
            Ok(content) => {
                let name = Path::new(file).file_name().unwrap_or_default();
                Self::of(&name.to_string_lossy(), file, &content, problems)
            }
            Err(cause) => {
                problems.push(Problem { path: file.to_owned(), message: format!("cannot be read: {cause}") });
                Self::default()
            }
        }
    }

    /// The suite of a script's lines.
    pub(super) fn of_lines(lines: Vec<Result<String, String>>, problems: &mut Vec<Problem>) -> Self {
        let mut content = String::new();
        for (index, line) in lines.into_iter().enumerate() {
            match line {
                Ok(line) => {
                    content.push_str(&line.replace(['\n', '\r'], " "));
                    content.push('\n');
                }
                Err(kind) => {
                    let message = format!("expected text, such as \"{EXAMPLE}\", got {kind}");
                    problems.push(Problem { path: format!("puzzles[{index}]"), message });
                }
            }
        }
        if problems.is_empty() {
            Self::of("puzzles", "puzzles", content.as_bytes(), problems)
        } else {
            Self::default()
        }
    }

    fn of(name: &str, file: &str, content: &[u8], problems: &mut Vec<Problem>) -> Self {
        let puzzles = read_puzzles(file, content).unwrap_or_else(|error| {
            problems.extend(error.problems.into_iter().map(|problem| {
                let path = match problem.line {
                    0 => file.to_owned(),
                    line => format!("{file}, line {line}"),
                };
                Problem { path, message: problem.message }
            }));
            Vec::new()
        });
        let (digest, content) = (durable::digest(content), content.to_vec());
        Self { name: name.to_owned(), digest, content, puzzles }
    }
}

/// Whether a move solves a puzzle.
pub(super) fn is_right(puzzle: &Puzzle, played: u16) -> bool {
    puzzle.right.iter().any(|right| right.packed() == played)
}

/// The right moves, as rows have them.
pub(super) fn right(puzzle: &Puzzle) -> Vec<u16> {
    puzzle.right.iter().map(|right| right.packed()).collect()
}
