//! Monte-Carlo tree search with PUCT (Silver et al. 2018), split so that batches can hold leaves of many trees.
//!
//! [`Search::gather`] walks down the tree and adds leaves that need a net to a batch; [`Search::apply`] expands them and
//! backs their values up. Formulas are pure functions in `formulas`; [`reference`] is the plain recursive search that
//! the fast one is tested against. The search does no I/O, reads no clock, and draws no random numbers but for the
//! noise it is asked for.

mod analysis;
mod back_up;
pub mod bench;
mod budget;
mod by_reference;
mod choice;
mod engines;
mod formulas;
mod improved;
mod keep;
mod lines;
mod lockstep;
mod moves_left;
mod noise;
mod params;
mod pending;
mod proof;
pub mod reference;
mod restore;
mod results;
mod root;
mod root_rules;
mod rows;
mod searcher;
mod select;
mod tables;
mod threads;
mod tree;
mod walk;

use budget::Budget;
use by_reference::Watched;
use pending::Pending;
use root::Root;
use tables::Oracle;
use tree::{NodeId, ROOT, State, Tree};

use crate::board::{Game, Move, Outcome, Rules, Tablebase, TablebaseError};

pub use analysis::{AnalysisError, AnalysisParams, LineRow, RULES as ANALYSIS_RULES, analyse};
pub use choice::{ChoiceParams, ChooseBy, Target, Visited, choose_move};
pub use lines::Line;
pub use lockstep::{Lockstep, Seat, search_in_lockstep};
pub use noise::RootNoise;
pub use params::{
    Engine, FirstPlay, FirstPlayParams, GainStop, ImprovedPolicyParams, InFlight, MovesLeftParams,
    RootParams, RootRule, SearchParams, TablebaseUse, TreeRule,
};
pub use proof::Proof;
pub use restore::TreeFault;
pub use root::{Exploration, RootScore};
pub use rows::TreeRow;
pub use threads::{NotShareable, SharedSearch};
pub use tree::TreeMemory;

#[cfg(test)]
mod tests;

/// The search of one game's present position.
///
/// [`run`](Self::run) searches it alone. Batches that hold leaves of many searches take [`gather`](Self::gather), evaluate,
/// [`apply`](Self::apply), until [`is_done`](Self::is_done). Nothing is allocated for a simulation once the arrays have grown to the
/// size of the search.
#[derive(Debug, Clone)]
pub struct Search {
    game: Game,
    rules: Rules,
    params: SearchParams,
    tree: Tree,
    /// Where the part of the tree goes that is kept for the next move.
    spare: Tree,
    root: Root,
    budget: Budget,
    oracle: Oracle,
    watched: Watched,
    pending: Pending,
    /// Rows of all batches that wait for their evaluations.
    in_flight: usize,
    scratch: Scratch,
}

/// Memory that is used again and again.
#[derive(Debug, Clone, Default)]
struct Scratch {
    /// Legal moves of the position that a descent has come to.
    legal: Vec<Move>,
    /// Priors of a leaf.
    priors: Vec<f32>,
    /// Scores of a node's moves.
    scores: Vec<f64>,
}

impl Search {
    /// A search of a game that is not over under `rules`. Opens the tablebases that the parameters name.
    pub fn new(game: Game, rules: Rules, params: SearchParams) -> Result<Self, TablebaseError> {
        let tablebases = params.open_tablebases()?;
        Ok(Self::with_tablebases(game, rules, params, tablebases))
    }

    /// As [`new`](Self::new) with tablebases that are open already, so that many searches share them, or none.
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
            oracle: Oracle::new(tablebases),
            params,
            watched: Watched::default(),
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

    /// Rows of all batches that wait for their evaluations.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Visits of the root so far.
    pub fn visits(&self) -> u32 {
        self.tree.nodes.first().map_or(0, |root| root.visits)
    }

    /// Plays a move that the caller knows to be legal. The tree below it is kept if `reuse_tree` says so, and forgotten otherwise.
    pub fn play_unchecked(&mut self, played: Move) {
        debug_assert!(self.in_flight == 0, "no leaf is in flight between moves");
        debug_assert!(self.game.position().is_legal(played), "the move is legal");
        let child = self.params.reuse_tree.then(|| self.child_to_keep(played)).flatten();
        self.game.play_unchecked(played);
        match child {
            Some(child) => {
                self.tree.copy_below(child, &mut self.spare);
                std::mem::swap(&mut self.tree, &mut self.spare);
                self.tree.turn_draw_values(self.draw_value(1));
            }
            None => self.tree.clear(),
        }
        self.start_over();
    }

    /// The node behind a move, if it has moves of its own.
    fn child_to_keep(&self, played: Move) -> Option<NodeId> {
        self.tree.nodes.first()?;
        let place = self.tree.moves(ROOT).iter().position(|of| *of == played)?;
        let child = self.tree.branches(ROOT).get(place)?.child;
        (self.tree.node(child).state == State::Expanded).then_some(child)
    }

    /// Readies the search of a new root, whose visits so far are kept ones.
    fn start_over(&mut self) {
        self.root = Root::new(self.params.root.rule);
        self.budget = Budget::new(self.params.simulations, self.visits());
        self.watched = Watched::default();
    }
}
