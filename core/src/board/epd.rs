//! Positions with operations: EPD, section 16.2 of the PGN standard (Edwards 1994).

use std::collections::BTreeMap;
use std::fmt;

use thiserror::Error;

use super::fen::FenError;
use super::san::MoveTextError;
use super::text_file::{TextFileError, TextProblem, decoded, quoted};
use super::{Move, Position};

/// Opcodes whose operands are moves of the position.
const MOVE_OPCODES: [&str; 2] = ["am", "bm"];

/// The opcode of the halfmove clock, which is part of the position here.
const CLOCK: &str = "hmvc";

/// The opcode of the move number, which is part of the position here.
const NUMBER: &str = "fmvn";

/// Opcodes whose operand is a whole number, with the least one.
const NUMBER_OPCODES: [(&str, u32); 3] = [("dm", 1), (CLOCK, 0), (NUMBER, 1)];

/// One line of an EPD file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Epd {
    /// The position. Its clock and move number are those of `hmvc` and `fmvn`, or of a FEN; 0 and 1 if the line has none.
    pub position: Position,
    /// The other operations by opcode.
    pub operations: BTreeMap<String, Operands>,
}

/// The operands of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operands {
    /// The legal moves of `bm` and `am`, at least one.
    Moves(Vec<Move>),
    /// The number of `dm`.
    Number(u32),
    /// A quoted text.
    Text(String),
    /// Anything else as it is written, empty for none.
    Other(String),
}

/// Why text is not EPD.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum EpdError {
    #[error(
        "has {found} of the four fields of a position; expected pieces, side to move, castling rights and en-passant square, such as \
         \"8/8/8/4k3/8/8/4P3/4K3 w - -\", then operations such as \"bm Kd2;\""
    )]
    Fields { found: usize },
    /// Like a FEN, the line goes on with a number, but not with two.
    #[error(
        "goes on with {found} after the position; expected the two counters of a FEN, such as \"0 1\", or an opcode such as bm"
    )]
    Counters { found: String },
    #[error(transparent)]
    Position(#[from] FenError),
    #[error("{found} is not an opcode; expected a letter, then letters, digits and underscores, such as bm")]
    Opcode { found: String },
    #[error("{opcode} is given twice; expected each opcode once")]
    Twice { opcode: String },
    #[error("the quoted text of {opcode} does not end; expected another \" on the line")]
    OpenQuote { opcode: String },
    #[error("{opcode} has no move; expected one or more, such as \"{opcode} {example};\"")]
    NoMoves {
        opcode: String,
        /// A legal move, or `none`.
        example: String,
    },
    #[error("{opcode}: {cause}")]
    Move { opcode: String, cause: MoveTextError },
    #[error("{opcode} names the move {played} twice")]
    SameMove { opcode: String, played: String },
    #[error(
        "{opcode} {found} is not a number; expected a whole number of at least {least}, such as \"{opcode} {least};\""
    )]
    Number { opcode: String, found: String, least: u32 },
}

impl Epd {
    /// A position without operations.
    pub fn of(position: Position) -> Self {
        Self { position, operations: BTreeMap::new() }
    }

    /// Parses a line: a position in four fields, or a FEN, then operations. Returns all errors of the line.
    pub fn parse(line: &str) -> Result<Self, Vec<EpdError>> {
        let (fields, rest) = position_fields(line).map_err(|error| vec![error])?;
        let (counters, rest) = counters(rest).map_err(|error| vec![error])?;
        let mut errors = Vec::new();
        let mut found = operations(rest, &mut errors);
        let mut counter = |opcode: &'static str, of_fen: Option<u32>, default| match found.remove(opcode) {
            Some(_) if of_fen.is_some() => {
                errors.push(EpdError::Twice { opcode: opcode.to_owned() });
                default
            }
            Some(text) => number(opcode, &text).unwrap_or_else(|error| {
                errors.push(error);
                default
            }),
            None => of_fen.unwrap_or(default),
        };
        let clock = counter(CLOCK, counters.map(|both| both.0), 0);
        let full_move = counter(NUMBER, counters.map(|both| both.1), 1);
        let position = match Position::from_fen(&format!("{fields} {clock} {full_move}")) {
            Ok(position) => position,
            Err(error) => {
                errors.insert(0, error.into());
                return Err(errors);
            }
        };
        let mut read = BTreeMap::new();
        for (opcode, text) in found {
            if let Some(operands) = operands(&position, &opcode, &text, &mut errors) {
                read.insert(opcode, operands);
            }
        }
        if errors.is_empty() { Ok(Self { position, operations: read }) } else { Err(errors) }
    }

    /// The moves of `bm` or `am`; none without the operation.
    pub fn moves(&self, opcode: &str) -> &[Move] {
        match self.operations.get(opcode) {
            Some(Operands::Moves(moves)) => moves,
            _ => &[],
        }
    }

    /// The moves of `dm`, if there is one.
    pub fn mate_in(&self) -> Option<u32> {
        match self.operations.get("dm") {
            Some(Operands::Number(moves)) => Some(*moves),
            _ => None,
        }
    }

    /// The text of an operation such as `id`, quoted or not.
    pub fn text(&self, opcode: &str) -> Option<&str> {
        match self.operations.get(opcode) {
            Some(Operands::Text(text) | Operands::Other(text)) => Some(text),
            _ => None,
        }
    }
}

impl fmt::Display for Epd {
    /// The line in canonical form: moves in SAN, one blank between the parts, opcodes in alphabetical order.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.position.epd_fields())?;
        let mut operations: BTreeMap<&str, String> = BTreeMap::new();
        let (clock, number) = (self.position.halfmove_clock(), self.position.fullmove_number());
        if clock != 0 {
            operations.insert(CLOCK, clock.to_string());
        }
        if number != 1 {
            operations.insert(NUMBER, number.to_string());
        }
        for (opcode, operands) in &self.operations {
            operations.insert(opcode, written(&self.position, operands));
        }
        for (opcode, operands) in operations {
            let blank = if operands.is_empty() { "" } else { " " };
            write!(f, " {opcode}{blank}{operands};")?;
        }
        Ok(())
    }
}

impl Position {
    /// The first four fields of the FEN, which are those of EPD: everything but the clock and the move number.
    pub fn epd_fields(&self) -> String {
        let fen = self.fen();
        let end = fen.match_indices(' ').nth(3).map_or(fen.len(), |(end, _)| end);
        fen[..end].to_owned()
    }
}

/// Parses a file with a position per line, each with the number of its line. Blank lines, and lines that begin with `#`, `%` or `;`,
/// are comments.
pub fn read_epd(file: &str, content: &[u8]) -> Result<Vec<(usize, Epd)>, TextFileError> {
    let text = decoded(file, content)?;
    let (mut positions, mut problems) = (Vec::new(), Vec::new());
    for (line, text) in (1..).zip(text.lines().map(str::trim)) {
        if text.is_empty() || text.starts_with(['#', '%', ';']) {
            continue;
        }
        match Epd::parse(text) {
            Ok(epd) => positions.push((line, epd)),
            Err(errors) => {
                problems.extend(errors.iter().map(|error| TextProblem { line, message: error.to_string() }));
            }
        }
    }
    TextFileError::check(file, problems)?;
    if positions.is_empty() {
        let cause =
            "has no positions; expected one per line, such as \"8/8/8/4k3/8/8/4P3/4K3 w - - bm Kd2;\"";
        return Err(TextFileError::of_file(file, cause));
    }
    Ok(positions)
}

/// The first word of a text, and the rest without blanks before it.
fn first_word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

/// The four fields of the position with a blank between them, and the rest of the line.
fn position_fields(line: &str) -> Result<(String, &str), EpdError> {
    let (mut fields, mut rest) = (Vec::new(), line);
    while fields.len() < 4 {
        let (field, after) = first_word(rest);
        if field.is_empty() {
            return Err(EpdError::Fields { found: fields.len() });
        }
        fields.push(field);
        rest = after;
    }
    Ok((fields.join(" "), rest))
}

/// The halfmove clock and the move number of a FEN.
type Counters = (u32, u32);

/// The counters of a FEN, if the line goes on with them, and the rest.
fn counters(text: &str) -> Result<(Option<Counters>, &str), EpdError> {
    if !text.starts_with(|letter: char| letter.is_ascii_digit()) {
        return Ok((None, text));
    }
    let (clock, rest) = first_word(text);
    let (number, rest) = first_word(rest);
    match (clock.parse(), number.parse()) {
        (Ok(clock), Ok(number)) => Ok((Some((clock, number)), rest)),
        _ => Err(EpdError::Counters { found: quoted(text) }),
    }
}

/// The operands of each operation as they are written, without blanks around them.
fn operations(text: &str, errors: &mut Vec<EpdError>) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let (parts, is_open) = parts(text);
    let last = parts.len() - 1;
    for (index, operation) in parts.into_iter().enumerate().filter(|(_, part)| !part.is_empty()) {
        let (opcode, operands) = first_word(operation);
        let is_opcode = opcode.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && opcode.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        if !is_opcode {
            errors.push(EpdError::Opcode { found: quoted(operation) });
        } else if is_open && index == last {
            errors.push(EpdError::OpenQuote { opcode: opcode.to_owned() });
        } else if found.insert(opcode.to_owned(), operands.trim_end().to_owned()).is_some() {
            errors.push(EpdError::Twice { opcode: opcode.to_owned() });
        }
    }
    found
}

/// The text between semicolons, except those in quotes, and whether the last quote is open.
fn parts(text: &str) -> (Vec<&str>, bool) {
    let (mut parts, mut start) = (Vec::new(), 0);
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, letter) in text.char_indices() {
        if is_escaped {
            is_escaped = false;
            continue;
        }
        match letter {
            '\\' => is_escaped = is_quoted,
            '"' => is_quoted = !is_quoted,
            ';' if !is_quoted => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    (parts, is_quoted)
}

/// The operands of one operation; errors are added.
fn operands(position: &Position, opcode: &str, text: &str, errors: &mut Vec<EpdError>) -> Option<Operands> {
    let before = errors.len();
    let operands = if MOVE_OPCODES.contains(&opcode) {
        Operands::Moves(moves(position, opcode, text, errors))
    } else if NUMBER_OPCODES.iter().any(|(name, _)| *name == opcode) {
        Operands::Number(number(opcode, text).map_err(|error| errors.push(error)).ok()?)
    } else if let Some(quote) = text.strip_prefix('"') {
        match unescaped(quote) {
            Some((text, "")) => Operands::Text(text),
            _ => Operands::Other(text.to_owned()),
        }
    } else {
        Operands::Other(text.to_owned())
    };
    (errors.len() == before).then_some(operands)
}

fn moves(position: &Position, opcode: &str, text: &str, errors: &mut Vec<EpdError>) -> Vec<Move> {
    let mut moves = Vec::new();
    for word in text.split_whitespace() {
        match position.read_move(word) {
            Ok(played) if moves.contains(&played) => {
                errors.push(EpdError::SameMove { opcode: opcode.to_owned(), played: position.san(played) });
            }
            Ok(played) => moves.push(played),
            Err(cause) => errors.push(EpdError::Move { opcode: opcode.to_owned(), cause }),
        }
    }
    if text.is_empty() {
        let legal = position.legal_moves();
        let example = legal.first().map_or("none".to_owned(), |played| position.san(*played));
        errors.push(EpdError::NoMoves { opcode: opcode.to_owned(), example });
    }
    moves
}

fn number(opcode: &str, text: &str) -> Result<u32, EpdError> {
    let least = NUMBER_OPCODES.iter().find(|(name, _)| *name == opcode).map_or(0, |(_, least)| *least);
    let error = || EpdError::Number { opcode: opcode.to_owned(), found: quoted(text), least };
    text.parse().ok().filter(|number| *number >= least).ok_or_else(error)
}

/// A text up to the quote that ends it, and what follows; `None` if none does.
fn unescaped(quote: &str) -> Option<(String, &str)> {
    let (mut text, mut letters) = (String::new(), quote.char_indices());
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((text, quote[at + 1..].trim())),
            '\\' => text.push(letters.next()?.1),
            letter => text.push(letter),
        }
    }
    None
}

/// Operands as a line has them. A text keeps to one line.
fn written(position: &Position, operands: &Operands) -> String {
    match operands {
        Operands::Moves(moves) => {
            moves.iter().map(|played| position.san(*played)).collect::<Vec<_>>().join(" ")
        }
        Operands::Number(number) => number.to_string(),
        Operands::Text(text) => {
            let escape = |letter: char| match letter {
                '"' | '\\' => format!("\\{letter}"),
                '\n' | '\r' => " ".to_owned(),
                letter => letter.to_string(),
            };
            format!("\"{}\"", text.chars().map(escape).collect::<String>())
        }
        Operands::Other(text) => text.clone(),
    }
}

#[cfg(test)]
mod tests;
