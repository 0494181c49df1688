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
        if let Some(at) = last_line(ahead, |_, line| line.starts_with(PGN_FIRST_TAG)) {
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

/// Where the last empty line is that a game follows which begins so: one after tags follows no game, but is within one.
fn last_start(text: &[u8], beginning: &[u8]) -> Option<usize> {
    // A line within a comment may begin with a command such as `[%clk`.
    let is_command = |line: &[u8]| line.starts_with(b"[%");
    last_line(text, |before, line| {
        let next = line.strip_prefix(b"\r").unwrap_or(line).strip_prefix(b"\n");
        if !next.is_some_and(|next| next.starts_with(beginning) && !is_command(next)) {
            return false;
        }
        // Looked for only where a game may begin: it may be beyond many empty lines.
        let above = before.trim_ascii_end();
        let above = above.rsplit(|byte| *byte == b'\n').next().unwrap_or(above);
        !above.starts_with(b"[") || is_command(above)
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
    use super::last_start;

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
