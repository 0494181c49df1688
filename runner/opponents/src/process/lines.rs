//! The lines that a program writes, within bounds.

use std::collections::VecDeque;

use dc0_process::clock::Stopwatch;

/// The longest line that is kept whole, in bytes; what follows is dropped. The longest that Stockfish writes have 2,000.
const MAX_LINE: usize = 16 << 10;

/// Lines of each kind that wait to be read; older ones are dropped. A search writes a few hundred.
const MAX_WAITING: usize = 4096;

/// Lines that are kept for messages.
const MAX_LAST: usize = 4;

/// Bytes of each of them.
const MAX_SHOWN: usize = 200;

/// A line, and when it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// Without its end.
    pub(crate) text: String,
    /// Started when it arrived.
    pub(crate) arrival: Stopwatch,
}

/// Cuts bytes into lines.
#[derive(Debug, Default)]
pub(super) struct Splitter {
    /// The line so far, at most [`MAX_LINE`] bytes of it.
    partial: Vec<u8>,
}

impl Splitter {
    /// Passes each line that these bytes end to `each`.
    pub(super) fn split(&mut self, mut bytes: &[u8], mut each: impl FnMut(&str)) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.extend(&bytes[..end]);
            self.end(&mut each);
            bytes = &bytes[end + 1..];
        }
        self.extend(bytes);
    }

    /// Passes a line without an end to `each`, if there is one.
    pub(super) fn finish(&mut self, mut each: impl FnMut(&str)) {
        if !self.partial.is_empty() {
            self.end(&mut each);
        }
    }

    fn extend(&mut self, bytes: &[u8]) {
        let space = MAX_LINE - self.partial.len();
        self.partial.extend_from_slice(&bytes[..bytes.len().min(space)]);
    }

    fn end(&mut self, each: &mut impl FnMut(&str)) {
        each(String::from_utf8_lossy(&self.partial).trim());
        self.partial.clear();
    }
}

/// Lines that wait to be read, in their order.
///
/// A program that floods its output loses the oldest lines of the kind that it floods with, so that reports of its thinking never
/// displace its answers.
#[derive(Debug, Default)]
pub(super) struct Queue {
    lines: VecDeque<(Line, bool)>,
    /// How many of them are answers.
    answers: usize,
}

impl Queue {
    /// Adds a line.
    pub(super) fn push(&mut self, line: Line, is_answer: bool) {
        let alike = if is_answer { self.answers } else { self.lines.len() - self.answers };
        if alike >= MAX_WAITING {
            let oldest = self.lines.iter().position(|(_, other)| *other == is_answer);
            self.lines.remove(oldest.expect("there are such lines"));
            self.answers -= usize::from(is_answer);
        }
        self.answers += usize::from(is_answer);
        self.lines.push_back((line, is_answer));
    }

    /// The oldest line.
    pub(super) fn pop(&mut self) -> Option<Line> {
        let (line, is_answer) = self.lines.pop_front()?;
        self.answers -= usize::from(is_answer);
        Some(line)
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

/// The last lines of something, for messages.
#[derive(Debug, Default, Clone)]
pub(super) struct Last(VecDeque<String>);

impl Last {
    /// Adds a line, shortened. Empty ones say nothing.
    pub(super) fn push(&mut self, line: &str) {
        if line.is_empty() {
            return;
        }
        if self.0.len() == MAX_LAST {
            self.0.pop_front();
        }
        self.0.push_back(shortened(line));
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Them as one text.
    pub(super) fn joined(&self) -> String {
        self.0.iter().map(String::as_str).collect::<Vec<_>>().join(" | ")
    }
}

/// A line as messages show it: without control characters, and not too long.
pub(crate) fn shortened(line: &str) -> String {
    let shown: String =
        line.chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }).collect();
    match shown.char_indices().find(|(at, _)| *at >= MAX_SHOWN) {
        Some((at, _)) => format!("{}…", &shown[..at]),
        None => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::{Last, Line, MAX_LINE, MAX_WAITING, Queue, Splitter, Stopwatch, shortened};

    fn split(parts: &[&[u8]]) -> Vec<String> {
        let mut lines = Vec::new();
        let mut splitter = Splitter::default();
        for part in parts {
            splitter.split(part, |line| lines.push(line.to_owned()));
        }
        splitter.finish(|line| lines.push(line.to_owned()));
        lines
    }

    #[test]
    fn lines_are_put_together_from_parts() {
        assert_eq!(split(&[b"uci", b"ok\r\n\nread", b"y", b"ok"]), ["uciok", "", "readyok"]);
        assert_eq!(split(&[b"a\xffb\n"]), ["a\u{fffd}b"]);
    }

    #[test]
    fn a_line_without_an_end_takes_no_memory() {
        let lines = split(&[&vec![b'x'; 10 * MAX_LINE], &vec![b'y'; MAX_LINE], b"\nbestmove e2e4\n"]);
        assert_eq!(lines.iter().map(String::len).collect::<Vec<_>>(), [MAX_LINE, 13]);
    }

    #[test]
    fn a_flood_displaces_lines_of_its_own_kind_only() {
        let mut queue = Queue::default();
        let line = |text: String| Line { text, arrival: Stopwatch::start() };
        queue.push(line("readyok".to_owned()), true);
        for number in 0..3 * MAX_WAITING {
            queue.push(line(number.to_string()), false);
        }
        queue.push(line("bestmove e2e4".to_owned()), true);
        let texts: Vec<String> = std::iter::from_fn(|| queue.pop()).map(|line| line.text).collect();
        assert_eq!(texts.len(), MAX_WAITING + 2);
        assert_eq!((texts[0].as_str(), texts[MAX_WAITING + 1].as_str()), ("readyok", "bestmove e2e4"));
        assert_eq!(texts[1], (2 * MAX_WAITING).to_string());
        assert!(queue.is_empty() && queue.answers == 0);
    }

    #[test]
    fn messages_show_the_last_lines_without_control_characters() {
        let mut last = Last::default();
        for line in ["1", "2", "", "3", "4", "\x1b[2J"] {
            last.push(line);
        }
        assert_eq!(last.joined(), "2 | 3 | 4 | \u{fffd}[2J");
        assert_eq!(shortened(&"ä".repeat(300)).chars().count(), 101);
    }
}
