//! Static exchange evaluation: what a capture gains if both sides go on capturing on its square, each with its least valuable piece
//! and each free to stop (<https://www.chessprogramming.org/SEE_-_The_Swap_Algorithm>).
//!
//! Pins are not looked at. A king captures only where nothing attacks it afterwards.

use super::piece_squares::value;
use crate::board::{KnownMove, Piece, Position, Promotion};

/// The king is never captured, so it stands above all that it could be exchanged for.
const KING: i32 = 30_000;

fn worth(piece: Piece) -> i32 {
    if piece == Piece::King { KING } else { value(piece) }
}

/// The material that a move wins if nothing happens to it.
pub(super) fn largest_gain(mv: KnownMove) -> i32 {
    mv.captured.map_or(0, value) + mv.played.promotion().map(Promotion::piece).map_or(0, value)
}

/// The material in centipawns that a legal move gains or, below 0, loses on the square that it goes to.
pub(super) fn exchange(position: &Position, mv: KnownMove) -> i32 {
    let KnownMove { played, piece, captured } = mv;
    if piece == Piece::King && position.castling(played).is_some() {
        return 0;
    }
    let promoted = |promotion: Option<Promotion>| promotion.map(Promotion::piece);
    let mut side = position.side_to_move();
    let sides = [position.occupied(side), position.occupied(side.other())];
    let kinds = position.pieces_by_kind();
    let mut occupied = (sides[0] | sides[1]) & !(1u64 << played.from());
    if captured.is_some() {
        occupied &= !(1u64 << position.captured_square(mv));
    }
    let us = side;
    let is_last_rank = matches!(played.to() / 8, 0 | 7);
    // What each capture gains if the exchange ends with it, for the side that captures.
    let mut gains = [0i32; 33];
    let mut standing = promoted(played.promotion()).unwrap_or(piece);
    gains[0] = captured.map_or(0, value)
        + promoted(played.promotion()).map_or(0, |promotion| value(promotion) - value(Piece::Pawn));
    let mut captures = 0;
    loop {
        side = side.other();
        let own = sides[usize::from(side != us)];
        let attackers = position.attackers(played.to(), occupied | 1u64 << played.to()) & occupied;
        let ours = attackers & own;
        let Some((from, piece)) = least_valuable(ours, &kinds) else { break };
        if piece == Piece::King && attackers & !own != 0 {
            break;
        }
        captures += 1;
        let gained =
            if piece == Piece::Pawn && is_last_rank { value(Piece::Queen) - value(Piece::Pawn) } else { 0 };
        gains[captures] = worth(standing) + gained - gains[captures - 1];
        standing = if gained > 0 { Piece::Queen } else { piece };
        occupied &= !from;
        if captures == gains.len() - 1 {
            break;
        }
    }
    // Each side stops where going on is worse.
    for capture in (1..=captures).rev() {
        gains[capture - 1] = -gains[capture].max(-gains[capture - 1]);
    }
    gains[0]
}

/// Whether [`exchange`] is at least `threshold`; quick where the capture gains that even if the piece is lost. On the last ranks a
/// pawn may gain more than it takes.
pub(super) fn gains_at_least(position: &Position, mv: KnownMove, threshold: i32) -> bool {
    let is_last_rank = matches!(mv.played.to() / 8, 0 | 7);
    let is_sure = !is_last_rank && mv.captured.map_or(0, value) - worth(mv.piece) >= threshold;
    is_sure || exchange(position, mv) >= threshold
}

/// The lowest square with the least valuable of some pieces, as a bit, and the kind of piece.
fn least_valuable(pieces: u64, kinds: &[u64; 6]) -> Option<(u64, Piece)> {
    let (kind, found) = Piece::ALL.into_iter().zip(kinds).find(|(_, squares)| *squares & pieces != 0)?;
    let squares = found & pieces;
    Some((squares & squares.wrapping_neg(), kind))
}

#[cfg(test)]
mod tests;
