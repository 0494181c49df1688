//! Which engine grows the tree of a search.

use super::gather::FastEngine;
use super::params::Engine;
use super::reference_engine::ReferenceEngine;
use super::searcher::Searcher;
use super::{Search, search_in_lockstep};
use crate::network::{Batch, Evaluator, EvaluatorError};

impl Engine {
    /// The engine.
    pub(super) fn searcher(self) -> &'static dyn Searcher {
        match self {
            Self::Fast => &FastEngine,
            Self::Reference => &ReferenceEngine,
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

    /// Gathers leaves into the batch until the search needs their evaluations. The same rows must be passed to
    /// [`apply`](Self::apply). Adds none once the search is done. Nor does the reference engine, which calls the evaluator itself:
    /// the first call evaluates the root, the second does everything else. Returns the number of rows evaluated so.
    ///
    /// # Errors
    /// If a tablebase is damaged, or the evaluator fails. The search cannot continue then.
    pub fn gather(
        &mut self,
        evaluator: &mut dyn Evaluator,
        batch: &mut Batch,
    ) -> Result<usize, EvaluatorError> {
        let evaluated = self.params.engine.searcher().gather(self, evaluator, batch)?;
        self.prober.take_error()?;
        Ok(evaluated)
    }
}
