//! Reads input lines; overlong ones are skipped.

use std::borrow::Cow;
use std::io::{self, BufRead};

/// Length limit of a line in bytes: a game of 10,000 moves takes 50,000. Chosen.
const MAX_LENGTH: usize = 1 << 20;

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// A line without its end.
    Line(String),
    /// A line that is not UTF-8, with replacement characters for what is invalid.
    NotUtf8(String),
    /// A line that is too long; its text is dropped.
    TooLong,
    /// The end of the input.
    End,
}

/// Reads the next line.
pub(crate) fn next(from: &mut dyn BufRead) -> io::Result<Input> {
    let (mut line, mut length, mut has_bytes) = (Vec::new(), 0, false);
    loop {
        let bytes = match from.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            filled => filled?,
        };
        if bytes.is_empty() && !has_bytes {
            return Ok(Input::End);
        }
        has_bytes = true;
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let part = &bytes[..end.unwrap_or(bytes.len())];
        length += part.len();
        if length <= MAX_LENGTH {
            line.extend_from_slice(part);
        }
        let (is_last, used) = (end.is_some() || part.is_empty(), part.len() + usize::from(end.is_some()));
        from.consume(used);
        if is_last {
            return Ok(if length > MAX_LENGTH { Input::TooLong } else { text(&line) });
        }
    }
}

fn text(line: &[u8]) -> Input {
    let text = String::from_utf8_lossy(line);
    let trimmed = text.trim().to_owned();
    // Valid text is borrowed, not replaced.
    if matches!(text, Cow::Borrowed(_)) { Input::Line(trimmed) } else { Input::NotUtf8(trimmed) }
}

/// The message for a line that is too long.
pub(crate) fn too_long() -> String {
    format!("a line of more than {MAX_LENGTH} bytes is ignored")
}

#[cfg(test)]
mod tests {
    use super::{Input, MAX_LENGTH, next};

    fn all(bytes: &[u8]) -> Vec<Input> {
        let mut from = std::io::BufReader::with_capacity(7, bytes);
        let mut found = Vec::new();
        loop {
            found.push(next(&mut from).unwrap());
            if found.last() == Some(&Input::End) {
                return found;
            }
        }
    }

    #[test]
    fn every_line_ending_is_read() {
        let line = |text: &str| Input::Line(text.to_owned());
        assert_eq!(
            all(b"uci\r\n\n  isready \nquit"),
            [line("uci"), line(""), line("isready"), line("quit"), Input::End]
        );
        assert_eq!(all(b""), [Input::End]);
        assert_eq!(all(b"\xff\xfe\n"), [Input::NotUtf8("\u{fffd}\u{fffd}".to_owned()), Input::End]);
    }

    #[test]
    fn an_overlong_line_is_skipped() {
        let mut bytes = vec![b'x'; 3 * MAX_LENGTH];
        bytes.extend_from_slice(b"\nquit\n");
        assert_eq!(all(&bytes), [Input::TooLong, Input::Line("quit".to_owned()), Input::End]);
        assert_eq!(all(&vec![b'x'; MAX_LENGTH])[0], Input::Line("x".repeat(MAX_LENGTH)));
    }
}
