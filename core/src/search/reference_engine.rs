//! The reference search as an engine, so that scripts can choose it.

use super::params::SearchParams;
use super::reference::{Child, Node, Reference, Simulation};
use super::tree::{NodeId, ROOT, State, Tree, VisitedEdge};
use super::{Proof, Search};
use crate::board::Move;
use crate::network::{Evaluator, EvaluatorError};

/// The recorded simulations of a search.
#[derive(Debug, Clone, Default)]
pub(super) struct SimulationLog {
    /// The most simulations to record; `None` records none.
    limit: Option<usize>,
    simulations: Vec<Simulation>,
}

impl Search {
    /// The first call of a search evaluates the root, so that noise can be added; the second spends the budget. Returns the number of
    /// rows evaluated.
    pub(super) fn search_by_reference(
        &mut self,
        evaluator: &mut dyn Evaluator,
    ) -> Result<usize, EvaluatorError> {
        let params = SearchParams { simulations: self.budget.visits(), ..self.params.clone() };
        let mut reference = Reference::new(&self.game, &params, evaluator)?;
        if self.root.evaluation.is_none() {
            self.copy_tree(&reference);
            self.enter_root(reference.root().evaluation);
            return Ok(reference.evaluated());
        }
        let mut moves = self.tree.moves(ROOT).to_vec();
        reference.set_priors(&moves, self.tree.priors(ROOT));
        self.root.rule.configure_reference(&moves, &mut reference);
        reference.set_tablebase_and_allowed(self.prober.tablebases(), &self.root.allowed);
        if let Some(limit) = self.simulation_log.limit {
            reference.record_simulations(limit);
        }
        reference.run(evaluator)?;
        self.simulation_log.simulations = reference.simulations().to_vec();
        self.copy_tree(&reference);
        self.reorder_root(&mut moves);
        self.budget.end();
        Ok(reference.evaluated())
    }

    /// Records the first simulations of this move's search, the root's evaluation included; before it has begun. Only the reference
    /// engine records any.
    pub fn record_simulations(&mut self, limit: usize) {
        self.simulation_log.limit = Some(limit);
    }

    /// The recorded simulations.
    pub fn simulations(&self) -> &[Simulation] {
        &self.simulation_log.simulations
    }

    /// Passes the new order of the root's moves, which were in the order `before`, to the root's rule.
    fn reorder_root(&mut self, before: &mut [Move]) {
        for (to, mv) in self.tree.moves(ROOT).iter().enumerate() {
            let from =
                before.iter().position(|other| other == mv).expect("both engines have the legal moves");
            before[to..=from].rotate_right(1);
            self.root.rule.moved(from, to);
        }
    }

    /// Replaces the tree by the reference's.
    fn copy_tree(&mut self, reference: &Reference<'_>) {
        self.tree = Tree::new(&self.params);
        for (number, node) in (0..).zip(reference.nodes()) {
            let proof = node.proven.map(Proof::of_score);
            let state = if proof.is_some() { State::Proven } else { State::Repeated };
            let id = self.tree.add_node(state, proof, number);
            let copy = &mut self.tree.nodes[id as usize];
            (copy.visits, copy.value_sum, copy.draw_sum) = (node.visits, node.value_sum, node.draw_sum);
            if let Some(graph) = &mut self.tree.graph {
                graph.set_evaluation(id, node.evaluation);
                graph.set_mean_square(id, node.mean_square);
            }
            if let Some(moves_left) = &mut self.tree.moves_left {
                moves_left.set_with_sum(id, node.moves_left as f32, node.moves_left_sum);
            }
        }
        for (id, node) in (0..).zip(reference.nodes()).filter(|(_, node)| !node.children.is_empty()) {
            self.copy_children(id, node);
        }
    }

    /// Gives a node its edges, the visited ones first.
    fn copy_children(&mut self, id: NodeId, node: &Node) {
        let (visited, unvisited): (Vec<&Child>, Vec<&Child>) =
            node.children.iter().partition(|child| child.node.is_some());
        let children = || visited.iter().chain(&unvisited);
        let moves: Vec<Move> = children().map(|child| child.played).collect();
        self.tree.expand(id, &moves, children().map(|child| child.prior as f32));
        let edges: Vec<VisitedEdge> = visited.iter().map(|child| self.visited_edge(child)).collect();
        self.tree.set_visited_edges(id, &edges);
    }

    fn visited_edge(&self, child: &Child) -> VisitedEdge {
        let id = child.node.expect("a visited edge has a child") as NodeId;
        let node = self.tree.node(id);
        let share = f64::from(child.visits) / f64::from(node.visits.max(1));
        let spread =
            |mean_square: f64| mean_square - (node.value_sum / f64::from(node.visits.max(1))).powi(2);
        let in_graph = self.tree.graph.as_ref();
        let deviation_sum = in_graph.map_or(child.deviation_sum, |graph| {
            f64::from(child.visits) * spread(graph.mean_square(id)).max(0.0)
        });
        VisitedEdge {
            value_sum: -node.value_sum * share,
            deviation_sum: deviation_sum as f32,
            visits: child.visits,
            child: id,
            in_flight: 0,
            proof: node.proof.map(Proof::for_opponent).filter(|_| self.params.solver),
        }
    }
}
