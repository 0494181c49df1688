//! The rules of the root: which edge a descent takes there, which move is played, and the policy target.
//!
//! A rule is a file in this folder, its `mod` line, and its line in `root_rules`; all other code uses [`RootSearch`].

use std::fmt;

use super::Search;
use super::choice::{ChoiceParams, RootMove};
use super::noise::RootNoise;
use super::params::{RootRule, SearchParams};
use super::proof::Proof;
use super::reference::{Choice, Reference};
use super::root_rules::root_rules;
use super::tree::{NodeId, ROOT, State, Tree};
use crate::board::Move;
use crate::network::Wdl;
use crate::params::Advice;
use crate::rng::Stream;

mod gumbel;
mod puct;

pub use puct::RootScore;

/// Creates the rule that the parameter names.
macro_rules! make_rules {
    ($( $(#[doc = $doc:literal])+ $module:ident::$rule:ident = $name:literal, )+) => {
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
    /// Its name in explanations of a search.
    pub fn title(self) -> &'static str {
        self.root_search().title()
    }

    /// Whether it must know the number of simulations beforehand, so that its searches cannot run until they are stopped.
    pub fn plans_ahead(self) -> bool {
        self.root_search().plans_ahead()
    }

    /// The noise that it adds in training games.
    pub fn noise(self) -> NoiseKind {
        self.root_search().noise()
    }

    /// Whether it chooses the move by a temperature and by [`ChoiceParams`].
    pub fn draws_moves(self) -> bool {
        self.root_search().draws_moves()
    }
}

/// A kind of exploration noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoiseKind {
    /// A Dirichlet sample in the priors.
    Dirichlet,
    /// A Gumbel sample for each move.
    Gumbel,
}

/// The exploration noise of training games at a root; each rule uses its own part.
#[derive(Debug, Clone, Copy)]
pub struct Exploration<'a> {
    /// Dirichlet noise in the priors of a `puct` root.
    pub dirichlet: Option<&'a RootNoise>,
    /// Scale of the Gumbel samples of a `gumbel` root.
    pub gumbel: f64,
    /// Whether this is a full search. A `puct` root adds no noise to a fast one (playout cap randomisation, Wu 2020, section 3.1).
    pub is_full: bool,
}

/// A rule for the reference search: the choice at the root in a descent, numbered from 0.
pub(super) type ReferenceRule = Box<dyn Fn(&Reference<'_>, usize) -> Choice>;

/// A rule at one root. Edges are indices among the root's edges, the visited ones first.
pub(super) trait RootSearch: fmt::Debug + Send + Sync {
    /// Its name in explanations.
    fn title(&self) -> &'static str;

    /// Whether it must know the number of descents beforehand.
    fn plans_ahead(&self) -> bool {
        false
    }

    /// The noise that it adds in training games.
    fn noise(&self) -> NoiseKind;

    /// Whether [`choose`](Self::choose) uses its parameters and its temperature.
    fn draws_moves(&self) -> bool;

    /// Parameters that the rule does not support, each with advice.
    fn conflicts(&self, _params: &SearchParams) -> Advice {
        Vec::new()
    }

    /// Starts a search of a root that was just evaluated, with `open` allowed moves and a budget of descents.
    fn begin(&mut self, _params: &SearchParams, _open: u32, _descents: u32) {}

    /// Draws the exploration noise of a training game.
    fn add_noise(&mut self, tree: &mut Tree, exploration: &Exploration<'_>, stream: &mut Stream);

    /// Turns forced playouts on, if `forced_playouts` is set.
    fn force_playouts(&mut self, _params: &SearchParams) {}

    /// The index of the edge that the next descent takes. `scratch` is a buffer.
    fn select(&self, search: &Search, scratch: &mut Vec<f64>) -> usize;

    /// Advances to the next descent; called once for each that did not collide.
    fn advance(&mut self) {}

    /// Follows an edge that moved from one index to a smaller one; those between moved up by one.
    fn moved(&mut self, _from: usize, _to: usize) {}

    /// The move to play.
    fn choose(&self, search: &Search, params: &ChoiceParams, temperature: f64, stream: &mut Stream) -> Move;

    /// What each of the root's `moves` weighs in the policy target, at least 0, before moves that may not be played are taken out.
    /// Moves that are not allowed are passed without visits.
    fn target_weights(&self, search: &Search, moves: &[RootMove]) -> Vec<f64>;

    /// The scores that the next descent selects by, if the rule scores each move by its statistics.
    fn scores(&self, _search: &Search) -> Option<Vec<RootScore>> {
        None
    }

    /// The rule for the reference search, at a root with `open` allowed moves.
    fn for_reference(&self, params: &SearchParams, open: u32) -> ReferenceRule;

    /// Passes the noise and the forced playouts of this root, with these moves, to the reference search.
    fn configure_reference(&self, _moves: &[Move], _reference: &mut Reference<'_>) {}

    /// A copy.
    fn boxed_clone(&self) -> Box<dyn RootSearch>;
}

impl Clone for Box<dyn RootSearch> {
    fn clone(&self) -> Self {
        self.boxed_clone()
    }
}

/// The state of a search at its root, beside the node.
#[derive(Debug, Clone)]
pub(super) struct Root {
    /// Its evaluation, once made for this move's search.
    pub(super) evaluation: Option<Wdl>,
    /// Its moves with their priors before exploration noise, once evaluated.
    pub(super) priors: Vec<(Move, f32)>,
    /// The moves that may be searched; empty for all.
    pub(super) allowed: Vec<Move>,
    pub(super) rule: Box<dyn RootSearch>,
}

impl Root {
    pub(super) fn new(rule: RootRule) -> Self {
        Self { evaluation: None, priors: Vec::new(), allowed: Vec::new(), rule: rule.root_search() }
    }

    /// Whether a move may be searched and played.
    pub(super) fn allows(&self, mv: Move) -> bool {
        self.allowed.is_empty() || self.allowed.contains(&mv)
    }
}

impl Search {
    /// Restricts this move's search to some legal moves of the root (UCI's `searchmoves`); before it has begun. An empty list
    /// allows all.
    pub fn restrict_root(&mut self, moves: &[Move]) {
        self.root.allowed = moves.to_vec();
    }

    /// Whether a descent may take an edge.
    pub(super) fn is_allowed(&self, node: NodeId, index: usize) -> bool {
        node != ROOT || self.root.allows(self.tree.moves(ROOT)[index])
    }

    /// The moves of the root that may be played.
    pub(super) fn playable(&self) -> Vec<RootMove> {
        self.root_moves().filter(|mv| self.root.allows(mv.played)).collect()
    }

    /// Prepares a root that was just evaluated for this move's descents.
    pub(super) fn enter_root(&mut self, evaluation: Wdl) {
        self.root.evaluation = Some(evaluation);
        self.tree.sort_unvisited(ROOT);
        self.restrict_root_by_tables();
        let moves = self.tree.moves(ROOT);
        self.root.priors = moves.iter().copied().zip(self.tree.priors(ROOT).iter().copied()).collect();
        let open = if self.root.allowed.is_empty() { moves.len() } else { self.root.allowed.len() };
        self.root.rule.begin(&self.params, open as u32, self.budget.descents());
        if !self.params.mate_in_one || self.proof().is_some() {
            return;
        }
        let allowed: Vec<Move> = moves.iter().copied().filter(|mv| self.root.allows(*mv)).collect();
        let mate = self.game.position().mate_in_one(&allowed);
        if let Some(index) = moves.iter().position(|mv| Some(*mv) == mate) {
            let index = self.tree.add_visited_edge(ROOT, index);
            let child = self.tree.add_node(State::Proven, Some(Proof::Loss), 0);
            self.tree.edge_mut(ROOT, index).child = child;
            self.tree.prove(ROOT, index, Proof::Win);
            if let Some(moves_left) = &mut self.tree.moves_left {
                moves_left.set(child, 0.0);
            }
            self.tree.prove_moves_left(ROOT);
        }
    }

    /// Adds the exploration noise of the root's rule; after the root's evaluation, before this move's descents.
    pub fn add_noise(&mut self, exploration: &Exploration<'_>, stream: &mut Stream) {
        debug_assert!(self.root.evaluation.is_some(), "the root was evaluated");
        self.root.rule.add_noise(&mut self.tree, exploration, stream);
    }

    /// Turns forced playouts on for this move's search, if the root's rule has them and `forced_playouts` is set.
    pub fn force_playouts(&mut self) {
        self.root.rule.force_playouts(&self.params);
    }
}
