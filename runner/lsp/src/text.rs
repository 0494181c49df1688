//! A text addressed as editors do: lines from 0, columns in UTF-16 units.

use std::ops::Range;

use lsp_types::{Position, Range as Span};

/// A text with the starts of its lines.
#[derive(Debug, Clone)]
pub(super) struct Text {
    text: String,
    /// Where each line begins.
    starts: Vec<usize>,
}

impl Text {
    pub(super) fn new(text: String) -> Self {
        Self { starts: line_starts(&text), text }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// The byte range of a line without its line break.
    fn line(&self, line: usize) -> Range<usize> {
        let start = self.starts[line];
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        start..start + self.text[start..end].trim_end_matches(['\r', '\n']).len()
    }

    /// The byte offset of a position. Past the end of a line it is the line's end, past the last line the end of the text, as the
    /// protocol requires.
    pub(super) fn offset(&self, position: Position) -> usize {
        let line = position.line as usize;
        if line >= self.starts.len() {
            return self.text.len();
        }
        let line = self.line(line);
        let mut units = 0;
        for (at, c) in self.text[line.clone()].char_indices() {
            units += c.len_utf16();
            if units > position.character as usize {
                return line.start + at;
            }
        }
        line.end
    }

    /// The position of a byte offset.
    pub(super) fn position(&self, offset: usize) -> Position {
        let offset = self.text.floor_char_boundary(offset);
        let line = self.starts.partition_point(|start| *start <= offset) - 1;
        let units: usize = self.text[self.starts[line]..offset].chars().map(char::len_utf16).sum();
        Position::new(line as u32, units as u32)
    }

    /// The positions of a byte range.
    pub(super) fn span(&self, range: &Range<usize>) -> Span {
        Span::new(self.position(range.start), self.position(range.end))
    }

    /// The byte offset of a line and a column of characters, both from 1, as the script engine counts them.
    pub(super) fn offset_of_point(&self, (line, column): (usize, usize)) -> usize {
        let mut start = 0;
        for _ in 1..line {
            let Some(end) = self.text[start..].find('\n') else { return self.text.len() };
            start += end + 1;
        }
        let line = self.text[start..].split('\n').next().unwrap_or_default();
        start + line.char_indices().nth(column.saturating_sub(1)).map_or(line.len(), |(at, _)| at)
    }
}

/// Where lines begin: after `\n`, `\r\n` and a lone `\r`.
fn line_starts(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let ends = (0..bytes.len())
        .filter(|at| bytes[*at] == b'\n' || bytes[*at] == b'\r' && bytes.get(at + 1) != Some(&b'\n'));
    std::iter::once(0).chain(ends.map(|end| end + 1)).collect()
}

#[cfg(test)]
mod tests {
    use lsp_types::Position;

    use super::Text;

    #[test]
    fn columns_are_counted_in_utf_16() {
        let text = Text::new("aé😀b\nc".to_owned());
        let at = |line, character| text.offset(Position { line, character });
        assert_eq!([at(0, 0), at(0, 1), at(0, 2), at(0, 4), at(0, 5)], [0, 1, 3, 7, 8]);
        assert_eq!(at(0, 3), 3, "the middle of a pair is its beginning");
        assert_eq!([at(0, 99), at(1, 99), at(9, 0)], [8, 10, 10]);
        for offset in [0, 1, 3, 7, 8, 9, 10] {
            assert_eq!(text.offset(text.position(offset)), offset);
        }
        assert_eq!(text.offset_of_point((1, 4)), 7);
        assert_eq!(
            [text.offset_of_point((2, 1)), text.offset_of_point((7, 1)), text.offset_of_point((1, 70))],
            [9, 10, 8]
        );
    }

    #[test]
    fn every_line_break_counts_once() {
        let text = Text::new("a\r\nb\rc\nd".to_owned());
        let lines = |offset| text.position(offset).line;
        assert_eq!([lines(0), lines(3), lines(5), lines(7)], [0, 1, 2, 3]);
        assert_eq!(text.offset(Position { line: 0, character: 9 }), 1);
    }
}
