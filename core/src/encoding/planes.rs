//! Input planes: their contents, storage and descriptions.

use crate::board::{Castling, Piece};
use crate::param_enum;

param_enum! {
    /// The side from which planes and policy are seen.
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
    /// One bit per square.
    Binary,
    /// One number for the whole plane.
    Scalar,
}

/// A side relative to the orientation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Viewed {
    /// White, or the side to move.
    First,
    /// Black, or the opponent.
    Second,
}

/// What one plane shows. `ago` counts plies back from the current position, which is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plane {
    /// The squares of a kind of piece.
    Pieces {
        /// The side.
        side: Viewed,
        /// The kind of piece.
        piece: Piece,
        /// Plies back from the current position.
        ago: u8,
    },
    /// All squares if that position had occurred at least `times` times before.
    Repeated {
        /// Earlier occurrences.
        times: u8,
        /// Plies back from the current position.
        ago: u8,
    },
    /// All squares if White is to move.
    WhiteToMove,
    /// All squares if Black is to move.
    BlackToMove,
    /// All squares if the side still has the castling right.
    MayCastle(Viewed, Castling),
    /// The square behind a pawn that can be captured en passant, only if such a capture is legal.
    EnPassant,
    /// All squares.
    Ones,
    /// No square.
    Zeros,
    /// Move number / 100.
    FullmoveNumber,
    /// Plies since the last capture or pawn move, divided by this.
    HalfmoveClock(u8),
}

impl Plane {
    /// The divisor of [`Plane::FullmoveNumber`].
    pub(super) const FULLMOVE_DIVISOR: u8 = 100;

    /// How the plane is stored.
    pub fn kind(self) -> PlaneKind {
        if self.divisor().is_some() { PlaneKind::Scalar } else { PlaneKind::Binary }
    }

    /// The divisor of a scalar plane; `None` for a binary one.
    pub fn divisor(self) -> Option<u8> {
        match self {
            Self::FullmoveNumber => Some(Self::FULLMOVE_DIVISOR),
            Self::HalfmoveClock(divisor) => Some(divisor),
            _ => None,
        }
    }

    /// A description of the plane for people, with the sides named by the orientation.
    pub fn describe(self, orientation: Orientation) -> String {
        let whose = |side| match (orientation, side) {
            (Orientation::Absolute, Viewed::First) => "White's",
            (Orientation::Absolute, Viewed::Second) => "Black's",
            (Orientation::SideToMove, Viewed::First) => "own",
            (Orientation::SideToMove, Viewed::Second) => "the opponent's",
        };
        match self {
            Self::Pieces { side, piece, ago: 0 } => format!("{} {}", whose(side), plural(piece)),
            Self::Pieces { side, piece, ago } => {
                format!("{} {} {}", whose(side), plural(piece), time_ago(ago))
            }
            Self::Repeated { times, ago: 0 } => format!("the position has occurred {} before", count(times)),
            Self::Repeated { times, ago } => {
                format!("the position {} had occurred {} before", time_ago(ago), count(times))
            }
            Self::WhiteToMove => "White to move".to_owned(),
            Self::BlackToMove => "Black to move".to_owned(),
            Self::MayCastle(side, Castling::KingSide) => format!("{} right to castle king side", whose(side)),
            Self::MayCastle(side, Castling::QueenSide) => {
                format!("{} right to castle queen side", whose(side))
            }
            Self::EnPassant => "the square of a legal en-passant capture".to_owned(),
            Self::Ones => "all ones".to_owned(),
            Self::Zeros => "all zeros".to_owned(),
            Self::FullmoveNumber => "number of the move".to_owned(),
            Self::HalfmoveClock(_) => "plies since the last capture or pawn move".to_owned(),
        }
    }
}

fn plural(piece: Piece) -> &'static str {
    match piece {
        Piece::Pawn => "pawns",
        Piece::Knight => "knights",
        Piece::Bishop => "bishops",
        Piece::Rook => "rooks",
        Piece::Queen => "queens",
        Piece::King => "king",
    }
}

fn time_ago(ago: u8) -> String {
    if ago == 1 { "1 ply ago".to_owned() } else { format!("{ago} plies ago") }
}

fn count(times: u8) -> String {
    match times {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        times => format!("{times} times"),
    }
}
