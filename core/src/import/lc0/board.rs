//! The position of a record, and where games begin.

use super::fault::Fault;
use super::record::Record;
use crate::board::{Castling, Piece, Position, Side};
use crate::store::Reject;

/// Planes with castling rights as yes or no, and with the files of the rooks (lc0, `proto/net.proto`). Later formats turn and mirror
/// boards.
const CLASSICAL: u32 = 1;
const CASTLING_PLANE: u32 = 2;

/// The files of the corners, as bits, in the order of [`Record::castling`].
const CORNERS: [u8; 4] = [1, 1 << 7, 1, 1 << 7];

/// A position as the planes of a record show it, from the side to move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Board {
    /// The pieces, as [`Record::pieces`] has them.
    pieces: [u64; 12],
    /// The files of the rooks that may castle, as bits, in the order of [`Record::castling`]; 0 without a right.
    castling: [u8; 4],
    side: Side,
    /// Plies since the last capture or pawn move.
    clock: u32,
}

impl Board {
    /// The position of a record.
    pub(super) fn of_record(record: Record<'_>) -> Result<Self, Fault> {
        let format = record.input_format();
        if ![CLASSICAL, CASTLING_PLANE].contains(&format) {
            let detail = format!("its input format is {format}; expected {CLASSICAL} or {CASTLING_PLANE}");
            return Err(Fault { reason: Reject::InputFormat, detail });
        }
        let side = match record.side_to_move() {
            0 => Side::White,
            1 => Side::Black,
            other => {
                let detail = format!("its side to move is {other}; expected 0 or 1");
                return Err(Fault { reason: Reject::Planes, detail });
            }
        };
        let rights = record.castling();
        let mut castling = [0; 4];
        for (index, right) in rights.into_iter().enumerate() {
            castling[index] = match right {
                0 => 0,
                1 if format == CLASSICAL => CORNERS[index],
                file if format == CASTLING_PLANE && file.is_power_of_two() => file,
                _ => {
                    let expected = if format == CLASSICAL { "1" } else { "the bit of a file" };
                    let detail = format!("its castling rights are {rights:?}; expected 0 or {expected}");
                    return Err(Fault { reason: Reject::Planes, detail });
                }
            };
        }
        Ok(Self { pieces: record.pieces(0), castling, side, clock: record.rule50().into() })
    }

    /// A position as its record shows it.
    pub(super) fn of_position(position: &Position) -> Self {
        let side = position.side_to_move();
        let sides = [side, side.other()];
        let plane = |index: usize| {
            let pieces = position.pieces(sides[index / 6], Piece::ALL[index % 6]);
            if side == Side::Black { pieces.swap_bytes() } else { pieces }
        };
        let right = |index: usize| {
            let wing = [Castling::QueenSide, Castling::KingSide][index % 2];
            position.castling_rook(sides[index / 2], wing).map_or(0, |rook| 1 << (rook % 8))
        };
        Self {
            pieces: std::array::from_fn(plane),
            castling: std::array::from_fn(right),
            side,
            clock: position.halfmove_clock(),
        }
    }

    /// How this differs from the position that the moves lead to, if it does.
    pub(super) fn difference(&self, expected: &Self) -> Option<String> {
        if self.side != expected.side {
            return Some(format!("has {:?} to move, expected {:?}", self.side, expected.side));
        }
        if self.castling != expected.castling {
            return Some(format!(
                "has the castling rights {:?}, expected {:?}",
                self.castling, expected.castling
            ));
        }
        if self.clock != expected.clock {
            let (found, expected) = (self.clock, expected.clock);
            return Some(format!("has {found} plies without capture or pawn move, expected {expected}"));
        }
        let differs = |(found, expected): (&u64, &u64)| found ^ expected;
        let squares = self.pieces.iter().zip(&expected.pieces).map(differs).fold(0, |all, some| all | some);
        let squares = if self.side == Side::Black { squares.swap_bytes() } else { squares };
        (squares != 0).then(|| {
            let named: Vec<String> = (0..64).filter(|at| squares >> at & 1 == 1).map(square).collect();
            format!("has other pieces on {}", named.join(", "))
        })
    }

    /// The position that a game begins with. A capture en passant is possible if the position before has the pawn two squares back;
    /// the move number is not known, and is 1.
    pub(super) fn start(&self, record: Record<'_>) -> Result<Position, Fault> {
        let is_black = self.side == Side::Black;
        // In the order of FEN: White's rights first, the king's side first.
        let order = if is_black { [3, 2, 1, 0] } else { [1, 0, 3, 2] };
        let letter = |index: usize| {
            let file = char::from(b'a' + self.castling[index].trailing_zeros() as u8);
            if (index < 2) == is_black { file } else { file.to_ascii_uppercase() }
        };
        let rights: String =
            order.into_iter().filter(|index| self.castling[*index] != 0).map(letter).collect();
        let rights = if rights.is_empty() { "-" } else { &rights };
        let en_passant = self.en_passant(record).map_or_else(|| "-".to_owned(), square);
        let (placement, side) = (self.placement()?, if is_black { 'b' } else { 'w' });
        let fen = format!("{placement} {side} {rights} {en_passant} {} 1", self.clock);
        let fault = |reason, detail: String| Fault { reason, detail };
        let position = Position::from_fen(&fen).map_err(|error| fault(Reject::Fen, error.to_string()))?;
        // The format has rights as yes or no, which does not say which rooks of Chess960 they are of.
        if record.input_format() == CLASSICAL && position.is_chess960() {
            let detail = format!(
                "its input format is {CLASSICAL}, which does not show which rooks may castle in {fen}"
            );
            return Err(fault(Reject::Variant, detail));
        }
        Ok(position)
    }

    /// The first field of the FEN.
    fn placement(&self) -> Result<String, Fault> {
        let mut squares = [None; 64];
        for (index, pieces) in self.pieces.into_iter().enumerate() {
            let is_white = (index < 6) == (self.side == Side::White);
            let letter = ['p', 'n', 'b', 'r', 'q', 'k'][index % 6];
            let letter = if is_white { letter.to_ascii_uppercase() } else { letter };
            let pieces = if self.side == Side::Black { pieces.swap_bytes() } else { pieces };
            for at in (0..64).filter(|at| pieces >> at & 1 == 1) {
                if squares[at].replace(letter).is_some() {
                    let detail = format!("two of its pieces are on {}", square(at as u8));
                    return Err(Fault { reason: Reject::Fen, detail });
                }
            }
        }
        let rank =
            |rank: &[Option<char>]| -> String { rank.iter().map(|square| square.unwrap_or('1')).collect() };
        Ok(squares.chunks_exact(8).rev().map(rank).collect::<Vec<_>>().join("/"))
    }

    /// The square behind the pawn that the other side has just moved by two, if it has.
    fn en_passant(&self, record: Record<'_>) -> Option<u8> {
        const SEVENTH_RANK: u64 = 0xff << 48;
        let (now, before) = (self.pieces[6], record.pieces(1)[6]);
        let from = before & !now;
        let moved = from.is_power_of_two() && from & SEVENTH_RANK != 0 && now & !before == from >> 16;
        let mirror = if self.side == Side::Black { 56 } else { 0 };
        moved.then(|| (from.trailing_zeros() as u8 - 8) ^ mirror)
    }
}

/// Whether a record is certainly the first of its game: no position is known before it, or it is the initial one without any plies.
pub(super) fn starts_game(record: Record<'_>) -> bool {
    let has_past = record.pieces(1).into_iter().any(|pieces| pieces != 0);
    let is_initial = || {
        let initial = Board::of_position(&Position::initial());
        Board::of_record(record).is_ok_and(|board| board == initial)
    };
    !has_past || (record.rule50() == 0 && is_initial())
}

/// A square's name, such as `e4`.
fn square(at: u8) -> String {
    format!("{}{}", char::from(b'a' + at % 8), char::from(b'1' + at / 8))
}
