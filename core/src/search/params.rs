//! Parameters of the search.

use crate::{param_enum, params};

param_enum! {
    /// What a move is worth before its first visit.
    pub enum FirstPlay {
        /// The given value, whatever the parent is worth.
        Absolute = "absolute",
        /// The parent's value less `value · √(sum of the priors of visited moves)`, as in Leela Chess Zero.
        Reduction = "reduction",
    }
}

params! {
    /// The value of moves that were not visited yet, in [−1, 1] for the side to move.
    pub struct FirstPlayParams {
        /// How it is found.
        kind: FirstPlay = FirstPlay::Reduction;
        /// The value, or the size of the reduction; a larger reduction searches deeper and less wide.
        /// The default is Leela Chess Zero's.
        value: f64 = 0.33, in -1.0..=1.0;
    }
}

params! {
    /// How one move's search spends its budget.
    pub struct SearchParams {
        /// Visits of the root for each move: its own evaluation and then one for each descent. AlphaZero used 800.
        simulations: u32 = 800, in 1..=10_000_000;
        /// Weight of the prior against the value in the PUCT rule; larger explores more (AlphaZero 2018, pseudocode).
        c_puct: f64 = 1.25, in 0.0..=100.0;
        /// What a move is worth before its first visit.
        first_play: FirstPlayParams = FirstPlayParams::default();
        /// Leaves that one tree may have in flight at once; more fill batches from one tree, and make the search less
        /// exact. 1 where many games share a batch.
        leaves: u32 = 1, in 1..=4096;
        /// A descent in flight counts as a visit worth minus this, so that the next one takes another way
        /// (virtual loss, Chaslot et al. 2008).
        virtual_loss: f64 = 1.0, in 0.0..=1.0;
    }
}
