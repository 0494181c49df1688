//! Quiescence at the leaves of a tree search: the values of positions in the middle of an exchange are those of what it leads to
//! (Baier and Winands 2015, "MCTS-Minimax Hybrids", place a shallow alpha-beta at the same point).

use std::sync::Arc;

use super::piece_squares::value;
use super::see::{gains_at_least, largest_gain};
use crate::board::{KnownMove, Position};
use crate::encoding::Encoding;
use crate::network::nnue::{NnueEvaluator, NnueLine, NnueNet};
use crate::network::{Batch, Evaluations, Evaluator, EvaluatorError, Quiescence, Wdl};

/// A net of the kind `nnue` for tree searches, with quiescence for the [rows that ask for it](Batch::quiescence).
///
/// Such a row gets the expected result of the best that its side can reach by captures and promotions to a queen that lose no
/// material, each side free to stop at any point; a side in check tries all its moves. A capture en passant of the row's own position is
/// not seen, as the pieces alone do not show it. A row whose exchanges lead to more than 1000 positions keeps the
/// net's own value. Policies and moves left are those of the row.
#[derive(Debug)]
pub struct QuiescentNnue {
    evaluator: NnueEvaluator,
    captures: Captures,
}

/// Positions that the quiescence of a row may visit. A net without training hardly distinguishes exchanges, so nothing is cut
/// off, and a row may lead to millions. Measured in the middle of random games: the shipped net needs more in some two rows of
/// 10,000, and nets after one to three trainings in some thirty.
pub(super) const MOST_POSITIONS: u32 = 1000;

#[derive(Debug)]
struct Captures {
    line: NnueLine,
    /// Positions that may still be visited for the row.
    left: u32,
    /// Moves, by plies from the row.
    moves: Vec<Vec<KnownMove>>,
}

impl QuiescentNnue {
    /// By a net, which evaluators share.
    pub fn new(net: Arc<NnueNet>) -> Self {
        let line = NnueLine::new(Arc::clone(&net));
        Self { evaluator: NnueEvaluator::new(net), captures: Captures { line, left: 0, moves: Vec::new() } }
    }
}

impl Evaluator for QuiescentNnue {
    fn encoding(&self) -> &Encoding {
        self.evaluator.encoding()
    }

    fn evaluate(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
        self.evaluator.evaluate_at_once(batch, out)?;
        let planes = self.encoding().binary_count();
        for (row, quiescence) in batch.quiescence.iter().enumerate() {
            if *quiescence == Quiescence::Off {
                continue;
            }
            let pieces = batch.binary[row * planes..].first_chunk();
            if let Some(position) =
                Position::of_pieces(pieces.expect("an nnue's encoding begins with the pieces"))
            {
                self.captures.left = MOST_POSITIONS;
                if let Some(settled) = self.captures.settle(0, &position, Some(out.wdl[row]), -1.0, 1.0) {
                    out.wdl[row] = settled;
                }
            }
        }
        Ok(())
    }
}

impl Captures {
    /// The expected result for the side to move once no capture is worth it; a bound of it outside of `low` to `high`, which are values.
    /// `None` if that takes more positions than are left.
    fn settle(
        &mut self,
        ply: usize,
        position: &Position,
        known: Option<Wdl>,
        mut low: f32,
        high: f32,
    ) -> Option<Wdl> {
        self.left = self.left.checked_sub(1)?;
        let side = position.side_to_move();
        let is_check = position.is_check();
        if position.is_insufficient_material()
            || !is_check && !position.has_pieces(side) && !position.has_legal_move()
        {
            return Some(Wdl::DRAW);
        }
        let mut best = Wdl::LOSS;
        if !is_check {
            best = known.unwrap_or_else(|| self.line.evaluate(ply, position));
            low = low.max(best.value());
            if low >= high {
                return Some(best);
            }
        }
        let mut moves = match self.moves.get_mut(ply) {
            Some(moves) => std::mem::take(moves),
            None => Vec::new(),
        };
        if is_check {
            position.known_moves_into(&mut moves);
        } else {
            position.known_captures_into(&mut moves);
            moves.retain(|mv| gains_at_least(position, *mv, 0));
        }
        // The most valuable victim first, then the least valuable attacker.
        moves.sort_by_key(|mv| -(16 * largest_gain(*mv) - value(mv.piece)));
        for mv in &moves {
            let (after, _) = position.after(*mv, 0);
            let result = self.settle(ply + 1, &after, None, -high, -low)?.flipped();
            if result.value() > best.value() {
                best = result;
                low = low.max(best.value());
                if low >= high {
                    break;
                }
            }
        }
        if self.moves.len() <= ply {
            self.moves.resize_with(ply + 1, Vec::new);
        }
        self.moves[ply] = moves;
        Some(best)
    }
}
