//! Which pieces are attacked and which are defended, as inputs of an nnue.
//!
//! An attack is a move that a piece could make to a square if an opponent's piece stood there: pins and checks are ignored, and nothing is
//! seen through other pieces. The policy net of Monty, an engine with a tree search, has such inputs (`jw1912/monty`, 768 · 4 inputs).
//!
//! There are two implementations: by sets of squares, which play and training use, and by convolutions, for libtorch and ONNX.

#![allow(
    clippy::inline_always,
    reason = "part of an evaluation, which is one function for each set of instructions"
)]

use crate::board::Piece;

/// Whether a piece is attacked by its opponent, and whether its own side defends it: 0 neither, 1 attacked, 2 defended, 3 both.
pub const STATES: usize = 4;

const FILE_A: u64 = 0x0101_0101_0101_0101;
const FILE_H: u64 = FILE_A << 7;

/// Squares from one to another: files to the right and ranks up.
type Step = (i32, i32);

const KNIGHT: [Step; 8] = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];
const STRAIGHT: [Step; 4] = [(0, 1), (1, 0), (0, -1), (-1, 0)];
const DIAGONAL: [Step; 4] = [(1, 1), (1, -1), (-1, -1), (-1, 1)];

/// The twelve planes of pieces, those of the side to move first, by what happens to the pieces: plane `state · 12 + p` has the pieces
/// of plane `p` that are in a [state](STATES).
#[inline(always)]
pub fn threats(pieces: &[u64; 12]) -> [u64; 12 * STATES] {
    let [own, other]: [[u64; 6]; 2] = [0, 6].map(|first| std::array::from_fn(|kind| pieces[first + kind]));
    let occupied = pieces.iter().fold(0, |all, squares| all | squares);
    let attacked = [attacks(&own, true, occupied), attacks(&other, false, occupied)];
    let mut planes = [0; 12 * STATES];
    for (plane, squares) in pieces.iter().enumerate() {
        let side = plane / 6;
        let (threat, support) = (attacked[1 - side], attacked[side]);
        planes[plane] = squares & !threat & !support;
        planes[12 + plane] = squares & threat & !support;
        planes[24 + plane] = squares & !threat & support;
        planes[36 + plane] = squares & threat & support;
    }
    planes
}

/// The squares that a side attacks; its pawns go up the board or down.
#[inline(always)]
fn attacks(pieces: &[u64; 6], goes_up: bool, occupied: u64) -> u64 {
    let of = |piece: Piece| pieces[piece as usize];
    let (pawns, empty) = (of(Piece::Pawn), !occupied);
    let rank = if goes_up { 1 } else { -1 };
    let mut attacked = shifted(pawns, (-1, rank)) | shifted(pawns, (1, rank));
    for step in KNIGHT {
        attacked |= shifted(of(Piece::Knight), step);
    }
    for step in STRAIGHT {
        attacked |= shifted(of(Piece::King), step) | ray(of(Piece::Rook) | of(Piece::Queen), step, empty);
    }
    for step in DIAGONAL {
        attacked |= shifted(of(Piece::King), step) | ray(of(Piece::Bishop) | of(Piece::Queen), step, empty);
    }
    attacked
}

/// A set with each square moved by a step; those that leave the board are gone.
#[inline(always)]
fn shifted(squares: u64, (files, ranks): Step) -> u64 {
    let distance = files + 8 * ranks;
    let moved = if distance >= 0 { squares << distance } else { squares >> -distance };
    moved & reachable(files)
}

/// The squares that a step over so many files can lead to.
#[inline(always)]
fn reachable(files: i32) -> u64 {
    match files {
        1 => !FILE_A,
        2 => !(FILE_A | FILE_A << 1),
        -1 => !FILE_H,
        -2 => !(FILE_H | FILE_H >> 1),
        _ => u64::MAX,
    }
}

/// The squares that sliders attack in one direction: their way over empty squares doubles three times (Kogge-Stone).
#[inline(always)]
fn ray(sliders: u64, step: Step, empty: u64) -> u64 {
    let (mut reached, mut open) = (sliders, empty & reachable(step.0));
    let distance = step.0 + 8 * step.1;
    for power in [1, 2, 4] {
        let jump = |squares: u64| {
            if distance >= 0 { squares << (distance * power) } else { squares >> (-distance * power) }
        };
        reached |= open & jump(reached);
        open &= jump(open);
    }
    shifted(reached, step)
}

/// The kernels of convolutions that find the same.
#[cfg(any(feature = "torch", feature = "onnx"))]
pub mod kernels {
    use super::{DIAGONAL, KNIGHT, STRAIGHT, Step};
    use crate::board::Piece;

    /// The directions of sliders of both sides.
    pub const RAYS: usize = 16;

    /// `[2, 12, 5, 5]`: how many pawns, knights and kings of the side to move, and of its opponent, attack a square.
    pub fn leapers() -> Vec<f32> {
        let mut kernel = vec![0.0; 2 * 12 * 25];
        let mut add = |side: usize, piece: Piece, (files, ranks): Step| {
            // A square looks back to where the piece comes from.
            let at = (2 - ranks) * 5 + 2 - files;
            kernel[(side * 12 + side * 6 + piece as usize) * 25 + at as usize] = 1.0;
        };
        for side in [0, 1] {
            let rank = if side == 0 { 1 } else { -1 };
            let pawn = [(-1, rank), (1, rank)].map(|step| (Piece::Pawn, step));
            let knight = KNIGHT.map(|step| (Piece::Knight, step));
            let king = STRAIGHT.into_iter().chain(DIAGONAL).map(|step| (Piece::King, step));
            for (piece, step) in pawn.into_iter().chain(knight).chain(king) {
                add(side, piece, step);
            }
        }
        kernel
    }

    /// `[16, 12, 1, 1]`: the pieces that move in each direction, eight of the side to move and eight of its opponent.
    pub fn sliders() -> Vec<f32> {
        let mut kernel = vec![0.0; RAYS * 12];
        for ray in 0..RAYS {
            let (side, is_straight) = (ray / 8, ray % 8 < 4);
            let piece = if is_straight { Piece::Rook } else { Piece::Bishop };
            for piece in [piece, Piece::Queen] {
                kernel[ray * 12 + side * 6 + piece as usize] = 1.0;
            }
        }
        kernel
    }

    /// `[16, 1, 3, 3]`: one step in each direction.
    pub fn steps() -> Vec<f32> {
        let steps = STRAIGHT.into_iter().chain(DIAGONAL);
        let kernels = steps.flat_map(|(files, ranks)| {
            let mut kernel = [0.0; 9];
            kernel[((1 - ranks) * 3 + 1 - files) as usize] = 1.0;
            kernel
        });
        kernels.collect::<Vec<f32>>().repeat(2)
    }

    /// `[2, 16, 1, 1]`: the directions of each side.
    pub fn sides() -> Vec<f32> {
        (0..2 * RAYS).map(|index| if index / RAYS == index % RAYS / 8 { 1.0 } else { 0.0 }).collect()
    }

    /// The side that attacks each plane of pieces.
    pub const ATTACKERS: [i64; 12] = [1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0];

    /// The side that defends each plane of pieces.
    pub const DEFENDERS: [i64; 12] = [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1];
}

#[cfg(test)]
mod tests {
    use super::{DIAGONAL, KNIGHT, STATES, STRAIGHT, Step, threats};
    use crate::board::Piece;
    use crate::network::Batch;
    use crate::network::samples::{encoding, random_game};

    /// A square, if a step from one leads to any.
    fn after(square: u32, (files, ranks): Step) -> Option<u32> {
        let (file, rank) = (square as i32 % 8 + files, square as i32 / 8 + ranks);
        let is_on_board = (0..8).contains(&file) && (0..8).contains(&rank);
        is_on_board.then_some((rank * 8 + file) as u32)
    }

    /// The squares that a piece attacks, one step after the other.
    fn attacked_from(square: u32, plane: usize, occupied: u64) -> Vec<u32> {
        let goes_up = if plane < 6 { 1 } else { -1 };
        let (steps, slides): (Vec<Step>, bool) = match Piece::ALL[plane % 6] {
            Piece::Pawn => (vec![(-1, goes_up), (1, goes_up)], false),
            Piece::Knight => (KNIGHT.to_vec(), false),
            Piece::Bishop => (DIAGONAL.to_vec(), true),
            Piece::Rook => (STRAIGHT.to_vec(), true),
            Piece::Queen => ([STRAIGHT, DIAGONAL].concat(), true),
            Piece::King => ([STRAIGHT, DIAGONAL].concat(), false),
        };
        let mut found = Vec::new();
        for step in steps {
            let mut at = square;
            while let Some(next) = after(at, step) {
                found.push(next);
                at = next;
                if !slides || occupied >> next & 1 == 1 {
                    break;
                }
            }
        }
        found
    }

    #[test]
    fn every_piece_is_in_the_state_that_a_look_at_each_square_gives() {
        let mut seen = [0; STATES];
        for number in 0..300 {
            let mut batch = Batch::default();
            batch.push(&encoding(), &random_game(number));
            let pieces: [u64; 12] = *batch.binary.first_chunk().expect("twelve planes");
            let occupied = pieces.iter().fold(0, |all, squares| all | squares);
            let planes = threats(&pieces);
            let squares = |plane: usize| (0..64).filter(move |square| pieces[plane] >> square & 1 == 1);
            let mut attacked = [0u64; 2];
            for plane in 0..12 {
                for square in squares(plane).flat_map(|square| attacked_from(square, plane, occupied)) {
                    attacked[plane / 6] |= 1 << square;
                }
            }
            for plane in 0..12 {
                for square in squares(plane) {
                    let is_set = |side: usize| (attacked[side] >> square & 1) as usize;
                    let state = is_set(1 - plane / 6) + 2 * is_set(plane / 6);
                    seen[state] += 1;
                    for other in 0..STATES {
                        let is_there = planes[other * 12 + plane] >> square & 1 == 1;
                        assert_eq!(is_there, other == state, "game {number}, plane {plane}, square {square}");
                    }
                }
            }
        }
        assert!(seen.iter().all(|count| *count > 100), "{seen:?}");
    }
}
