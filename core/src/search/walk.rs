//! One search: down the tree to a leaf (gather), and its value back up (apply).

use super::formulas::tempered;
use super::gumbel::GumbelRoot;
use super::params::{RootRule, SearchParams};
use super::proof::Proof;
use super::tree::{NodeId, ROOT, State, Tree};
use crate::board::{Game, Move, Outcome, Rules};
use crate::encoding::Encoding;
use crate::network::{Batch, Evaluations, Wdl};

/// A leaf whose evaluation is under way.
#[derive(Debug, Clone)]
struct Leaf {
    node: NodeId,
    /// Where its way from the root ends in [`Search::ways`].
    way_end: usize,
    /// Where its legal moves end in [`Search::legal`].
    legal_end: usize,
}

/// Where a descent stopped.
#[derive(Clone, Copy)]
enum Stop {
    /// A position whose result for the side to move is not asked of a net.
    Known(Wdl),
    /// A new node that needs an evaluation.
    New,
    /// A node whose evaluation is already under way.
    Collision,
}

/// The search of one game's present position.
///
/// Use: [`gather`](Self::gather), evaluate, [`apply`](Self::apply), until [`is_done`](Self::is_done). Nothing is
/// allocated for a simulation once the arrays have grown to the size of the search.
#[derive(Debug, Clone)]
pub struct Search {
    pub(super) game: Game,
    rules: Rules,
    pub(super) params: SearchParams,
    pub(super) tree: Tree,
    /// Where the part of the tree goes that is kept for the next move.
    spare: Tree,
    /// What the net says of the root, once it was asked for this move's search.
    pub(super) root_evaluation: Option<Wdl>,
    pub(super) gumbel: GumbelRoot,
    /// Visits that the root may have: those kept, and [`SearchParams::simulations`] unless told otherwise.
    pub(super) budget: u32,
    /// Whether tried moves of the root are forced to have visits.
    pub(super) forcing: bool,
    started: u32,
    leaves: Vec<Leaf>,
    /// Edges walked by the leaves in flight, each with the node it leaves, one way after the other.
    ways: Vec<(NodeId, u8)>,
    /// Legal moves of the leaves in flight, one list after the other.
    legal: Vec<Move>,
    generated: Vec<Move>,
    tempered: Vec<f32>,
    pub(super) scratch: Vec<f64>,
}

impl Search {
    /// A search of a game that is not over under `rules`.
    pub fn new(game: Game, rules: Rules, params: SearchParams) -> Self {
        Self {
            game,
            rules,
            budget: params.simulations,
            params,
            tree: Tree::default(),
            spare: Tree::default(),
            root_evaluation: None,
            gumbel: GumbelRoot::default(),
            forcing: false,
            started: 0,
            leaves: Vec::new(),
            ways: Vec::new(),
            legal: Vec::new(),
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

    /// Plays a legal move. The tree below it is kept if `reuse_tree` says so, and forgotten otherwise.
    pub fn play(&mut self, played: Move) {
        debug_assert!(self.leaves.is_empty(), "no leaf is in flight between moves");
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
        self.root_evaluation = None;
        self.started = self.visits();
        self.forcing = false;
        self.set_budget(self.params.simulations);
    }

    /// The node behind a move, if it has moves of its own.
    fn child_to_keep(&self, played: Move) -> Option<NodeId> {
        self.tree.nodes.first()?;
        let place = self.tree.moves(ROOT).iter().position(|of| *of == played)?;
        let child = self.tree.branches(ROOT).get(place)?.child;
        (self.tree.node(child).state == State::Expanded).then_some(child)
    }

    /// Changes the simulations of this move's search; before its first one. Visits that were kept come on top.
    pub fn set_budget(&mut self, simulations: u32) {
        // A kept root was visited by its first evaluation; its second one is a simulation without a visit.
        self.budget = self.visits().max(1) - 1 + simulations;
    }

    /// Visits of the root so far.
    pub fn visits(&self) -> u32 {
        self.tree.nodes.first().map_or(0, |root| root.visits)
    }

    /// Whether all simulations are done, or the solver left nothing to search.
    pub fn is_done(&self) -> bool {
        let spent = || self.visits() >= self.budget;
        self.root_evaluation.is_some() && (self.proof().is_some() || spent() || self.is_settled())
    }

    /// Whether the rest of the budget cannot change which move is the most visited.
    fn is_settled(&self) -> bool {
        if !self.params.stop_when_settled || self.visits() == 0 {
            return false;
        }
        let (mut most, mut second) = (0, 0);
        for visits in self.tree.branches(ROOT).iter().map(|branch| branch.visits) {
            (most, second) = (most.max(visits), second.max(most.min(visits)));
        }
        most - second > self.budget - self.visits().min(self.budget)
    }

    /// Starts simulations until `leaves` of them wait for an evaluation, and adds those to the batch.
    ///
    /// Returns the number of rows added; the same rows must come back through [`apply`](Self::apply). None are added
    /// once the search is done. Simulations that end in a known result are done at once.
    pub fn gather(&mut self, encoding: &Encoding, batch: &mut Batch) -> usize {
        debug_assert!(self.leaves.is_empty(), "the last batch was applied");
        let root_ply = self.game.ply();
        while self.may_start() {
            let way_start = self.ways.len();
            let (node, stop) = self.descend();
            match stop {
                Stop::Known(wdl) => {
                    self.start();
                    self.back_up(node, way_start..self.ways.len(), wdl);
                    self.ways.truncate(way_start);
                }
                Stop::New => {
                    if node != ROOT || self.visits() == 0 {
                        self.start();
                    }
                    self.add_row(node, encoding, batch);
                }
                Stop::Collision => self.turn_back(way_start),
            }
            self.game.take_back_to(root_ply);
            if matches!(stop, Stop::Collision) || node == ROOT {
                break;
            }
        }
        self.leaves.len()
    }

    /// Counts a simulation that did not collide. The first one is the root's own evaluation.
    fn start(&mut self) {
        if self.started > 0 && self.params.root.rule == RootRule::Gumbel {
            self.gumbel.advance();
        }
        self.started += 1;
    }

    fn may_start(&self) -> bool {
        let needs_root = self.root_evaluation.is_none() && self.leaves.is_empty();
        let open = self.started < self.budget && self.proof().is_none() && !self.is_settled();
        needs_root || open && self.leaves.len() < self.params.leaves as usize
    }

    /// Walks from the root, marking edges as in flight.
    fn descend(&mut self) -> (NodeId, Stop) {
        if self.root_evaluation.is_none() {
            if self.tree.nodes.is_empty() {
                self.tree.add_node(State::InFlight, None);
            }
            self.game.position().legal_moves_into(&mut self.generated);
            return (ROOT, Stop::New);
        }
        let (mut node, mut depth) = (ROOT, 0);
        loop {
            let reached = self.tree.node(node);
            match (reached.proof, reached.state) {
                (Some(proof), _) => return (node, Stop::Known(proof.wdl())),
                (None, State::Repeated) => return (node, Stop::Known(Wdl::DRAW)),
                (None, State::InFlight) => return (node, Stop::Collision),
                (None, State::Expanded | State::Certain) => {}
            }
            if node != ROOT && self.tree.branches(node).is_empty() {
                self.tree.sort_untried(node);
            }
            let place = self.select(node, depth);
            let tried = place < self.tree.branches(node).len();
            let played = self.tree.moves(node)[place];
            let place = if tried { place as u8 } else { self.try_move(node, place) };
            self.ways.push((node, place));
            self.game.play_unchecked(played);
            depth += 1;
            let branch = self.tree.branch_mut(node, place);
            branch.in_flight += 1;
            if !tried {
                let (child, stop) = self.reach(depth);
                self.tree.branch_mut(node, place).child = child;
                return (child, stop);
            }
            node = branch.child;
        }
    }

    fn try_move(&mut self, node: NodeId, place: usize) -> u8 {
        let tried = self.tree.try_move(node, place);
        if node == ROOT {
            self.gumbel.moved(place, tried.into());
        }
        tried
    }

    /// Adds the node of the present position, `depth` plies below the root, where no descent was before.
    fn reach(&mut self, depth: usize) -> (NodeId, Stop) {
        self.game.position().legal_moves_into(&mut self.generated);
        let position = self.game.position();
        let proof = match self.game.outcome_given(!self.generated.is_empty(), &self.rules) {
            Some(outcome) => Some(Proof::of_score(outcome.score_for(position.side_to_move()))),
            None if !self.params.mate_in_one => None,
            None => position.mate_in_one(&self.generated).map(|_| Proof::Win),
        };
        if let Some(proof) = proof {
            return (self.tree.add_node(State::Certain, Some(proof)), Stop::Known(proof.wdl()));
        }
        let repeats = || self.game.plies_since_repetition().is_some_and(|plies| plies <= depth);
        if self.params.two_fold_draws && repeats() {
            return (self.tree.add_node(State::Repeated, None), Stop::Known(Wdl::DRAW));
        }
        (self.tree.add_node(State::InFlight, None), Stop::New)
    }

    fn add_row(&mut self, node: NodeId, encoding: &Encoding, batch: &mut Batch) {
        encoding.encode(&self.game, &mut batch.binary, &mut batch.scalars);
        let side = self.game.position().side_to_move();
        batch.legal.extend(self.generated.iter().map(|played| encoding.policy_index(*played, side)));
        batch.legal_ends.push(batch.legal.len() as u32);
        batch.keys.push(self.game.key());
        self.legal.extend_from_slice(&self.generated);
        let (way_end, legal_end) = (self.ways.len(), self.legal.len());
        self.leaves.push(Leaf { node, way_end, legal_end });
    }

    /// Takes back the marks of a descent that met a leaf in flight.
    fn turn_back(&mut self, way_start: usize) {
        for (node, place) in self.ways.drain(way_start..) {
            self.tree.branch_mut(node, place).in_flight -= 1;
        }
    }

    /// Expands the leaves gathered last and backs their values up; their rows of the batch start at `first_row`.
    pub fn apply(&mut self, batch: &Batch, evaluations: &Evaluations, first_row: usize) {
        let (mut way_start, mut legal_start) = (0, 0);
        let leaves = std::mem::take(&mut self.leaves);
        for (row, leaf) in (first_row..).zip(&leaves) {
            self.tempered.clear();
            self.tempered.extend_from_slice(&evaluations.policy[batch.legal_range(row)]);
            let temperature = self.policy_temperature(leaf.node);
            tempered(&mut self.tempered, temperature);
            let legal = &self.legal[legal_start..leaf.legal_end];
            if leaf.node == ROOT && self.visits() > 0 {
                self.tree.renew_priors(ROOT, legal, &self.tempered);
            } else {
                self.tree.expand(leaf.node, legal, self.tempered.iter().copied());
                self.back_up(leaf.node, way_start..leaf.way_end, evaluations.wdl[row]);
            }
            if leaf.node == ROOT {
                self.enter_root(evaluations.wdl[row]);
            }
            (way_start, legal_start) = (leaf.way_end, leaf.legal_end);
        }
        self.leaves = leaves;
        self.leaves.clear();
        self.ways.clear();
        self.legal.clear();
    }

    pub(super) fn policy_temperature(&self, node: NodeId) -> f64 {
        let at_root = self.params.root.policy_temperature.filter(|_| node == ROOT);
        at_root.unwrap_or(self.params.policy_temperature)
    }

    /// Adds a result for the side to move at `node` to every node and edge on its way; the view changes at each step.
    /// Above a node that is proven, the proof counts instead.
    fn back_up(&mut self, node: NodeId, way: std::ops::Range<usize>, wdl: Wdl) {
        let mut depth = way.len();
        let mut draw = f64::from(wdl.draw);
        let mut value = f64::from(wdl.value()) + draw * self.draw_value(depth);
        self.tree.visit(node, value, draw);
        let mut below = node;
        for at in way.rev() {
            let (parent, place) = self.ways[at];
            (value, depth) = (-value, depth - 1);
            let branch = self.tree.branch_mut(parent, place);
            branch.visits += 1;
            branch.in_flight -= 1;
            branch.value_sum += value;
            branch.square_sum += (value * value) as f32;
            if self.params.solver {
                if let Some(proof) = self.tree.node(below).proof {
                    self.tree.prove(parent, place, proof.for_opponent());
                }
                if let Some(proof) = self.tree.node(parent).proof {
                    (value, draw) = (proof.value(self.draw_value(depth)), f64::from(proof.wdl().draw));
                }
            }
            self.tree.visit(parent, value, draw);
            below = parent;
        }
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
            let sorted = untried.is_sorted_by(|a, b| a >= b);
            assert!(branches.is_empty() || sorted, "untried moves fall in prior");
            assert!(node.value_sum.abs() <= f64::from(node.visits) + 1e-6, "values lie in [-1, 1]");
        }
    }
}
