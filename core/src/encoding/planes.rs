//! The tables of input planes.

use super::policy::{self, PolicyIndex};
use crate::board::{Castling, Game, Move, Piece, Position, Side};
use crate::param_enum;

param_enum! {
    /// A named table of input planes.
    pub enum EncodingName {
        /// 12 pieces, 2 repetition, side to move, fullmove/100, 4 castling, en passant, halfmove/100.
        Dc0 = "dc0-22",
    }
}

param_enum! {
    /// Whose side of the board planes and policy are seen from.
    pub enum Orientation {
        /// White's: a1 is the first square, and pieces are White's and Black's.
        Absolute = "absolute",
        /// The side to move's: ranks are mirrored for Black, and pieces are own and the opponent's.
        SideToMove = "side_to_move",
    }
}

/// How a plane is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaneKind {
    /// One bit a square.
    Binary,
    /// One number for the whole plane.
    Scalar,
}

/// What one plane of a table shows; `First` and `Second` are White and Black, or own and the opponent's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plane {
    /// Squares of a kind of piece.
    Pieces(Viewed, Piece),
    /// All squares if the position occurred at least this often before.
    Repeated(u8),
    /// All squares if White is to move.
    WhiteToMove,
    /// All squares if the right remains.
    MayCastle(Viewed, Castling),
    /// The square behind a pawn that may be captured en passant, only where such a capture is legal.
    EnPassant,
    /// Number of the move / 100.
    FullmoveNumber,
    /// Plies since the last capture or pawn move / 100.
    HalfmoveClock,
}

/// A side as an orientation names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Viewed {
    /// White, or the side to move.
    First,
    /// Black, or the opponent.
    Second,
}

impl Plane {
    /// How the plane is stored.
    pub fn kind(self) -> PlaneKind {
        match self {
            Self::FullmoveNumber | Self::HalfmoveClock => PlaneKind::Scalar,
            _ => PlaneKind::Binary,
        }
    }
}

/// A table of planes in an orientation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoding {
    name: EncodingName,
    orientation: Orientation,
    planes: Vec<Plane>,
}

impl Encoding {
    /// The table of that name.
    pub fn new(name: EncodingName, orientation: Orientation) -> Self {
        let planes = match name {
            EncodingName::Dc0 => dc0_22(),
        };
        Self { name, orientation, planes }
    }

    /// The table's name.
    pub fn name(&self) -> EncodingName {
        self.name
    }

    /// Whose side of the board planes and policy are seen from.
    pub fn orientation(&self) -> Orientation {
        self.orientation
    }

    /// The planes, in the order in which a net sees them; `P` of them.
    pub fn planes(&self) -> &[Plane] {
        &self.planes
    }

    /// The number of planes stored as bits.
    pub fn binary_count(&self) -> usize {
        self.planes.iter().filter(|plane| plane.kind() == PlaneKind::Binary).count()
    }

    /// The number of planes stored as one number.
    pub fn scalar_count(&self) -> usize {
        self.planes.len() - self.binary_count()
    }

    /// Appends the present position of a game: bits to `binary`, numbers to `scalars`, each in the order of the table.
    pub fn encode(&self, game: &Game, binary: &mut Vec<u64>, scalars: &mut Vec<f32>) {
        let position = game.position();
        let view = View::new(self.orientation, position);
        for plane in &self.planes {
            match *plane {
                Plane::Pieces(side, piece) => {
                    binary.push(view.sides[side as usize] & view.kinds[piece as usize]);
                }
                Plane::Repeated(times) => binary.push(all_if(game.repetitions() >= times)),
                Plane::WhiteToMove => binary.push(all_if(position.side_to_move() == Side::White)),
                Plane::MayCastle(side, wing) => {
                    binary.push(all_if(position.may_castle(view.side(side), wing)));
                }
                Plane::EnPassant => {
                    let target = position.legal_en_passant().map_or(0, |square| 1 << square);
                    binary.push(mirror(target, view.mirrored));
                }
                Plane::FullmoveNumber => scalars.push(position.fullmove_number() as f32 / 100.0),
                Plane::HalfmoveClock => scalars.push(position.halfmove_clock() as f32 / 100.0),
            }
        }
    }

    /// The policy index of a legal move of a position with this side to move.
    pub fn policy_index(&self, played: Move, side: Side) -> PolicyIndex {
        policy::index_of(played, self.is_mirrored(side))
    }

    /// The move that an index means in a position; queen promotion where a pawn reaches the last rank.
    ///
    /// `None` if the index names no move on the board. Says nothing of legality.
    pub fn move_at(&self, index: PolicyIndex, position: &Position) -> Option<Move> {
        policy::move_at(index, position, self.is_mirrored(position.side_to_move()))
    }

    fn is_mirrored(&self, side: Side) -> bool {
        self.orientation == Orientation::SideToMove && side == Side::Black
    }
}

fn all_if(condition: bool) -> u64 {
    if condition { u64::MAX } else { 0 }
}

/// How an orientation sees one position.
struct View {
    mirrored: bool,
    first: Side,
    /// Squares of the first and the second side's pieces.
    sides: [u64; 2],
    /// Squares of each kind of piece.
    kinds: [u64; 6],
}

impl View {
    fn new(orientation: Orientation, position: &Position) -> Self {
        let first = match orientation {
            Orientation::Absolute => Side::White,
            Orientation::SideToMove => position.side_to_move(),
        };
        let mirrored = first == Side::Black;
        let sides = [first, first.other()].map(|side| mirror(position.occupied(side), mirrored));
        let kinds = position.pieces_by_kind().map(|kind| mirror(kind, mirrored));
        Self { mirrored, first, sides, kinds }
    }

    fn side(&self, viewed: Viewed) -> Side {
        match viewed {
            Viewed::First => self.first,
            Viewed::Second => self.first.other(),
        }
    }
}

/// Mirroring the ranks swaps the bytes of a bit board.
fn mirror(squares: u64, mirrored: bool) -> u64 {
    if mirrored { squares.swap_bytes() } else { squares }
}

/// dc0's default table: the input of the `zero` engine of `dummy_chess`.
fn dc0_22() -> Vec<Plane> {
    let pieces = |side| Piece::ALL.map(|piece| Plane::Pieces(side, piece));
    let castling = |side| [Castling::KingSide, Castling::QueenSide].map(|wing| Plane::MayCastle(side, wing));
    let mut planes = Vec::with_capacity(22);
    planes.extend(pieces(Viewed::First));
    planes.extend(pieces(Viewed::Second));
    planes.extend([Plane::Repeated(1), Plane::Repeated(2), Plane::WhiteToMove, Plane::FullmoveNumber]);
    planes.extend(castling(Viewed::First));
    planes.extend(castling(Viewed::Second));
    planes.extend([Plane::EnPassant, Plane::HalfmoveClock]);
    planes
}
