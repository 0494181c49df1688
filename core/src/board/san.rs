//! Moves as people write them: standard algebraic notation (SAN), read with tolerance and written by the book.

use shakmaty::san::SanPlus;
use thiserror::Error;

use super::illegal::Obstacle;
use super::{Move, Piece, Position, Promotion};

/// Text that names no one legal move.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MoveTextError {
    /// It does not look like a move.
    #[error("\"{text}\" is not a move; expected one such as {example}")]
    NotAMove {
        /// The text given.
        text: String,
        /// A legal move, or `none`.
        example: String,
    },
    /// Several legal moves are meant by it.
    #[error("\"{text}\" may be {}; say which", candidates.join(" or "))]
    Ambiguous {
        /// The text given.
        text: String,
        /// The moves as they should be written.
        candidates: Vec<String>,
    },
    /// No legal move is meant by it.
    #[error("{text} is not legal: {obstacle}")]
    Illegal {
        /// The text given.
        text: String,
        /// What stands against it.
        obstacle: Obstacle,
    },
}

impl Position {
    /// A legal move in standard algebraic notation, with `+` for check and `#` for mate.
    pub fn san(&self, played: Move) -> String {
        SanPlus::from_move(self.0.clone(), self.unpack(played)).to_string()
    }

    /// The legal move that is meant by SAN such as `Nf3`, `exd5`, `O-O` and `e8=Q`, or by UCI text such as `g1f3` and `e7e8q`.
    ///
    /// What is written by the book is taken as it is written. Otherwise zeros for castling, missing or needless `x`, `=`, `+`
    /// and squares, and lower-case pieces are understood as long as one legal move alone can be meant.
    pub fn read_move(&self, text: &str) -> Result<Move, MoveTextError> {
        let plain = without_marks(text);
        let legal = self.legal_moves();
        let is_exact =
            |of: &&Move| of.to_string() == plain || without_marks(&self.san(**of)) == castling(plain);
        if let Some(exact) = legal.iter().find(is_exact) {
            return Ok(*exact);
        }
        let readings = readings(plain);
        let is_meant = |of: &&Move| readings.iter().any(|reading| reading.is_meant(self, **of));
        match legal.iter().filter(is_meant).copied().collect::<Vec<_>>()[..] {
            [only] => Ok(only),
            [] => Err(self.refuse(text, &readings, &legal)),
            ref several => Err(MoveTextError::Ambiguous {
                text: text.to_owned(),
                candidates: several.iter().map(|of| self.san(*of)).collect(),
            }),
        }
    }

    fn refuse(&self, text: &str, readings: &[Reading], legal: &[Move]) -> MoveTextError {
        let text = text.to_owned();
        let example = || legal.first().map_or("none".to_owned(), |of| self.san(*of));
        match readings.first().map(|reading| self.obstacle(reading)) {
            Some(obstacle) => MoveTextError::Illegal { text, obstacle },
            None => MoveTextError::NotAMove { text, example: example() },
        }
    }
}

/// One way to understand a text. Squares, files and ranks count from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// To the h-file or the other way.
    Castling { is_kingside: bool },
    /// `piece` is `None` where both squares are given, which says enough.
    Step {
        piece: Option<Piece>,
        from_file: Option<u8>,
        from_rank: Option<u8>,
        to: u8,
        promotion: Option<Promotion>,
    },
}

impl Reading {
    fn is_meant(&self, position: &Position, played: Move) -> bool {
        let moved = position.piece_at(played.from());
        let steps = i16::from(played.to()) - i16::from(played.from());
        match *self {
            Self::Castling { is_kingside } => {
                moved == Some(Piece::King) && steps == if is_kingside { 2 } else { -2 }
            }
            Self::Step { piece, from_file, from_rank, to, promotion } => {
                played.to() == to
                    && piece.is_none_or(|piece| moved == Some(piece))
                    && from_file.is_none_or(|file| played.from() % 8 == file)
                    && from_rank.is_none_or(|rank| played.from() / 8 == rank)
                    && promotion.is_none_or(|promotion| played.promotion() == Some(promotion))
            }
        }
    }
}

/// Without blanks, praise, check and mate at the end.
fn without_marks(text: &str) -> &str {
    text.trim().trim_end_matches(['+', '#', '!', '?'])
}

/// Castling with zeros or small letters as it is written by the book; anything else as it is.
fn castling(text: &str) -> &str {
    match text {
        "0-0" | "o-o" => "O-O",
        "0-0-0" | "o-o-o" => "O-O-O",
        other => other,
    }
}

/// What a text may mean. A capital letter is a piece; a small b is a bishop or the b-file.
fn readings(text: &str) -> Vec<Reading> {
    match castling(text) {
        "O-O" => return vec![Reading::Castling { is_kingside: true }],
        "O-O-O" => return vec![Reading::Castling { is_kingside: false }],
        _ => {}
    }
    let lower: Vec<u8> = text.bytes().map(|byte| byte.to_ascii_lowercase()).collect();
    let is_bishop = text.starts_with('B');
    let of_pawn = if is_bishop { None } else { step(None, &lower) };
    let piece = lower.first().and_then(|letter| piece(*letter));
    let of_piece = piece.and_then(|piece| step(Some(piece), &lower[1..]));
    of_pawn.into_iter().chain(of_piece).collect()
}

fn piece(letter: u8) -> Option<Piece> {
    Some(Piece::ALL[b"pnbrqk".iter().position(|of| *of == letter)?])
}

fn promotion(letter: u8) -> Option<Promotion> {
    match piece(letter)? {
        Piece::Knight => Some(Promotion::Knight),
        Piece::Bishop => Some(Promotion::Bishop),
        Piece::Rook => Some(Promotion::Rook),
        Piece::Queen => Some(Promotion::Queen),
        Piece::Pawn | Piece::King => None,
    }
}

/// `[file][rank][x]square[=piece]` in small letters, behind the piece's letter.
fn step(piece: Option<Piece>, text: &[u8]) -> Option<Reading> {
    let text: Vec<u8> = text.iter().copied().filter(|byte| !b"x:-=()".contains(byte)).collect();
    let (text, promotion) = match text.split_last() {
        Some((last, rest)) if last.is_ascii_alphabetic() => (rest, Some(promotion(*last)?)),
        _ => (&text[..], None),
    };
    let [before @ .., to_file, to_rank] = text else { return None };
    let to = 8 * rank(*to_rank)? + file(*to_file)?;
    let (from_file, from_rank) = match *before {
        [] => (None, None),
        [one] if file(one).is_none() => (None, Some(rank(one)?)),
        [one] => (file(one), None),
        [one, two] => (Some(file(one)?), Some(rank(two)?)),
        _ => return None,
    };
    let says_enough = before.len() == 2;
    let piece = piece.or_else(|| (!says_enough).then_some(Piece::Pawn));
    Some(Reading::Step { piece, from_file, from_rank, to, promotion })
}

fn file(byte: u8) -> Option<u8> {
    (b'a'..=b'h').contains(&byte).then(|| byte - b'a')
}

fn rank(byte: u8) -> Option<u8> {
    (b'1'..=b'8').contains(&byte).then(|| byte - b'1')
}

#[cfg(test)]
mod tests;
