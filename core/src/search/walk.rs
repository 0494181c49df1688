//! Down the tree to a leaf.

use super::Search;
use super::pending::{Leaf, Pending};
use super::proof::Proof;
use super::searcher::Searcher;
use super::tree::{NodeId, ROOT, State};
use crate::board::Reason;
use crate::encoding::Encoding;
use crate::network::{Batch, Evaluator, EvaluatorError, Wdl};

/// Where a descent stopped.
#[derive(Clone, Copy)]
enum Stop {
    /// A position whose result for the side to move is not asked of a net.
    Known(Wdl),
    /// A position that needs an evaluation.
    New,
    /// A shared position that was visited more often than the move to it: its value is taken as it stands.
    Visited,
    /// A node whose evaluation is already under way.
    Collision,
}

/// The fast engine.
#[derive(Debug)]
pub(super) struct Fast;

impl Searcher for Fast {
    fn gather(
        &self,
        search: &mut Search,
        evaluator: &mut dyn Evaluator,
        batch: &mut Batch,
    ) -> Result<(), EvaluatorError> {
        let mut pending = std::mem::take(&mut search.pending);
        search.gather_into(&mut pending, evaluator.encoding(), batch);
        search.pending = pending;
        Ok(())
    }

    fn takes_threads(&self) -> bool {
        true
    }
}

impl Search {
    /// Starts simulations until `leaves` of them wait for an evaluation, and adds those to the batch; for several batches under way at
    /// once, each of which has its `pending`. Gives the number of rows that wait.
    pub(super) fn gather_into(
        &mut self,
        pending: &mut Pending,
        encoding: &Encoding,
        batch: &mut Batch,
    ) -> usize {
        debug_assert!(pending.is_empty(), "the last batch was applied");
        let root_ply = self.game.ply();
        while self.may_start(pending.len()) {
            let way_start = pending.ways.len();
            let (node, stop) = self.descend(pending);
            match stop {
                Stop::Known(wdl) => {
                    self.start();
                    self.back_up(&pending.ways[way_start..], node, wdl);
                    self.watch_gain();
                    pending.ways.truncate(way_start);
                }
                Stop::Visited => {
                    self.start();
                    self.climb_graph(&pending.ways[way_start..], node);
                    self.watch_gain();
                    pending.ways.truncate(way_start);
                }
                Stop::New => {
                    if node != ROOT || self.visits() == 0 {
                        self.start();
                    }
                    self.add_row(node, encoding, pending, batch);
                }
                Stop::Collision => self.turn_back(pending, way_start),
            }
            self.game.take_back_to(root_ply);
            if matches!(stop, Stop::Collision) || node == ROOT {
                break;
            }
        }
        pending.len()
    }

    /// Counts a simulation that did not collide.
    fn start(&mut self) {
        if self.budget.start() {
            self.root.rule.advance();
        }
    }

    /// Whether one more descent may start where a batch has `waiting` leaves. The first is the root's own evaluation, alone.
    fn may_start(&self, waiting: usize) -> bool {
        if self.root.evaluation.is_none() {
            return self.in_flight == 0;
        }
        !self.budget.is_started() && waiting < self.params.leaves as usize && !self.has_reason_to_end()
    }

    /// Walks from the root, marking edges as in flight.
    fn descend(&mut self, pending: &mut Pending) -> (NodeId, Stop) {
        if self.root.evaluation.is_none() {
            if self.tree.nodes.is_empty() {
                self.tree.add_node(State::InFlight, None, self.state_key(0));
            }
            self.game.position().legal_moves_into(&mut self.scratch.legal);
            return (ROOT, Stop::New);
        }
        let (mut node, mut depth) = (ROOT, 0);
        loop {
            if self.tree.graph.is_some() {
                self.tree.refresh(node, self.draw_value(depth), self.params.solver);
            }
            let reached = self.tree.node(node);
            match (reached.proof, reached.state) {
                (Some(proof), _) => return (node, Stop::Known(proof.wdl())),
                (None, State::Repeated) => return (node, Stop::Known(Wdl::DRAW)),
                (None, State::InFlight) => return (node, Stop::Collision),
                (None, State::Expanded | State::Certain) => {}
            }
            if node != ROOT && self.tree.branches(node).is_empty() {
                self.tree.lead_with_likeliest(node);
            }
            let place = self.select(node, depth);
            let tried = place < self.tree.branches(node).len();
            let played = self.tree.moves(node)[place];
            let place = if tried { place as u8 } else { self.try_move(node, place) };
            pending.ways.push((node, place));
            self.game.play_unchecked(played);
            depth += 1;
            let branch = self.tree.branch_mut(node, place);
            branch.in_flight += 1;
            let (visits, known) = (branch.visits, branch.child);
            if !tried || self.is_elsewhere(known, depth) {
                let (child, is_new) = self.reach(node, depth);
                self.tree.branch_mut(node, place).child = child;
                if is_new || !tried {
                    return (child, self.stop_at(child, depth));
                }
            }
            node = self.tree.branch_mut(node, place).child;
            if self.tree.graph.is_some() && visits < self.tree.node(node).visits {
                return (node, self.stop_at(node, depth));
            }
        }
    }

    /// Whether the move to a known node leads to another one this time: in a graph, repetition depends on the way.
    fn is_elsewhere(&self, node: NodeId, depth: usize) -> bool {
        self.tree.graph.as_ref().is_some_and(|graph| graph.key(node) != self.state_key(depth))
    }

    fn try_move(&mut self, node: NodeId, place: usize) -> u8 {
        let tried = self.tree.try_move(node, place);
        if node == ROOT {
            self.root.rule.moved(place, tried.into());
        }
        tried
    }

    /// The key of the present position, `depth` plies below the root, where positions are shared.
    pub(super) fn state_key(&self, depth: usize) -> u64 {
        if self.tree.graph.is_none() {
            return 0;
        }
        // A draw by the second occurrence depends on where the tree begins.
        self.game.state_key() ^ u64::from(self.is_two_fold_draw(depth))
    }

    fn is_two_fold_draw(&self, depth: usize) -> bool {
        self.params.two_fold_draws && self.game.plies_since_repetition().is_some_and(|plies| plies <= depth)
    }

    /// What a descent makes of a node that it did not come to by this move before.
    fn stop_at(&mut self, node: NodeId, depth: usize) -> Stop {
        if self.tree.graph.is_some() {
            self.tree.refresh(node, self.draw_value(depth), self.params.solver);
        }
        let found = self.tree.node(node);
        match (found.proof, found.state) {
            (Some(proof), _) => Stop::Known(proof.wdl()),
            (None, State::Repeated) => Stop::Known(Wdl::DRAW),
            // A second way to it gets a row of its own, so that there is a value to bring back.
            (None, State::InFlight) => Stop::New,
            (None, State::Expanded | State::Certain) => Stop::Visited,
        }
    }

    /// The node of the present position, `depth` plies below the root and one below `parent`, and whether it is new.
    fn reach(&mut self, parent: NodeId, depth: usize) -> (NodeId, bool) {
        self.game.position().legal_moves_into(&mut self.scratch.legal);
        let key = self.state_key(depth);
        if let Some(shared) = self.tree.graph.as_ref().and_then(|graph| graph.find(key)) {
            return (shared, false);
        }
        let (state, proof) = self.first_look(depth);
        let node = self.tree.add_node(state, proof, key);
        if self.tree.plies.is_some() {
            self.note_moves_left(parent, node);
        }
        (node, true)
    }

    /// What is known of the present position without a net.
    fn first_look(&mut self, depth: usize) -> (State, Option<Proof>) {
        let position = self.game.position();
        match self.game.outcome_given(!self.scratch.legal.is_empty(), &self.rules) {
            Some(outcome) if outcome.reason == Reason::Threefold && self.tree.graph.is_some() => {
                return (State::Repeated, None);
            }
            Some(outcome) => {
                let proof = Proof::of_score(outcome.score_for(position.side_to_move()));
                return (State::Certain, Some(proof));
            }
            None => {}
        }
        if self.params.mate_in_one && position.mate_in_one(&self.scratch.legal).is_some() {
            return (State::Certain, Some(Proof::Win));
        }
        if self.oracle.is_open()
            && let Some(proof) = self.probe_leaf()
        {
            return (State::Certain, Some(proof));
        }
        (if self.is_two_fold_draw(depth) { State::Repeated } else { State::InFlight }, None)
    }

    fn add_row(&mut self, node: NodeId, encoding: &Encoding, pending: &mut Pending, batch: &mut Batch) {
        encoding.encode(&self.game, &mut batch.binary, &mut batch.scalars);
        let side = self.game.position().side_to_move();
        batch.legal.extend(self.scratch.legal.iter().map(|played| encoding.policy_index(*played, side)));
        batch.legal_ends.push(batch.legal.len() as u32);
        batch.keys.push(self.game.key());
        pending.legal.extend_from_slice(&self.scratch.legal);
        let (way_end, legal_end) = (pending.ways.len(), pending.legal.len());
        pending.leaves.push(Leaf { node, way_end, legal_end });
        self.in_flight += 1;
    }

    /// Takes back the marks of a descent that met a leaf in flight.
    fn turn_back(&mut self, pending: &mut Pending, way_start: usize) {
        for (node, place) in pending.ways.drain(way_start..) {
            self.tree.branch_mut(node, place).in_flight -= 1;
        }
    }
}
