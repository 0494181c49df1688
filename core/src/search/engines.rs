//! Which engine grows the tree of a search.

use super::by_reference::ByReference;
use super::params::Engine;
use super::searcher::Searcher;
use super::walk::Fast;
use super::{Search, search_in_lockstep};
use crate::network::{Batch, Evaluator, EvaluatorError};

impl Engine {
    /// The engine.
    pub(super) fn searcher(self) -> &'static dyn Searcher {
        match self {
            Self::Fast => &Fast,
            Self::Reference => &ByReference,
        }
    }
}

impl Search {
    /// Searches until the search is done.
    ///
    /// # Errors
    /// If the net fails, or a tablebase is damaged.
    pub fn run(&mut self, evaluator: &mut dyn Evaluator) -> Result<(), EvaluatorError> {
        search_in_lockstep(std::slice::from_mut(self), evaluator, &mut |_| Ok(()))
    }

    /// Goes on as far as is possible without the evaluations of the positions that it adds to the batch, and gives their number. The
    /// same rows must come back through [`apply`](Self::apply). None are added once the search is done, nor by the reference engine,
    /// which evaluates by itself: the root with the first call, all else with the second.
    ///
    /// # Errors
    /// If a tablebase is damaged, or the evaluator fails. The search has come to its end then.
    pub fn gather(
        &mut self,
        evaluator: &mut dyn Evaluator,
        batch: &mut Batch,
    ) -> Result<usize, EvaluatorError> {
        self.params.engine.searcher().gather(self, evaluator, batch)?;
        self.oracle.take_damage()?;
        Ok(self.pending.len())
    }
}
