//! Moves with what they move and capture, for a search that plays millions of them a second.
//!
//! Everything here gives the same as the plain operations of [`Position`], which tests compare it with. Positions are copied rather
//! than changed and restored: a copy is 150 bytes, and the one before the move is still at hand.

use shakmaty::attacks::{
    aligned, bishop_attacks, king_attacks, knight_attacks, pawn_attacks, queen_attacks, rook_attacks,
};
use shakmaty::zobrist::{Zobrist64, ZobristValue as _};
use shakmaty::{Bitboard, CastlingSide, Chess, Color, Position as _, PositionError, Role, Square};

use super::castling::CastlingSquares;
use super::mate::lone_blockers;
use super::position::{chess960_key, pack};
use super::{Move, Piece, Position, Promotion, Side};

/// A legal move with the piece that it moves and the one that it captures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownMove {
    /// The move.
    pub played: Move,
    /// What moves; of a promotion the pawn.
    pub piece: Piece,
    /// What it captures, the pawn of an en-passant capture included.
    pub captured: Option<Piece>,
}

impl KnownMove {
    fn of(full: &shakmaty::Move) -> Self {
        let captured = full.capture().map(piece_of);
        Self { played: pack(full), piece: piece_of(full.role()), captured }
    }

    /// Whether it neither captures nor promotes.
    pub fn is_quiet(self) -> bool {
        self.captured.is_none() && self.played.promotion().is_none()
    }
}

fn piece_of(role: Role) -> Piece {
    Piece::ALL[role as usize - 1]
}

/// A move between two squares of one side's piece, before its key is known.
fn zobrist(square: u8, piece: Piece, color: Color) -> u64 {
    Zobrist64::zobrist_for_piece(Square::new(square.into()), piece.role().of(color)).0
}

/// The part of a key that castling rights and en passant make.
fn rights_key(chess: &Chess) -> u64 {
    let mut key = 0;
    let castles = chess.castles();
    if castles.any() {
        key ^= chess960_key(chess);
        for color in Color::ALL {
            for side in CastlingSide::ALL {
                if castles.has(color, side) {
                    key ^= Zobrist64::zobrist_for_castling_right(color, side).0;
                }
            }
        }
    }
    // Nearly all positions have no square to begin with.
    if let Some(square) = chess.maybe_ep_square().and_then(|_| chess.legal_ep_square()) {
        key ^= Zobrist64::zobrist_for_en_passant_file(square.file()).0;
    }
    key
}

impl Position {
    /// Replaces the content of `out` by the legal moves, in an order that depends only on the position.
    pub fn known_moves_into(&self, out: &mut Vec<KnownMove>) {
        out.clear();
        out.extend(self.0.legal_moves().iter().map(KnownMove::of));
    }

    /// Replaces the content of `out` by the legal captures and the legal promotions to a queen. Of a position whose side to move is
    /// not in check, since answers to a check are more than captures.
    pub fn known_captures_into(&self, out: &mut Vec<KnownMove>) {
        out.clear();
        let (board, us) = (self.0.board(), self.0.turn());
        let Some(king) = board.king_of(us) else { return };
        let captures = Captures { chess: &self.0, king, pinned: lone_blockers(board, king, !us, us) };
        captures.of_pieces(out);
        captures.of_king(out);
        captures.of_pawns(out);
        for full in &self.0.en_passant_moves() {
            out.push(KnownMove::of(full));
        }
    }

    /// A move that the caller knows to be legal, with what it moves and captures.
    pub fn known(&self, mv: Move) -> KnownMove {
        KnownMove::of(&self.unpack(mv))
    }

    /// The square of the piece that a legal move captures: en passant, beside the square that the pawn goes to.
    pub fn captured_square(&self, mv: KnownMove) -> u8 {
        let (from, to) = (mv.played.from(), mv.played.to());
        let is_en_passant = mv.piece == Piece::Pawn && self.piece_at(to).is_none();
        if is_en_passant { from / 8 * 8 + to % 8 } else { to }
    }

    /// The position after a legal move, and its key; `key` is this position's.
    pub fn after(&self, mv: KnownMove, key: u64) -> (Self, u64) {
        let mut after = self.clone();
        let (played, color) = (mv.played, self.0.turn());
        let full = self.full(mv);
        after.0.play_unchecked(full);
        let mut key = key ^ Zobrist64::zobrist_for_white_turn().0;
        if let shakmaty::Move::Castle { king, rook } = full {
            let squares = CastlingSquares::of(king, rook);
            for (piece, from, to) in [
                (Piece::King, squares.king_from, squares.king_to),
                (Piece::Rook, squares.rook_from, squares.rook_to),
            ] {
                key ^= zobrist(from, piece, color) ^ zobrist(to, piece, color);
            }
        } else {
            let placed = played.promotion().map_or(mv.piece, Promotion::piece);
            key ^= zobrist(played.from(), mv.piece, color) ^ zobrist(played.to(), placed, color);
        }
        if let Some(captured) = mv.captured {
            key ^= zobrist(self.captured_square(mv), captured, !color);
        }
        let may_change = self.0.castles().any() || self.0.maybe_ep_square().is_some();
        if may_change || after.0.maybe_ep_square().is_some() {
            key ^= rights_key(&self.0) ^ rights_key(&after.0);
        }
        (after, key)
    }

    /// The position with the other side to move and its key, as if the side to move could pass; `None` where it is in check.
    pub fn after_pass(&self, key: u64) -> Option<(Self, u64)> {
        let passed = self.0.clone().swap_turn().or_else(PositionError::ignore_too_much_material).ok()?;
        let key = key ^ Zobrist64::zobrist_for_white_turn().0 ^ rights_key(&self.0) ^ rights_key(&passed);
        Some((Self(passed), key))
    }

    /// The squares of both sides' pieces that attack a square (0 to 63) if exactly the squares of `occupied` hold pieces: sliders see
    /// through pieces that have left.
    pub fn attackers(&self, square: u8, occupied: u64) -> u64 {
        let (square, occupied) = (Square::new(square.into()), Bitboard(occupied));
        let board = self.0.board();
        let attackers = [Color::White, Color::Black].map(|color| board.attacks_to(square, color, occupied));
        (attackers[0] | attackers[1]).0 & occupied.0
    }

    /// The number of a side's pieces besides king and pawns.
    pub fn pieces_besides_pawns(&self, side: Side) -> u32 {
        let board = self.0.board();
        (board.by_color(side.color()) & !board.pawns() & !board.kings()).0.count_ones()
    }

    /// Whether a side has a piece besides king and pawns.
    pub fn has_pieces(&self, side: Side) -> bool {
        self.pieces_besides_pawns(side) > 0
    }

    /// The number of pieces of both sides, kings and pawns included.
    pub fn piece_count(&self) -> u32 {
        self.0.board().occupied().0.count_ones()
    }

    /// The move as shakmaty has it, without looking at the board.
    fn full(&self, mv: KnownMove) -> shakmaty::Move {
        let KnownMove { played, piece, captured } = mv;
        let (from, to) = (Square::new(played.from().into()), Square::new(played.to().into()));
        match piece {
            Piece::King if played.from().abs_diff(played.to()) == 2 || self.0.us().contains(to) => {
                self.unpack(played)
            }
            Piece::Pawn if captured.is_some() && self.0.board().role_at(to).is_none() => {
                shakmaty::Move::EnPassant { from, to }
            }
            _ => shakmaty::Move::Normal {
                role: piece.role(),
                from,
                capture: captured.map(Piece::role),
                to,
                promotion: played.promotion().map(|promotion| promotion.piece().role()),
            },
        }
    }
}

/// Generates captures of a position without a check.
struct Captures<'a> {
    chess: &'a Chess,
    king: Square,
    /// Its own pieces that stand alone between the king and a slider of the opponent.
    pinned: Bitboard,
}

impl Captures<'_> {
    /// Whether a move does not expose the king.
    fn is_safe(&self, from: Square, to: Square) -> bool {
        !self.pinned.contains(from) || aligned(from, to, self.king)
    }

    fn push(&self, from: Square, to: Square, piece: Piece, out: &mut Vec<KnownMove>) {
        let played = Move::new(from as u8, to as u8, None);
        out.push(KnownMove { played, piece, captured: self.chess.board().role_at(to).map(piece_of) });
    }

    fn of_pieces(&self, out: &mut Vec<KnownMove>) {
        let (occupied, them) = (self.chess.board().occupied(), self.chess.them());
        for piece in [Piece::Knight, Piece::Bishop, Piece::Rook, Piece::Queen] {
            for from in self.chess.our(piece.role()) {
                let attacked = match piece {
                    Piece::Knight => knight_attacks(from),
                    Piece::Bishop => bishop_attacks(from, occupied),
                    Piece::Rook => rook_attacks(from, occupied),
                    _ => queen_attacks(from, occupied),
                };
                for to in attacked & them {
                    if self.is_safe(from, to) {
                        self.push(from, to, piece, out);
                    }
                }
            }
        }
    }

    fn of_king(&self, out: &mut Vec<KnownMove>) {
        let (board, enemy) = (self.chess.board(), !self.chess.turn());
        for to in king_attacks(self.king) & self.chess.them() {
            if board.attacks_to(to, enemy, board.occupied()).is_empty() {
                self.push(self.king, to, Piece::King, out);
            }
        }
    }

    fn of_pawns(&self, out: &mut Vec<KnownMove>) {
        let (board, us) = (self.chess.board(), self.chess.turn());
        let step = us.fold_wb(8, -8);
        for from in self.chess.our(Role::Pawn) {
            for to in pawn_attacks(us, from) & self.chess.them() {
                if self.is_safe(from, to) {
                    self.push_pawn(from, to, out);
                }
            }
            let ahead = from.offset(step);
            if let Some(to) =
                ahead.filter(|to| Bitboard::BACKRANKS.contains(*to) && board.role_at(*to).is_none())
                && self.is_safe(from, to)
            {
                self.push_pawn(from, to, out);
            }
        }
    }

    fn push_pawn(&self, from: Square, to: Square, out: &mut Vec<KnownMove>) {
        let promotion = Bitboard::BACKRANKS.contains(to).then_some(Promotion::Queen);
        let played = Move::new(from as u8, to as u8, promotion);
        let captured = self.chess.board().role_at(to).map(piece_of);
        out.push(KnownMove { played, piece: Piece::Pawn, captured });
    }
}

#[cfg(test)]
mod tests;
