//! Mate in one, without playing every move, and which moves may give check.

use shakmaty::attacks::{between, bishop_attacks, knight_attacks, pawn_attacks, rook_attacks};
use shakmaty::{Bitboard, Board, Chess, Color, Position as _, Role, Square};

use super::{Move, Position};

impl Position {
    /// Which moves of the side to move may give check.
    pub fn possible_checks(&self) -> Option<PossibleChecks<'_>> {
        PossibleChecks::new(&self.0)
    }

    /// The first legal move that mates, if there is one.
    ///
    /// `legal` are the legal moves of this position. Only those that may give check are tried, which are few in most positions.
    pub fn mate_in_one(&self, legal: &[Move]) -> Option<Move> {
        let checks = self.possible_checks()?;
        legal.iter().copied().find(|mv| checks.may_come_from(*mv) && self.is_mated_by(*mv))
    }

    fn is_mated_by(&self, mv: Move) -> bool {
        let mut after = self.0.clone();
        after.play_unchecked(self.unpack(mv));
        after.is_checkmate()
    }
}

/// Which moves of the side to move may give check: all that do, and a few that do not.
#[derive(Debug)]
pub struct PossibleChecks<'a> {
    board: &'a Board,
    /// Squares from which a pawn, a knight, a bishop or a rook attacks the opponent's king.
    pawn: Bitboard,
    knight: Bitboard,
    bishop: Bitboard,
    rook: Bitboard,
    /// Pieces that stand alone between a slider of their own side and the opponent's king: moving one may discover a check.
    screens: Bitboard,
}

impl<'a> PossibleChecks<'a> {
    fn new(position: &'a Chess) -> Option<Self> {
        let (board, us) = (position.board(), position.turn());
        let king = board.king_of(us.other())?;
        let occupied = board.occupied();
        Some(Self {
            board,
            pawn: pawn_attacks(us.other(), king),
            knight: knight_attacks(king),
            bishop: bishop_attacks(king, occupied),
            rook: rook_attacks(king, occupied),
            screens: lone_blockers(board, king, us, us),
        })
    }

    /// Whether a legal move may give check. Castling, promotions and en passant change more than the squares looked at here, and
    /// always may.
    pub fn may_come_from(&self, mv: Move) -> bool {
        let (from, to) = (Square::new(mv.from().into()), Square::new(mv.to().into()));
        let changes_file = mv.from() % 8 != mv.to() % 8;
        self.screens.contains(from)
            || match self.board.role_at(from) {
                Some(Role::Pawn) => {
                    let en_passant = changes_file && self.board.role_at(to).is_none();
                    en_passant || mv.promotion().is_some() || self.pawn.contains(to)
                }
                Some(Role::Knight) => self.knight.contains(to),
                Some(Role::Bishop) => self.bishop.contains(to),
                Some(Role::Rook) => self.rook.contains(to),
                Some(Role::Queen) => (self.bishop | self.rook).contains(to),
                Some(Role::King) => {
                    mv.from().abs_diff(mv.to()) == 2 || self.board.color_at(to) == self.board.color_at(from)
                }
                None => false,
            }
    }
}

/// The pieces of a side, `own`, that stand alone between a king and a slider of a side, `sliders`.
pub(super) fn lone_blockers(board: &Board, king: Square, sliders: Color, own: Color) -> Bitboard {
    let straight = rook_attacks(king, Bitboard::EMPTY) & board.rooks_and_queens();
    let diagonal = bishop_attacks(king, Bitboard::EMPTY) & board.bishops_and_queens();
    let mut alone = Bitboard::EMPTY;
    for slider in (straight | diagonal) & board.by_color(sliders) {
        let blockers = between(slider, king) & board.occupied();
        if blockers.count() == 1 {
            alone |= blockers & board.by_color(own);
        }
    }
    alone
}
