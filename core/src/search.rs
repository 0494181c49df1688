//! Monte-Carlo tree search with PUCT (Silver et al. 2018), split so that batches can hold leaves of many trees.
//!
//! [`Search::gather`] walks down the tree and adds leaves that need a net to a batch; [`Search::apply`] expands them and
//! backs their values up. Formulas are pure functions in `formulas`; [`reference`] is the plain recursive search that
//! the fast one is tested against. The search reads no clock and no file except tablebases, and draws random numbers only
//! from streams that callers pass in.

mod analysis;
mod back_up;
pub mod bench;
mod budget;
mod choice;
mod formulas;
mod gather;
mod improved;
mod lines;
mod lockstep;
mod moves_left;
mod noise;
mod params;
mod pending;
mod proof;
pub mod reference;
mod reference_engine;
mod requirements;
mod restore;
mod results;
mod root;
mod root_rules;
mod rows;
mod select;
mod tablebases;
mod threads;
mod tree;
mod tree_reuse;

use budget::Budget;
use pending::Pending;
use reference_engine::SimulationLog;
use root::Root;
use tablebases::TablebaseProber;
use tree::{NodeId, ROOT, State, Tree};

use crate::board::{Game, Move, Outcome, Rules, Tablebase, TablebaseError};

pub use analysis::{AnalysisError, AnalysisParams, LineRow, RULES as ANALYSIS_RULES, analyse};
pub use choice::{ChoiceParams, ChooseBy, RootMove, Target, choose_move};
pub use lines::Line;
pub use lockstep::{Lockstep, SearchSlot, search_in_lockstep};
pub use noise::RootNoise;
pub use params::{
    Engine, Fpu, FpuParams, ImprovedPolicyParams, KldGain, MovesLeftParams, RootParams, RootRule,
    SearchParams, TablebaseUse, TreeRule, VirtualLossMode,
};
pub use proof::Proof;
pub use requirements::{Requirement, unmet};
pub use restore::TreeFault;
pub use root::{Exploration, NoiseKind, RootScore};
pub use rows::TreeRow;
pub use threads::{NotShareable, SharedSearch};
pub use tree::TreeMemory;

#[cfg(test)]
mod tests;

/// The search of one game's current position.
///
/// [`run`](Self::run) searches it alone. To share batches among searches, repeat [`gather`](Self::gather), evaluate and
/// [`apply`](Self::apply) until [`is_done`](Self::is_done). Simulations allocate nothing once the arrays have grown to the size
/// of the search.
#[derive(Debug, Clone)]
pub struct Search {
    game: Game,
    rules: Rules,
    params: SearchParams,
    tree: Tree,
    /// The buffer that tree reuse copies the kept part of the tree into.
    spare: Tree,
    root: Root,
    budget: Budget,
    prober: TablebaseProber,
    simulation_log: SimulationLog,
    pending: Pending,
    /// Leaves in all batches whose evaluations are under way.
    in_flight: usize,
    scratch: Scratch,
}

/// Buffers reused between simulations.
#[derive(Debug, Clone, Default)]
struct Scratch {
    /// Legal moves of the position that a descent has reached.
    legal: Vec<Move>,
    /// Priors of a leaf.
    priors: Vec<f32>,
    /// Scores of a node's edges.
    scores: Vec<f64>,
}

impl Search {
    /// A search of a game that is not over under `rules`. Opens the tablebases that the parameters name.
    pub fn new(game: Game, rules: Rules, params: SearchParams) -> Result<Self, TablebaseError> {
        let tablebases = params.open_tablebases()?;
        Ok(Self::with_tablebases(game, rules, params, tablebases))
    }

    /// As [`new`](Self::new) with tablebases that are already open, so that many searches can share them; `None` for none.
    pub fn with_tablebases(
        game: Game,
        rules: Rules,
        params: SearchParams,
        tablebases: Option<Tablebase>,
    ) -> Self {
        Self {
            game,
            rules,
            tree: Tree::new(&params),
            spare: Tree::default(),
            root: Root::new(params.root.rule),
            budget: Budget::new(params.simulations, 0),
            prober: TablebaseProber::new(tablebases),
            params,
            simulation_log: SimulationLog::default(),
            pending: Pending::default(),
            in_flight: 0,
            scratch: Scratch::default(),
        }
    }

    /// The game at the root of the tree.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// How the game ended, if it has.
    pub fn outcome(&self) -> Option<Outcome> {
        self.game.outcome(&self.rules)
    }

    /// Leaves in all batches whose evaluations are under way.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Visits of the root so far.
    pub fn visits(&self) -> u32 {
        self.tree.nodes.first().map_or(0, |root| root.visits)
    }

    /// Plays a move that the caller knows to be legal. Keeps the tree below it if `reuse_tree` is set, and clears the tree
    /// otherwise.
    pub fn play_unchecked(&mut self, played: Move) {
        debug_assert!(self.in_flight == 0, "no leaf is in flight between moves");
        debug_assert!(self.game.position().is_legal(played), "the move is legal");
        let child = self.params.reuse_tree.then(|| self.child_to_keep(played)).flatten();
        self.game.play_unchecked(played);
        match child {
            Some(child) => {
                if self.params.two_fold_draws && self.tree.graph.is_none() {
                    self.remove_old_repetitions(child);
                }
                self.tree.copy_below(child, &mut self.spare);
                std::mem::swap(&mut self.tree, &mut self.spare);
                self.tree.flip_draw_values(self.draw_value(1));
            }
            None => self.tree.clear(),
        }
        self.reset_root();
    }

    /// The child that a root move leads to, if it is expanded.
    fn child_to_keep(&self, played: Move) -> Option<NodeId> {
        self.tree.nodes.first()?;
        let index = self.tree.moves(ROOT).iter().position(|mv| *mv == played)?;
        let child = self.tree.visited_edges(ROOT).get(index)?.child;
        (self.tree.node(child).state == State::Expanded).then_some(child)
    }

    /// Prepares the search of a new root, whose visits so far come from tree reuse.
    fn reset_root(&mut self) {
        self.root = Root::new(self.params.root.rule);
        self.budget = Budget::new(self.params.simulations, self.visits());
        self.simulation_log = SimulationLog::default();
    }
}
