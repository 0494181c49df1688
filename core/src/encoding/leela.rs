//! Leela's policy indices: 1858 moves seen from the side to move (lc0, `src/neural/encoder.cc`).
//!
//! First come the 1792 queen and knight moves between two squares, ordered by the square moved from, then by the square moved
//! to: a1, b1, …, h8. Then come the promotions to queen, rook and bishop, ordered by the files moved from and to. A knight
//! promotion is the move without promotion, and castling is the king's move to the rook's square.

use super::policy;
use crate::board::{Move, Position, Promotion, Side};

/// Length of Leela's policy vector.
pub const LEELA_POLICY_SIZE: usize = PLAIN_MOVES + 3 * PROMOTING_STEPS;

/// Queen and knight moves between two squares.
const PLAIN_MOVES: usize = 1792;
/// Pawn moves from the seventh rank: eight forward, seven to each side.
const PROMOTING_STEPS: usize = 22;
const PROMOTIONS: [Promotion; 3] = [Promotion::Queen, Promotion::Rook, Promotion::Bishop];

/// Leela's index of a legal move of a position.
pub fn leela_index(mv: Move, position: &Position) -> u16 {
    let mirror = mirror_of(position);
    let mv = position.to_rook(mv);
    index_of(mv.from() ^ mirror, mv.to() ^ mirror, mv.promotion())
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
