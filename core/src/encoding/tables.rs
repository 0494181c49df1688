//! The tables of input planes: which planes, in which order and scale.
//!
//! All have the same structure. Each history step has twelve piece planes and one or two repetition planes, the current
//! position first; planes that show only the current position follow.

use super::planes::{Orientation, Plane, Viewed};
use crate::board::{Castling, Piece};
use crate::param_enum;

param_enum! {
    /// A named table of input planes.
    pub enum EncodingName {
        /// 12 pieces, 2 repetition, 4 castling, en passant, halfmove/100; only for the orientation `side_to_move`.
        Dc0 = "dc0-20",
        /// 12 pieces, 2 repetition, side to move, fullmove/100, 4 castling, en passant, halfmove/100.
        DummyChess = "dc0-22",
        /// 12 pieces, 2 repetition, black to move, ones, 4 castling, halfmove/100, en passant.
        Dlchess = "dlchess-22",
        /// 8 steps of 12 pieces and 2 repetition; black to move, fullmove/100, 4 castling, halfmove/100.
        AlphaZero = "az-119",
        /// 8 steps of 12 pieces and 1 repetition; 4 castling, black to move, halfmove/99, zeros, ones.
        Leela = "lc0-112",
    }
}

/// What history steps before the start of the game contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingHistory {
    /// Zeros.
    Zeros,
    /// The first position repeated, with a pawn that can be captured en passant moved back two squares; zeros in a game from
    /// the initial position. Leela's `fen_only`.
    FirstPosition,
}

/// A table of planes.
#[derive(Debug)]
pub(super) struct Table {
    /// Incremented when the planes of the same position change.
    pub(super) version: u32,
    /// The orientation in the project that the table is taken from.
    pub(super) source_orientation: Orientation,
    /// The default number of history steps, including the current position.
    pub(super) history: u32,
    /// The largest number of history steps.
    pub(super) max_history: u32,
    /// Repetition planes of each step: 1 or 2.
    pub(super) repetitions: u8,
    /// What steps before the start of the game contain.
    pub(super) missing: MissingHistory,
    /// The planes after the history steps.
    pub(super) rest: &'static [Plane],
}

impl Table {
    /// All planes with a history of this many steps.
    pub(super) fn planes(&self, history: u32) -> Vec<Plane> {
        let mut planes = Vec::new();
        for ago in 0..history as u8 {
            for side in [Viewed::First, Viewed::Second] {
                planes.extend(Piece::ALL.map(|piece| Plane::Pieces { side, piece, ago }));
            }
            planes.extend((1..=self.repetitions).map(|times| Plane::Repeated { times, ago }));
        }
        planes.extend_from_slice(self.rest);
        planes
    }
}

const OWN_KING_SIDE: Plane = Plane::MayCastle(Viewed::First, Castling::KingSide);
const OWN_QUEEN_SIDE: Plane = Plane::MayCastle(Viewed::First, Castling::QueenSide);
const OTHER_KING_SIDE: Plane = Plane::MayCastle(Viewed::Second, Castling::KingSide);
const OTHER_QUEEN_SIDE: Plane = Plane::MayCastle(Viewed::Second, Castling::QueenSide);

/// dc0's default: what the rules of chess need of the current position, and nothing else. The planes of [`DUMMY_CHESS`] without the
/// side to move and the move number, which do not matter for the result but which nets learn to use.
static DC0: Table = Table {
    version: 1,
    source_orientation: Orientation::SideToMove,
    history: 1,
    max_history: 1,
    repetitions: 2,
    missing: MissingHistory::Zeros,
    rest: &[
        OWN_KING_SIDE,
        OWN_QUEEN_SIDE,
        OTHER_KING_SIDE,
        OTHER_QUEEN_SIDE,
        Plane::EnPassant,
        Plane::HalfmoveClock(100),
    ],
};

/// The input of the `zero` engine of `theoden8/dummy_chess` (branch `zero`, `zero/BoardEncoding.hpp`), except for the en-passant
/// square, which is set there after every double step.
static DUMMY_CHESS: Table = Table {
    version: 1,
    source_orientation: Orientation::Absolute,
    history: 1,
    max_history: 1,
    repetitions: 2,
    missing: MissingHistory::Zeros,
    rest: &[
        Plane::WhiteToMove,
        Plane::FullmoveNumber,
        OWN_KING_SIDE,
        OWN_QUEEN_SIDE,
        OTHER_KING_SIDE,
        OTHER_QUEEN_SIDE,
        Plane::EnPassant,
        Plane::HalfmoveClock(100),
    ],
};

/// The input of `mcfarljm/dlchess`, its version 2 (`src/zero/encoder.cpp`), except for the en-passant square, which is set
/// there after every double step.
static DLCHESS: Table = Table {
    version: 1,
    source_orientation: Orientation::SideToMove,
    history: 1,
    max_history: 1,
    repetitions: 2,
    missing: MissingHistory::Zeros,
    rest: &[
        Plane::BlackToMove,
        Plane::Ones,
        OWN_KING_SIDE,
        OWN_QUEEN_SIDE,
        OTHER_KING_SIDE,
        OTHER_QUEEN_SIDE,
        Plane::HalfmoveClock(100),
        Plane::EnPassant,
    ],
};

/// AlphaZero (Silver et al. 2018, supplement, table S1). The paper gives neither divisors nor the order of the steps: scalars are
/// scaled as in `lirockyzhang/alpha-zero-chess` (`position_encoder.cpp`), and the current position comes first as in
/// `sotetsuk/pgx`.
static ALPHA_ZERO: Table = Table {
    version: 1,
    source_orientation: Orientation::SideToMove,
    history: 8,
    max_history: 8,
    repetitions: 2,
    missing: MissingHistory::Zeros,
    rest: &[
        Plane::BlackToMove,
        Plane::FullmoveNumber,
        OWN_KING_SIDE,
        OWN_QUEEN_SIDE,
        OTHER_KING_SIDE,
        OTHER_QUEEN_SIDE,
        Plane::HalfmoveClock(100),
    ],
};

/// Leela's `INPUT_CLASSICAL_112_PLANE` (lc0, `src/neural/encoder.cc`). lc0 feeds its nets the plies undivided; their
/// trainer divides by 99 (lczero-training, `tf/chunkparser.py`) and stores input weights that compensate for it.
static LEELA: Table = Table {
    version: 1,
    source_orientation: Orientation::SideToMove,
    history: 8,
    max_history: 8,
    repetitions: 1,
    missing: MissingHistory::FirstPosition,
    rest: &[
        OWN_QUEEN_SIDE,
        OWN_KING_SIDE,
        OTHER_QUEEN_SIDE,
        OTHER_KING_SIDE,
        Plane::BlackToMove,
        Plane::HalfmoveClock(99),
        Plane::Zeros,
        Plane::Ones,
    ],
};

impl EncodingName {
    /// All encodings, in the order of declaration.
    pub const ALL: [Self; 5] = [Self::Dc0, Self::DummyChess, Self::Dlchess, Self::AlphaZero, Self::Leela];

    pub(super) fn table(self) -> &'static Table {
        match self {
            Self::Dc0 => &DC0,
            Self::DummyChess => &DUMMY_CHESS,
            Self::Dlchess => &DLCHESS,
            Self::AlphaZero => &ALPHA_ZERO,
            Self::Leela => &LEELA,
        }
    }

    /// The version of the table, incremented when the planes of the same position change.
    pub fn version(self) -> u32 {
        self.table().version
    }

    /// The orientation in the project that the table is taken from; dc0's default is the side to move for every table.
    pub fn source_orientation(self) -> Orientation {
        self.table().source_orientation
    }

    /// The orientations that the table can be seen in: without a plane for the side to move, only from that side, since a net
    /// could not know otherwise who is to move.
    pub fn orientations(self) -> &'static [Orientation] {
        let shows_side =
            self.table().rest.iter().any(|plane| matches!(plane, Plane::WhiteToMove | Plane::BlackToMove));
        if shows_side {
            &[Orientation::Absolute, Orientation::SideToMove]
        } else {
            &[Orientation::SideToMove]
        }
    }

    /// The default number of history steps, including the current position.
    pub fn history(self) -> u32 {
        self.table().history
    }

    /// The largest number of history steps; 1 if the table shows only the current position.
    pub fn max_history(self) -> u32 {
        self.table().max_history
    }

    /// What history steps before the start of the game contain.
    pub fn missing_history(self) -> MissingHistory {
        self.table().missing
    }
}
