//! Monte-Carlo tree search with PUCT (Silver et al. 2018), split so that batches can hold leaves of many trees.
//!
//! [`Search::gather`] walks down the tree and adds leaves that need a net to a batch; [`Search::apply`] expands them and
//! backs their values up. Formulas are pure functions in `formulas`; [`reference`] is the plain recursive search that
//! the fast one is tested against. The search does no I/O, reads no clock, and draws no random numbers but for the
//! noise it is asked for.

mod analysis;
mod back_up;
mod blocks;
mod budget;
mod by_reference;
mod choice;
mod formulas;
mod graph;
mod improved;
mod keep;
mod lines;
mod moves_left;
mod noise;
mod params;
mod pending;
mod proof;
pub mod reference;
mod restore;
mod results;
mod root;
mod rows;
mod select;
pub mod suite;
mod tables;
mod threads;
mod tree;
mod walk;

use budget::{Budget, GainWatch};
use reference::Simulation;
use root::RootSearch;
use tree::{NodeId, ROOT, State, Tree};

use crate::board::{Game, Move, Outcome, Rules, Tablebase, TablebaseError};
use crate::network::Wdl;

pub use analysis::{AnalysisError, AnalysisParams, LineRow, RULES as ANALYSIS_RULES, analyse};
pub use choice::{ChoiceParams, ChooseBy, Target, Visited, choose_move};
pub use lines::Line;
pub use noise::RootNoise;
pub use params::{
    Engine, FirstPlay, FirstPlayParams, GainStop, ImprovedPolicyParams, InFlight, MovesLeftParams,
    RootParams, SearchParams, TablebaseUse, TreeRule,
};
pub use pending::Pending;
pub use proof::Proof;
pub use restore::TreeFault;
pub use root::{Exploration, RootRule, RootScore};
pub use rows::TreeRow;
pub use threads::SharedSearch;
pub use tree::TreeMemory;

#[cfg(test)]
mod tests;

/// The search of one game's present position.
///
/// Use: [`gather`](Self::gather), evaluate, [`apply`](Self::apply), until [`is_done`](Self::is_done). Nothing is
/// allocated for a simulation once the arrays have grown to the size of the search.
#[derive(Debug, Clone)]
pub struct Search {
    game: Game,
    rules: Rules,
    params: SearchParams,
    tree: Tree,
    /// Where the part of the tree goes that is kept for the next move.
    spare: Tree,
    /// What the net says of the root, once it was asked for this move's search.
    root_evaluation: Option<Wdl>,
    rule: Box<dyn RootSearch>,
    budget: Budget,
    gain: GainWatch,
    /// Whether a stopping rule or the engine has ended the search before its budget.
    is_ended: bool,
    /// How many of the reference engine's simulations are kept for people to see, and those.
    watching: Option<usize>,
    simulations: Vec<Simulation>,
    /// Simulations started, the root's evaluation and visits that were kept included.
    started: u32,
    /// Rows of all batches that wait for their evaluations.
    in_flight: usize,
    pending: Pending,
    tables: Option<Tablebase>,
    tablebase_hits: u64,
    /// A table that could not be read.
    damage: Option<TablebaseError>,
    /// The moves of the root that may be searched; empty for all.
    allowed: Vec<Move>,
    generated: Vec<Move>,
    tempered: Vec<f32>,
    scratch: Vec<f64>,
}

impl Search {
    /// A search of a game that is not over under `rules`.
    pub fn new(game: Game, rules: Rules, params: SearchParams) -> Self {
        let tree = Tree::new(&params);
        Self {
            game,
            rules,
            budget: Budget::new(params.simulations, 0, false),
            rule: params.root.rule.root_search(),
            params,
            tree,
            spare: Tree::default(),
            root_evaluation: None,
            gain: GainWatch::default(),
            is_ended: false,
            watching: None,
            simulations: Vec::new(),
            started: 0,
            in_flight: 0,
            pending: Pending::default(),
            tables: None,
            tablebase_hits: 0,
            damage: None,
            allowed: Vec::new(),
            generated: Vec::new(),
            tempered: Vec::new(),
            scratch: Vec::new(),
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

    /// Plays a legal move. The tree below it is kept if `reuse_tree` says so, and forgotten otherwise.
    pub fn play(&mut self, played: Move) {
        debug_assert!(self.in_flight == 0, "no leaf is in flight between moves");
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
        self.root_evaluation = None;
        self.started = self.visits();
        self.rule = self.params.root.rule.root_search();
        self.is_ended = false;
        self.watching = None;
        self.simulations.clear();
        self.allowed.clear();
        self.gain = GainWatch::default();
        self.set_budget(self.params.simulations);
    }

    /// Checks the tree's invariants; for tests.
    ///
    /// # Panics
    /// If one does not hold.
    pub fn check_invariants(&self) {
        for (id, node) in self.tree.nodes.iter().enumerate() {
            let (branches, priors) = (self.tree.branches(id as NodeId), self.tree.priors(id as NodeId));
            let below: u32 = branches.iter().map(|branch| branch.visits).sum();
            match (node.state, node.proof) {
                (State::Expanded, None) => {
                    assert_eq!(node.visits, 1 + below, "visits of a node are its own and its moves'");
                }
                _ => assert!(node.visits >= below, "a proven node is visited without going on"),
            }
            assert!(branches.iter().all(|branch| branch.in_flight == 0), "nothing is in flight");
            assert!(branches.iter().all(|of| of.visits > 0 || of.proof.is_some()), "tried moves have visits");
            let untried = &priors[branches.len()..];
            let leads = untried.first().is_none_or(|first| untried.iter().all(|prior| prior <= first));
            assert!(branches.is_empty() || leads, "the likeliest untried move comes first");
            assert!(node.value_sum.abs() <= f64::from(node.visits) + 1e-6, "values lie in [-1, 1]");
        }
    }
}
