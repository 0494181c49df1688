//! Leela's policy indices: 1858 moves seen from the side to move (lc0, `src/neural/encoder.cc`).
//!
//! First come the 1792 queen and knight moves between two squares, ordered by the square moved from, then by the square moved
//! to: a1, b1, …, h8. Then come the promotions to queen, rook and bishop, ordered by the files moved from and to. A knight
//! promotion is the move without promotion, and castling is the king's move to the rook's square.

use super::policy::{self, PolicyIndex};
use crate::board::{Move, Piece, Position, Promotion, Side};

/// Length of Leela's policy vector.
pub const LEELA_POLICY_SIZE: usize = PLAIN_MOVES + 3 * PROMOTING_STEPS;

/// Queen and knight moves between two squares.
const PLAIN_MOVES: usize = 1792;
/// Pawn moves from the seventh rank: eight forward, seven to each side.
const PROMOTING_STEPS: usize = 22;
const PROMOTIONS: [Promotion; 3] = [Promotion::Queen, Promotion::Rook, Promotion::Bishop];
const A1: u8 = 0;
const E1: u8 = 4;
const H1: u8 = 7;

/// Where the 4672-index policy has the logit of one of Leela's indices, both seen from the side to move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeelaSource {
    /// The square moved from, 0..64.
    pub from: u8,
    /// The index for most pieces.
    pub usual: PolicyIndex,
    /// The index for one kind of piece on that square: a pawn that promotes to a knight, or a king that castles.
    pub special: Option<(Piece, PolicyIndex)>,
}

/// Leela's index of a legal move of a position.
pub fn leela_index(mv: Move, position: &Position) -> u16 {
    let mirror = mirror_of(position);
    let mv = position.to_rook(mv);
    index_of(mv.from() ^ mirror, mv.to() ^ mirror, mv.promotion())
}

/// The legal move of a position with one of Leela's indices, if there is one.
pub fn leela_move(index: u16, position: &Position) -> Option<Move> {
    position.legal_moves().into_iter().find(|legal| leela_index(*legal, position) == index)
}

/// The source of each of Leela's [`LEELA_POLICY_SIZE`] logits, in the order of its indices.
pub fn leela_sources() -> Vec<LeelaSource> {
    let squares = || (0..64).flat_map(|from| (0..64).map(move |to| (from, to)));
    let mut sources: Vec<LeelaSource> = squares()
        .filter(|(from, to)| policy::is_plain(*from, *to))
        .map(|(from, to)| plain(from, to))
        .collect();
    for (from, to) in squares().filter(|(from, to)| is_promoting(*from, *to)) {
        for promotion in PROMOTIONS {
            let usual = policy::index_of(Move::new(from, to, Some(promotion)), false);
            sources.push(LeelaSource { from, usual, special: None });
        }
    }
    sources
}

fn plain(from: u8, to: u8) -> LeelaSource {
    let index = |to, promotion| policy::index_of(Move::new(from, to, promotion), false);
    let special = match (from, to) {
        (E1, H1) => Some((Piece::King, index(E1 + 2, None))),
        (E1, A1) => Some((Piece::King, index(E1 - 2, None))),
        _ if is_promoting(from, to) => Some((Piece::Pawn, index(to, Some(Promotion::Knight)))),
        _ => None,
    };
    LeelaSource { from, usual: index(to, None), special }
}

/// Whether a pawn move between two squares, seen from the pawn's side, is a promotion.
fn is_promoting(from: u8, to: u8) -> bool {
    from / 8 == 6 && to / 8 == 7 && (from % 8).abs_diff(to % 8) <= 1
}

fn mirror_of(position: &Position) -> u8 {
    if position.side_to_move() == Side::Black { 56 } else { 0 }
}

fn index_of(from: u8, to: u8, promotion: Option<Promotion>) -> u16 {
    let Some(kind) = PROMOTIONS.iter().position(|known| Some(*known) == promotion) else {
        return PLAIN_INDICES[usize::from(from)][usize::from(to)];
    };
    // Each file before this one has three promoting moves, except the a-file, which has two.
    let step = 2 * u16::from(from % 8) + u16::from(to % 8);
    PLAIN_MOVES as u16 + 3 * step + kind as u16
}

/// Leela's index of each queen or knight move, by the squares moved from and to.
static PLAIN_INDICES: [[u16; 64]; 64] = plain_indices();

const fn plain_indices() -> [[u16; 64]; 64] {
    let mut indices = [[u16::MAX; 64]; 64];
    let (mut squares, mut next) = (0, 0);
    while squares < 64 * 64 {
        let (from, to) = (squares / 64, squares % 64);
        if policy::is_plain(from as u8, to as u8) {
            indices[from][to] = next;
            next += 1;
        }
        squares += 1;
    }
    assert!(next as usize == PLAIN_MOVES, "a queen and a knight have 1792 moves on an empty board");
    indices
}
