//! The rules of the root: which move a descent takes first, which one is played, and what the policy learns.
//!
//! A rule is a file of this folder, its `mod` line, and its line in `root_rules`; everything else asks [`RootSearch`].

use std::fmt;

use super::Search;
use super::choice::{ChoiceParams, Visited};
use super::noise::RootNoise;
use super::params::{RootRule, SearchParams};
use super::proof::Proof;
use super::reference::{Choice, Reference};
use super::root_rules::root_rules;
use super::tree::{ROOT, State, Tree};
use crate::board::Move;
use crate::network::Wdl;
use crate::rng::Stream;

mod gumbel;
mod puct;

pub use puct::RootScore;

/// Makes the rule that the parameter names.
macro_rules! make_rules {
    ($( $(#[doc = $doc:literal])+ $module:ident::$rule:ident = $word:literal, )+) => {
        impl RootRule {
            /// The rule, ready for a root.
            pub(super) fn root_search(self) -> Box<dyn RootSearch> {
                match self {
                    $( Self::$rule => Box::new($module::$rule::default()), )+
                }
            }
        }
    };
}

root_rules!(make_rules);

impl RootRule {
    /// As explanations of a search name it.
    pub fn title(self) -> &'static str {
        self.root_search().title()
    }

    /// Whether it shares out a number of simulations that it must know beforehand; a search by it cannot go on until it is stopped.
    pub fn plans_ahead(self) -> bool {
        self.root_search().plans_ahead()
    }
}

/// What training games draw at a root to differ from each other; a rule takes what belongs to it.
#[derive(Debug, Clone, Copy)]
pub struct Exploration<'a> {
    /// Dirichlet noise in the priors of a `puct` root.
    pub dirichlet: Option<&'a RootNoise>,
    /// Scale of a `gumbel` root's samples.
    pub gumbel: f64,
    /// Whether the search has the whole budget. A `puct` root adds no noise to a fast one (playout cap randomization, Wu 2020,
    /// section 3.1).
    pub is_full: bool,
}

/// The reference's form of a rule: the choice of a descent, the first of which has the number 0.
pub(super) type ReferenceRule = Box<dyn Fn(&Reference<'_>, usize) -> Choice>;

/// A rule at one root. Moves are named by their index among the root's moves, the tried ones first.
pub(super) trait RootSearch: fmt::Debug + Send + Sync {
    /// As explanations name it.
    fn title(&self) -> &'static str;

    /// Whether it shares out a number of descents that it must know beforehand.
    fn plans_ahead(&self) -> bool {
        false
    }

    /// Parameters that do not go with it, each with what to do.
    fn conflicts(&self, _params: &SearchParams) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Begins with a root just evaluated, of whose moves some are open, and a budget of descents.
    fn begin(&mut self, _params: &SearchParams, _open: u32, _descents: u32) {}

    /// Draws what makes training games differ.
    fn add_noise(&mut self, tree: &mut Tree, exploration: &Exploration<'_>, stream: &mut Stream);

    /// Forces visits of tried moves as far as `forced_playouts` says.
    fn force_playouts(&mut self, _params: &SearchParams) {}

    /// The move that the next descent takes. `scratch` is memory to calculate in.
    fn select(&self, search: &Search, scratch: &mut Vec<f64>) -> usize;

    /// Goes on to the next descent; once for each that ends in a leaf.
    fn advance(&mut self) {}

    /// Follows a move that went from one index to a smaller one; those between are one further on now.
    fn moved(&mut self, _from: usize, _to: usize) {}

    /// The move to play.
    fn choose(&self, search: &Search, params: &ChoiceParams, temperature: f64, stream: &mut Stream) -> Move;

    /// What the policy should learn of `moves`, the root's: shares that sum to 1. Moves that may not be played come without visits.
    fn policy_target(&self, search: &Search, moves: &[Visited]) -> Vec<f64>;

    /// What the next descent would go by, where that is a score of each move that its statistics explain.
    fn scores(&self, _search: &Search) -> Option<Vec<RootScore>> {
        None
    }

    /// The rule as the reference follows it, at a root of whose moves some are open.
    fn for_reference(&self, params: &SearchParams, open: u32) -> ReferenceRule;

    /// Gives the reference what was drawn or asked for at this root, whose moves these are.
    fn brief(&self, _moves: &[Move], _reference: &mut Reference<'_>) {}

    /// A copy.
    fn boxed_clone(&self) -> Box<dyn RootSearch>;
}

impl Clone for Box<dyn RootSearch> {
    fn clone(&self) -> Self {
        self.boxed_clone()
    }
}

/// What a search has at its root beside the node.
#[derive(Debug, Clone)]
pub(super) struct Root {
    /// What the net says of it, once it was asked for this move's search.
    pub(super) evaluation: Option<Wdl>,
    /// The moves that may be searched; empty for all.
    pub(super) allowed: Vec<Move>,
    pub(super) rule: Box<dyn RootSearch>,
}

impl Root {
    pub(super) fn new(rule: RootRule) -> Self {
        Self { evaluation: None, allowed: Vec::new(), rule: rule.root_search() }
    }

    /// Whether a move may be searched and played.
    pub(super) fn allows(&self, played: Move) -> bool {
        self.allowed.is_empty() || self.allowed.contains(&played)
    }
}

impl Search {
    /// Readies a root that was just evaluated for this move's descents.
    pub(super) fn enter_root(&mut self, evaluation: Wdl) {
        self.root.evaluation = Some(evaluation);
        self.tree.sort_untried(ROOT);
        self.restrict_root_by_tables();
        let moves = self.tree.moves(ROOT);
        let open = if self.root.allowed.is_empty() { moves.len() } else { self.root.allowed.len() };
        self.root.rule.begin(&self.params, open as u32, self.budget.descents());
        if !self.params.mate_in_one || self.proof().is_some() {
            return;
        }
        let mate = self.game.position().mate_in_one(moves);
        if let Some(place) = moves.iter().position(|played| Some(*played) == mate) {
            let place = self.tree.try_move(ROOT, place);
            let child = self.tree.add_node(State::Certain, Some(Proof::Loss), 0);
            self.tree.branch_mut(ROOT, place).child = child;
            self.tree.prove(ROOT, place, Proof::Win);
            if let Some(plies) = &mut self.tree.plies {
                plies.tell(child, 0.0);
            }
            self.tree.settle_moves_left(ROOT);
        }
    }

    /// Adds what the rule of the root draws so that training games differ; after the root's evaluation, before this move's descents.
    pub fn add_noise(&mut self, exploration: &Exploration<'_>, stream: &mut Stream) {
        debug_assert!(self.root.evaluation.is_some(), "the root was evaluated");
        self.root.rule.add_noise(&mut self.tree, exploration, stream);
    }

    /// Forces visits of the root's tried moves in this move's search, as far as its rule and `forced_playouts` say.
    pub fn force_playouts(&mut self) {
        self.root.rule.force_playouts(&self.params);
    }
}
