//! Many searches, one batch: the loop that self-play, matches and analyses share.

use std::ops::DerefMut;

use super::Search;
use crate::network::{Batch, Evaluations, Evaluator, EvaluatorError};

/// A game whose moves are found by searches.
pub trait Seat {
    /// The search that waits for evaluations and the number of its evaluator; `None` once the game is over.
    fn waiting(&mut self) -> Option<(usize, &mut Search)>;

    /// Goes on after an evaluation was applied: plays a move if the search is done.
    fn advance(&mut self);
}

/// Batches for some evaluators; keeps its memory from round to round.
#[derive(Debug)]
pub struct Lockstep {
    batches: Vec<Batch>,
    answers: Evaluations,
    /// For each seat, its evaluator and its first row there.
    places: Vec<Option<(usize, usize)>>,
}

impl Lockstep {
    /// For this many evaluators.
    pub fn new(evaluators: usize) -> Self {
        Self {
            batches: vec![Batch::default(); evaluators],
            answers: Evaluations::default(),
            places: Vec::new(),
        }
    }

    /// One round: gather from all seats, evaluate one batch for each evaluator, apply to all.
    ///
    /// Returns the number of positions evaluated.
    pub fn round<'a, S: Seat, E: DerefMut<Target = dyn Evaluator + 'a>>(
        &mut self,
        seats: &mut [S],
        evaluators: &mut [E],
    ) -> Result<usize, EvaluatorError> {
        self.gather(seats, evaluators)?;
        for (number, evaluator) in evaluators.iter_mut().enumerate() {
            if !self.batches[number].is_empty() {
                evaluator.evaluate(&self.batches[number], &mut self.answers)?;
            }
            self.apply(seats, number)?;
        }
        Ok(self.batches.iter().map(Batch::len).sum())
    }

    fn gather<'a, S: Seat, E: DerefMut<Target = dyn Evaluator + 'a>>(
        &mut self,
        seats: &mut [S],
        evaluators: &mut [E],
    ) -> Result<(), EvaluatorError> {
        self.batches.iter_mut().for_each(Batch::clear);
        self.places.clear();
        for seat in seats {
            let Some((number, search)) = seat.waiting() else {
                self.places.push(None);
                continue;
            };
            self.places.push(Some((number, self.batches[number].len())));
            search.gather(&mut *evaluators[number], &mut self.batches[number])?;
        }
        Ok(())
    }

    fn apply<S: Seat>(&mut self, seats: &mut [S], evaluator: usize) -> Result<(), EvaluatorError> {
        for (seat, place) in seats.iter_mut().zip(&self.places) {
            let Some((number, first_row)) = *place else { continue };
            if number != evaluator {
                continue;
            }
            if let Some((_, search)) = seat.waiting() {
                search.apply(&self.batches[number], &self.answers, first_row)?;
            }
            seat.advance();
        }
        Ok(())
    }
}

/// A search by itself has nothing to do once an evaluation was applied.
impl Seat for Search {
    fn waiting(&mut self) -> Option<(usize, &mut Search)> {
        Some((0, self))
    }

    fn advance(&mut self) {}
}

/// Searches games side by side, the leaves of all in every batch, until all are done. `after_batch` is told the rows of every
/// batch, and may end it.
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
