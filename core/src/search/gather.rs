//! Growing the tree by either engine; descents of the fast one, from the root to a leaf, gathered into a batch.

use super::params::{Engine, MAX_COLLISIONS};
use super::pending::{Leaf, Pending};
use super::proof::Proof;
use super::tree::{NodeId, ROOT, State};
use super::{Search, search_in_lockstep};
use crate::board::Reason;
use crate::encoding::Encoding;
use crate::network::{Batch, Evaluator, EvaluatorError, Quiescence, Wdl};

/// Why a descent stopped.
#[derive(Clone, Copy)]
enum Stop {
    /// A position whose result for the side to move needs no evaluation.
    Known(Wdl),
    /// A position that needs an evaluation.
    New,
    /// A shared node with more visits than the edge to it: its current value is backed up.
    Transposition,
    /// A node whose evaluation is already under way.
    Collision,
}

/// What is known of a node when it is reached first.
struct NewNode {
    state: State,
    /// Its result, if that is proven.
    proof: Option<Proof>,
    /// Moves left, in plies, if it needs no evaluation; `None` for one less than at its parent.
    plies: Option<f32>,
}

/// What ends a batch that is gathered.
#[derive(Debug, Clone, Copy)]
pub(super) struct Amount {
    /// Leaves that wait for evaluations.
    pub(super) leaves: u32,
    /// Descents, of which many may end at positions with a known result.
    pub(super) descents: u32,
}

impl Search {
    /// Searches until the search is done.
    ///
    /// # Errors
    /// If the net fails, or a tablebase is damaged.
    pub fn run(&mut self, evaluator: &mut dyn Evaluator) -> Result<(), EvaluatorError> {
        search_in_lockstep(std::slice::from_mut(self), evaluator, &mut |_| Ok(()))
    }

    /// Gathers leaves into the batch until the search needs their evaluations. The same rows must be passed to
    /// [`apply`](Self::apply). Adds none once the search is done. Nor does the reference engine, which calls the evaluator itself:
    /// the first call evaluates the root, the second does everything else. Returns the number of rows evaluated so.
    ///
    /// # Errors
    /// If a tablebase is damaged, or the evaluator fails. The search cannot continue then.
    pub fn gather(
        &mut self,
        evaluator: &mut dyn Evaluator,
        batch: &mut Batch,
    ) -> Result<usize, EvaluatorError> {
        let evaluated = match self.params.engine {
            Engine::Reference if self.is_done() => 0,
            Engine::Reference => self.search_by_reference(evaluator)?,
            Engine::Fast => {
                let mut pending = std::mem::take(&mut self.pending);
                let most = Amount { leaves: self.params.leaf_batch, descents: u32::MAX };
                self.gather_into(&mut pending, evaluator.encoding(), batch, most);
                self.pending = pending;
                0
            }
        };
        self.prober.take_error()?;
        Ok(evaluated)
    }

    /// Starts simulations until enough of them wait for evaluations, and adds these leaves to `batch`. Several batches may be under
    /// way at once, each with its own `pending`. A collision does not end the batch before `max_collisions`. While leaves of any batch
    /// wait, no more simulations end at known results than the batch may have leaves, since what the leaves bring may lead elsewhere
    /// (Leela Chess Zero bounds them by `MaxOutOfOrderEvalsFactor`). Returns the number of leaves that wait.
    pub(super) fn gather_into(
        &mut self,
        pending: &mut Pending,
        encoding: &Encoding,
        batch: &mut Batch,
        most: Amount,
    ) -> usize {
        debug_assert!(pending.is_empty(), "the previous batch was applied");
        let (root_ply, mut collisions, mut known) = (self.game.ply(), 0, 0);
        let most_collisions = self.max_collisions(most.leaves);
        for _ in 0..most.descents {
            let is_full = pending.len() >= most.leaves as usize
                || collisions >= most_collisions
                || known >= most.leaves && self.in_flight > 0;
            if is_full || !self.may_start() {
                break;
            }
            let path_start = pending.paths.len();
            let (node, stop) = self.descend(pending);
            match stop {
                Stop::Known(wdl) => {
                    known += u32::from(self.in_flight > 0);
                    self.start();
                    self.back_up(&pending.paths[path_start..], node, wdl);
                    self.check_gain();
                    pending.paths.truncate(path_start);
                }
                Stop::Transposition => {
                    self.start();
                    self.back_up_graph(&pending.paths[path_start..]);
                    self.check_gain();
                    pending.paths.truncate(path_start);
                }
                Stop::New => {
                    if node != ROOT || self.visits() == 0 {
                        self.start();
                    }
                    self.add_row(node, encoding, pending, batch);
                }
                Stop::Collision => {
                    collisions += 1;
                    pending.collided.extend(pending.paths.drain(path_start..));
                }
            }
            self.game.take_back_to(root_ply);
            if node == ROOT {
                break;
            }
        }
        // No batch waits for a collision, so the next one begins without them.
        for (node, index) in pending.collided.drain(..) {
            self.tree.edge_mut(node, index).in_flight -= 1;
        }
        pending.len()
    }

    /// The collisions after which a batch of so many leaves that begins now is complete. By default one for each leaf that it may
    /// collide with; one where the root has a schedule, from which a collision that counts as in flight would take a move.
    fn max_collisions(&self, leaves: u32) -> u32 {
        if self.root.rule.plans_ahead() {
            return 1;
        }
        let leaves = leaves.saturating_add(self.in_flight as u32);
        self.params.max_collisions.unwrap_or_else(|| leaves.min(MAX_COLLISIONS))
    }

    /// Counts the start of a simulation that did not collide.
    fn start(&mut self) {
        if self.budget.start() {
            self.root.rule.advance();
        }
    }

    /// Whether another descent may start. The root's own evaluation is first, and alone.
    fn may_start(&self) -> bool {
        if self.root.evaluation.is_none() {
            return self.in_flight == 0;
        }
        !self.budget.is_started() && !self.should_stop()
    }

    /// Descends from the root, counting the descent as in flight on its edges.
    fn descend(&mut self, pending: &mut Pending) -> (NodeId, Stop) {
        if self.root.evaluation.is_none() {
            if self.tree.nodes.is_empty() {
                self.tree.add_node(State::Evaluating, None, self.state_key(0));
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
                (None, State::Evaluating) => return (node, Stop::Collision),
                (None, State::Expanded | State::Proven) => {}
            }
            if node != ROOT && self.tree.visited_edges(node).is_empty() {
                self.tree.put_likeliest_first(node);
            }
            let index = self.select(node, depth);
            let visited = index < self.tree.visited_edges(node).len();
            let mv = self.tree.moves(node)[index];
            let index = if visited { index as u8 } else { self.add_visited_edge(node, index) };
            pending.paths.push((node, index));
            self.game.play_unchecked(mv);
            depth += 1;
            let edge = self.tree.edge_mut(node, index);
            edge.in_flight += 1;
            let (visits, child) = (edge.visits, edge.child);
            if !visited || self.leads_elsewhere(child, depth) {
                let (child, is_new) = self.reach(node, depth);
                self.tree.edge_mut(node, index).child = child;
                if is_new || !visited {
                    return (child, self.stop_at(child, depth));
                }
            }
            node = self.tree.edge_mut(node, index).child;
            if self.tree.graph.is_some() && visits < self.tree.node(node).visits {
                return (node, self.stop_at(node, depth));
            }
        }
    }

    /// Whether the edge to a known node leads to another one this time: in a graph, repetition depends on the path.
    fn leads_elsewhere(&self, node: NodeId, depth: usize) -> bool {
        self.tree.graph.as_ref().is_some_and(|graph| graph.key(node) != self.state_key(depth))
    }

    /// Makes an edge a visited one, and returns its new index.
    fn add_visited_edge(&mut self, node: NodeId, index: usize) -> u8 {
        let to = self.tree.add_visited_edge(node, index);
        if node == ROOT {
            self.root.rule.moved(index, to.into());
        }
        to
    }

    /// In a graph, the key of the current position, `depth` plies below the root; else 0.
    pub(super) fn state_key(&self, depth: usize) -> u64 {
        if self.tree.graph.is_none() {
            return 0;
        }
        // A draw by a second occurrence depends on where the tree begins.
        self.game.state_key() ^ u64::from(self.is_two_fold_draw(depth))
    }

    pub(super) fn is_two_fold_draw(&self, depth: usize) -> bool {
        self.params.two_fold_draws && self.game.plies_since_repetition().is_some_and(|plies| plies <= depth)
    }

    /// Why a descent stops at a node that its last edge did not lead to before.
    fn stop_at(&mut self, node: NodeId, depth: usize) -> Stop {
        if self.tree.graph.is_some() {
            self.tree.refresh(node, self.draw_value(depth), self.params.solver);
        }
        let found = self.tree.node(node);
        match (found.proof, found.state) {
            (Some(proof), _) => Stop::Known(proof.wdl()),
            (None, State::Repeated) => Stop::Known(Wdl::DRAW),
            // A second path to it gets a row of its own, so that there is a value to back up.
            (None, State::Evaluating) => Stop::New,
            (None, State::Expanded | State::Proven) => Stop::Transposition,
        }
    }

    /// The node of the current position, `depth` plies below the root and one below `parent`, and whether it is new.
    fn reach(&mut self, parent: NodeId, depth: usize) -> (NodeId, bool) {
        self.game.position().legal_moves_into(&mut self.scratch.legal);
        let key = self.state_key(depth);
        if let Some(shared) = self.tree.graph.as_ref().and_then(|graph| graph.find(key)) {
            return (shared, false);
        }
        let NewNode { state, proof, plies } = self.new_node(depth);
        let node = self.tree.add_node(state, proof, key);
        if self.tree.moves_left.is_some() && state != State::Evaluating {
            self.set_new_moves_left(parent, node, plies);
        }
        (node, true)
    }

    /// A new node of the current position, whose result may be proven without an evaluation.
    fn new_node(&mut self, depth: usize) -> NewNode {
        let position = self.game.position();
        if let Some(outcome) = self.game.outcome_by_rules(!self.scratch.legal.is_empty()) {
            if outcome.reason == Reason::Threefold && self.tree.graph.is_some() {
                return NewNode { state: State::Repeated, proof: None, plies: Some(0.0) };
            }
            let proof = Proof::of_score(outcome.score_for(position.side_to_move()));
            return NewNode { state: State::Proven, proof: Some(proof), plies: Some(0.0) };
        }
        if self.params.mate_in_one && position.mate_in_one(&self.scratch.legal).is_some() {
            return NewNode { state: State::Proven, proof: Some(Proof::Win), plies: Some(1.0) };
        }
        if self.prober.is_open()
            && let Some(proof) = self.probe_leaf()
        {
            // Tablebases know the result but not its distance.
            return NewNode { state: State::Proven, proof: Some(proof), plies: None };
        }
        if self.is_two_fold_draw(depth) {
            // Assumes that the same moves lead to the next repetition.
            let plies = self.game.plies_since_repetition().map(|plies| plies as f32);
            return NewNode { state: State::Repeated, proof: None, plies };
        }
        NewNode { state: State::Evaluating, proof: None, plies: None }
    }

    fn add_row(&mut self, node: NodeId, encoding: &Encoding, pending: &mut Pending, batch: &mut Batch) {
        encoding.encode(&self.game, &mut batch.binary, &mut batch.scalars);
        let side = self.game.position().side_to_move();
        batch.legal.extend(self.scratch.legal.iter().map(|mv| encoding.policy_index(*mv, side)));
        batch.legal_ends.push(batch.legal.len() as u32);
        batch.keys.push(self.game.key());
        batch.quiescence.push(Quiescence::of_param(self.params.quiescence));
        let has_mirror = self.params.average_mirror && batch.push_pair(encoding);
        pending.legal.extend_from_slice(&self.scratch.legal);
        let (path_end, legal_end) = (pending.paths.len(), pending.legal.len());
        pending.leaves.push(Leaf { node, path_end, legal_end, has_mirror });
        self.in_flight += 1;
    }
}
