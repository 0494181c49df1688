//! Castling, in standard chess and in Chess960: its squares, its packed form and its text in UCI.
//!
//! A king on the e-file that castles with a rook on the a- or h-file is packed as the king's move over two squares, as in standard
//! chess. Any other castling is packed as the king's move to its rook's square, which no other move can be.

use shakmaty::{Bitboard, CastlingSide, Color, File, Position as _, Square};

use super::{Castling, Move, Piece, Position, Side};

/// Where castling moves king and rook, in squares 0..64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CastlingSquares {
    /// The side to which the king castles.
    pub wing: Castling,
    /// The king's square before.
    pub king_from: u8,
    /// The king's square afterwards, on the g- or c-file.
    pub king_to: u8,
    /// The rook's square before.
    pub rook_from: u8,
    /// The rook's square afterwards, on the f- or d-file.
    pub rook_to: u8,
}

impl CastlingSquares {
    pub(super) fn of(king: Square, rook: Square) -> Self {
        let wing = if rook > king { Castling::KingSide } else { Castling::QueenSide };
        let on = |file: File| Square::from_coords(file, king.rank()) as u8;
        let [king_to, rook_to] = [wing.wing().king_to_file(), wing.wing().rook_to_file()].map(on);
        Self { wing, king_from: king as u8, king_to, rook_from: rook as u8, rook_to }
    }

    /// Whether the king's move between two squares means this castling: to its rook, or to where the king ends if that is no step.
    pub(super) fn is_meant_by(&self, from: u8, to: u8) -> bool {
        let is_step = self.king_from.abs_diff(self.king_to) <= 1;
        from == self.king_from && (to == self.rook_from || (to == self.king_to && !is_step))
    }
}

impl Position {
    /// The squares of king and rook, if a legal move castles.
    pub fn castling(&self, mv: Move) -> Option<CastlingSquares> {
        if self.piece_at(mv.from()) != Some(Piece::King) {
            return None;
        }
        match self.unpack(mv) {
            shakmaty::Move::Castle { king, rook } => Some(CastlingSquares::of(king, rook)),
            _ => None,
        }
    }

    /// The square of the rook that may castle; `None` without the right.
    pub fn castling_rook(&self, side: Side, castling: Castling) -> Option<u8> {
        self.0.castles().rook(side.color(), castling.wing()).map(|rook| rook as u8)
    }

    /// Whether there is a castling right that standard chess does not know: of a king that is not on the e-file, or with a rook that
    /// is not on the a- or h-file.
    pub fn is_chess960(&self) -> bool {
        let castles = self.0.castles();
        Color::ALL.into_iter().filter(|color| castles.has_color(*color)).any(|color| {
            let king = self.0.board().king_of(color).is_some_and(|king| king.file() == File::E);
            let corner = |wing| castles.rook(color, wing).is_none_or(|rook| Bitboard::CORNERS.contains(rook));
            !king || !CastlingSide::ALL.into_iter().all(corner)
        })
    }

    /// A legal move as UCI writes it under the option `UCI_Chess960`: castling is the king's move to its rook.
    pub fn to_rook(&self, mv: Move) -> Move {
        self.castling(mv).map_or(mv, |castling| Move::new(castling.king_from, castling.rook_from, None))
    }

    /// The legal move of UCI text such as `e2e4` or `a7a8q`. Castling may be the king's move to its rook, or to the square where it
    /// ends if that is more than a step away.
    pub fn read_uci(&self, text: &str) -> Option<Move> {
        let read = Move::from_uci(text)?;
        let legal = self.legal_moves();
        let is_castling = |mv: &&Move| {
            let castling = self.castling(**mv).filter(|_| read.promotion().is_none());
            castling.is_some_and(|castling| castling.is_meant_by(read.from(), read.to()))
        };
        legal.iter().find(|mv| **mv == read).or_else(|| legal.iter().find(is_castling)).copied()
    }
}

#[cfg(test)]
mod tests;
