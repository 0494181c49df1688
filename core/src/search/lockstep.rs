//! Many searches in lockstep, sharing batches: the loop of self-play, matches and analyses.

use std::ops::DerefMut;

use super::Search;
use crate::network::{Batch, Evaluations, Evaluator, EvaluatorError};

/// A game slot: a game whose moves are found by searches.
pub trait SearchSlot {
    /// The search that waits for evaluations and the index of its evaluator; `None` once the game is over.
    fn waiting(&mut self) -> Option<(usize, &mut Search)>;

    /// Continues after an evaluation was applied: plays a move if the search is done.
    fn advance(&mut self);
}

/// One batch for each evaluator; keeps its memory between rounds.
#[derive(Debug)]
pub struct Lockstep {
    batches: Vec<Batch>,
    evaluations: Evaluations,
    /// Of each evaluator: the positions that it evaluated in the last round.
    evaluated: Vec<usize>,
    /// Of each slot: its evaluator and its first row in that batch.
    first_rows: Vec<Option<(usize, usize)>>,
}

impl Lockstep {
    /// Empty batches for this many evaluators.
    pub fn new(evaluators: usize) -> Self {
        Self {
            batches: vec![Batch::default(); evaluators],
            evaluations: Evaluations::default(),
            evaluated: vec![0; evaluators],
            first_rows: Vec::new(),
        }
    }

    /// One round: gather from all slots, evaluate one batch for each evaluator, apply to all.
    ///
    /// Returns the number of positions evaluated.
    pub fn round<'a, S: SearchSlot, E: DerefMut<Target = dyn Evaluator + 'a>>(
        &mut self,
        slots: &mut [S],
        evaluators: &mut [E],
    ) -> Result<usize, EvaluatorError> {
        self.gather(slots, evaluators)?;
        for (number, evaluator) in evaluators.iter_mut().enumerate() {
            if !self.batches[number].is_empty() {
                evaluator.evaluate(&self.batches[number], &mut self.evaluations)?;
            }
            self.evaluated[number] += self.batches[number].len();
            self.apply(slots, number)?;
        }
        Ok(self.evaluated.iter().sum())
    }

    /// The positions that each evaluator evaluated in the last round.
    pub fn evaluated(&self) -> &[usize] {
        &self.evaluated
    }

    /// Fills the batches, and counts the positions that engines evaluated themselves.
    fn gather<'a, S: SearchSlot, E: DerefMut<Target = dyn Evaluator + 'a>>(
        &mut self,
        slots: &mut [S],
        evaluators: &mut [E],
    ) -> Result<(), EvaluatorError> {
        self.batches.iter_mut().for_each(Batch::clear);
        self.first_rows.clear();
        self.evaluated.fill(0);
        for slot in slots {
            let Some((number, search)) = slot.waiting() else {
                self.first_rows.push(None);
                continue;
            };
            self.first_rows.push(Some((number, self.batches[number].len())));
            self.evaluated[number] += search.gather(&mut *evaluators[number], &mut self.batches[number])?;
        }
        Ok(())
    }

    fn apply<S: SearchSlot>(&mut self, slots: &mut [S], evaluator: usize) -> Result<(), EvaluatorError> {
        for (slot, first_row) in slots.iter_mut().zip(&self.first_rows) {
            let Some((number, first_row)) = *first_row else { continue };
            if number != evaluator {
                continue;
            }
            if let Some((_, search)) = slot.waiting() {
                search.apply(&self.batches[number], &self.evaluations, first_row)?;
            }
            slot.advance();
        }
        Ok(())
    }
}

/// A single search, which has nothing more to do once an evaluation was applied.
impl SearchSlot for Search {
    fn waiting(&mut self) -> Option<(usize, &mut Search)> {
        Some((0, self))
    }

    fn advance(&mut self) {}
}

/// Runs searches in lockstep, with the leaves of all in every batch, until all are done. `after_batch` gets the number of positions
/// evaluated in every round; an error from it ends the loop.
pub fn search_in_lockstep<E: From<EvaluatorError>>(
    searches: &mut [Search],
    evaluator: &mut dyn Evaluator,
    after_batch: &mut dyn FnMut(usize) -> Result<(), E>,
) -> Result<(), E> {
    let mut lockstep = Lockstep::new(1);
    while searches.iter().any(|search| !search.is_done()) {
        after_batch(lockstep.round(searches, &mut [&mut *evaluator])?)?;
    }
    Ok(())
}
