//! The tables: which planes, in which order, scaled how.
//!
//! All are built alike. Each step of history has twelve planes of pieces and one or two of repetition, the present position
//! first; then come planes that show the present position only.

use super::planes::{Orientation, Plane, Viewed};
use crate::board::{Castling, Piece};
use crate::param_enum;

param_enum! {
    /// A named table of input planes.
    pub enum EncodingName {
        /// 12 pieces, 2 repetition, side to move, fullmove/100, 4 castling, en passant, halfmove/100.
        Dc0 = "dc0-22",
        /// 12 pieces, 2 repetition, black to move, ones, 4 castling, halfmove/100, en passant.
        Dlchess = "dlchess-22",
        /// 8 steps of 12 pieces and 2 repetition; black to move, fullmove/100, 4 castling, halfmove/100.
        AlphaZero = "az-119",
        /// 8 steps of 12 pieces and 1 repetition; 4 castling, black to move, halfmove/99, zeros, ones.
        Leela = "lc0-112",
    }
}

/// What steps of history show that lie before the start of the game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingHistory {
    /// Nothing: all their planes are zero.
    Zeros,
    /// The first position again and again, with a pawn put back that has just moved two squares and may be captured en
    /// passant; nothing in a game from the initial position. Leela's `fen_only`.
    FirstPosition,
}

/// The parts of a table.
#[derive(Debug)]
pub(super) struct Table {
    /// Rises when the same position is to give other planes.
    pub(super) version: u32,
    /// Whose side of the board its origin sees it from.
    pub(super) origin: Orientation,
    /// Steps of history, the present position among them, where nothing else is asked for.
    pub(super) history: u32,
    /// The longest history that the table may have.
    pub(super) longest_history: u32,
    /// Repetition planes of each step: 1 or 2.
    pub(super) repetitions: u8,
    /// What is seen before the game's start.
    pub(super) missing: MissingHistory,
    /// The planes after the steps.
    pub(super) rest: &'static [Plane],
}

impl Table {
    /// All planes with a history of so many steps.
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

/// dc0's default: the input of the `zero` engine of `theoden8/dummy_chess` (branch `zero`, `zero/BoardEncoding.hpp`), but for the
/// en-passant square: there it is shown after every double step.
static DC0: Table = Table {
    version: 1,
    origin: Orientation::Absolute,
    history: 1,
    longest_history: 1,
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

/// The input of `mcfarljm/dlchess`, its version 2 (`src/zero/encoder.cpp`), but for the en-passant square: there it is shown
/// after every double step.
static DLCHESS: Table = Table {
    version: 1,
    origin: Orientation::SideToMove,
    history: 1,
    longest_history: 1,
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

/// AlphaZero (Silver et al. 2018, supplement, table S1). The paper gives no divisors and no order of the steps: numbers are scaled
/// as in `lirockyzhang/alpha-zero-chess` (`position_encoder.cpp`), the present position comes first as in `sotetsuk/pgx`.
static ALPHA_ZERO: Table = Table {
    version: 1,
    origin: Orientation::SideToMove,
    history: 8,
    longest_history: 8,
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

/// Leela's `INPUT_CLASSICAL_112_PLANE` (lc0, `src/neural/encoder.cc`). lc0 gives its nets the bare number of plies, and
/// their trainer, which divides by 99 (lczero-training, `tf/chunkparser.py`), stores first weights that make up for it.
static LEELA: Table = Table {
    version: 1,
    origin: Orientation::SideToMove,
    history: 8,
    longest_history: 8,
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
    /// All tables, in the order of their words.
    pub const ALL: [Self; 4] = [Self::Dc0, Self::Dlchess, Self::AlphaZero, Self::Leela];

    pub(super) fn table(self) -> &'static Table {
        match self {
            Self::Dc0 => &DC0,
            Self::Dlchess => &DLCHESS,
            Self::AlphaZero => &ALPHA_ZERO,
            Self::Leela => &LEELA,
        }
    }

    /// The version of the table: it rises when the same position is to give other planes.
    pub fn version(self) -> u32 {
        self.table().version
    }

    /// Whose side of the board the table's origin sees it from; dc0 sees every table from the side to move unless told otherwise.
    pub fn origins_orientation(self) -> Orientation {
        self.table().origin
    }

    /// Steps of history where nothing else is asked for, the present position among them.
    pub fn history(self) -> u32 {
        self.table().history
    }

    /// The longest history that the table may have; 1 if it shows nothing but the present position.
    pub fn longest_history(self) -> u32 {
        self.table().longest_history
    }

    /// What steps of history show that lie before the start of the game.
    pub fn missing_history(self) -> MissingHistory {
        self.table().missing
    }
}
