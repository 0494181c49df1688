//! Moves as indices of the policy vector: `index = plane · 64 + from`.
//!
//! Planes 0–55 are queen moves (direction N, NE, E, SE, S, SW, W, NW × distance 1–7), 56–63 knight moves (NNE, ENE, ESE,
//! SSE, SSW, WSW, WNW, NNW), 64–72 underpromotions (left, forward, right × knight, bishop, rook). A queen promotion is
//! the queen move between the same squares. Castling is the move that [`Move`] packs: of the king over two squares, or in Chess960 to
//! its rook's square.

use crate::board::{Move, Piece, Position, Promotion};

/// Planes of the policy.
pub const POLICY_PLANES: usize = 73;
/// Length of the policy vector: 73 × 64.
pub const POLICY_SIZE: usize = POLICY_PLANES * 64;

/// Moves that exist, seen from the side to move: 1792 queen and knight moves, and 66 underpromotions.
pub const POSSIBLE_MOVES: usize = 1858;

const FIRST_KNIGHT_PLANE: usize = 56;
const FIRST_UNDERPROMOTION_PLANE: usize = 64;
/// (file, rank) steps: N, NE, E, SE, S, SW, W, NW.
const QUEEN_STEPS: [(i8, i8); 8] = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)];
/// (file, rank) steps: NNE, ENE, ESE, SSE, SSW, WSW, WNW, NNW.
const KNIGHT_STEPS: [(i8, i8); 8] = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];
const UNDERPROMOTIONS: [Promotion; 3] = [Promotion::Knight, Promotion::Bishop, Promotion::Rook];
const NO_INDEX: u16 = u16::MAX;
/// Mirrors the ranks of both squares of [`Move::squares`].
const BOTH_MIRRORED: u16 = 56 | 56 << 6;

/// An index into the policy vector, below [`POLICY_SIZE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PolicyIndex(u16);

impl PolicyIndex {
    /// The index of a number; `None` if it is not below [`POLICY_SIZE`].
    pub fn new(index: u16) -> Option<Self> {
        ((index as usize) < POLICY_SIZE).then_some(Self(index))
    }

    /// The index as a number.
    pub fn get(self) -> u16 {
        self.0
    }

    /// The plane, 0..73.
    pub fn plane(self) -> usize {
        self.0 as usize / 64
    }

    /// The square moved from, seen in the orientation, 0..64.
    pub fn square(self) -> usize {
        self.0 as usize % 64
    }
}

const fn step(from: u8, (files, ranks): (i8, i8), distance: i8) -> Option<u8> {
    let file = (from % 8) as i8 + files * distance;
    let rank = (from / 8) as i8 + ranks * distance;
    let on_board = file >= 0 && file < 8 && rank >= 0 && rank < 8;
    if on_board { Some((rank * 8 + file) as u8) } else { None }
}

/// The index of each queen or knight move by [`Move::squares`]; a table because every leaf of a search looks up some thirty.
static PLAIN_INDICES: [u16; 64 * 64] = plain_indices();

const fn plain_indices() -> [u16; 64 * 64] {
    let mut indices = [NO_INDEX; 64 * 64];
    let mut index = 0;
    while index < FIRST_UNDERPROMOTION_PLANE * 64 {
        let from = index % 64;
        if let Some(to) = plain_target(index / 64, from as u8) {
            indices[from + 64 * to as usize] = index as u16;
        }
        index += 1;
    }
    indices
}

/// Whether a queen or a knight can move from one square to another on an empty board.
pub(super) const fn is_plain(from: u8, to: u8) -> bool {
    let files = (from % 8).abs_diff(to % 8);
    let ranks = (from / 8).abs_diff(to / 8);
    let straight = files == 0 || ranks == 0 || files == ranks;
    from != to && (straight || files * ranks == 2)
}

/// The square that a queen or knight plane leads to.
const fn plain_target(plane: usize, from: u8) -> Option<u8> {
    if plane < FIRST_KNIGHT_PLANE {
        step(from, QUEEN_STEPS[plane / 7], (plane % 7 + 1) as i8)
    } else {
        step(from, KNIGHT_STEPS[plane - FIRST_KNIGHT_PLANE], 1)
    }
}

/// The policy indices of the [`POSSIBLE_MOVES`], in ascending order. The others lead off the board, or promote a pawn that is not on the
/// seventh rank.
pub fn possible_moves() -> [PolicyIndex; POSSIBLE_MOVES] {
    const INDICES: [u16; POSSIBLE_MOVES] = possible_indices();
    INDICES.map(PolicyIndex)
}

const fn possible_indices() -> [u16; POSSIBLE_MOVES] {
    let mut indices = [NO_INDEX; POSSIBLE_MOVES];
    let (mut index, mut next) = (0, 0);
    while index < POLICY_SIZE {
        if is_possible(index / 64, (index % 64) as u8) {
            indices[next] = index as u16;
            next += 1;
        }
        index += 1;
    }
    assert!(next == POSSIBLE_MOVES, "as many moves as Leela's policy has");
    indices
}

const fn is_possible(plane: usize, from: u8) -> bool {
    if plane < FIRST_UNDERPROMOTION_PLANE {
        return plain_target(plane, from).is_some();
    }
    let files = ((plane - FIRST_UNDERPROMOTION_PLANE) / 3) as i8 - 1;
    from / 8 == 6 && step(from, (files, 1), 1).is_some()
}

/// The index of the move with its files reversed, for every index, also for those that lead off the board.
pub(super) const fn mirrored_indices() -> [u16; POLICY_SIZE] {
    let mut indices = [0; POLICY_SIZE];
    let mut index = 0;
    while index < POLICY_SIZE {
        let (plane, from) = (index / 64, index % 64);
        let plane = if plane < FIRST_KNIGHT_PLANE {
            // Clockwise from north becomes anticlockwise.
            (8 - plane / 7) % 8 * 7 + plane % 7
        } else if plane < FIRST_UNDERPROMOTION_PLANE {
            FIRST_KNIGHT_PLANE + 7 - (plane - FIRST_KNIGHT_PLANE)
        } else {
            let (direction, piece) =
                ((plane - FIRST_UNDERPROMOTION_PLANE) / 3, (plane - FIRST_UNDERPROMOTION_PLANE) % 3);
            FIRST_UNDERPROMOTION_PLANE + 3 * (2 - direction) + piece
        };
        indices[index] = (plane * 64 + (from ^ 7)) as u16;
        index += 1;
    }
    indices
}

/// The index of the move as the other side sees it, with its ranks reversed, for every index. Underpromotions keep their planes: those
/// of the two sides start on different ranks.
pub(super) const fn flipped_indices() -> [u16; POLICY_SIZE] {
    let mut indices = [0; POLICY_SIZE];
    let mut index = 0;
    while index < POLICY_SIZE {
        let (plane, from) = (index / 64, index % 64);
        let plane = if plane < FIRST_KNIGHT_PLANE {
            // Clockwise from north becomes anticlockwise from south.
            (12 - plane / 7) % 8 * 7 + plane % 7
        } else if plane < FIRST_UNDERPROMOTION_PLANE {
            FIRST_KNIGHT_PLANE + (11 - (plane - FIRST_KNIGHT_PLANE)) % 8
        } else {
            plane
        };
        indices[index] = (plane * 64 + (from ^ 56)) as u16;
        index += 1;
    }
    indices
}

fn mirror(square: u8, mirrored: bool) -> u8 {
    if mirrored { square ^ 56 } else { square }
}

pub(super) fn index_of(mv: Move, mirrored: bool) -> PolicyIndex {
    let squares = mv.squares() ^ if mirrored { BOTH_MIRRORED } else { 0 };
    let index = match mv.promotion() {
        None | Some(Promotion::Queen) => PLAIN_INDICES[squares as usize],
        Some(piece) => underpromotion_index(squares, piece),
    };
    debug_assert!((index as usize) < POLICY_SIZE, "no piece can move {mv}");
    PolicyIndex(index)
}

fn underpromotion_index(squares: u16, piece: Promotion) -> u16 {
    let (from, to) = (squares % 64, squares / 64);
    let direction = to % 8 + 1 - from % 8;
    let plane = FIRST_UNDERPROMOTION_PLANE as u16 + 3 * direction + piece as u16 - 1;
    plane * 64 + from
}

pub(super) fn move_at(index: PolicyIndex, position: &Position, mirrored: bool) -> Option<Move> {
    let viewed_from = index.square() as u8;
    let from = mirror(viewed_from, mirrored);
    if let Some(underpromotion) = index.plane().checked_sub(FIRST_UNDERPROMOTION_PLANE) {
        return underpromotion_at(underpromotion, viewed_from, from);
    }
    let to = mirror(plain_target(index.plane(), viewed_from)?, mirrored);
    let promotes = matches!(to / 8, 0 | 7) && position.piece_at(from) == Some(Piece::Pawn);
    Some(Move::new(from, to, promotes.then_some(Promotion::Queen)))
}

fn underpromotion_at(underpromotion: usize, viewed_from: u8, from: u8) -> Option<Move> {
    let file_step = (underpromotion / 3) as i8 - 1;
    // The rank on the real board gives the direction: pawns on the seventh move up and pawns on the second down, mirrored or not.
    let rank_step = match from / 8 {
        6 => 1,
        1 => -1,
        _ => return None,
    };
    debug_assert_eq!(viewed_from % 8, from % 8, "mirroring keeps files");
    let to = step(from, (file_step, rank_step), 1)?;
    Some(Move::new(from, to, Some(UNDERPROMOTIONS[underpromotion % 3])))
}
