//! The trait of engines, which grow the tree of a search; the rest of a search does not depend on the engine.

use std::fmt;

use super::Search;
use super::params::SearchParams;
use crate::network::{Batch, Evaluator, EvaluatorError};
use crate::params::Advice;

/// An engine. Its results are in the tree of the search.
pub(super) trait Searcher: fmt::Debug + Sync {
    /// As [`Search::gather`].
    fn gather(
        &self,
        search: &mut Search,
        evaluator: &mut dyn Evaluator,
        batch: &mut Batch,
    ) -> Result<usize, EvaluatorError>;

    /// Whether several threads may share a search, each with its own batch under way.
    fn takes_threads(&self) -> bool;

    /// Parameters that the engine does not support, each with advice.
    fn conflicts(&self, _params: &SearchParams) -> Advice {
        Vec::new()
    }
}
