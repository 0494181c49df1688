//! Why a move is not legal, in words for the one who tried it.

use std::fmt;

use shakmaty::attacks::attacks;
use shakmaty::{Bitboard, Position as _, Square};

use super::reading::Reading;
use super::{Castling, Move, Piece, Position, Side};

/// What stands against a move. Squares lie in 0..64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// The game is over.
    NoMoves,
    /// The square moved from is empty.
    NothingThere(u8),
    /// The piece on a square is the opponent's.
    NotYours(Piece, u8),
    /// A piece of one's own stands on the square moved to.
    OwnPiece(Piece, u8),
    /// The piece does not move in this way.
    NotItsWay(Piece, u8, u8),
    /// Something stands between the squares, or before a pawn.
    Blocked(Piece, u8, u8),
    /// A pawn takes nothing there.
    NothingToTake(u8),
    /// There is none of these pieces, or not where it was said to be.
    NoSuchPiece(Piece),
    /// None of several pieces can go there.
    NoneReaches(Piece, u8),
    /// The own king would be left in check.
    LeavesKingInCheck,
    /// The king is in check and stays so.
    StaysInCheck,
    /// The right to castle this way is lost.
    NoRight(Castling),
    /// Pieces stand between king and rook.
    CastlingBlocked,
    /// The king is in check, or would pass a square that is attacked.
    CastlingThroughCheck,
    /// What the pawn would become does not fit the move.
    Promotion,
}

impl Position {
    /// What stands against a move that is not legal.
    pub(super) fn obstacle(&self, reading: &Reading) -> Obstacle {
        if !self.has_legal_move() {
            return Obstacle::NoMoves;
        }
        match *reading {
            Reading::Castling { is_kingside: true } => self.against_castling(Castling::KingSide),
            Reading::Castling { is_kingside: false } => self.against_castling(Castling::QueenSide),
            Reading::Step { piece: None, from_file: Some(file), from_rank: Some(rank), to, .. } => {
                self.against_step(8 * rank + file, to)
            }
            Reading::Step { piece, from_file, from_rank, to, .. } => {
                let is_meant = |from: &u8| {
                    from_file.is_none_or(|file| from % 8 == file)
                        && from_rank.is_none_or(|rank| from / 8 == rank)
                };
                self.against_any(piece.unwrap_or(Piece::Pawn), to, is_meant)
            }
        }
    }

    /// Against a move to a square of any one of the pieces that are meant.
    fn against_any(&self, piece: Piece, to: u8, is_meant: impl Fn(&u8) -> bool) -> Obstacle {
        let own = self.pieces(self.side_to_move(), piece);
        let meant: Vec<u8> =
            (0..64).filter(|from| own >> from & 1 == 1).filter(|from| is_meant(from)).collect();
        let mut all = meant.iter().map(|from| self.against_step(*from, to));
        match meant[..] {
            [] => Obstacle::NoSuchPiece(piece),
            [only] => self.against_step(only, to),
            _ => all.find(|of| is_of_king(*of)).unwrap_or_else(|| self.against_many(piece, to)),
        }
    }

    fn against_many(&self, piece: Piece, to: u8) -> Obstacle {
        let own = self.occupied(self.side_to_move()) >> to & 1 == 1;
        match self.piece_at(to).filter(|_| own) {
            Some(standing) => Obstacle::OwnPiece(standing, to),
            None => Obstacle::NoneReaches(piece, to),
        }
    }

    fn against_step(&self, from: u8, to: u8) -> Obstacle {
        let side = self.side_to_move();
        let is_own = |square: u8| self.occupied(side) >> square & 1 == 1;
        let Some(piece) = self.piece_at(from) else { return Obstacle::NothingThere(from) };
        if !is_own(from) {
            return Obstacle::NotYours(piece, from);
        }
        let home = if side == Side::White { 4 } else { 60 };
        if piece == Piece::King && from == home && (to == home + 2 || to == home - 2) {
            return self.against_castling(if to > home { Castling::KingSide } else { Castling::QueenSide });
        }
        if let Some(standing) = self.piece_at(to).filter(|_| is_own(to)) {
            return Obstacle::OwnPiece(standing, to);
        }
        let against = if piece == Piece::Pawn {
            self.against_pawn(from, to)
        } else {
            self.against_piece(piece, from, to)
        };
        against.unwrap_or_else(|| self.against_reached(from, to))
    }

    /// Of a move that the piece could make if there were no kings.
    fn against_reached(&self, from: u8, to: u8) -> Obstacle {
        let is_to = |of: &Move| of.from() == from && of.to() == to;
        if self.legal_moves().iter().any(is_to) {
            Obstacle::Promotion
        } else if self.is_check() {
            Obstacle::StaysInCheck
        } else {
            Obstacle::LeavesKingInCheck
        }
    }

    fn against_piece(&self, piece: Piece, from: u8, to: u8) -> Option<Obstacle> {
        let role = piece.role().of(self.0.turn());
        let reaches = |occupied: Bitboard| attacks(square(from), role, occupied).contains(square(to));
        if !reaches(Bitboard::EMPTY) {
            Some(Obstacle::NotItsWay(piece, from, to))
        } else if !reaches(self.0.board().occupied()) {
            Some(Obstacle::Blocked(piece, from, to))
        } else {
            None
        }
    }

    fn against_pawn(&self, from: u8, to: u8) -> Option<Obstacle> {
        let (up, second) = if self.side_to_move() == Side::White { (8, 1) } else { (-8, 6) };
        let steps = i16::from(to) - i16::from(from);
        let ahead = (i16::from(from) + up) as u8;
        let is_double = steps == 2 * up && from / 8 == second;
        let is_side = (steps - up).abs() == 1 && (from % 8).abs_diff(to % 8) == 1;
        if steps == up || is_double {
            let is_blocked =
                self.piece_at(to).is_some() || (is_double && self.piece_at(ahead % 64).is_some());
            is_blocked.then_some(Obstacle::Blocked(Piece::Pawn, from, to))
        } else if is_side {
            let takes = self.piece_at(to).is_some() || self.0.pseudo_legal_ep_square() == Some(square(to));
            (!takes).then_some(Obstacle::NothingToTake(to))
        } else {
            Some(Obstacle::NotItsWay(Piece::Pawn, from, to))
        }
    }

    fn against_castling(&self, castling: Castling) -> Obstacle {
        let side = self.side_to_move();
        let rank = if side == Side::White { 0 } else { 56 };
        let between = match castling {
            Castling::KingSide => 5..7,
            Castling::QueenSide => 1..4,
        };
        if !self.may_castle(side, castling) {
            Obstacle::NoRight(castling)
        } else if between.into_iter().any(|file| self.piece_at(rank + file).is_some()) {
            Obstacle::CastlingBlocked
        } else {
            Obstacle::CastlingThroughCheck
        }
    }
}

fn is_of_king(obstacle: Obstacle) -> bool {
    matches!(obstacle, Obstacle::LeavesKingInCheck | Obstacle::StaysInCheck | Obstacle::Promotion)
}

fn square(at: u8) -> Square {
    Square::new(u32::from(at))
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NoMoves => write!(f, "the game is over"),
            Self::NothingThere(from) => write!(f, "{} is empty", square(from)),
            Self::NotYours(piece, from) => write!(f, "the {} on {} is not yours", word(piece), square(from)),
            Self::OwnPiece(piece, to) => {
                write!(f, "your own {} stands on {}", word(piece), square(to))
            }
            Self::NotItsWay(piece, from, to) => {
                write!(f, "the {} on {} does not move to {}", word(piece), square(from), square(to))
            }
            Self::Blocked(piece, from, to) => {
                let (from, to) = (square(from), square(to));
                write!(f, "the way of the {} from {from} to {to} is blocked", word(piece))
            }
            Self::NothingToTake(to) => write!(f, "the pawn has nothing to take on {}", square(to)),
            Self::NoSuchPiece(piece) => write!(f, "you have no such {}", word(piece)),
            Self::NoneReaches(piece, to) => {
                write!(f, "none of your {}s can go to {}", word(piece), square(to))
            }
            Self::LeavesKingInCheck => write!(f, "your king would be in check"),
            Self::StaysInCheck => write!(f, "your king is in check and would stay so"),
            Self::NoRight(castling) => {
                write!(f, "king or rook have moved, so there is no castling {}", side(castling))
            }
            Self::CastlingBlocked => write!(f, "pieces stand between king and rook"),
            Self::CastlingThroughCheck => {
                write!(f, "the king is in check, or would pass or reach an attacked square")
            }
            Self::Promotion => {
                write!(f, "a pawn becomes a queen, rook, bishop or knight on the last rank, and only there")
            }
        }
    }
}

fn side(castling: Castling) -> &'static str {
    match castling {
        Castling::KingSide => "on the king's side",
        Castling::QueenSide => "on the queen's side",
    }
}

fn word(piece: Piece) -> &'static str {
    ["pawn", "knight", "bishop", "rook", "queen", "king"][piece as usize]
}
