//! The reference as one of the engines, so that scripts can ask for either.

use super::params::SearchParams;
use super::reference::{Child, Node, Reference, Simulation};
use super::searcher::Searcher;
use super::tree::{Branch, NodeId, ROOT, State, Tree};
use super::{Proof, Search};
use crate::board::Move;
use crate::network::{Batch, Evaluator, EvaluatorError};

/// The reference engine. It asks the evaluator itself, one position at a time, and adds nothing to batches.
#[derive(Debug)]
pub(super) struct ByReference;

impl Searcher for ByReference {
    fn gather(
        &self,
        search: &mut Search,
        evaluator: &mut dyn Evaluator,
        _: &mut Batch,
    ) -> Result<(), EvaluatorError> {
        if search.is_done() { Ok(()) } else { search.search_by_reference(evaluator) }
    }

    fn takes_threads(&self) -> bool {
        false
    }

    fn conflicts(&self, params: &SearchParams) -> Vec<(&'static str, String)> {
        let mut problems = Vec::new();
        if params.leaves > 1 {
            problems.push(("leaves", "must be 1 with the reference engine".to_owned()));
        }
        if params.reuse_tree {
            let fresh = "the reference engine starts every move with a fresh tree; leave it out";
            problems.push(("reuse_tree", fresh.to_owned()));
        }
        problems
    }
}

/// What is kept of a search for people to see.
#[derive(Debug, Clone, Default)]
pub(super) struct Watched {
    /// How many simulations are kept, if any are.
    most: Option<usize>,
    simulations: Vec<Simulation>,
}

impl Search {
    /// The first call of a search evaluates the root, so that noise can be added to it; the second spends the budget.
    fn search_by_reference(&mut self, evaluator: &mut dyn Evaluator) -> Result<(), EvaluatorError> {
        let params = SearchParams { simulations: self.budget.visits(), ..self.params.clone() };
        let mut slow = Reference::new(&self.game, self.rules, &params, evaluator)?;
        if self.root.evaluation.is_none() {
            self.take_over(&slow);
            // A mate in one is proven with its move, as for the fast engine.
            self.tree.nodes[ROOT as usize].proof = None;
            self.enter_root(slow.root().evaluation);
            return Ok(());
        }
        let mut moves = self.tree.moves(ROOT).to_vec();
        slow.set_priors(&moves, self.tree.priors(ROOT));
        self.root.rule.brief(&moves, &mut slow);
        slow.ask(self.oracle.tablebases(), &self.root.allowed);
        if let Some(most) = self.watched.most {
            slow.watch(most);
        }
        slow.run(evaluator)?;
        self.watched.simulations = slow.simulations().to_vec();
        self.take_over(&slow);
        self.follow_moves(&mut moves);
        self.budget.end();
        Ok(())
    }

    /// Keeps the first simulations of this move's search as they happen, the root's evaluation among them; before it has begun. Only
    /// the reference engine shows them.
    pub fn watch(&mut self, most: usize) {
        self.watched.most = Some(most);
    }

    /// The simulations that were kept.
    pub fn simulations(&self) -> &[Simulation] {
        &self.watched.simulations
    }

    /// Lets the rule of the root follow its moves, which stood in another order before.
    fn follow_moves(&mut self, before: &mut [Move]) {
        for (to, played) in self.tree.moves(ROOT).iter().enumerate() {
            let from = before.iter().position(|of| of == played).expect("both engines have the legal moves");
            before[to..=from].rotate_right(1);
            self.root.rule.moved(from, to);
        }
    }

    /// Replaces the tree by the reference's.
    fn take_over(&mut self, slow: &Reference<'_>) {
        self.tree = Tree::new(&self.params);
        for (number, node) in (0..).zip(slow.nodes()) {
            let proof = node.certain.map(Proof::of_score);
            let state = if proof.is_some() { State::Certain } else { State::Repeated };
            let id = self.tree.add_node(state, proof, number);
            let of = &mut self.tree.nodes[id as usize];
            (of.visits, of.value_sum, of.draw_sum) = (node.visits, node.value_sum, node.draw_sum);
            if let Some(graph) = &mut self.tree.graph {
                graph.evaluated(id, node.evaluation);
            }
            if let Some(plies) = &mut self.tree.plies {
                plies.put(id, node.moves_left as f32, node.moves_left_sum);
            }
        }
        for (id, node) in (0..).zip(slow.nodes()).filter(|(_, node)| !node.children.is_empty()) {
            self.copy_moves(id, node);
        }
    }

    /// Gives a node its moves, the tried ones first.
    fn copy_moves(&mut self, id: NodeId, node: &Node) {
        let (tried, untried): (Vec<&Child>, Vec<&Child>) =
            node.children.iter().partition(|child| child.node.is_some());
        let children = || tried.iter().chain(&untried);
        let moves: Vec<Move> = children().map(|child| child.played).collect();
        self.tree.expand(id, &moves, children().map(|child| child.prior as f32));
        let branches: Vec<Branch> = tried.iter().map(|child| self.branch_of_child(child)).collect();
        self.tree.set_branches(id, &branches);
    }

    fn branch_of_child(&self, child: &Child) -> Branch {
        let place = child.node.expect("a tried move leads somewhere") as NodeId;
        let below = self.tree.node(place);
        let share = f64::from(child.visits) / f64::from(below.visits.max(1));
        Branch {
            value_sum: -below.value_sum * share,
            square_sum: child.square_sum as f32,
            visits: child.visits,
            child: place,
            in_flight: 0,
            proof: below.proof.map(Proof::for_opponent).filter(|_| self.params.solver),
        }
    }
}
