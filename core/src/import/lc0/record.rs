//! Records of training data: one position, its search and the move played (lc0, `src/trainingdata/trainingdata_v6.h` and
//! `trainingdata_v7.h`, written by `trainingdata.cc`).
//!
//! Planes show the board from the side to move: its pieces first, and the ranks mirrored if that is Black. Each byte of a plane is a
//! rank, the lowest first, with the a-file in its highest bit. There are 13 planes for the position and for each of the 7 before it:
//! pawns, knights, bishops, rooks, queens and king of the side to move, those of the other side, and whether the position has
//! occurred before. All numbers are little-endian.

use crate::encoding::LEELA_POLICY_SIZE;

/// Bytes of a record of version 6.
pub(super) const V6_BYTES: usize = 8356;
/// Bytes of a record of version 7: those of version 6, and more about errors and the moves beside it, which is not read.
pub(super) const V7_BYTES: usize = 8396;
/// Planes of a position.
const PLANES: usize = 13;

/// Where the fields begin, in bytes.
const INPUT_FORMAT: usize = 4;
const PROBABILITIES: usize = 8;
const HISTORY: usize = 7440;
const CASTLING: usize = 8272;
const SIDE_TO_MOVE: usize = 8276;
const RULE50: usize = 8277;
const FLAGS: usize = 8278;
const ROOT_Q: usize = 8280;
const BEST_Q: usize = 8284;
const ROOT_D: usize = 8288;
const BEST_D: usize = 8292;
const RESULT_Q: usize = 8308;
const RESULT_D: usize = 8312;
const ORIG_Q: usize = 8328;
const ORIG_D: usize = 8332;
const VISITS: usize = 8340;
const PLAYED: usize = 8344;
const POLICY_KLD: usize = 8348;

/// What `invariance_info` says of the game.
const MAX_LENGTH: u8 = 1 << 4;
const ADJUDICATED: u8 = 1 << 5;

/// The bytes of a record.
#[derive(Clone, Copy)]
pub(super) struct Record<'a>(&'a [u8]);

/// A pair of q = P(win) − P(loss) and d = P(draw) for the side to move, as it is stored.
pub(super) type Stored = (f32, f32);

/// The length of a record by the version that it begins with; `None` for versions that are not read.
pub(super) fn record_bytes(version: u32) -> Option<usize> {
    match version {
        6 => Some(V6_BYTES),
        7 => Some(V7_BYTES),
        _ => None,
    }
}

/// The version of a record by its first bytes, if there are enough of them.
pub(super) fn version_of(head: &[u8]) -> Option<u32> {
    head.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

impl<'a> Record<'a> {
    /// A record; `bytes` has at least [`V6_BYTES`] of them.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        assert!(bytes.len() >= V6_BYTES, "a record has {V6_BYTES} bytes, not {}", bytes.len());
        Self(bytes)
    }

    fn bytes<const COUNT: usize>(self, at: usize) -> [u8; COUNT] {
        let mut bytes = [0; COUNT];
        bytes.copy_from_slice(&self.0[at..at + COUNT]);
        bytes
    }

    fn pair(self, q: usize, d: usize) -> Stored {
        (f32::from_le_bytes(self.bytes(q)), f32::from_le_bytes(self.bytes(d)))
    }

    /// How planes and moves are coded (lc0, `proto/net.proto`, `InputFormat`).
    pub(super) fn input_format(self) -> u32 {
        u32::from_le_bytes(self.bytes(INPUT_FORMAT))
    }

    /// The share of visits of each of Leela's policy indices; negative or not a number for moves that are not legal.
    pub(super) fn probabilities(self) -> impl ExactSizeIterator<Item = f32> {
        let bytes = &self.0[PROBABILITIES..PROBABILITIES + 4 * LEELA_POLICY_SIZE];
        bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes))
    }

    /// The share of visits of one of Leela's policy indices.
    pub(super) fn probability(self, index: u16) -> f32 {
        f32::from_le_bytes(self.bytes(PROBABILITIES + 4 * usize::from(index)))
    }

    /// The pieces of the position `ago` plies before, 0..8: of the side to move, pawns to king, then of the other side; a1 is bit 0.
    /// Always seen from the side that is to move now.
    pub(super) fn pieces(self, ago: usize) -> [u64; 12] {
        let first = HISTORY + 8 * PLANES * ago;
        std::array::from_fn(|plane| u64::from_be_bytes(self.bytes(first + 8 * plane)).reverse_bits())
    }

    /// The castling rights: queen side and king side of the side to move, then of the other side.
    pub(super) fn castling(self) -> [u8; 4] {
        self.bytes(CASTLING)
    }

    /// 1 if Black is to move, else 0.
    pub(super) fn side_to_move(self) -> u8 {
        self.0[SIDE_TO_MOVE]
    }

    /// Plies since the last capture or pawn move.
    pub(super) fn rule50(self) -> u8 {
        self.0[RULE50]
    }

    /// The mean of the search at the root.
    pub(super) fn root(self) -> Stored {
        self.pair(ROOT_Q, ROOT_D)
    }

    /// The value of the best move.
    pub(super) fn best(self) -> Stored {
        self.pair(BEST_Q, BEST_D)
    }

    /// The game's result.
    pub(super) fn result(self) -> Stored {
        self.pair(RESULT_Q, RESULT_D)
    }

    /// The net's value; not a number where it was not at hand any more.
    pub(super) fn net(self) -> Stored {
        self.pair(ORIG_Q, ORIG_D)
    }

    /// Visits of the root; 0 in records that were converted from an earlier version.
    pub(super) fn visits(self) -> u32 {
        u32::from_le_bytes(self.bytes(VISITS))
    }

    /// The policy index of the move played.
    pub(super) fn played(self) -> u16 {
        u16::from_le_bytes(self.bytes(PLAYED))
    }

    /// KL(visits ‖ policy) in nats; 0 where the net's policy was not at hand any more.
    pub(super) fn policy_kld(self) -> f32 {
        f32::from_le_bytes(self.bytes(POLICY_KLD))
    }

    /// Whether the game was ended before the rules did.
    pub(super) fn is_adjudicated(self) -> bool {
        self.0[FLAGS] & ADJUDICATED != 0
    }

    /// Whether it was ended because of its length.
    pub(super) fn is_cut_off(self) -> bool {
        self.0[FLAGS] & MAX_LENGTH != 0
    }
}
