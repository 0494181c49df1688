//! One search: down the tree to a leaf (gather), and its value back up (apply).

use super::formulas::{exploration, first_play_value, mean_value};
use super::gumbel::GumbelRoot;
use super::params::{RootRule, SearchParams};
use super::proof::Proof;
use super::tree::{EdgeId, NodeId, ROOT, State, Tree};
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
enum Stop {
    /// A position with a certain result for the side to move.
    Certain(Proof),
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
    /// The net's own evaluation of the root, once it is there.
    pub(super) root_evaluation: Option<Wdl>,
    pub(super) gumbel: GumbelRoot,
    started: u32,
    leaves: Vec<Leaf>,
    /// Edges walked by the leaves in flight, each with the node it leaves, one way after the other.
    ways: Vec<(NodeId, EdgeId)>,
    /// Legal moves of the leaves in flight, one list after the other.
    legal: Vec<Move>,
    generated: Vec<Move>,
}

impl Search {
    /// A search of a game that is not over under `rules`.
    pub fn new(game: Game, rules: Rules, params: SearchParams) -> Self {
        Self {
            game,
            rules,
            params,
            tree: Tree::default(),
            root_evaluation: None,
            gumbel: GumbelRoot::default(),
            started: 0,
            leaves: Vec::new(),
            ways: Vec::new(),
            legal: Vec::new(),
            generated: Vec::new(),
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

    /// Plays a legal move and forgets the tree.
    pub fn play(&mut self, played: Move) {
        debug_assert!(self.leaves.is_empty(), "no leaf is in flight between moves");
        self.game.play_unchecked(played);
        self.tree.clear();
        self.root_evaluation = None;
        self.started = 0;
    }

    /// Visits of the root so far.
    pub fn visits(&self) -> u32 {
        self.tree.nodes.first().map_or(0, |root| root.visits)
    }

    /// Whether all simulations are done, or the solver left nothing to search.
    pub fn is_done(&self) -> bool {
        self.proof().is_some() || self.visits() >= self.params.simulations
    }

    /// Starts simulations until `leaves` of them wait for an evaluation, and adds those to the batch.
    ///
    /// Returns the number of rows added; the same rows must come back through [`apply`](Self::apply). None are added
    /// once the search is done. Simulations that end in a certain result are done at once.
    pub fn gather(&mut self, encoding: &Encoding, batch: &mut Batch) -> usize {
        debug_assert!(self.leaves.is_empty(), "the last batch was applied");
        let root_ply = self.game.ply();
        while self.may_start() {
            let way_start = self.ways.len();
            let (node, stop) = self.descend();
            match stop {
                Stop::Certain(proof) => {
                    self.start();
                    self.back_up(node, way_start..self.ways.len(), proof.wdl());
                    self.ways.truncate(way_start);
                }
                Stop::New => {
                    self.start();
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
        let budget = self.started < self.params.simulations && self.proof().is_none();
        budget && self.leaves.len() < self.params.leaves as usize
    }

    /// Walks from the root by the PUCT rule, marking edges as in flight.
    fn descend(&mut self) -> (NodeId, Stop) {
        if self.tree.nodes.is_empty() {
            let root = self.tree.add_node(None);
            self.game.position().legal_moves_into(&mut self.generated);
            return (root, Stop::New);
        }
        let mut node = ROOT;
        loop {
            let reached = &self.tree.nodes[node as usize];
            if let Some(proof) = reached.proof {
                return (node, Stop::Certain(proof));
            }
            if reached.state == State::InFlight {
                return (node, Stop::Collision);
            }
            let by_gumbel = node == ROOT && self.params.root.rule == RootRule::Gumbel;
            let edge = if by_gumbel { self.select_at_root() } else { self.select(node) };
            self.ways.push((node, edge));
            let walked = &mut self.tree.edges[edge as usize];
            walked.in_flight += 1;
            let (played, child) = (walked.played, walked.child());
            self.game.play_unchecked(played);
            match child {
                Some(child) => node = child,
                None => return self.reach(edge),
            }
        }
    }

    /// Adds the node behind an edge that was walked for the first time.
    fn reach(&mut self, edge: EdgeId) -> (NodeId, Stop) {
        self.game.position().legal_moves_into(&mut self.generated);
        let position = self.game.position();
        let proof = match self.game.outcome_given(!self.generated.is_empty(), &self.rules) {
            Some(outcome) => Some(Proof::of_score(outcome.score_for(position.side_to_move()))),
            None if !self.params.mate_in_one => None,
            None => position.mate_in_one(&self.generated).map(|_| Proof::Win),
        };
        (self.tree.add_child(edge, proof), proof.map_or(Stop::New, Stop::Certain))
    }

    /// The edge with the largest `Q + U`; the larger prior wins ties. Moves that are proven to lose are passed over.
    ///
    /// Unvisited edges are worth the same and sorted by prior, so only the first of them can be best.
    fn select(&self, node: NodeId) -> EdgeId {
        let (first_edge, parent) = {
            let node = &self.tree.nodes[node as usize];
            (node.first_edge, node)
        };
        let virtual_loss = self.params.virtual_loss;
        let edges = self.tree.edges_of(node);
        let in_flight: u32 = edges.iter().map_while(|edge| seen(edge.visits, edge.in_flight)).sum();
        let parent_visits = parent.visits + in_flight;
        let (mut best, mut best_score, mut visited_prior) = (0, f64::NEG_INFINITY, 0.0);
        for (at, edge) in edges.iter().enumerate() {
            let prior = f64::from(edge.prior);
            let visits = edge.visits + u32::from(edge.in_flight);
            let q = match edge.proof() {
                Some(Proof::Loss) => f64::NEG_INFINITY,
                Some(proof) => proof.value(),
                None if visits == 0 => {
                    first_play_value(&self.params.first_play, parent.value(), visited_prior)
                }
                None => mean_value(edge.value_sum, edge.visits, u32::from(edge.in_flight), virtual_loss),
            };
            visited_prior += prior;
            let score = q + exploration(self.params.c_puct, prior, parent_visits, visits);
            if score > best_score {
                (best, best_score) = (at, score);
            }
            if visits == 0 {
                break;
            }
        }
        first_edge + best as EdgeId
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
        for (_, edge) in self.ways.drain(way_start..) {
            self.tree.edges[edge as usize].in_flight -= 1;
        }
    }

    /// Expands the leaves gathered last and backs their values up; their rows of the batch start at `first_row`.
    pub fn apply(&mut self, batch: &Batch, evaluations: &Evaluations, first_row: usize) {
        let (mut way_start, mut legal_start) = (0, 0);
        let leaves = std::mem::take(&mut self.leaves);
        for (row, leaf) in (first_row..).zip(&leaves) {
            let priors = &evaluations.policy[batch.legal_range(row)];
            self.tree.expand(leaf.node, &self.legal[legal_start..leaf.legal_end], priors);
            if leaf.node == ROOT {
                self.enter_root(evaluations.wdl[row]);
            }
            self.back_up(leaf.node, way_start..leaf.way_end, evaluations.wdl[row]);
            (way_start, legal_start) = (leaf.way_end, leaf.legal_end);
        }
        self.leaves = leaves;
        self.leaves.clear();
        self.ways.clear();
        self.legal.clear();
    }

    /// Adds a result for the side to move at `node` to every node and edge on its way; the view changes at each step.
    /// Above a node that is proven, the proof counts instead.
    fn back_up(&mut self, node: NodeId, way: std::ops::Range<usize>, wdl: Wdl) {
        let (mut value, mut draw) = (f64::from(wdl.value()), f64::from(wdl.draw));
        self.tree.visit(node, value, draw);
        let mut below = node;
        for at in way.rev() {
            let (parent, edge_id) = self.ways[at];
            value = -value;
            let edge = &mut self.tree.edges[edge_id as usize];
            edge.visits += 1;
            edge.in_flight -= 1;
            edge.value_sum += value;
            if self.params.solver {
                if let Some(proof) = self.tree.nodes[below as usize].proof {
                    self.tree.prove_edge(parent, edge_id, proof.for_opponent());
                }
                if let Some(proof) = self.tree.nodes[parent as usize].proof {
                    (value, draw) = (proof.value(), f64::from(proof.wdl().draw));
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
            let edges = self.tree.edges_of(id as NodeId);
            let below: u32 = edges.iter().map(|edge| edge.visits).sum();
            if node.state == State::Expanded {
                assert_eq!(node.visits, 1 + below, "visits of a node are its own and its edges'");
            }
            assert!(edges.is_sorted_by(|a, b| a.prior >= b.prior), "edges fall in prior");
            let in_order = id != ROOT as usize || self.params.root.rule == RootRule::Puct;
            assert!(
                !in_order || edges.is_sorted_by(|a, b| a.visits > 0 || b.visits == 0),
                "visited edges come first"
            );
            assert!(edges.iter().all(|edge| edge.in_flight == 0), "nothing is in flight");
            assert!(node.value_sum.abs() <= f64::from(node.visits) + 1e-6, "values lie in [-1, 1]");
        }
    }
}

/// Descents in flight below an edge that was walked at least once; `None` ends the scan of such edges.
fn seen(visits: u32, in_flight: u16) -> Option<u32> {
    (visits > 0 || in_flight > 0).then_some(u32::from(in_flight))
}
