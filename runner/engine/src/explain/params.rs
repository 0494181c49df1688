//! The parameters of an explanation.

use dc0_core::params;
use dc0_core::search::SearchParams;

params! {
    /// An explanation of a position: the net's evaluation, a search without noise, and its tree.
    pub struct ExplainParams {
        /// The search.
        search: SearchParams = SearchParams::default();
        /// Plies of the tree that are shown.
        depth: u32 = 4, in 1..=40;
        /// Moves shown in each list, and for each position in the tree.
        top: u32 = 8, in 1..=218;
        /// Share of the root's visits that a move in the tree needs to be shown.
        share: f64 = 0.01, in 0.0..=1.0;
        /// Simulations that are shown step by step, from the root's own evaluation on. Above 0 the reference engine searches; it gives
        /// the same results as the fast one with one leaf at a time.
        steps: u32 = 0, in 0..=200;
    }
    check |params| {
        let mut problems = params.search.without_effect_on_positions();
        if params.steps > 0 && params.search.leaf_batch > 1 {
            problems.push(("search.leaf_batch", "must be 1 where steps are shown".to_owned()));
        }
        problems
    };
}
