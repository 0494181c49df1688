//! Splits PGN (Edwards 1994) into tokens.

/// How a game of a database begins. Such a line begins a game even within a comment, so that one that does not end spoils only its
/// own game.
pub const FIRST_TAG: &[u8] = b"[Event ";

/// The byte order mark that some programs begin files with, and that remains where files are joined.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Whether a line ends here. In files of the old Mac system `\r` does so alone.
fn is_line_end(byte: &u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

/// White space, which a vertical tab is for C, and the mark with which DOS ends a file.
fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, 0x0b | 0x1a)
}

/// A part of PGN, with its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) line: usize,
    pub(super) kind: Kind<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind<'a> {
    /// What is between brackets.
    Tag(&'a [u8]),
    /// What is between braces.
    Comment(&'a [u8]),
    /// The start of a variation.
    Open,
    /// The end of a variation.
    Close,
    /// A move, a number, a glyph or a result.
    Word(&'a [u8]),
    /// A comment that does not end.
    OpenComment,
    /// A tag that does not end on its line.
    OpenTag,
}

/// The tokens of a text. Comments to the end of a line are left out.
#[derive(Debug, Clone)]
pub(super) struct Tokens<'a> {
    text: &'a [u8],
    at: usize,
    line: usize,
    is_line_start: bool,
}

impl<'a> Tokens<'a> {
    /// The tokens of a text whose first line has this number.
    pub(super) fn new(text: &'a [u8], line: usize) -> Self {
        Self { text, at: 0, line, is_line_start: true }
    }

    /// Skips to an index, which counts lines.
    fn skip_to(&mut self, index: usize) {
        let skipped = &self.text[self.at..index];
        self.line += skipped.split(|byte| *byte == b'\n').count() - 1;
        self.is_line_start = skipped.last().map_or(self.is_line_start, |byte| *byte == b'\n');
        self.at = index;
    }

    /// Skips the rest of the line.
    fn skip_line(&mut self) {
        let rest = &self.text[self.at..];
        self.skip_to(self.at + rest.iter().position(is_line_end).unwrap_or(rest.len()));
    }

    /// The content of a tag: up to the bracket that is not in quotes; `None` if the line ends first.
    fn tag(&mut self) -> Option<&'a [u8]> {
        let (start, mut is_quoted, mut is_escaped) = (self.at, false, false);
        while let Some(byte) = self.text.get(self.at).copied().filter(|byte| *byte != b'\n') {
            self.at += 1;
            match byte {
                b']' if !is_quoted => return Some(&self.text[start..self.at - 1]),
                b'"' if !is_escaped => is_quoted = !is_quoted,
                _ => {}
            }
            is_escaped = byte == b'\\' && !is_escaped;
        }
        None
    }

    /// The content of a comment; `None` if the text ends or a game begins first.
    fn comment(&mut self) -> Option<&'a [u8]> {
        let (start, mut at) = (self.at, self.at);
        while let Some(offset) = self.text[at..].iter().position(|byte| matches!(byte, b'}' | b'\n')) {
            at += offset + 1;
            if self.text[at - 1] == b'}' {
                self.skip_to(at);
                return Some(&self.text[start..at - 1]);
            }
            if self.text[at..].starts_with(FIRST_TAG) {
                self.skip_to(at);
                return None;
            }
        }
        self.skip_to(self.text.len());
        None
    }

    fn word(&mut self, start: usize) -> &'a [u8] {
        let is_end = |byte: &u8| is_space(*byte) || b"{}()[];$".contains(byte);
        let length = self.text[self.at..].iter().position(is_end);
        self.at = length.map_or(self.text.len(), |length| self.at + length);
        &self.text[start..self.at]
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let (at, line, is_line_start) = (self.at, self.line, self.is_line_start);
            let byte = *self.text.get(at)?;
            self.at += 1;
            self.is_line_start = is_line_end(&byte);
            self.line += usize::from(byte == b'\n');
            let kind = match byte {
                byte if is_space(byte) => continue,
                0xef if self.text[at..].starts_with(MARK) => {
                    (self.at, self.is_line_start) = (at + MARK.len(), is_line_start);
                    continue;
                }
                b'%' if is_line_start => {
                    self.skip_line();
                    continue;
                }
                b';' => {
                    self.skip_line();
                    continue;
                }
                b'{' => self.comment().map_or(Kind::OpenComment, Kind::Comment),
                b'[' => self.tag().map_or(Kind::OpenTag, Kind::Tag),
                b'(' => Kind::Open,
                b')' => Kind::Close,
                b'}' | b']' => Kind::Word(&self.text[at..=at]),
                _ => Kind::Word(self.word(at)),
            };
            return Some(Token { line, kind });
        }
    }
}
