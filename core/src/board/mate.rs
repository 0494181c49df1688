//! Mate in one, without playing every move.

use shakmaty::attacks::{between, bishop_attacks, knight_attacks, pawn_attacks, rook_attacks};
use shakmaty::{Bitboard, Board, Chess, Color, Position as _, Role, Square};

use super::{Move, Position};

impl Position {
    /// The first of the legal moves that mates, if one does.
    ///
    /// `legal` are the legal moves of this position. Only those that may give check are played out, a few in most
    /// positions.
    pub fn mate_in_one(&self, legal: &[Move]) -> Option<Move> {
        let checks = Checks::of(&self.0)?;
        legal.iter().copied().find(|played| checks.may_come_from(*played) && self.is_mated_by(*played))
    }

    fn is_mated_by(&self, played: Move) -> bool {
        let mut after = self.0.clone();
        after.play_unchecked(self.unpack(played));
        after.is_checkmate()
    }
}

/// Which moves of the side to move may give check: a few that do not, but all that do.
struct Checks<'a> {
    board: &'a Board,
    /// Squares from which a pawn, a knight, a bishop or a rook attacks the opponent's king.
    pawn: Bitboard,
    knight: Bitboard,
    bishop: Bitboard,
    rook: Bitboard,
    /// Pieces that alone stand between a slider of their own side and the opponent's king.
    screens: Bitboard,
}

impl<'a> Checks<'a> {
    fn of(position: &'a Chess) -> Option<Self> {
        let (board, us) = (position.board(), position.turn());
        let king = board.king_of(us.other())?;
        let occupied = board.occupied();
        Some(Self {
            board,
            pawn: pawn_attacks(us.other(), king),
            knight: knight_attacks(king),
            bishop: bishop_attacks(king, occupied),
            rook: rook_attacks(king, occupied),
            screens: screens(board, us, king),
        })
    }

    /// Castling, promotion and en passant change more than one square of a line, and are always tried.
    fn may_come_from(&self, played: Move) -> bool {
        let (from, to) = (Square::new(played.from().into()), Square::new(played.to().into()));
        let files = played.from() % 8 != played.to() % 8;
        self.screens.contains(from)
            || match self.board.role_at(from) {
                Some(Role::Pawn) => {
                    let en_passant = files && self.board.role_at(to).is_none();
                    en_passant || played.promotion().is_some() || self.pawn.contains(to)
                }
                Some(Role::Knight) => self.knight.contains(to),
                Some(Role::Bishop) => self.bishop.contains(to),
                Some(Role::Rook) => self.rook.contains(to),
                Some(Role::Queen) => (self.bishop | self.rook).contains(to),
                Some(Role::King) => played.from().abs_diff(played.to()) == 2,
                None => false,
            }
    }
}

fn screens(board: &Board, us: Color, king: Square) -> Bitboard {
    let (ours, nothing) = (board.by_color(us), Bitboard::EMPTY);
    let straight = rook_attacks(king, nothing) & (board.rooks() | board.queens());
    let diagonal = bishop_attacks(king, nothing) & (board.bishops() | board.queens());
    let mut screens = Bitboard::EMPTY;
    for slider in (straight | diagonal) & ours {
        let on_the_way = between(slider, king) & board.occupied();
        if on_the_way.count() == 1 {
            screens |= on_the_way & ours;
        }
    }
    screens
}
