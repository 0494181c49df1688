//! The contract between search and whatever evaluates positions: one batch in, one answer a row out.

use thiserror::Error;

use crate::board::{Game, TablebaseError};
use crate::encoding::{Encoding, PolicyIndex};

/// Probabilities of win, draw and loss for the side to move; they sum to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Wdl {
    /// P(win).
    pub win: f32,
    /// P(draw).
    pub draw: f32,
    /// P(loss).
    pub loss: f32,
}

impl Wdl {
    /// A certain draw.
    pub const DRAW: Self = Self { win: 0.0, draw: 1.0, loss: 0.0 };
    /// A certain loss.
    pub const LOSS: Self = Self { win: 0.0, draw: 0.0, loss: 1.0 };
    /// A certain win.
    pub const WIN: Self = Self { win: 1.0, draw: 0.0, loss: 0.0 };

    /// P(win) − P(loss), in [−1, 1], for the side to move.
    pub fn value(self) -> f32 {
        self.win - self.loss
    }

    /// With this P(win) − P(loss) and this P(draw).
    pub(crate) fn of_value(value: f32, draw: f32) -> Self {
        let decided = 1.0 - draw;
        Self { win: 0.5 * (decided + value), draw, loss: 0.5 * (decided - value) }
    }

    /// The value with a draw worth `draw` instead of 0.
    pub(crate) fn worth(self, draw: f64) -> f64 {
        f64::from(self.value()) + f64::from(self.draw) * draw
    }

    /// The same result seen by the other side.
    pub fn flipped(self) -> Self {
        Self { win: self.loss, draw: self.draw, loss: self.win }
    }
}

/// Encoded positions waiting for an evaluation; one row each, all of one [`Encoding`].
///
/// A structure of arrays that keeps its memory when cleared, so that gathering allocates nothing after warm-up.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// `[B, binary planes]`: one bit a square, a1 = bit 0.
    pub binary: Vec<u64>,
    /// `[B, scalar planes]`: one number for a whole plane.
    pub scalars: Vec<f32>,
    /// Policy indices of the legal moves of all rows, one row after the other, in the order of move generation.
    pub legal: Vec<PolicyIndex>,
    /// Where each row's legal moves end in `legal`; `[B]`.
    pub legal_ends: Vec<u32>,
    /// A hash of each row's present position, whatever the encoding sees of its past; `[B]`.
    pub keys: Vec<u64>,
}

impl Batch {
    /// The number of rows.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Removes all rows and keeps the memory.
    pub fn clear(&mut self) {
        self.binary.clear();
        self.scalars.clear();
        self.legal.clear();
        self.legal_ends.clear();
        self.keys.clear();
    }

    /// Adds the present position of a game.
    pub fn push(&mut self, encoding: &Encoding, game: &Game) {
        encoding.encode(game, &mut self.binary, &mut self.scalars);
        let side = game.position().side_to_move();
        let legal = game.position().legal_moves();
        self.legal.extend(legal.into_iter().map(|played| encoding.policy_index(played, side)));
        self.legal_ends.push(self.legal.len() as u32);
        self.keys.push(game.key());
    }

    /// Where a row's legal moves lie in `legal`, and its policy in [`Evaluations::policy`].
    pub fn legal_range(&self, row: usize) -> std::ops::Range<usize> {
        let start = if row == 0 { 0 } else { self.legal_ends[row - 1] as usize };
        start..self.legal_ends[row] as usize
    }
}

/// What an evaluator says of a [`Batch`], row by row; keeps its memory between batches.
#[derive(Debug, Clone, Default)]
pub struct Evaluations {
    /// Probabilities of the legal moves, laid out as [`Batch::legal`]; each row sums to 1.
    pub policy: Vec<f32>,
    /// Expected result for the side to move; `[B]`.
    pub wdl: Vec<Wdl>,
    /// Plies left in the game; `[B]`, or nothing from an evaluator that does not know.
    pub moves_left: Vec<f32>,
}

impl Evaluations {
    /// Removes all answers and keeps the memory.
    pub fn clear(&mut self) {
        self.policy.clear();
        self.wdl.clear();
        self.moves_left.clear();
    }
}

/// A net could not evaluate a batch.
#[derive(Debug, Error)]
pub enum EvaluatorError {
    /// The device or the library failed.
    #[error("evaluating a batch of {rows} positions failed: {cause}")]
    Device {
        /// Rows of the batch.
        rows: usize,
        /// What the library says.
        cause: String,
    },
    /// A search asks for what the net does not say.
    #[error(
        "the search's `moves_left` needs the plies left in the game, which the net does not say; \
         leave `moves_left` out, or take a net with a `moves_left_head`"
    )]
    NoMovesLeft,
    /// A tablebase that a search asked in the net's place.
    #[error(transparent)]
    Tablebase(#[from] TablebaseError),
    /// A net produced NaN or infinity.
    #[error(
        "the net gave a value that is not finite for row {row}; its weights are damaged, go back to an earlier checkpoint"
    )]
    NotFinite {
        /// The row of the batch.
        row: usize,
    },
}

/// Evaluates batches of positions. A row's answer depends on nothing but that row and the batch's size.
pub trait Evaluator {
    /// The encoding that rows must have.
    fn encoding(&self) -> &Encoding;

    /// Fills `out` with one answer for each row of `batch`; an empty batch is allowed.
    fn evaluate(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError>;

    /// Forgets what was asked before, so that a shard's answers depend on nothing outside it.
    fn start_shard(&mut self) {}

    /// Rows that were answered from memory since the shard's start.
    fn cache_hits(&self) -> u64 {
        0
    }
}
