//! Why a move is not legal, explained to the player who tried it.

use std::fmt;

use shakmaty::attacks::attacks;
use shakmaty::{Bitboard, Position as _, Square};

use super::reading::Reading;
use super::{Castling, Move, Piece, Position, Side};

/// Why a move is illegal. Squares lie in 0..64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IllegalReason {
    /// The game is over.
    NoMoves,
    /// The square moved from is empty.
    EmptySquare(u8),
    /// The piece on a square is the opponent's.
    NotYours(Piece, u8),
    /// A piece of the moving side stands on the square moved to.
    OwnPiece(Piece, u8),
    /// The piece does not move like this.
    CannotMoveThere(Piece, u8, u8),
    /// A piece stands between the squares, or in front of a pawn.
    Blocked(Piece, u8, u8),
    /// A pawn has nothing to capture there.
    NothingToTake(u8),
    /// The side has no such piece, or none on the given file or rank.
    NoSuchPiece(Piece),
    /// None of several such pieces can go there.
    NoneCanReach(Piece, u8),
    /// The move would put its own king in check.
    LeavesKingInCheck,
    /// The king is in check and would remain in check.
    StaysInCheck,
    /// The right to castle to this side is lost.
    NoCastlingRight(Castling),
    /// Pieces stand where king or rook would pass or end.
    CastlingBlocked,
    /// The king is in check, or would pass or reach an attacked square.
    CastlingThroughCheck,
    /// Castling is legal, and is not written as this move.
    WrittenOtherwise(Castling),
    /// The promotion piece is missing, or the move is not a promotion.
    Promotion,
}

impl Position {
    /// Why no legal move matches an interpretation.
    pub(super) fn illegal_reason(&self, reading: &Reading) -> IllegalReason {
        if !self.has_legal_move() {
            return IllegalReason::NoMoves;
        }
        match *reading {
            Reading::Castling { is_kingside: true } => self.reason_for_castling(Castling::KingSide),
            Reading::Castling { is_kingside: false } => self.reason_for_castling(Castling::QueenSide),
            Reading::Step { piece: None, from_file: Some(file), from_rank: Some(rank), to, .. } => {
                self.reason_for_step(8 * rank + file, to)
            }
            Reading::Step { piece, from_file, from_rank, to, .. } => {
                let matches = |from: &u8| {
                    from_file.is_none_or(|file| from % 8 == file)
                        && from_rank.is_none_or(|rank| from / 8 == rank)
                };
                self.reason_for_any(piece.unwrap_or(Piece::Pawn), to, matches)
            }
        }
    }

    /// Why none of the matching pieces of a kind can move to a square.
    fn reason_for_any(&self, piece: Piece, to: u8, matches: impl Fn(&u8) -> bool) -> IllegalReason {
        let own = self.pieces(self.side_to_move(), piece);
        let candidates: Vec<u8> =
            (0..64).filter(|from| own >> from & 1 == 1).filter(|from| matches(from)).collect();
        let mut reasons = candidates.iter().map(|from| self.reason_for_step(*from, to));
        match candidates[..] {
            [] => IllegalReason::NoSuchPiece(piece),
            [only] => self.reason_for_step(only, to),
            _ => {
                reasons.find(|reason| is_reachable(*reason)).unwrap_or_else(|| self.reason_for_all(piece, to))
            }
        }
    }

    fn reason_for_all(&self, piece: Piece, to: u8) -> IllegalReason {
        let own = self.occupied(self.side_to_move()) >> to & 1 == 1;
        match self.piece_at(to).filter(|_| own) {
            Some(standing) => IllegalReason::OwnPiece(standing, to),
            None => IllegalReason::NoneCanReach(piece, to),
        }
    }

    fn reason_for_step(&self, from: u8, to: u8) -> IllegalReason {
        let side = self.side_to_move();
        let is_own = |square: u8| self.occupied(side) >> square & 1 == 1;
        let Some(piece) = self.piece_at(from) else { return IllegalReason::EmptySquare(from) };
        if !is_own(from) {
            return IllegalReason::NotYours(piece, from);
        }
        if let Some(castling) = self.tried_castling(piece, from, to) {
            return self.reason_for_castling(castling);
        }
        if let Some(standing) = self.piece_at(to).filter(|_| is_own(to)) {
            return IllegalReason::OwnPiece(standing, to);
        }
        let reason = if piece == Piece::Pawn {
            self.reason_for_pawn(from, to)
        } else {
            self.reason_for_piece(piece, from, to)
        };
        reason.unwrap_or_else(|| self.reason_for_reachable(from, to))
    }

    /// Why a move is illegal that the piece can make by its own rules.
    fn reason_for_reachable(&self, from: u8, to: u8) -> IllegalReason {
        let has_squares = |mv: &Move| mv.from() == from && mv.to() == to;
        if self.legal_moves().iter().any(has_squares) {
            IllegalReason::Promotion
        } else if self.is_check() {
            IllegalReason::StaysInCheck
        } else {
            IllegalReason::LeavesKingInCheck
        }
    }

    fn reason_for_piece(&self, piece: Piece, from: u8, to: u8) -> Option<IllegalReason> {
        let role = piece.role().of(self.0.turn());
        let reaches = |occupied: Bitboard| attacks(square(from), role, occupied).contains(square(to));
        if !reaches(Bitboard::EMPTY) {
            Some(IllegalReason::CannotMoveThere(piece, from, to))
        } else if !reaches(self.0.board().occupied()) {
            Some(IllegalReason::Blocked(piece, from, to))
        } else {
            None
        }
    }

    fn reason_for_pawn(&self, from: u8, to: u8) -> Option<IllegalReason> {
        let (up, second) = if self.side_to_move() == Side::White { (8, 1) } else { (-8, 6) };
        let steps = i16::from(to) - i16::from(from);
        let ahead = (i16::from(from) + up) as u8;
        let is_double = steps == 2 * up && from / 8 == second;
        let is_side = (steps - up).abs() == 1 && (from % 8).abs_diff(to % 8) == 1;
        if steps == up || is_double {
            let is_blocked =
                self.piece_at(to).is_some() || (is_double && self.piece_at(ahead % 64).is_some());
            is_blocked.then_some(IllegalReason::Blocked(Piece::Pawn, from, to))
        } else if is_side {
            let takes = self.piece_at(to).is_some() || self.0.pseudo_legal_ep_square() == Some(square(to));
            (!takes).then_some(IllegalReason::NothingToTake(to))
        } else {
            Some(IllegalReason::CannotMoveThere(Piece::Pawn, from, to))
        }
    }

    /// The side to which a king's move castles if it goes over two squares from where kings start, or to a rook that may castle.
    fn tried_castling(&self, piece: Piece, from: u8, to: u8) -> Option<Castling> {
        let color = self.0.turn();
        let home = if color.is_white() { 4 } else { 60 };
        let castles_with =
            |castling: &Castling| self.0.castles().rook(color, castling.wing()) == Some(square(to));
        match piece {
            Piece::King if from == home && to == home + 2 => Some(Castling::KingSide),
            Piece::King if from == home && to == home - 2 => Some(Castling::QueenSide),
            Piece::King => [Castling::KingSide, Castling::QueenSide].into_iter().find(castles_with),
            _ => None,
        }
    }

    fn reason_for_castling(&self, castling: Castling) -> IllegalReason {
        let (castles, color) = (self.0.castles(), self.0.turn());
        let is_legal = || {
            let moves = self.legal_moves();
            moves.iter().filter_map(|mv| self.castling(*mv)).any(|castled| castled.wing == castling)
        };
        if !castles.has(color, castling.wing()) {
            IllegalReason::NoCastlingRight(castling)
        } else if (castles.path(color, castling.wing()) & self.0.board().occupied()).any() {
            IllegalReason::CastlingBlocked
        } else if is_legal() {
            IllegalReason::WrittenOtherwise(castling)
        } else {
            IllegalReason::CastlingThroughCheck
        }
    }
}

/// Whether the piece can reach the square, so that the reason lies in the king's safety or a promotion.
fn is_reachable(reason: IllegalReason) -> bool {
    matches!(
        reason,
        IllegalReason::LeavesKingInCheck | IllegalReason::StaysInCheck | IllegalReason::Promotion
    )
}

fn square(index: u8) -> Square {
    Square::new(u32::from(index))
}

impl fmt::Display for IllegalReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NoMoves => write!(f, "the game is over"),
            Self::EmptySquare(from) => write!(f, "{} is empty", square(from)),
            Self::NotYours(piece, from) => write!(f, "the {} on {} is not yours", name(piece), square(from)),
            Self::OwnPiece(piece, to) => {
                write!(f, "your own {} stands on {}", name(piece), square(to))
            }
            Self::CannotMoveThere(piece, from, to) => {
                write!(f, "the {} on {} does not move to {}", name(piece), square(from), square(to))
            }
            Self::Blocked(piece, from, to) => {
                let (from, to) = (square(from), square(to));
                write!(f, "the {}'s path from {from} to {to} is blocked", name(piece))
            }
            Self::NothingToTake(to) => write!(f, "the pawn has nothing to take on {}", square(to)),
            Self::NoSuchPiece(piece) => write!(f, "you have no such {}", name(piece)),
            Self::NoneCanReach(piece, to) => {
                write!(f, "none of your {}s can go to {}", name(piece), square(to))
            }
            Self::LeavesKingInCheck => write!(f, "your king would be in check"),
            Self::StaysInCheck => write!(f, "your king is in check and would remain in check"),
            Self::NoCastlingRight(castling) => {
                write!(f, "the king or rook has moved, so there is no castling {}", side(castling))
            }
            Self::CastlingBlocked => write!(f, "other pieces stand where king and rook would pass"),
            Self::CastlingThroughCheck => {
                write!(f, "the king is in check, or would pass or reach an attacked square")
            }
            Self::WrittenOtherwise(castling) => {
                let name = if castling == Castling::KingSide { "O-O" } else { "O-O-O" };
                write!(f, "castling {} is written {name}", side(castling))
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

fn name(piece: Piece) -> &'static str {
    ["pawn", "knight", "bishop", "rook", "queen", "king"][piece as usize]
}
