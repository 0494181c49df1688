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

param_enum! {
    /// How the root spends its simulations, chooses the move and teaches the policy.
    pub enum RootRule {
        /// PUCT as below the root; visits decide the move and are the policy's target (Silver et al. 2018).
        Puct = "puct",
        /// Sequential halving over moves drawn by the Gumbel-top-k trick; completed values decide, and improve the policy
        /// even with few simulations (Danihelka et al. 2022). PUCT below the root.
        Gumbel = "gumbel",
    }
}

params! {
    /// The rule of the root.
    pub struct RootParams {
        /// Which rule.
        rule: RootRule = RootRule::Puct;
        /// Moves that `gumbel` considers at first (m in the paper, which used 16 in chess).
        considered: u32 = 16, in 1..=256;
        /// Offset of the visits in `gumbel`'s weight of values: `σ(q) = (c_visit + max N) · c_scale · q`, q in 0..1.
        c_visit: f64 = 50.0, in 0.0..=10_000.0;
        /// Scale of `gumbel`'s weight of values; smaller trusts them less (1.0 in the paper for chess).
        c_scale: f64 = 1.0, in 0.0..=100.0;
    }
}

params! {
    /// How one move's search spends its budget.
    pub struct SearchParams {
        /// Visits of the root for each move: its own evaluation and then one for each descent. AlphaZero used 800.
        simulations: u32 = 800, in 1..=10_000_000;
        /// Weight of the prior against the value in the PUCT rule; larger explores more (AlphaZero 2018, pseudocode).
        c_puct: f64 = 1.25, in 0.0..=100.0;
        /// How the root spends the simulations.
        root: RootParams = RootParams::default();
        /// What a move is worth before its first visit.
        first_play: FirstPlayParams = FirstPlayParams::default();
        /// Leaves that one tree may have in flight at once; more fill batches from one tree, and make the search less
        /// exact. 1 where many games share a batch.
        leaves: u32 = 1, in 1..=4096;
        /// A descent in flight counts as a visit worth minus this, so that the next one takes another way
        /// (virtual loss, Chaslot et al. 2008).
        virtual_loss: f64 = 1.0, in 0.0..=1.0;
        /// Whether wins, draws and losses that the tree proves are taken for certain (MCTS-Solver, Winands et al. 2008): a
        /// proven win is played, a proven loss avoided, and neither is searched again.
        solver: bool = true;
        /// Whether every new position is looked at for a mate in one, which is then proven without asking the net; a short
        /// mate search at the leaves as in dlshogi.
        mate_in_one: bool = false;
    }
    check |params| {
        let needs = "needs the solver, which makes use of it; set solver to true or leave it out";
        if params.mate_in_one && !params.solver { vec![("mate_in_one", needs.to_owned())] } else { Vec::new() }
    };
}
