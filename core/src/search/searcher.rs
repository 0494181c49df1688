//! What an engine is: it grows the tree of a search. Everything else of a search is the same whoever does.

use std::fmt;

use super::Search;
use super::params::SearchParams;
use crate::network::{Batch, Evaluator, EvaluatorError};

/// An engine. What it found lies in the tree of the search.
pub(super) trait Searcher: fmt::Debug + Sync {
    /// As [`Search::gather`].
    fn gather(
        &self,
        search: &mut Search,
        evaluator: &mut dyn Evaluator,
        batch: &mut Batch,
    ) -> Result<(), EvaluatorError>;

    /// Whether a search may have several batches under way, one for each of some threads.
    fn takes_threads(&self) -> bool;

    /// Parameters that do not go with it, each with what to do.
    fn conflicts(&self, _params: &SearchParams) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}
