//! The interface between search and evaluators: a batch of positions in, one evaluation per row out.

use thiserror::Error;

use crate::board::{Game, TablebaseError};
use crate::encoding::{Encoding, PolicyIndex, mirrored};

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

    /// From P(win) − P(loss) and P(draw).
    pub(crate) fn from_value(value: f32, draw: f32) -> Self {
        let decided = 1.0 - draw;
        Self { win: 0.5 * (decided + value), draw, loss: 0.5 * (decided - value) }
    }

    /// The mean of two.
    fn mean(self, other: Self) -> Self {
        Self {
            win: mean(self.win, other.win),
            draw: mean(self.draw, other.draw),
            loss: mean(self.loss, other.loss),
        }
    }

    /// The value with draws counted as `draw_score` instead of 0.
    pub(crate) fn value_with_draw_score(self, draw_score: f64) -> f64 {
        f64::from(self.value()) + f64::from(self.draw) * draw_score
    }

    /// The same result from the opponent's side.
    pub fn flipped(self) -> Self {
        Self { win: self.loss, draw: self.draw, loss: self.win }
    }
}

/// The value of a position for its side to move, in the search's precision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PositionValue {
    /// P(win) − P(loss), in [−1, 1].
    pub value: f64,
    /// P(draw).
    pub draw: f64,
}

impl From<Wdl> for PositionValue {
    fn from(wdl: Wdl) -> Self {
        Self { value: wdl.value().into(), draw: wdl.draw.into() }
    }
}

/// Encoded positions to evaluate, one per row, all in the same [`Encoding`].
///
/// A structure of arrays that keeps its memory when cleared, so that gathering does not allocate after warm-up.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// `[B, binary planes]`: one bit per square; a1 is bit 0.
    pub binary: Vec<u64>,
    /// `[B, scalar planes]`: one number per plane.
    pub scalars: Vec<f32>,
    /// Policy indices of the legal moves of all rows, one row after the other, in the order of move generation.
    pub legal: Vec<PolicyIndex>,
    /// The end of each row's legal moves in `legal`; `[B]`.
    pub legal_ends: Vec<u32>,
    /// The key of each row's current position, without its history; a mirror image has that of its original; `[B]`.
    pub keys: Vec<u64>,
    /// Whether each row's value is to be that of the quiet positions that captures lead to; `[B]`.
    pub quiescence: Vec<Quiescence>,
}

/// Whether the value of a row is to be that of the quiet positions that captures lead to, which only nets of the kind `nnue` offer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Quiescence {
    /// No: the value is that of the position itself.
    #[default]
    Off,
    /// If the net offers it.
    IfOffered,
    /// Yes: other nets refuse the batch.
    Required,
}

impl Quiescence {
    /// From the parameter of a search.
    pub(crate) fn of_param(quiescence: Option<bool>) -> Self {
        match quiescence {
            None => Self::IfOffered,
            Some(true) => Self::Required,
            Some(false) => Self::Off,
        }
    }
}

impl Batch {
    /// The number of rows.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are no rows.
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
        self.quiescence.clear();
    }

    /// Fails if a row requires quiescence, which the evaluator does not offer.
    pub(super) fn refuse_quiescence(&self) -> Result<(), EvaluatorError> {
        let is_required = self.quiescence.contains(&Quiescence::Required);
        if is_required { Err(EvaluatorError::NoQuiescence) } else { Ok(()) }
    }

    /// Adds the current position of a game, without quiescence.
    pub fn push(&mut self, encoding: &Encoding, game: &Game) {
        encoding.encode(game, &mut self.binary, &mut self.scalars);
        let side = game.position().side_to_move();
        let legal = game.position().legal_moves();
        self.legal.extend(legal.into_iter().map(|mv| encoding.policy_index(mv, side)));
        self.legal_ends.push(self.legal.len() as u32);
        self.keys.push(game.key());
        self.quiescence.push(Quiescence::Off);
    }

    /// Adds the mirror image of the last row: its files reversed, and its moves in the same order. Adds nothing, and returns false, if
    /// the image is not worth the same, because a side may castle.
    pub fn push_mirror(&mut self, encoding: &Encoding) -> bool {
        let (Some(row), Some(&key)) = (self.len().checked_sub(1), self.keys.last()) else { return false };
        let (binary, scalars) = (row * encoding.binary_count(), row * encoding.scalar_count());
        if !encoding.can_mirror(&self.binary[binary..]) {
            return false;
        }
        self.binary.extend_from_within(binary..);
        let image = binary + encoding.binary_count();
        self.binary[image..].iter_mut().for_each(|squares| *squares = mirrored(*squares));
        self.scalars.extend_from_within(scalars..);
        let legal = self.legal_range(row);
        let image = legal.end;
        self.legal.extend_from_within(legal);
        self.legal[image..].iter_mut().for_each(|index| *index = index.mirrored());
        self.legal_ends.push(self.legal.len() as u32);
        self.keys.push(key);
        self.quiescence.push(self.quiescence[row]);
        true
    }

    /// As [`push_mirror`](Self::push_mirror), and puts the two rows into an order that is the same for a position and its image:
    /// libraries may add up the rows of a batch differently. Their moves stay as they are, of the row that was last.
    pub fn push_pair(&mut self, encoding: &Encoding) -> bool {
        if !self.push_mirror(encoding) {
            return false;
        }
        let start = self.binary.len() - 2 * encoding.binary_count();
        let (own, image) = self.binary[start..].split_at_mut(encoding.binary_count());
        if image < own {
            own.swap_with_slice(image);
            let start = self.legal_range(self.len() - 2).start;
            let moves = self.legal_range(self.len() - 1).len();
            let (own, image) = self.legal[start..].split_at_mut(moves);
            own.swap_with_slice(image);
        }
        true
    }

    /// Adds a row of another batch in the same encoding.
    pub(super) fn push_row(&mut self, batch: &Self, row: usize, encoding: &Encoding) {
        let (binary, scalars) = (encoding.binary_count(), encoding.scalar_count());
        self.binary.extend_from_slice(&batch.binary[row * binary..][..binary]);
        self.scalars.extend_from_slice(&batch.scalars[row * scalars..][..scalars]);
        self.legal.extend_from_slice(&batch.legal[batch.legal_range(row)]);
        self.legal_ends.push(self.legal.len() as u32);
        self.keys.push(batch.keys[row]);
        self.quiescence.push(batch.quiescence[row]);
    }

    /// The range of a row's legal moves in `legal`, and of its policy in [`Evaluations::policy`].
    pub fn legal_range(&self, row: usize) -> std::ops::Range<usize> {
        let start = if row == 0 { 0 } else { self.legal_ends[row - 1] as usize };
        start..self.legal_ends[row] as usize
    }
}

/// The evaluations of a [`Batch`], row by row; memory is kept between batches.
#[derive(Debug, Clone, Default)]
pub struct Evaluations {
    /// Probabilities of the legal moves, laid out as [`Batch::legal`]; each row sums to 1.
    pub policy: Vec<f32>,
    /// Expected result for the side to move; `[B]`.
    pub wdl: Vec<Wdl>,
    /// Expected plies left in the game; `[B]`, or empty if the evaluator does not predict them.
    pub moves_left: Vec<f32>,
}

impl Evaluations {
    /// Removes all evaluations and keeps the memory.
    pub fn clear(&mut self) {
        self.policy.clear();
        self.wdl.clear();
        self.moves_left.clear();
    }

    /// A row's evaluation; with `has_mirror` its mean with that of the next row, the other one of a [pair](Batch::push_pair).
    /// `policy` gets the probabilities of the row's legal moves in place of what it has.
    pub fn row(&self, batch: &Batch, row: usize, has_mirror: bool, policy: &mut Vec<f32>) -> RowEvaluation {
        policy.clear();
        policy.extend_from_slice(&self.policy[batch.legal_range(row)]);
        let (wdl, moves_left) = (self.wdl[row], self.moves_left.get(row).copied());
        if !has_mirror {
            return RowEvaluation { wdl, moves_left };
        }
        for (own, image) in policy.iter_mut().zip(&self.policy[batch.legal_range(row + 1)]) {
            *own = mean(*own, *image);
        }
        let moves_left = moves_left.map(|own| mean(own, self.moves_left[row + 1]));
        RowEvaluation { wdl: wdl.mean(self.wdl[row + 1]), moves_left }
    }
}

/// The evaluation of one row, besides its policy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowEvaluation {
    /// Expected result for the side to move.
    pub wdl: Wdl,
    /// Expected plies left in the game; `None` if the evaluator does not predict them.
    pub moves_left: Option<f32>,
}

fn mean(one: f32, other: f32) -> f32 {
    0.5 * (one + other)
}

/// A batch could not be evaluated.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum EvaluatorError {
    #[error("evaluating a batch of {rows} positions failed: {cause}")]
    Device { rows: usize, cause: String },
    #[error("the net cannot evaluate positions: {cause}")]
    Make {
        /// What is wrong with the net, the device or the library.
        cause: String,
    },
    #[error(
        "the search's `moves_left` needs the plies left in the game, which the net does not predict; \
         leave `moves_left` out, or use a net with a `moves_left_head`"
    )]
    NoMovesLeft,
    #[error(
        "the search's `quiescence` follows captures with the values of a net of the kind nnue, which this net is not; leave \
         `quiescence` out, or use a net with `tower: #{{ kind: \"nnue\" }}`"
    )]
    NoQuiescence,
    /// A tablebase that a search probed instead of the net could not be read.
    #[error(transparent)]
    Tablebase(#[from] TablebaseError),
    #[error(
        "the net gave a value that is not finite for row {row}; its weights are damaged, go back to an earlier checkpoint, or in f16 \
         its numbers exceed 65,504, give another precision"
    )]
    NotFinite { row: usize },
}

/// Evaluates batches of positions. A row's evaluation depends only on that row and the batch size.
pub trait Evaluator {
    /// The encoding of the rows.
    fn encoding(&self) -> &Encoding;

    /// Replaces the content of `out` by one evaluation per row of `batch`, which may be empty.
    fn evaluate(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError>;

    /// Begins to evaluate a batch on threads of the evaluator's own, if it has any, while the caller does other work; it is
    /// [finished](Self::finish) before another one is begun or evaluated.
    fn begin(&mut self, _batch: &Batch) -> Result<(), EvaluatorError> {
        Ok(())
    }

    /// As [`evaluate`](Self::evaluate), for the batch that was [begun](Self::begin) last.
    fn finish(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
        self.evaluate(batch, out)
    }

    /// Clears cached evaluations, so that a shard's results do not depend on earlier shards.
    fn start_shard(&mut self) {}

    /// Rows answered from the cache since the start of the shard.
    fn cache_hits(&self) -> u64 {
        0
    }
}
