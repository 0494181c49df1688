//! Lines of the input, however long.

use std::io::{self, BufRead};

/// Bytes of a line that are kept: a game of 10,000 moves takes 50,000. Chosen.
const LONGEST: usize = 1 << 20;

/// What came in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// A line without its end; bytes that are no text are replaced.
    Line(String),
    /// A line too long to be read; it is left out.
    TooLong,
    /// Nothing will come any more.
    End,
}

/// Reads the next line.
pub(crate) fn next(from: &mut dyn BufRead) -> io::Result<Input> {
    let (mut line, mut length, mut came) = (Vec::new(), 0, false);
    loop {
        let bytes = match from.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            filled => filled?,
        };
        if bytes.is_empty() && !came {
            return Ok(Input::End);
        }
        came = true;
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let part = &bytes[..end.unwrap_or(bytes.len())];
        length += part.len();
        if length <= LONGEST {
            line.extend_from_slice(part);
        }
        let (is_last, used) = (end.is_some() || part.is_empty(), part.len() + usize::from(end.is_some()));
        from.consume(used);
        if is_last {
            let text = || String::from_utf8_lossy(&line).trim().to_owned();
            return Ok(if length > LONGEST { Input::TooLong } else { Input::Line(text()) });
        }
    }
}

/// What is said of a line that is too long.
pub(crate) fn too_long() -> String {
    format!("error: a line of more than {LONGEST} bytes is ignored")
}

#[cfg(test)]
mod tests {
    use super::{Input, LONGEST, next};

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
    fn lines_end_in_any_way() {
        let line = |text: &str| Input::Line(text.to_owned());
        assert_eq!(
            all(b"uci\r\n\n  isready \nquit"),
            [line("uci"), line(""), line("isready"), line("quit"), Input::End]
        );
        assert_eq!(all(b""), [Input::End]);
        assert_eq!(all(b"\xff\xfe\n"), [line("\u{fffd}\u{fffd}"), Input::End]);
    }

    #[test]
    fn an_enormous_line_is_left_out_and_the_next_one_is_read() {
        let mut bytes = vec![b'x'; 3 * LONGEST];
        bytes.extend_from_slice(b"\nquit\n");
        assert_eq!(all(&bytes), [Input::TooLong, Input::Line("quit".to_owned()), Input::End]);
        assert_eq!(all(&vec![b'x'; LONGEST])[0], Input::Line("x".repeat(LONGEST)));
    }
}
