//! Scans any text into tokens. A string or comment that is never closed ends with its line or with the text.

use std::ops::Range;

/// An opening bracket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bracket {
    /// `(`
    Paren,
    /// `[` or `?[`
    Square,
    /// `{`
    Brace,
    /// `#{`
    Map,
    /// `${` within a template string (between backticks).
    Interpolation,
}

impl Bracket {
    /// The bracket that closes it.
    pub fn closer(self) -> &'static str {
        match self {
            Self::Paren => ")",
            Self::Square => "]",
            Self::Brace | Self::Map | Self::Interpolation => "}",
        }
    }
}

/// What a token is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenKind {
    /// A name or a keyword.
    Word,
    /// A number.
    Number,
    /// A string, or a piece of one between interpolations, with the range between its quotes.
    String(Range<usize>),
    /// An opening bracket.
    Open(Bracket),
    /// A closing bracket.
    Close,
    /// An operator or a separator.
    Symbol,
}

/// A token and its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Its first byte.
    pub start: usize,
    /// One past its last byte.
    pub end: usize,
}

/// The tokens and comments of a text, both in order.
#[derive(Debug, Default)]
pub struct Scan {
    /// Everything but comments and space.
    pub tokens: Vec<Token>,
    /// Comments with their delimiters, without the line break.
    pub comments: Vec<Range<usize>>,
}

/// Operators of several characters, longer ones first.
const SYMBOLS: [&str; 28] = [
    "<<=", ">>=", "**=", "..=", "...", "::", "..", "?.", "??", "=>", "==", "!=", "<=", ">=", "&&", "||",
    "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "**", "<<", ">>", "->",
];

/// The tokens of a text.
pub fn scan(text: &str) -> Scan {
    let mut scanner = Scanner { text, at: 0, found: Scan::default(), braces: Vec::new() };
    while scanner.step() {}
    scanner.found
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    found: Scan,
    /// The stack of open braces, to find the end of an interpolation.
    braces: Vec<Bracket>,
}

impl Scanner<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// The length of the longest run of characters from here that satisfy `is`.
    fn run_of(&self, is: impl Fn(char) -> bool) -> usize {
        let rest = self.rest();
        rest.find(|c| !is(c)).unwrap_or(rest.len())
    }

    fn push(&mut self, kind: TokenKind, length: usize) {
        let (start, end) = (self.at, self.at + length);
        self.found.tokens.push(Token { kind, start, end });
        self.at = end;
    }

    /// Consumes one token, comment or run of spaces; false at the end.
    fn step(&mut self) -> bool {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return false };
        match first {
            c if c.is_whitespace() => self.at += self.run_of(char::is_whitespace),
            '/' if rest.starts_with("//") => self.comment(self.run_of(|c| c != '\n')),
            '/' if rest.starts_with("/*") => self.comment(block_comment(rest)),
            '"' => self.quoted(),
            '\'' => self.character(),
            '`' => self.template(1),
            '#' if is_raw(rest) => self.raw(),
            c if c.is_alphabetic() || c == '_' => self.push(TokenKind::Word, self.run_of(is_word_char)),
            c if c.is_ascii_digit() => self.push(TokenKind::Number, number(rest)),
            _ => self.symbol(first),
        }
        true
    }

    fn comment(&mut self, length: usize) {
        self.found.comments.push(self.at..self.at + length);
        self.at += length;
    }

    /// A string in double quotes. It ends with its line unless the line ends with a backslash.
    fn quoted(&mut self) {
        let mut is_escaped = false;
        let end = self.rest().char_indices().skip(1).find(|(_, c)| {
            let ends = !is_escaped && matches!(c, '"' | '\n');
            // A backslash at the end of a line continues the string before "\r\n", too.
            if *c != '\r' {
                is_escaped = !is_escaped && *c == '\\';
            }
            ends
        });
        let (content_end, length) = match end {
            Some((at, '"')) => (at, at + 1),
            Some((at, _)) => (at, at),
            None => (self.rest().len(), self.rest().len()),
        };
        self.push(TokenKind::String(self.at + 1..self.at + content_end.max(1)), length);
    }

    /// `'x'`; a lone quote is a symbol.
    fn character(&mut self) {
        let line = self.rest().lines().next().unwrap_or_default();
        let is_escape = line[1..].starts_with('\\');
        let end = line.char_indices().skip(if is_escape { 3 } else { 2 }).take(12).find(|(_, c)| *c == '\'');
        match end {
            Some((at, _)) => self.push(TokenKind::String(self.at + 1..self.at + at), at + 1),
            None => self.push(TokenKind::Symbol, 1),
        }
    }

    /// A template string, or the rest of one after an interpolation; `opening` bytes come before its content.
    fn template(&mut self, opening: usize) {
        let rest = self.rest();
        let content = &rest[opening..];
        let (quote, interpolation) = (content.find('`'), content.find("${"));
        let start = self.at + opening;
        match (quote, interpolation) {
            (quote, Some(at)) if quote.is_none_or(|quote| at < quote) => {
                self.push(TokenKind::String(start..start + at), opening + at);
                self.braces.push(Bracket::Interpolation);
                self.push(TokenKind::Open(Bracket::Interpolation), 2);
            }
            (Some(at), _) => self.push(TokenKind::String(start..start + at), opening + at + 1),
            (None, _) => self.push(TokenKind::String(start..self.text.len()), self.rest().len()),
        }
    }

    /// `#"…"#`, with as many `#` on both sides.
    fn raw(&mut self) {
        let marks = self.run_of(|c| c == '#');
        let end = format!("\"{}", "#".repeat(marks));
        let content = self.at + marks + 1;
        let length = self.text[content..].find(&end);
        let content_end = length.map_or(self.text.len(), |length| content + length);
        let whole = content_end + length.map_or(0, |_| end.len()) - self.at;
        self.push(TokenKind::String(content..content_end), whole);
    }

    fn symbol(&mut self, first: char) {
        let rest = self.rest();
        match first {
            '(' => self.push(TokenKind::Open(Bracket::Paren), 1),
            '[' => self.push(TokenKind::Open(Bracket::Square), 1),
            '?' if rest.starts_with("?[") => self.push(TokenKind::Open(Bracket::Square), 2),
            '#' if rest.starts_with("#{") => self.open_brace(Bracket::Map, 2),
            '{' => self.open_brace(Bracket::Brace, 1),
            ')' | ']' => self.push(TokenKind::Close, 1),
            '}' => {
                self.push(TokenKind::Close, 1);
                if self.braces.pop() == Some(Bracket::Interpolation) {
                    self.template(0);
                }
            }
            _ => {
                let known = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol));
                self.push(TokenKind::Symbol, known.map_or(first.len_utf8(), |symbol| symbol.len()));
            }
        }
    }

    fn open_brace(&mut self, bracket: Bracket, length: usize) {
        self.braces.push(bracket);
        self.push(TokenKind::Open(bracket), length);
    }
}

/// Whether a character can be part of a name.
pub fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_raw(rest: &str) -> bool {
    rest.trim_start_matches('#').starts_with('"')
}

/// The length of a comment between `/*` and `*/`; such comments nest.
fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        let here = &rest.as_bytes()[at..];
        let (change, step) = match here {
            [b'/', b'*', ..] => (1, 2),
            [b'*', b'/', ..] => (-1, 2),
            _ => (0, 1),
        };
        at += step;
        depth = depth.saturating_add_signed(change);
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

/// The length of a number; a decimal point belongs to it only before a digit.
fn number(rest: &str) -> usize {
    let digits = |from: usize| {
        let tail = &rest[from..];
        from + tail.find(|c: char| !is_word_char(c)).unwrap_or(tail.len())
    };
    let mut end = digits(0);
    if rest[end..].starts_with('.') && rest[end + 1..].starts_with(|c: char| c.is_ascii_digit()) {
        end = digits(end + 1);
    }
    let is_exponent = rest[..end].ends_with(['e', 'E']) && !rest.starts_with("0x");
    if is_exponent && rest[end..].starts_with(['+', '-']) {
        end = digits(end + 1);
    }
    end
}

#[cfg(test)]
mod tests {
    use super::{TokenKind, scan};

    fn tokens(text: &str) -> Vec<&str> {
        scan(text).tokens.iter().map(|token| &text[token.start..token.end]).collect()
    }

    #[test]
    fn a_script_is_split_into_tokens() {
        assert_eq!(
            tokens("let a = run.train(b, #{ x: 1.5e-3, y: 0..=4 }); // end"),
            [
                "let", "a", "=", "run", ".", "train", "(", "b", ",", "#{", "x", ":", "1.5e-3", ",", "y", ":",
                "0", "..=", "4", "}", ")", ";"
            ]
        );
        assert_eq!(
            tokens("1.foo /* a /* b */ c */ 'x' '\\n' '\\u0041'"),
            ["1", ".", "foo", "'x'", "'\\n'", "'\\u0041'"]
        );
    }

    #[test]
    fn template_strings_are_split_at_interpolations() {
        assert_eq!(
            tokens("`a ${ #{ b: `c${d}` } } e` f"),
            ["`a ", "${", "#{", "b", ":", "`c", "${", "d", "}", "`", "}", "}", " e`", "f"]
        );
        assert_eq!(tokens("#\"a \"b\"# ##\"c\"# d\"##"), ["#\"a \"b\"#", "##\"c\"# d\"##"]);
    }

    #[test]
    fn a_backslash_at_the_end_of_a_line_continues_a_string() {
        assert_eq!(tokens("\"a \\\n b\" c"), ["\"a \\\n b\"", "c"]);
        assert_eq!(tokens("\"a \\\r\n b\" c"), ["\"a \\\r\n b\"", "c"]);
        assert_eq!(tokens("\"a\r\nb"), ["\"a\r", "b"]);
    }

    #[test]
    fn unclosed_strings_and_comments_end_with_their_line_or_the_text() {
        assert_eq!(tokens("\"abc\nlet"), ["\"abc", "let"]);
        assert_eq!(tokens("`abc\nlet"), ["`abc\nlet"]);
        assert_eq!(tokens("`a ${b"), ["`a ", "${", "b"]);
        assert_eq!(tokens("#\"a"), ["#\"a"]);
        assert_eq!(tokens("' \" \\"), ["'", "\" \\"]);
        assert!(tokens("/* a").is_empty());
        for text in ["\"", "`", "'", "#\"", "#", "/*", "'\\", "é'", "\"\\"] {
            let found = scan(text);
            for token in found.tokens {
                assert!(token.start < token.end && token.end <= text.len(), "{text}");
                if let TokenKind::String(content) = token.kind {
                    assert!(token.start <= content.start && content.start <= content.end, "{text}");
                    assert!(content.end <= token.end, "{text}");
                }
            }
        }
    }
}
