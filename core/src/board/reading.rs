//! Interpretations of a text as a move, whether or not the move is legal.

use super::{Castling, Move, Piece, Position, Promotion};

/// One interpretation of a text. Squares, files and ranks count from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// Castling to either side.
    Castling { is_kingside: bool },
    /// Any other move; `piece` is `None` if both squares are given, which identify the move.
    Step {
        piece: Option<Piece>,
        from_file: Option<u8>,
        from_rank: Option<u8>,
        to: u8,
        promotion: Option<Promotion>,
        /// Whether it is written as a capture, which castling is not.
        is_capture: bool,
    },
}

impl Reading {
    /// Whether this move of the position fits the interpretation.
    pub(super) fn matches(&self, position: &Position, mv: Move) -> bool {
        let moved = position.piece_at(mv.from());
        let castled = position.castling(mv);
        match (*self, castled) {
            (Self::Castling { is_kingside }, _) => {
                castled.is_some_and(|castled| is_kingside == (castled.wing == Castling::KingSide))
            }
            (Self::Step { is_capture: true, .. }, Some(_)) => false,
            (
                Self::Step {
                    piece: None,
                    from_file: Some(file),
                    from_rank: Some(rank),
                    to,
                    promotion: None,
                    ..
                },
                Some(castled),
            ) => castled.is_meant_by(8 * rank + file, to),
            // SAN names the square where a king ends, and calls this one O-O or O-O-O.
            (Self::Step { .. }, Some(castled)) if mv.to() == castled.rook_from => false,
            (Self::Step { piece, from_file, from_rank, to, promotion, .. }, _) => {
                mv.to() == to
                    && piece.is_none_or(|piece| moved == Some(piece))
                    && from_file.is_none_or(|file| mv.from() % 8 == file)
                    && from_rank.is_none_or(|rank| mv.from() / 8 == rank)
                    && promotion.is_none_or(|promotion| mv.promotion() == Some(promotion))
            }
        }
    }
}

/// Castling written with zeros or small letters in standard form; any other text unchanged.
pub(super) fn castling(text: &str) -> &str {
    match text {
        "0-0" | "o-o" => "O-O",
        "0-0-0" | "o-o-o" => "O-O-O",
        other => other,
    }
}

/// All interpretations of a text. A capital B is a bishop; a small b is a bishop or the b-file, and only the file before two squares.
pub(super) fn readings(text: &str) -> Vec<Reading> {
    match castling(text) {
        "O-O" => return vec![Reading::Castling { is_kingside: true }],
        "O-O-O" => return vec![Reading::Castling { is_kingside: false }],
        _ => {}
    }
    let lower: Vec<u8> = text.bytes().map(|byte| byte.to_ascii_lowercase()).collect();
    let is_bishop = text.starts_with('B');
    let pawn_move = if is_bishop { None } else { step(None, &lower) };
    let has_both_squares =
        matches!(pawn_move, Some(Reading::Step { from_file: Some(_), from_rank: Some(_), .. }));
    let piece = lower.first().filter(|_| !has_both_squares).and_then(|letter| piece(*letter));
    let piece_move = piece.and_then(|piece| step(Some(piece), &lower[1..]));
    pawn_move.into_iter().chain(piece_move).collect()
}

fn piece(letter: u8) -> Option<Piece> {
    Some(Piece::ALL[b"pnbrqk".iter().position(|known| *known == letter)?])
}

/// Parses `[file][rank][x]square[=piece]` in small letters, which follows the piece's letter. A promotion may also be `(piece)` or
/// `/piece`.
fn step(piece: Option<Piece>, text: &[u8]) -> Option<Reading> {
    let is_capture = text.contains(&b'x');
    let mut text: Vec<u8> = text.iter().copied().filter(|byte| !b"x:-=()".contains(byte)).collect();
    if let [.., b'/', _] = text[..] {
        text.remove(text.len() - 2);
    }
    let (text, promotion) = match text.split_last() {
        Some((last, rest)) if last.is_ascii_alphabetic() => (rest, Some(Promotion::from_letter(*last)?)),
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
    let has_both_squares = before.len() == 2;
    let piece = piece.or_else(|| (!has_both_squares).then_some(Piece::Pawn));
    Some(Reading::Step { piece, from_file, from_rank, to, promotion, is_capture })
}

fn file(byte: u8) -> Option<u8> {
    (b'a'..=b'h').contains(&byte).then(|| byte - b'a')
}

fn rank(byte: u8) -> Option<u8> {
    (b'1'..=b'8').contains(&byte).then(|| byte - b'1')
}
