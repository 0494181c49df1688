//! Moves as indices of the policy vector: `index = plane · 64 + from`.
//!
//! Planes 0–55 are queen moves (direction N, NE, E, SE, S, SW, W, NW × distance 1–7), 56–63 knight moves (NNE, ENE, ESE,
//! SSE, SSW, WSW, WNW, NNW), 64–72 underpromotions (left, forward, right × knight, bishop, rook). A queen promotion is
//! the queen move of the same squares.

use std::sync::LazyLock;

use crate::board::{Move, Piece, Position, Promotion};

/// Planes of the policy.
pub const POLICY_PLANES: usize = 73;
/// Length of the policy vector: 73 × 64.
pub const POLICY_SIZE: usize = POLICY_PLANES * 64;

const FIRST_KNIGHT_PLANE: usize = 56;
const FIRST_UNDERPROMOTION_PLANE: usize = 64;
/// (file, rank) steps: N, NE, E, SE, S, SW, W, NW.
const QUEEN_STEPS: [(i8, i8); 8] = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)];
/// (file, rank) steps: NNE, ENE, ESE, SSE, SSW, WSW, WNW, NNW.
const KNIGHT_STEPS: [(i8, i8); 8] = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];
const UNDERPROMOTIONS: [Promotion; 3] = [Promotion::Knight, Promotion::Bishop, Promotion::Rook];
const NO_PLANE: u8 = u8::MAX;

/// A place in the policy vector, below [`POLICY_SIZE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PolicyIndex(u16);

impl PolicyIndex {
    /// From a number; `None` at or above [`POLICY_SIZE`].
    pub fn new(index: u16) -> Option<Self> {
        ((index as usize) < POLICY_SIZE).then_some(Self(index))
    }

    /// The number.
    pub fn get(self) -> u16 {
        self.0
    }

    /// The plane, 0..73.
    pub fn plane(self) -> usize {
        self.0 as usize / 64
    }

    /// The square moved from as the orientation sees it, 0..64.
    pub fn square(self) -> usize {
        self.0 as usize % 64
    }
}

fn step(from: u8, (files, ranks): (i8, i8), distance: i8) -> Option<u8> {
    let file = (from % 8) as i8 + files * distance;
    let rank = (from / 8) as i8 + ranks * distance;
    ((0..8).contains(&file) && (0..8).contains(&rank)).then_some((rank * 8 + file) as u8)
}

/// The plane of each pair of squares that a queen or a knight can connect.
static PLANES: LazyLock<[[u8; 64]; 64]> = LazyLock::new(|| {
    let mut planes = [[NO_PLANE; 64]; 64];
    for from in 0..64u8 {
        for plane in 0..FIRST_UNDERPROMOTION_PLANE {
            if let Some(to) = plain_target(plane, from) {
                planes[from as usize][to as usize] = plane as u8;
            }
        }
    }
    planes
});

/// Where a queen or knight plane leads from a square.
fn plain_target(plane: usize, from: u8) -> Option<u8> {
    if plane < FIRST_KNIGHT_PLANE {
        step(from, QUEEN_STEPS[plane / 7], (plane % 7 + 1) as i8)
    } else {
        step(from, KNIGHT_STEPS[plane - FIRST_KNIGHT_PLANE], 1)
    }
}

fn mirror(square: u8, mirrored: bool) -> u8 {
    if mirrored { square ^ 56 } else { square }
}

pub(super) fn index_of(played: Move, mirrored: bool) -> PolicyIndex {
    let (from, to) = (mirror(played.from(), mirrored), mirror(played.to(), mirrored));
    let plane = match played.promotion() {
        None | Some(Promotion::Queen) => PLANES[from as usize][to as usize] as usize,
        Some(piece) => {
            let direction = (to % 8 + 1 - from % 8) as usize;
            FIRST_UNDERPROMOTION_PLANE + 3 * direction + piece as usize - 1
        }
    };
    debug_assert!(plane < POLICY_PLANES, "{played} is a move of some piece");
    PolicyIndex((plane * 64 + from as usize) as u16)
}

pub(super) fn move_at(index: PolicyIndex, position: &Position, mirrored: bool) -> Option<Move> {
    let seen_from = index.square() as u8;
    let from = mirror(seen_from, mirrored);
    if let Some(underpromotion) = index.plane().checked_sub(FIRST_UNDERPROMOTION_PLANE) {
        return underpromotion_at(underpromotion, seen_from, from);
    }
    let to = mirror(plain_target(index.plane(), seen_from)?, mirrored);
    let promotes = matches!(to / 8, 0 | 7) && position.piece_at(from) == Some(Piece::Pawn);
    Some(Move::new(from, to, promotes.then_some(Promotion::Queen)))
}

fn underpromotion_at(underpromotion: usize, seen_from: u8, from: u8) -> Option<Move> {
    let file_step = (underpromotion / 3) as i8 - 1;
    // The real rank decides the direction: pawns on the seventh go up and pawns on the second go down, mirrored or not.
    let rank_step = match from / 8 {
        6 => 1,
        1 => -1,
        _ => return None,
    };
    debug_assert_eq!(seen_from % 8, from % 8, "mirroring keeps files");
    let to = step(from, (file_step, rank_step), 1)?;
    Some(Move::new(from, to, Some(UNDERPROMOTIONS[underpromotion % 3])))
}
