//! One position, without history.

use shakmaty::zobrist::{Zobrist64, ZobristValue as _};
use shakmaty::{
    Bitboard, Board, CastlingMode, CastlingSide, Chess, Color, EnPassantMode, File, FromSetup as _,
    Position as _, PositionError, Role, Setup, Square,
};

use super::{Move, Promotion};

/// White or Black.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// Moves first.
    White,
    /// Moves second.
    Black,
}

impl Side {
    /// The opponent.
    pub fn other(self) -> Self {
        match self {
            Self::White => Self::Black,
            Self::Black => Self::White,
        }
    }

    pub(super) fn color(self) -> Color {
        match self {
            Self::White => Color::White,
            Self::Black => Color::Black,
        }
    }
}

/// A kind of piece, in the order of the encodings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Piece {
    /// ♙
    Pawn,
    /// ♘
    Knight,
    /// ♗
    Bishop,
    /// ♖
    Rook,
    /// ♕
    Queen,
    /// ♔
    King,
}

impl Piece {
    /// All kinds, in the order of the encodings.
    pub const ALL: [Self; 6] = [Self::Pawn, Self::Knight, Self::Bishop, Self::Rook, Self::Queen, Self::King];

    pub(super) fn role(self) -> Role {
        [Role::Pawn, Role::Knight, Role::Bishop, Role::Rook, Role::Queen, Role::King][self as usize]
    }
}

/// One castling right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Castling {
    /// Towards the h-file.
    KingSide,
    /// Towards the a-file.
    QueenSide,
}

impl Castling {
    pub(super) fn wing(self) -> CastlingSide {
        match self {
            Self::KingSide => CastlingSide::KingSide,
            Self::QueenSide => CastlingSide::QueenSide,
        }
    }
}

/// A legal position: pieces, side to move, castling rights, en passant and clocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position(pub(super) Chess);

impl Promotion {
    /// The piece.
    pub fn piece(self) -> Piece {
        match self {
            Self::Knight => Piece::Knight,
            Self::Bishop => Piece::Bishop,
            Self::Rook => Piece::Rook,
            Self::Queen => Piece::Queen,
        }
    }
}

impl Position {
    /// The initial position of chess.
    pub fn initial() -> Self {
        Self(Chess::new())
    }

    /// The position with given pieces and White to move, without castling rights or en passant; `None` if kings are missing or the
    /// opponent is in check. First White's squares of each kind of [`Piece::ALL`], then Black's.
    pub fn of_pieces(pieces: &[u64; 12]) -> Option<Self> {
        let mut board = Board::empty();
        for (number, squares) in pieces.iter().enumerate() {
            let (kind, color) =
                (Piece::ALL[number % 6].role(), if number < 6 { Color::White } else { Color::Black });
            for square in Bitboard(*squares) {
                board.set_piece_at(square, kind.of(color));
            }
        }
        let setup = Setup { board, turn: Color::White, ..Setup::empty() };
        let position = Chess::from_setup(setup, CastlingMode::Standard)
            .or_else(PositionError::ignore_too_much_material)
            .or_else(PositionError::ignore_impossible_check);
        position.ok().map(Self)
    }

    /// Whether pieces, side to move and castling rights are those of the initial position, whatever the clocks.
    pub fn is_initial(&self) -> bool {
        let full = self.0.castles().castling_rights() == Bitboard::CORNERS;
        full && self.0.turn() == Color::White && *self.0.board() == Board::new()
    }

    /// The side to move.
    pub fn side_to_move(&self) -> Side {
        if self.0.turn() == Color::White { Side::White } else { Side::Black }
    }

    /// The squares of one side's pieces of one kind; a1 is bit 0.
    pub fn pieces(&self, side: Side, piece: Piece) -> u64 {
        let board = self.0.board();
        (board.by_color(side.color()) & board.by_role(piece.role())).0
    }

    /// Material of a side less the opponent's, in pawns: 1, 3, 3, 5 and 9 (Shannon 1950, "Programming a computer for playing chess",
    /// without the king).
    pub fn material_balance(&self, side: Side) -> i32 {
        const VALUES: [(Piece, i32); 5] =
            [(Piece::Pawn, 1), (Piece::Knight, 3), (Piece::Bishop, 3), (Piece::Rook, 5), (Piece::Queen, 9)];
        let material = |side: Side| -> i32 {
            VALUES.iter().map(|(piece, value)| value * self.pieces(side, *piece).count_ones() as i32).sum()
        };
        material(side) - material(side.other())
    }

    /// The squares of each kind of piece, of both sides together, in the order of [`Piece::ALL`].
    pub fn pieces_by_kind(&self) -> [u64; 6] {
        Piece::ALL.map(|piece| self.0.board().by_role(piece.role()).0)
    }

    /// The squares of all pieces of one side.
    pub fn occupied(&self, side: Side) -> u64 {
        self.0.board().by_color(side.color()).0
    }

    /// The kind of piece on a square in 0..64, if any.
    pub fn piece_at(&self, square: u8) -> Option<Piece> {
        let role = self.0.board().role_at(Square::new(u32::from(square)))?;
        Some(Piece::ALL[role as usize - 1])
    }

    /// Whether a castling right remains.
    pub fn may_castle(&self, side: Side, castling: Castling) -> bool {
        self.0.castles().has(side.color(), castling.wing())
    }

    /// The en-passant target square, only where a capture there is legal.
    pub fn legal_en_passant(&self) -> Option<u8> {
        self.0.legal_ep_square().map(|square| square as u8)
    }

    /// Plies since the last capture or pawn move.
    pub fn halfmove_clock(&self) -> u32 {
        self.0.halfmoves()
    }

    /// The move number: from 1, incremented after Black's moves.
    pub fn fullmove_number(&self) -> u32 {
        self.0.fullmoves().get()
    }

    /// Whether the side to move is in check.
    pub fn is_check(&self) -> bool {
        self.0.is_check()
    }

    /// Whether neither side can ever give mate.
    pub fn is_insufficient_material(&self) -> bool {
        self.0.is_insufficient_material()
    }

    /// Replaces the content of `out` by the legal moves, in an order that depends only on the position.
    pub fn legal_moves_into(&self, out: &mut Vec<Move>) {
        out.clear();
        out.extend(self.0.legal_moves().iter().map(pack));
    }

    /// The legal moves, in an order that depends only on the position.
    pub fn legal_moves(&self) -> Vec<Move> {
        let mut moves = Vec::new();
        self.legal_moves_into(&mut moves);
        moves
    }

    /// The number of legal moves.
    pub fn legal_move_count(&self) -> usize {
        self.0.legal_moves().len()
    }

    /// Whether there is a legal move.
    pub fn has_legal_move(&self) -> bool {
        !self.0.legal_moves().is_empty()
    }

    /// Whether a move is legal here.
    pub fn is_legal(&self, mv: Move) -> bool {
        self.0.legal_moves().iter().any(|legal| pack(legal) == mv)
    }

    /// The number of leaves of the tree of legal moves at a depth; the standard test of a move generator.
    pub fn perft(&self, depth: u32) -> u64 {
        shakmaty::perft(&self.0, depth)
    }

    /// The Zobrist key of pieces, side, castling rights and the *legal* en-passant square: what repetition compares.
    pub fn key(&self) -> u64 {
        self.0.zobrist_hash::<Zobrist64>(EnPassantMode::Legal).0 ^ chess960_key(&self.0)
    }

    /// Plays a move that the caller knows to be legal and updates the position's key, which is returned.
    pub fn play_unchecked(&mut self, mv: Move, key: u64) -> u64 {
        let full = self.unpack(mv);
        let updated = self.0.update_zobrist_hash(Zobrist64(key), full, EnPassantMode::Legal);
        self.0.play_unchecked(full);
        updated.map_or_else(|| self.key(), |updated| updated.0)
    }

    pub(super) fn unpack(&self, mv: Move) -> shakmaty::Move {
        let (from, to) = (Square::new(u32::from(mv.from())), Square::new(u32::from(mv.to())));
        let role = self.0.board().role_at(from).expect("a legal move starts on a piece");
        let capture = self.0.board().role_at(to);
        let file_steps = (mv.from() % 8).abs_diff(mv.to() % 8);
        match role {
            Role::King if self.0.us().contains(to) => shakmaty::Move::Castle { king: from, rook: to },
            Role::King if file_steps == 2 => {
                let rook_file = if mv.to() > mv.from() { 7 } else { 0 };
                let rook = Square::new(u32::from(mv.from() / 8 * 8 + rook_file));
                shakmaty::Move::Castle { king: from, rook }
            }
            Role::Pawn if file_steps == 1 && capture.is_none() => shakmaty::Move::EnPassant { from, to },
            role => {
                let promotion = mv.promotion().map(|promotion| promotion.piece().role());
                shakmaty::Move::Normal { role, from, capture, to, promotion }
            }
        }
    }
}

fn promotion_of(role: Role) -> Promotion {
    match role {
        Role::Knight => Promotion::Knight,
        Role::Bishop => Promotion::Bishop,
        Role::Rook => Promotion::Rook,
        _ => Promotion::Queen,
    }
}

/// The part of a position's key that distinguishes rooks of Chess960 which may castle to the same side; 0 in standard chess, where
/// they stand on the corners.
pub(super) fn chess960_key(chess: &Chess) -> u64 {
    let inner = chess.castles().castling_rights() & !Bitboard::CORNERS;
    // No piece of chess is marked as promoted, so that these numbers are free.
    inner.into_iter().fold(0, |key, rook| key ^ Zobrist64::zobrist_for_promoted(rook).0)
}

/// Castling of a king with a rook, packed: between the squares of standard chess as the king's move, else as the move to its rook.
fn pack_castling(king: Square, rook: Square) -> Move {
    let is_standard = king.file() == File::E && Bitboard::CORNERS.contains(rook);
    let wing = CastlingSide::from_king_side(rook > king);
    let to = if is_standard { Square::from_coords(wing.king_to_file(), king.rank()) } else { rook };
    Move::new(king as u8, to as u8, None)
}

pub(super) fn pack(full: &shakmaty::Move) -> Move {
    // Tested first because nearly all moves are normal: a search packs some thirty moves per leaf.
    if let shakmaty::Move::Normal { from, to, promotion, .. } = *full {
        return Move::new(from as u8, to as u8, promotion.map(promotion_of));
    }
    pack_special(*full)
}

#[cold]
fn pack_special(full: shakmaty::Move) -> Move {
    match full {
        shakmaty::Move::EnPassant { from, to } => Move::new(from as u8, to as u8, None),
        shakmaty::Move::Castle { king, rook } => pack_castling(king, rook),
        _ => unreachable!("chess has no drops, and other moves are not special"),
    }
}
