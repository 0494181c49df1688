//! Parameters of the search.

use super::root_rules::root_rules;
use crate::{param_enum, params};

/// Declares the parameter that chooses a rule.
macro_rules! declare_rules {
    ($( $(#[doc = $doc:literal])+ $module:ident::$rule:ident = $word:literal, )+) => {
        param_enum! {
            /// How the root spends its simulations, chooses the move and teaches the policy.
            pub enum RootRule {
                $( $(#[doc = $doc])+ $rule = $word, )+
            }
        }
    };
}

root_rules!(declare_rules);

param_enum! {
    /// Where a search asks tablebases.
    pub enum TablebaseUse {
        /// At the root and at new positions.
        Both = "both",
        /// At the root: only moves that keep its result are searched.
        Root = "root",
        /// At new positions right after a capture or a pawn move: their results are certain.
        Leaves = "leaves",
    }
}

param_enum! {
    /// Which program searches.
    pub enum Engine {
        /// The fast one.
        Fast = "fast",
        /// The plain recursive one that the fast one is tested against (`core/src/search/reference.rs`): the place to try a change of
        /// the rules. It finds the same, one leaf at a time.
        Reference = "reference",
    }
}

param_enum! {
    /// What a move is worth before its first visit.
    pub enum FirstPlay {
        /// The given value, whatever the parent is worth.
        Absolute = "absolute",
        /// The parent's value less `value · √(sum of the priors of tried moves)`, as in Leela Chess Zero.
        Reduction = "reduction",
        /// The parent's value; `value` is not used.
        Parent = "parent",
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
    /// How a descent in flight keeps the next one off its way.
    pub enum InFlight {
        /// It counts as a visit worth minus `virtual_loss` (Chaslot et al. 2008).
        Loss = "loss",
        /// It counts as a visit that leaves the mean value as it is, as in Leela Chess Zero.
        Visit = "visit",
    }
}

param_enum! {
    /// How moves are selected below the root.
    pub enum TreeRule {
        /// The largest `Q + U` (Silver et al. 2018).
        Puct = "puct",
        /// The move whose share of visits lags most behind the improved policy (Danihelka et al. 2022, section 5).
        Improved = "improved",
    }
}

params! {
    /// The rule of the root.
    pub struct RootParams {
        /// Which rule.
        rule: RootRule = RootRule::Puct;
        /// PUCT's `c_puct` at the root; () for the tree's.
        c_puct: Option<f64> = None, in 0.0..=100.0;
        /// First-play value at the root; () for the tree's.
        first_play: Option<FirstPlayParams> = None;
        /// Softmax temperature of the root's priors; () for the tree's.
        policy_temperature: Option<f64> = None, in 0.05..=20.0;
        /// A tried move of a `puct` root gets at least `√(forced_playouts · P · N)` visits while training games are played, and
        /// the surplus is taken out of the policy target (Wu 2020, section 3.2, which used 2). 0 forces none.
        forced_playouts: f64 = 0.0, in 0.0..=100.0;
        /// Moves that `gumbel` considers at first (m in the paper, which used 16 in Go).
        considered: u32 = 16, in 1..=218;
    }
}

params! {
    /// The weight of values in the improved policy of the Gumbel rules, `σ(q) = (c_visit + max N) · c_scale · q` (Danihelka et
    /// al. 2022, equation 8).
    pub struct ImprovedPolicyParams {
        /// Offset of the visits.
        c_visit: f64 = 50.0, in 0.0..=10_000.0;
        /// Scale of values in [−1, 1]; smaller trusts them less. The paper's 1.0 in chess is for values in [0, 1].
        c_scale: f64 = 0.5, in 0.0..=100.0;
        /// Whether values are first stretched to [0, 1] among the moves of a node, as in mctx for games of unknown scale.
        rescale: bool = false;
    }
}

params! {
    /// Ends a search that changes its mind no more: after every `interval` visits the shares of the root's moves are compared with
    /// those before (the KLD gain of Leela Chess Zero, whose default is off).
    pub struct GainStop {
        /// Visits between two looks; Leela Chess Zero's.
        interval: u32 = 100, in 1..=1_000_000;
        /// The search ends once an interval gained less than this a visit, KL(shares before ‖ shares now) / visits between, in nats.
        minimum: f64 = 1e-5, in 0.0..=1.0;
    }
}

params! {
    /// A preference for short wins and long losses among moves of like value: the moves-left utility of Leela Chess Zero (its classic
    /// search), whose names and defaults these are. A move after which M plies are left, of a node with Mₚ, counts as
    /// `Q − sign(Q) · clamp(slope · (M − Mₚ), ±max_effect) · (constant_factor + scaled_factor · q + quadratic_factor · q²)`, with
    /// `q = max(0, |Q| − threshold) / (1 − threshold)`.
    pub struct MovesLeftParams {
        /// The most that plies count for.
        max_effect: f64 = 0.0345, in 0.0..=1.0;
        /// Plies count where the node's P(win) − P(loss) is farther from 0 than this, and more the farther the move's value is.
        threshold: f64 = 0.8, in 0.0..=1.0;
        /// What one ply counts for.
        slope: f64 = 0.0027, in 0.0..=1.0;
        /// Weight of plies whatever the value.
        constant_factor: f64 = 0.0, in -1.0..=1.0;
        /// Weight that grows with the value.
        scaled_factor: f64 = 1.6521, in -2.0..=2.0;
        /// Weight that grows with the value's square.
        quadratic_factor: f64 = -0.6521, in -1.0..=1.0;
    }
}

params! {
    /// How one move's search spends its budget.
    pub struct SearchParams {
        /// Simulations for each move: the root's own evaluation, then descents. AlphaZero used 800. Visits kept by `reuse_tree`
        /// come on top.
        simulations: u32 = 800, in 1..=10_000_000;
        /// Which program searches.
        engine: Engine = Engine::Fast;
        /// Weight of the prior against the value in the PUCT rule; larger explores more (AlphaZero 2018, pseudocode, where
        /// values lie in [0, 1]: half of what it is here).
        c_puct: f64 = 1.25, in 0.0..=100.0;
        /// Growth of `c_puct` with the parent's visits N: `c_puct_factor · ln((N + c_puct_base + 1) / c_puct_base)` is added. 0
        /// keeps it constant; AlphaZero's pseudocode has 1, for values in [0, 1].
        c_puct_factor: f64 = 0.0, in 0.0..=100.0;
        /// How many visits it takes for `c_puct` to grow; AlphaZero's.
        c_puct_base: f64 = 19_652.0, in 1.0..=1e9;
        /// What a move is worth before its first visit.
        first_play: FirstPlayParams = FirstPlayParams::default();
        /// Softmax temperature of the priors: they become `P^(1/T)`, normalised. Larger than 1 flattens them (Leela Chess Zero
        /// plays with 1.36).
        policy_temperature: f64 = 1.0, in 0.05..=20.0;
        /// What a draw is worth to the player at the root, and minus that to the opponent; below 0 plays for a win.
        draw_score: f64 = 0.0, in -1.0..=1.0;
        /// A preference for short wins and long losses; () for none. It needs a net with a `moves_left_head`, and is for PUCT, at the
        /// root and below.
        moves_left: Option<MovesLeftParams> = None;
        /// The rule of the root.
        root: RootParams = RootParams::default();
        /// The rule below the root.
        tree_rule: TreeRule = TreeRule::Puct;
        /// The improved policy of the Gumbel root and of the `improved` tree rule.
        improved_policy: ImprovedPolicyParams = ImprovedPolicyParams::default();
        /// Leaves that one tree may have in flight at once; more fill batches from one tree, and make the search less
        /// exact. 1 where many games share a batch.
        leaves: u32 = 1, in 1..=4096;
        /// How a descent in flight counts.
        in_flight: InFlight = InFlight::Loss;
        /// What a descent in flight loses, where `in_flight` is `loss`.
        virtual_loss: f64 = 1.0, in 0.0..=1.0;
        /// Whether wins, draws and losses that the tree proves are taken for certain (MCTS-Solver, Winands et al. 2008): a
        /// proven win is played, a proven loss avoided, and neither is searched again.
        solver: bool = true;
        /// Whether every new position is looked at for a mate in one, which is then proven without asking the net; a short
        /// mate search at the leaves as in dlshogi.
        mate_in_one: bool = false;
        /// Whether a position that repeats one of the tree counts as a draw at once, as in Leela Chess Zero; it proves nothing.
        two_fold_draws: bool = false;
        /// Whether the search ends once no move can overtake the most visited one in what is left of the budget. Changes no
        /// move that is chosen by visits at temperature 0, but the visits; for a `puct` root.
        stop_when_settled: bool = false;
        /// Whether the part of the tree below the move played is kept for the next search, as AlphaZero did.
        reuse_tree: bool = false;
        /// Whether positions that several ways lead to are held once, so that all learn from each visit (Monte-Carlo graph search:
        /// Czech et al. 2021; KataGo's notes). Positions are the same where the rules can see no difference: pieces, rights, clocks,
        /// ply, and earlier positions that may come back.
        graph: bool = false;
        /// Ends the search when it gains little; () for never. For a `puct` root.
        stop_by_gain: Option<GainStop> = None;
        /// Folder of Syzygy tablebases, or several separated by `:`; () for none.
        tablebases: Option<String> = None;
        /// Where they are asked.
        tablebase_use: TablebaseUse = TablebaseUse::Both;
        /// Positions that the tree may hold, about 300 bytes each; the search ends once there are so many.
        max_nodes: u32 = 10_000_000, in 1..=50_000_000;
    }
    check check_search;
}

fn check_search(params: &SearchParams) -> Vec<(&'static str, String)> {
    let mut problems = Vec::new();
    if params.mate_in_one && !params.solver {
        let needs = "needs the solver, which makes use of it; set solver to true or leave it out";
        problems.push(("mate_in_one", needs.to_owned()));
    }
    if params.moves_left.is_some() && params.tree_rule != TreeRule::Puct {
        let puct = "counts in PUCT only; leave it out, or set tree_rule to \"puct\"";
        problems.push(("moves_left", puct.to_owned()));
    }
    problems.extend(params.engine.searcher().conflicts(params));
    problems.extend(params.root.rule.root_search().conflicts(params));
    problems
}
