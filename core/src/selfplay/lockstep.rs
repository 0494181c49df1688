//! Many searches, one batch: the loop that self-play and matches share.

use crate::network::{Batch, Evaluations, Evaluator, EvaluatorError};
use crate::search::Search;

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
    pub fn round<S: Seat>(
        &mut self,
        seats: &mut [S],
        evaluators: &mut [Box<dyn Evaluator>],
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

    fn gather<S: Seat>(
        &mut self,
        seats: &mut [S],
        evaluators: &mut [Box<dyn Evaluator>],
    ) -> Result<(), EvaluatorError> {
        self.batches.iter_mut().for_each(Batch::clear);
        self.places.clear();
        for seat in seats {
            let Some((number, search)) = seat.waiting() else {
                self.places.push(None);
                continue;
            };
            search.search_by_reference(&mut *evaluators[number])?;
            self.places.push(Some((number, self.batches[number].len())));
            search.gather(evaluators[number].encoding(), &mut self.batches[number]);
            search.take_damage()?;
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
