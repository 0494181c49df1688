//! The tokens, brackets and comments of a script's text, which need not compile.

use std::ops::Range;

use crate::scan::{Bracket, Scan, Token, TokenKind, scan};

/// Keywords that begin a statement. They close every open bracket that cannot hold statements.
const STATEMENTS: [&str; 6] = ["let", "const", "import", "export", "fn", "private"];

/// Functions that declare a parameter of a script; their last argument may be its description.
const DECLARING: [&str; 5] = ["number", "whole", "choice", "flag", "text"];

/// A text with its tokens. Tokens are referred to by index.
#[derive(Debug)]
pub struct Syntax {
    /// The text.
    pub text: String,
    /// Everything but comments and space.
    pub tokens: Vec<Token>,
    /// Comments with their delimiters.
    comments: Vec<Range<usize>>,
    /// The opening bracket around each token.
    parents: Vec<Option<usize>>,
    /// The matching bracket of each bracket that has one.
    partners: Vec<Option<usize>>,
}

/// A member of a map: the token of its name, and the first token of its value, if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The token of its name.
    pub key: usize,
    /// The first token of its value.
    pub value: Option<usize>,
}

impl Syntax {
    /// Scans a text.
    pub fn new(text: &str) -> Self {
        let Scan { tokens, comments } = scan(text);
        let (parents, partners) = nest(text, &tokens);
        Self { text: text.to_owned(), tokens, comments, parents, partners }
    }

    /// A token's text; empty past the last token.
    pub fn word(&self, token: usize) -> &str {
        self.tokens.get(token).map_or("", |token| &self.text[token.start..token.end])
    }

    /// A token's kind.
    pub fn kind(&self, token: usize) -> Option<&TokenKind> {
        self.tokens.get(token).map(|token| &token.kind)
    }

    /// Whether a token is a name or keyword.
    pub fn is_word(&self, token: usize) -> bool {
        self.kind(token) == Some(&TokenKind::Word)
    }

    /// Whether a token is an opening bracket of a kind.
    pub fn opens(&self, token: usize, bracket: Bracket) -> bool {
        self.kind(token) == Some(&TokenKind::Open(bracket))
    }

    /// Whether a string is the path of an import.
    pub fn is_import(&self, string: usize) -> bool {
        string.checked_sub(1).is_some_and(|before| self.word(before) == "import")
    }

    /// The byte range of a token.
    pub fn range(&self, token: usize) -> Range<usize> {
        let end = self.text.len();
        self.tokens.get(token).map_or(end..end, |token| token.start..token.end)
    }

    /// The opening bracket around a token.
    pub fn parent(&self, token: usize) -> Option<usize> {
        self.parents.get(token).copied().flatten()
    }

    /// The matching bracket of a bracket.
    pub fn partner(&self, token: usize) -> Option<usize> {
        self.partners.get(token).copied().flatten()
    }

    /// Where the contents of an opening bracket end.
    pub fn end_of(&self, open: usize) -> usize {
        self.partner(open).map_or(self.text.len(), |close| self.tokens[close].start)
    }

    /// The last token that begins before an offset.
    pub fn before(&self, offset: usize) -> Option<usize> {
        self.tokens.partition_point(|token| token.start < offset).checked_sub(1)
    }

    /// The token that contains an offset or ends at it; words are preferred.
    pub fn at(&self, offset: usize) -> Option<usize> {
        let before = self.before(offset).filter(|token| self.tokens[*token].end >= offset);
        let next = self.tokens.partition_point(|token| token.start < offset);
        let starts =
            Some(next).filter(|next| self.tokens.get(*next).is_some_and(|token| token.start == offset));
        match (before, starts) {
            (Some(before), Some(starts))
                if self.is_word(starts) || self.tokens[before].end == offset && !self.is_word(before) =>
            {
                Some(starts)
            }
            (before, starts) => before.or(starts),
        }
    }

    /// The innermost bracket that is open at an offset.
    pub fn enclosing(&self, offset: usize) -> Option<usize> {
        let token = self.before(offset)?;
        let is_open = matches!(self.tokens[token].kind, TokenKind::Open(_));
        if is_open && self.tokens[token].end <= offset { Some(token) } else { self.parent(token) }
    }

    /// Whether an offset lies in a comment.
    pub fn is_in_comment(&self, offset: usize) -> bool {
        let is_line = |comment: &Range<usize>| self.text[comment.clone()].starts_with("//");
        self.comments.iter().any(|comment| {
            comment.start < offset && (offset < comment.end || is_line(comment) && offset == comment.end)
        })
    }

    /// The members of a map, by its opening bracket.
    pub fn entries(&self, map: usize) -> Vec<Entry> {
        let end = self.partner(map).unwrap_or(self.tokens.len());
        let mut entries = Vec::new();
        let mut is_start = true;
        for token in map + 1..end {
            if self.parent(token) != Some(map) {
                continue;
            }
            let can_be_name = matches!(self.tokens[token].kind, TokenKind::Word | TokenKind::String(_));
            if is_start && can_be_name && self.word(token + 1) == ":" {
                let value = Some(token + 2).filter(|value| *value < end && self.word(*value) != ",");
                entries.push(Entry { key: token, value });
            }
            is_start = self.word(token) == ",";
        }
        entries
    }

    /// The map of which a token is a key, and the member.
    pub fn entry(&self, key: usize) -> Option<(usize, Entry)> {
        let map = self.parent(key).filter(|open| self.opens(*open, Bracket::Map))?;
        Some((map, self.entries(map).into_iter().find(|entry| entry.key == key)?))
    }

    /// The name of a member, without quotes.
    pub fn name_of(&self, entry: Entry) -> &str {
        match self.kind(entry.key) {
            Some(TokenKind::String(content)) => &self.text[content.clone()],
            _ => self.word(entry.key),
        }
    }

    /// The member of a map whose name or value contains a token.
    pub fn entry_of(&self, map: usize, token: usize) -> Option<Entry> {
        self.entries(map).into_iter().rfind(|entry| entry.key <= token)
    }

    /// The token of the function's name, if this parenthesis belongs to a call.
    pub fn callee(&self, paren: usize) -> Option<usize> {
        let name =
            paren.checked_sub(1).filter(|name| self.is_word(*name) && self.opens(paren, Bracket::Paren))?;
        let is_definition = name.checked_sub(1).is_some_and(|before| self.word(before) == "fn");
        (!is_definition && !is_keyword(self.word(name))).then_some(name)
    }

    /// The number of commas between an opening bracket and an offset.
    pub fn commas(&self, open: usize, offset: usize) -> usize {
        let inside = (open + 1..self.tokens.len()).take_while(|token| self.tokens[*token].end <= offset);
        inside.filter(|token| self.parent(*token) == Some(open) && self.word(*token) == ",").count()
    }

    /// The comment lines right above the line of a token that begin with `mark`, without it.
    pub fn comment_above(&self, token: usize, mark: &str) -> String {
        let above = &self.text[..self.text[..self.range(token).start].rfind('\n').unwrap_or(0)];
        let mut lines: Vec<&str> = above
            .lines()
            .rev()
            .map_while(|line| line.trim_start().strip_prefix(mark))
            .map(|line| line.trim_start_matches('/').trim())
            .collect();
        lines.reverse();
        lines.join("\n")
    }

    /// The comment at the end of a token's line, without its slashes.
    fn comment_after(&self, token: usize) -> Option<&str> {
        let end = self.range(token).end;
        let line = end..end + self.text[end..].find('\n').unwrap_or(self.text.len() - end);
        let mut comments = self.comments.iter().map(|comment| (comment.start, &self.text[comment.clone()]));
        let (_, comment) =
            comments.find(|(start, comment)| line.contains(start) && comment.starts_with("//"))?;
        Some(comment.trim_start_matches('/').trim())
    }

    /// The comment that a script begins with, after blank lines and a `#!`. Three slashes begin the documentation of a function; more
    /// are a rule above or below a text.
    pub fn opening_comment(&self) -> String {
        let lines = self.text.lines().skip_while(|line| line.trim().is_empty() || line.starts_with("#!"));
        let is_plain = |line: &&str| !line.starts_with('/') || line.starts_with("//");
        let lines = lines.map_while(|line| line.strip_prefix("//")).take_while(is_plain);
        let lines = lines.map(|line| line.trim_start_matches('/'));
        let lines = lines.map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end());
        lines.collect::<Vec<_>>().join("\n").trim_start_matches('\n').trim_end().to_owned()
    }

    /// The documentation of a map's member: the description given to `whole(…)` and its like, or else what comments say.
    pub fn doc_of_entry(&self, entry: Entry) -> String {
        let described = entry.value.and_then(|value| self.description_in(value));
        described.map_or_else(|| self.comment_of_entry(entry), ToOwned::to_owned)
    }

    /// The comment at the end of the line of a map's member, or else the lines above. A line has those of the name that it begins with;
    /// further members on it have none.
    pub fn comment_of_entry(&self, entry: Entry) -> String {
        let before = &self.text[..self.range(entry.key).start];
        let begins_line = before.rsplit('\n').next().unwrap_or_default().trim().is_empty();
        if !begins_line {
            return String::new();
        }
        self.comment_after(entry.key).map_or_else(|| self.comment_above(entry.key, "//"), ToOwned::to_owned)
    }

    /// The last argument of a call that declares a parameter, if it is a string.
    fn description_in(&self, value: usize) -> Option<&str> {
        let (open, close) = (value + 1, self.partner(value + 1)?);
        let is_declaration = DECLARING.contains(&self.word(value)) && self.opens(open, Bracket::Paren);
        match self.kind(close.checked_sub(1).filter(|_| is_declaration)?)? {
            TokenKind::String(content) if close > open + 2 => self.text.get(content.clone()),
            _ => None,
        }
    }

    /// The token after the value of a map's member.
    pub fn end_of_value(&self, map: usize, value: usize) -> usize {
        let end = self.partner(map).unwrap_or(self.tokens.len());
        let is_separator = |token: &usize| self.parent(*token) == Some(map) && self.word(*token) == ",";
        (value..end).find(is_separator).unwrap_or(end)
    }

    /// The text of a member's value, shortened to one line.
    pub fn value_text(&self, map: usize, entry: Entry) -> String {
        let Some(value) = entry.value else { return String::new() };
        let range = self.range(value).start..self.range(self.end_of_value(map, value)).start;
        let text = self.text.get(range).unwrap_or_default().trim();
        let line = text.lines().next().unwrap_or_default().trim();
        if line.len() < text.len() { format!("{line} …") } else { line.to_owned() }
    }
}

/// The bracket around each token, and the matching bracket of each bracket.
fn nest(text: &str, tokens: &[Token]) -> (Vec<Option<usize>>, Vec<Option<usize>>) {
    let (mut parents, mut partners) = (Vec::new(), vec![None; tokens.len()]);
    let mut open: Vec<(usize, Bracket)> = Vec::new();
    let is_block = |bracket: Bracket| matches!(bracket, Bracket::Brace | Bracket::Interpolation);
    for (number, token) in tokens.iter().enumerate() {
        let word = &text[token.start..token.end];
        if token.kind == TokenKind::Word
            && STATEMENTS.contains(&word)
            && !text[token.end..].trim_start().starts_with(':')
        {
            let kept = open.iter().rposition(|(_, bracket)| is_block(*bracket)).map_or(0, |last| last + 1);
            open.truncate(kept);
        }
        if token.kind == TokenKind::Close
            && let Some(matching) = matching(&open, word)
        {
            let (opener, _) = open[matching];
            (partners[number], partners[opener]) = (Some(opener), Some(number));
            open.truncate(matching);
        }
        parents.push(open.last().map(|(opener, _)| *opener));
        if let TokenKind::Open(bracket) = token.kind {
            open.push((number, bracket));
        }
    }
    (parents, partners)
}

/// The open bracket that a closing one matches; the search ends at a brace.
fn matching(open: &[(usize, Bracket)], closer: &str) -> Option<usize> {
    let last = open.iter().rposition(|(_, bracket)| bracket.closer() == closer)?;
    let is_hidden = open[last + 1..].iter().any(|(_, bracket)| bracket.closer() == "}");
    (!is_hidden).then_some(last)
}

/// The keywords of the language.
pub const KEYWORDS: [&str; 25] = [
    "let", "const", "if", "else", "switch", "do", "while", "until", "loop", "for", "in", "continue", "break",
    "return", "throw", "try", "catch", "import", "export", "as", "fn", "private", "true", "false", "this",
];

/// Whether a word cannot be the name of a function that is called.
pub fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::Syntax;
    use crate::scan::Bracket;

    #[test]
    fn map_members_are_found_in_half_typed_text() {
        let script =
            Syntax::new("run.self_play(net, #{ games: 4, search: #{ root: #{ rule: \"x\" } }, \nlet x = 1;");
        let map = (0..script.tokens.len()).find(|token| script.opens(*token, Bracket::Map)).expect("a map");
        let names: Vec<&str> = script.entries(map).into_iter().map(|entry| script.name_of(entry)).collect();
        assert_eq!(names, ["games", "search"]);
        let last = script.tokens.len() - 1;
        assert_eq!(script.parent(last), None, "a statement ends the brackets of the one before");
    }

    #[test]
    fn stray_brackets_are_ignored() {
        let script = Syntax::new("if a { f(1)) } else { [ } let b = 2;");
        let last = script.before(script.text.len()).expect("tokens");
        assert_eq!(script.parent(last), None);
    }

    #[test]
    fn map_members_have_their_documentation() {
        let docs = |text: &str| {
            let script = Syntax::new(text);
            let map =
                (0..script.tokens.len()).find(|token| script.opens(*token, Bracket::Map)).expect("a map");
            script.entries(map).into_iter().map(|entry| script.doc_of_entry(entry)).collect::<Vec<_>>()
        };
        let text = "params(#{\n  // above\n  /// it\n  a: 1,\n  b: 2, // after\n  c: whole(3, 1, 9, \"games\"), // not this\n  \
            d: text(\"x\"), e: choice(1, [1, 2], \"which\") });";
        assert_eq!(docs(text), ["above\nit", "after", "games", "", "which"]);
        let text =
            "params(#{\n  url: \"a//b\", // where\n  other: `c//d`,\n  \"of two\": 1, /* 2 */ // after\n});";
        assert_eq!(docs(text), ["where", "", "after"]);
    }

    #[test]
    fn a_comment_is_of_the_member_that_its_line_begins_with() {
        let script =
            Syntax::new("// no\nf(#{ a: 1, b: 2 }); // no\nf(#{\n  c: #{ d: 1, e: 2 }, f: 3 // of c\n});");
        let maps = (0..script.tokens.len()).filter(|token| script.opens(*token, Bracket::Map));
        let docs: Vec<String> =
            maps.flat_map(|map| script.entries(map)).map(|entry| script.doc_of_entry(entry)).collect();
        assert_eq!(docs, ["", "", "of c", "", "", ""]);
    }

    #[test]
    fn comments_are_found_above_and_after() {
        let script = Syntax::new("// one\n\n/// two\n/// three\nfn f(x) { x } // four");
        assert_eq!(script.comment_above(0, "///"), "two\nthree");
        assert_eq!(script.comment_after(script.tokens.len() - 1), Some("four"));
        assert!(script.is_in_comment(3) && !script.is_in_comment(script.text.find("fn").expect("fn") + 1));
    }

    #[test]
    fn the_opening_comment_ends_at_the_first_line_without_two_slashes() {
        let opening = |text: &str| Syntax::new(text).opening_comment();
        let text = "#!/usr/bin/env dc0-run\n\n// Which is better?\n//\n//     dc0-run x.rhai   \n\n// not this\nlet x = 1;\n";
        assert_eq!(opening(text), "Which is better?\n\n    dc0-run x.rhai");
        assert_eq!(opening("// one\n/// of the function\nfn f() { }"), "one");
        assert_eq!(opening("let x = 1; // no"), "");
    }
}
