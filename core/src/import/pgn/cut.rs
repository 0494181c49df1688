//! Cuts text into chunks of whole games.

use crate::board::PGN_FIRST_TAG;
use crate::import::content::{Content, SourceError};
use crate::import::format::{CHUNK, Cut};

/// The size at which a chunk is cut where games do not begin with the tag `Event`, or where one is longer than this.
const MOST: usize = 16 << 20;

/// Reads ahead until a chunk is whole.
pub(super) fn cut(content: &mut Content, ahead: &mut Vec<u8>) -> Result<Cut, SourceError> {
    let mut least = CHUNK;
    loop {
        let missing = least.saturating_sub(ahead.len()) as u64;
        if content.read_to(ahead, missing)? < missing {
            return Ok(cut_at(ahead, ahead.len(), true));
        }
        if let Some(at) = last_line(ahead, is_first_tag) {
            return Ok(cut_at(ahead, at, false));
        }
        if ahead.len() >= MOST {
            let cut = last_start(ahead, b"[").or_else(|| last_start(ahead, b"1."));
            return Ok(cut_at(ahead, cut.unwrap_or(ahead.len()), false));
        }
        least = ahead.len() + CHUNK;
    }
}

fn cut_at(ahead: &[u8], length: usize, is_last: bool) -> Cut {
    let lines = ahead[..length].split(|byte| *byte == b'\n').count() as u64 - 1;
    Cut { length, is_last, lines }
}

/// Whether a line is the first tag of a game: directly below another tag it is a tag of the same game once more.
fn is_first_tag(before: &[u8], line: &[u8]) -> bool {
    line.starts_with(PGN_FIRST_TAG) && !is_tag(last_of(before.strip_suffix(b"\n").unwrap_or(before)))
}

/// The last line of a text.
fn last_of(text: &[u8]) -> &[u8] {
    text.rsplit(|byte| *byte == b'\n').next().unwrap_or(text)
}

/// Whether a line begins with a tag; one within a comment may begin with a command such as `[%clk`.
fn is_tag(line: &[u8]) -> bool {
    line.starts_with(b"[") && !line.starts_with(b"[%")
}

/// Where the last empty line is that a game follows which begins so: one after tags follows no game, but is within one.
fn last_start(text: &[u8], beginning: &[u8]) -> Option<usize> {
    last_line(text, |before, line| {
        let next = line.strip_prefix(b"\r").unwrap_or(line).strip_prefix(b"\n");
        if !next.is_some_and(|next| next.starts_with(beginning) && !next.starts_with(b"[%")) {
            return false;
        }
        // Looked for only where a game may begin: it may be beyond many empty lines.
        !is_tag(last_of(before.trim_ascii_end()))
    })
}

/// Where the last line begins that fits, if it is not the first: by the text before it and the text from it on.
fn last_line(text: &[u8], fits: impl Fn(&[u8], &[u8]) -> bool) -> Option<usize> {
    let mut end = text.len();
    while let Some(newline) = text[..end].iter().rposition(|byte| *byte == b'\n') {
        let (before, line) = text.split_at(newline + 1);
        if fits(before, line) {
            return Some(newline + 1);
        }
        end = newline;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{is_first_tag, last_line, last_start};
    use crate::board::PgnReader;

    /// The text after the cut before the last game that begins so.
    fn after<'a>(text: &'a str, beginning: &str) -> Option<&'a str> {
        last_start(text.as_bytes(), beginning.as_bytes()).map(|at| &text[at..])
    }

    #[test]
    fn a_game_is_cut_before_its_first_tag_and_not_before_its_moves() {
        let last = "\n[White \"b\"]\n\n[Black \"c\"]\n\n1. d4 1-0\n";
        for text in [
            format!("[White \"a\"]\n\n1. e4 1-0\n{last}"),
            format!("[White \"a\"]\n\n1. e4 {{\n[%clk 0:01:00]}} 1-0\n\n{last}"),
        ] {
            assert_eq!(after(&text, "["), Some(last));
            let text = text.replace('\n', "\r\n");
            assert_eq!(after(&text, "["), Some(last.replace('\n', "\r\n").as_str()));
        }
        for moves in ["1. e4 1-0\n", "1. e4 {\n\n[%clk 0:01:00]} e5 1-0\n"] {
            assert_eq!(after(&format!("[White \"a\"]\n\n{moves}"), "["), None);
        }
    }

    #[test]
    fn a_game_whose_first_tag_comes_twice_is_cut_where_the_reader_ends_it() {
        let games = |text: &str| {
            let mut reader = PgnReader::new(text.as_bytes(), 1);
            std::iter::from_fn(|| reader.next_game(&|_| true)).count()
        };
        let first = "[Event \"a\"]\n\n1. e4 {\n[%clk 0:01:00]} 1-0\n";
        for (second, count) in [
            ("[Event \"b\"]\n[Event \"c\"]\n\n1. d4 1-0\n", 2),
            ("[Event \"b\"]\n[White \"w\"]\n[Event \"c\"]\n\n1. d4 1-0\n", 2),
            ("[Event \"b\"]\n\n[Event \"c\"]\n\n1. d4 1-0\n", 3),
        ] {
            let text = format!("{first}{second}");
            assert_eq!(games(&text), count, "{text}");
            for text in [text.replace('\n', "\r\n"), text] {
                let at = last_line(text.as_bytes(), is_first_tag).expect("several games");
                assert_eq!(games(&text[..at]) + games(&text[at..]), count, "{text}");
            }
        }
    }

    #[test]
    fn a_long_run_of_empty_lines_takes_one_pass() {
        let empty = "\n".repeat(1 << 20);
        for beginning in ["[", "1."] {
            assert_eq!(after(&empty, beginning), None);
        }
        assert_eq!(after(&format!("1. e4 1-0{empty}[White \"a\"]\n"), "["), Some("\n[White \"a\"]\n"));
    }

    #[test]
    fn games_without_tags_are_cut_before_their_first_move() {
        assert_eq!(after("1. e4 1-0\n\n1. d4 1-0\n", "1."), Some("\n1. d4 1-0\n"));
        assert_eq!(after("[White \"a\"]\n\n1. e4 e5\n", "1."), None);
    }
}
