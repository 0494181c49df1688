//! The list of the rules of the root, from which the parameter `rule` and the dispatch to the rules are generated.

/// Passes the list to a macro: for each rule its doc, its module and type below `root`, and its name in scripts.
macro_rules! root_rules {
    ($make:ident) => {
        $make! {
            /// PUCT as below the root; the move is chosen by visits, and visit shares are the policy target (Silver et al. 2018).
            puct::Puct = "puct",
            /// Sequential halving over moves drawn by the Gumbel-top-k trick; completed Q makes the policy target, which improves
            /// the policy even with few simulations (Danihelka et al. 2022).
            gumbel::Gumbel = "gumbel",
        }
    };
}

pub(super) use root_rules;
