//! Parameters of the search.

use super::root_rules::root_rules;
use crate::params::{Advice, advice};
use crate::{param_enum, params};

/// Declares the parameter that selects the rule of the root.
macro_rules! declare_rules {
    ($( $(#[doc = $doc:literal])+ $module:ident::$rule:ident = $name:literal, )+) => {
        param_enum! {
            /// How the root spends its simulations, chooses the move and makes the policy target.
            pub enum RootRule {
                $( $(#[doc = $doc])+ $rule = $name, )+
            }
        }
    };
}

root_rules!(declare_rules);

/// The most collisions of a batch. An edge can count 65,535 descents as in flight; the threads' leaves take up to 64,000.
pub(super) const MAX_COLLISIONS: u32 = 1000;

param_enum! {
    /// Where a search probes tablebases.
    pub enum TablebaseUse {
        /// At the root and at new positions.
        Both = "both",
        /// At the root: only moves that keep its result are searched.
        Root = "root",
        /// At new positions right after a capture or a pawn move, whose results are then proven.
        Leaves = "leaves",
    }
}

param_enum! {
    /// Which implementation searches.
    pub enum Engine {
        /// The fast search.
        Fast = "fast",
        /// The plain recursive search that the fast one is tested against (`core/src/search/reference.rs`); try changes of the rules
        /// there first. It gives the same results, one leaf at a time.
        Reference = "reference",
    }
}

param_enum! {
    /// First-play urgency: the Q of a move before its first visit.
    pub enum Fpu {
        /// The given value, whatever the parent's.
        Absolute = "absolute",
        /// The parent's value minus `value · √(sum of the priors of visited moves)`, as in Leela Chess Zero.
        Reduction = "reduction",
    }
}

params! {
    /// First-play urgency (FPU): the Q of moves without a visit, in [−1, 1] for the side to move.
    pub struct FpuParams {
        /// How it is computed.
        kind: Fpu = Fpu::Reduction;
        /// The value, or the size of the reduction; a larger reduction searches deeper and less wide. 0 is the parent's value;
        /// Leela Chess Zero has 0.33, KataGo 0.2.
        value: f64 = 0.0, in -1.0..=1.0;
    }
}

param_enum! {
    /// Virtual loss: how a descent in flight counts, which keeps the next one off its path.
    pub enum VirtualLossMode {
        /// As a visit with value `-virtual_loss` (Chaslot et al. 2008).
        Loss = "loss",
        /// As a visit with the mean value of the move so far minus `virtual_loss`. With 0 the mean is unchanged, as in Leela Chess
        /// Zero.
        Visit = "visit",
    }
}

param_enum! {
    /// How moves are selected below the root.
    pub enum TreeRule {
        /// The largest `Q + U` (Silver et al. 2018).
        Puct = "puct",
        /// The move whose share of visits is farthest below the improved policy (Danihelka et al. 2022, section 5).
        Improved = "improved",
    }
}

params! {
    /// The rule of the root.
    pub struct RootParams {
        /// Which rule.
        rule: RootRule = RootRule::Puct;
        /// `c_puct` at the root; () for the tree's.
        c_puct: Option<f64> = None, in 0.0..=100.0;
        /// First-play urgency at the root; () for the tree's.
        fpu: Option<FpuParams> = None;
        /// Policy temperature at the root; () for the tree's.
        policy_temperature: Option<f64> = None, in 0.05..=20.0;
        /// A visited move of a `puct` root gets at least `√(forced_playouts · P · N)` visits in training games, and policy target
        /// pruning removes the surplus (Wu 2020, section 3.2, which used 2). 0 forces none.
        forced_playouts: f64 = 0.0, in 0.0..=100.0;
        /// Moves that a `gumbel` root considers at first (m in the paper, which used 16 in Go).
        considered: u32 = 16, in 1..=218;
    }
}

params! {
    /// The weight of values in the improved policy of the Gumbel rules, `σ(q) = (c_visit + max N) · c_scale · q` (Danihelka et
    /// al. 2022, equation 8).
    pub struct ImprovedPolicyParams {
        /// Added to the visits.
        c_visit: f64 = 50.0, in 0.0..=10_000.0;
        /// Scale of values in [−1, 1]; smaller trusts them less. The paper's 1.0 for chess is for values in [0, 1].
        c_scale: f64 = 0.5, in 0.0..=100.0;
        /// Whether the values of a node's moves are first rescaled to [0, 1], as in mctx for games of unknown scale.
        rescale: bool = false;
    }
}

params! {
    /// Stops a search whose visit distribution has stopped changing: after every `interval` visits the root's visit shares are
    /// compared with those at the previous comparison (the KLD gain of Leela Chess Zero, whose default is off).
    pub struct KldGain {
        /// Visits between two comparisons. The default is Leela Chess Zero's.
        interval: u32 = 100, in 1..=1_000_000;
        /// The search stops once the gain per visit, KL(shares before ‖ shares now) / visits between, in nats, is below this.
        minimum: f64 = 1e-5, in 0.0..=1.0;
    }
}

params! {
    /// A preference for short wins and long losses among moves of similar value: the moves-left utility of Leela Chess Zero (its
    /// classic search), whose names and defaults these are. A move with M moves left, in plies, at a node with Mₚ counts as
    /// `Q − sign(Q) · clamp(slope · (M − Mₚ), ±max_effect) · (constant_factor + scaled_factor · q + quadratic_factor · q²)`, with
    /// `q = max(0, |Q| − threshold) / (1 − threshold)`.
    pub struct MovesLeftParams {
        /// The largest effect of moves left.
        max_effect: f64 = 0.0345, in 0.0..=1.0;
        /// Moves left count only where the node's |P(win) − P(loss)| exceeds this, and more the farther the move's |Q| exceeds it.
        threshold: f64 = 0.8, in 0.0..=1.0;
        /// The effect of one ply.
        slope: f64 = 0.0027, in 0.0..=1.0;
        /// The constant part of the weight.
        constant_factor: f64 = 0.0, in -1.0..=1.0;
        /// The part of the weight that is linear in q.
        scaled_factor: f64 = 1.6521, in -2.0..=2.0;
        /// The part of the weight that is quadratic in q.
        quadratic_factor: f64 = -0.6521, in -1.0..=1.0;
    }
}

params! {
    /// How one move's search spends its budget.
    pub struct SearchParams {
        /// Simulations for each move: the root's own evaluation, then descents. AlphaZero used 800. Visits kept by `reuse_tree`
        /// come on top.
        simulations: u32 = 800, in 1..=10_000_000;
        /// Which implementation searches.
        engine: Engine = Engine::Fast;
        /// Weight of U against Q in PUCT; larger explores more (AlphaZero 2018; its pseudocode has 1.25 for values in
        /// [0, 1], which is 2.5 on this scale).
        c_puct: f64 = 1.25, in 0.0..=100.0;
        /// Growth of `c_puct` with the parent's visits N: `c_puct_factor · ln((N + c_puct_base + 1) / c_puct_base)` is added. 0
        /// keeps it constant; AlphaZero's pseudocode has 1, for values in [0, 1].
        c_puct_factor: f64 = 0.0, in 0.0..=100.0;
        /// The number of visits at which `c_puct` begins to grow; AlphaZero's.
        c_puct_base: f64 = 19_652.0, in 1.0..=1e9;
        /// First-play urgency: the Q of a move before its first visit.
        fpu: FpuParams = FpuParams::default();
        /// Policy temperature: priors become `P^(1/T)`, normalised. Larger than 1 flattens them (Leela Chess Zero plays with 1.36).
        policy_temperature: f64 = 1.0, in 0.05..=20.0;
        /// The value of a draw (contempt) to the player at the root; the opponent's is its negative. Below 0 plays for a win.
        draw_score: f64 = 0.0, in -1.0..=1.0;
        /// A preference for short wins and long losses; () for none. Needs a net with a `moves_left_head`, and PUCT at the root
        /// and below.
        moves_left: Option<MovesLeftParams> = None;
        /// The rule of the root.
        root: RootParams = RootParams::default();
        /// The rule below the root.
        tree_rule: TreeRule = TreeRule::Puct;
        /// The improved policy of the Gumbel root and of the `improved` tree rule.
        improved_policy: ImprovedPolicyParams = ImprovedPolicyParams::default();
        /// Whether an evaluation is the mean of the net's evaluations of the position and of its mirror image, files a to h reversed,
        /// where neither side may castle (symmetry averaging, as KataGo's `rootNumSymmetriesToSample`, here in the whole tree).
        /// Such a position costs two evaluations.
        average_mirror: bool = false;
        /// Whether captures are followed to their end before a position is evaluated, so that no value is taken in the middle of an
        /// exchange. Only for nets of the kind `nnue`, whose values cost little; docs/methods/networks.md has what it gains. () for
        /// yes with such a net and no with others.
        quiescence: Option<bool> = None;
        /// Leaf batch: leaves that one tree may have in flight at once. More fill batches from one tree, and make the search
        /// less exact. 1 where many games share a batch.
        leaf_batch: u32 = 1, in 1..=4096;
        /// Collisions: descents to a leaf in flight that one batch may have before it is evaluated with the leaves it has. They turn
        /// back, but count as in flight until the batch is complete, so that the next descent goes elsewhere. More fill the batch,
        /// with less promising leaves. () for as many as there may be leaves in flight, those of other threads included, but at
        /// most 1000; 1 ends a batch at the first, as a `gumbel` root always does to keep its schedule.
        max_collisions: Option<u32> = None, in 1..=1000;
        /// Virtual loss: how a descent in flight counts.
        virtual_loss_mode: VirtualLossMode = VirtualLossMode::Visit;
        /// The size of the virtual loss. Larger keeps descents in flight farther apart.
        virtual_loss: f64 = 0.5, in 0.0..=1.0;
        /// Whether the tree proves wins, draws and losses (MCTS-Solver, Winands et al. 2008): a proven win is played, a proven
        /// loss avoided, and neither is searched again.
        solver: bool = true;
        /// Whether every new position is checked for a mate in one, which is then proven without an evaluation; a short mate
        /// search at the leaves as in dlshogi.
        mate_in_one: bool = false;
        /// Whether the second occurrence of a position within the tree counts as a draw, as in Leela Chess Zero; it proves nothing.
        two_fold_draws: bool = false;
        /// Smart pruning: the search stops once no move can overtake the most visited one in the rest of the budget. This changes
        /// the visits, but not which move is chosen by visits at temperature 0, unless the rest would have proven something. For a
        /// `puct` root.
        smart_pruning: bool = false;
        /// Tree reuse: whether the part of the tree below the move played is kept for the next search, as `AlphaGo` Zero did.
        reuse_tree: bool = false;
        /// Whether transpositions share a node, so that each visit improves all paths to it (Monte-Carlo graph search: Czech et
        /// al. 2021; KataGo's notes). Positions are the same if the rules do not distinguish them: pieces, rights, clocks, ply, and
        /// earlier positions that may recur.
        graph: bool = false;
        /// KLD gain: stops the search when further visits change little; () for never. For a `puct` root.
        kld_gain: Option<KldGain> = None;
        /// Folder of Syzygy tablebases, or several separated by `:`; () for none.
        tablebases: Option<String> = None;
        /// Where tablebases are probed.
        tablebase_use: TablebaseUse = TablebaseUse::Both;
        /// Nodes that the tree may hold, about 300 bytes each; the search stops when it is full.
        max_nodes: u32 = 10_000_000, in 1..=50_000_000;
    }
    check check_search;
}

impl SearchParams {
    /// Why `reuse_tree` is refused for positions that are searched each on its own.
    pub const NO_TREE_TO_REUSE: &str =
        "keeps a tree from move to move, and every position is searched on its own; leave it out";

    /// As [`without_effect`](Self::without_effect), for positions that are searched each on its own.
    pub fn without_effect_on_positions(&self) -> Advice {
        let reuse = self.reuse_tree.then(|| ("search.reuse_tree", Self::NO_TREE_TO_REUSE.to_owned()));
        self.without_effect().into_iter().chain(reuse).collect()
    }

    /// The parameters `search.…` that differ from their defaults and have no effect with the others, with the reason, for searches of one
    /// thread whose parameters are given all at once. A UCI engine sets them one by one, and its threads make the virtual loss count.
    pub fn without_effect(&self) -> Advice {
        let declared = Self::default();
        let batched = "has no effect with leaf_batch 1, which has no other descent in flight; leave it out, or set a larger one";
        let growing = "has no effect with c_puct_factor 0; leave it out, or set a factor";
        let probing = "has no effect without tablebases; leave it out, or set them";
        let is_single = self.leaf_batch == 1;
        let planned = "has no effect with a gumbel root and tree_rule \"improved\", neither of which uses PUCT; leave it out, or change one";
        let is_planned = self.root.rule == RootRule::Gumbel && self.tree_rule == TreeRule::Improved;
        advice([
            ("search.c_puct", self.c_puct != declared.c_puct && is_planned, planned),
            ("search.c_puct_factor", self.c_puct_factor != declared.c_puct_factor && is_planned, planned),
            ("search.fpu", self.fpu != declared.fpu && is_planned, planned),
            (
                "search.c_puct_base",
                self.c_puct_base != declared.c_puct_base && self.c_puct_factor == 0.0,
                growing,
            ),
            ("search.max_collisions", self.max_collisions.is_some() && is_single, batched),
            (
                "search.virtual_loss_mode",
                self.virtual_loss_mode != declared.virtual_loss_mode && is_single,
                batched,
            ),
            ("search.virtual_loss", self.virtual_loss != declared.virtual_loss && is_single, batched),
            (
                "search.virtual_loss_mode",
                self.virtual_loss_mode != declared.virtual_loss_mode && is_planned && !is_single,
                planned,
            ),
            (
                "search.virtual_loss",
                self.virtual_loss != declared.virtual_loss && is_planned && !is_single,
                planned,
            ),
            (
                "search.tablebase_use",
                self.tablebase_use != declared.tablebase_use && self.tablebases.is_none(),
                probing,
            ),
        ])
    }
}

fn check_search(params: &SearchParams) -> Advice {
    let mut problems = Vec::new();
    if params.mate_in_one && !params.solver {
        let needs = "needs the solver; set solver to true or leave it out";
        problems.push(("mate_in_one", needs.to_owned()));
    }
    if params.moves_left.is_some() && params.tree_rule != TreeRule::Puct {
        let puct = "applies to PUCT only; leave it out, or set tree_rule to \"puct\"";
        problems.push(("moves_left", puct.to_owned()));
    }
    let is_reference = params.engine == Engine::Reference;
    if is_reference && params.leaf_batch > 1 {
        problems.push(("leaf_batch", "must be 1 with the reference engine".to_owned()));
    }
    if is_reference && params.reuse_tree {
        let fresh = "the reference engine starts every move with a fresh tree; leave it out";
        problems.push(("reuse_tree", fresh.to_owned()));
    }
    problems.extend(params.root.rule.root_search().conflicts(params));
    problems
}
