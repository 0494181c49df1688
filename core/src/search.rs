//! Monte-Carlo tree search with PUCT (Silver et al. 2018), split so that batches can hold leaves of many trees.
//!
//! [`Search::gather`] walks down the tree and adds leaves that need a net to a batch; [`Search::apply`] expands them and
//! backs their values up. Formulas are pure functions in `formulas`; [`reference`] is the plain recursive search that
//! the fast one is tested against. The search does no I/O, reads no clock, and draws no random numbers but for the
//! noise it is asked for.

mod choice;
mod formulas;
mod gumbel;
mod noise;
mod params;
mod proof;
pub mod reference;
mod root;
mod select;
pub mod suite;
mod tree;
mod walk;

pub use choice::{ChoiceParams, ChooseBy, Target, Visited, choose_move};
pub use noise::RootNoise;
pub use params::{
    FirstPlay, FirstPlayParams, ImprovedPolicyParams, InFlight, RootParams, RootRule, SearchParams, TreeRule,
};
pub use proof::Proof;
pub use tree::TreeMemory;
pub use walk::Search;

#[cfg(test)]
mod tests;
