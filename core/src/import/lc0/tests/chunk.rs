//! Chunks of training data, made from games. Tests of other crates include this file, too.

use super::tested::board::{Castling, Game, GameResult, Move, Piece, Position, Side};
use super::tested::encoding::leela_index;

/// Bytes of a record of version 6.
const BYTES: usize = 8356;

/// Where fields are in a record; written down once more, so that a slip in one of the lists is found.
pub(crate) mod field {
    pub(crate) const FORMAT: usize = 4;
    pub(crate) const POLICY: usize = 8;
    pub(crate) const PLANES: usize = 8 + 4 * 1858;
    pub(crate) const CASTLING: usize = PLANES + 8 * 104;
    pub(crate) const SIDE: usize = CASTLING + 4;
    pub(crate) const CLOCK: usize = SIDE + 1;
    pub(crate) const FLAGS: usize = SIDE + 2;
    pub(crate) const ROOT_Q: usize = SIDE + 4;
    pub(crate) const BEST_Q: usize = ROOT_Q + 4;
    pub(crate) const ROOT_D: usize = ROOT_Q + 8;
    pub(crate) const BEST_D: usize = ROOT_Q + 12;
    pub(crate) const RESULT_Q: usize = ROOT_Q + 28;
    pub(crate) const RESULT_D: usize = ROOT_Q + 32;
    pub(crate) const ORIG_Q: usize = ROOT_Q + 48;
    pub(crate) const ORIG_D: usize = ROOT_Q + 52;
    pub(crate) const VISITS: usize = ROOT_Q + 60;
    pub(crate) const PLAYED: usize = VISITS + 4;
    pub(crate) const KLD: usize = VISITS + 8;
}

pub(crate) fn put(record: &mut [u8], at: usize, bytes: &[u8]) {
    record[at..at + bytes.len()].copy_from_slice(bytes);
}

pub(crate) fn put_f32(record: &mut [u8], at: usize, value: f32) {
    put(record, at, &value.to_le_bytes());
}

/// Visits of the legal moves, by packed move.
pub(crate) fn visits_of(position: &Position, ply: usize) -> Vec<(Move, u32)> {
    let mut moves = position.legal_moves();
    moves.sort_unstable();
    let visits = |(number, mv): (usize, Move)| (mv, ((number * 7 + ply * 3) % 11) as u32 * 5);
    let mut found: Vec<(Move, u32)> = moves.into_iter().enumerate().map(visits).collect();
    found[0].1 += 3;
    found
}

/// The record of a ply of a game, as lc0 writes it.
pub(crate) fn record(game: &Game, ply: usize, result: GameResult) -> Vec<u8> {
    let positions: Vec<&Position> = game.positions().collect();
    let position = positions[ply];
    let side = position.side_to_move();
    let mut bytes = vec![0; BYTES];
    bytes[0] = 6;
    bytes[field::FORMAT] = 1;
    for index in 0..1858 {
        put_f32(&mut bytes, field::POLICY + 4 * index, -1.0);
    }
    let visits = visits_of(position, ply);
    let sum: u32 = visits.iter().map(|(_, visits)| visits).sum();
    for (mv, visits) in &visits {
        let at = field::POLICY + 4 * usize::from(leela_index(*mv, position));
        put_f32(&mut bytes, at, *visits as f32 / sum as f32);
    }
    for (ago, shown) in positions[..=ply].iter().rev().take(8).enumerate() {
        for (number, of) in [side, side.other()].into_iter().enumerate() {
            for (kind, piece) in Piece::ALL.into_iter().enumerate() {
                let mut pieces = shown.pieces(of, piece);
                if side == Side::Black {
                    pieces = pieces.swap_bytes();
                }
                let ranks = pieces.to_le_bytes().map(u8::reverse_bits);
                put(&mut bytes, field::PLANES + 8 * (13 * ago + 6 * number + kind), &ranks);
            }
        }
    }
    let right = |of, wing| u8::from(position.may_castle(of, wing));
    let rights =
        [side, side.other()].map(|of| [right(of, Castling::QueenSide), right(of, Castling::KingSide)]);
    put(&mut bytes, field::CASTLING, rights.as_flattened());
    bytes[field::SIDE] = u8::from(side == Side::Black);
    bytes[field::CLOCK] = position.halfmove_clock() as u8;
    let tilt = ply as f32 / 1000.0;
    let score = f32::from(result.score_for(side));
    for (at, value) in [
        (field::ROOT_Q, 0.25 - tilt),
        (field::ROOT_D, 0.5),
        (field::BEST_Q, 0.375 - tilt),
        (field::BEST_D, 0.25),
        (field::RESULT_Q, score),
        (field::RESULT_D, 1.0 - score.abs()),
        (field::ORIG_Q, if ply.is_multiple_of(3) { f32::NAN } else { -0.125 }),
        (field::ORIG_D, if ply.is_multiple_of(3) { f32::NAN } else { 0.125 }),
        (field::KLD, if ply.is_multiple_of(3) { 0.0 } else { 0.75 }),
    ] {
        put_f32(&mut bytes, at, value);
    }
    put(&mut bytes, field::VISITS, &(sum + 1).to_le_bytes());
    put(&mut bytes, field::PLAYED, &leela_index(game.moves()[ply], position).to_le_bytes());
    bytes
}

/// The records of a game, as they are in a chunk.
pub(crate) fn records(game: &Game, result: GameResult) -> Vec<Vec<u8>> {
    (0..game.ply()).map(|ply| record(game, ply, result)).collect()
}
