//! The rules of the root: the one list that the parameter `rule` and the rules themselves are made from.

/// Hands the list to a macro: for each rule its doc, its module and type below `root`, and its name in scripts.
macro_rules! root_rules {
    ($make:ident) => {
        $make! {
            /// PUCT as below the root; visits decide the move and are the policy's target (Silver et al. 2018).
            puct::Puct = "puct",
            /// Sequential halving over moves drawn by the Gumbel-top-k trick; completed values decide, and improve the policy
            /// even with few simulations (Danihelka et al. 2022).
            gumbel::Gumbel = "gumbel",
        }
    };
}

pub(super) use root_rules;
