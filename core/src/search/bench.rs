//! For tests and benches: fixed positions, the search signature on them, and the invariants of every tree.

use super::tree::{MovesLeft, NodeId, State, VisitedEdge};
use super::{Search, SearchParams};
use crate::board::{Game, Position, Rules, random_opening};
use crate::encoding::{Encoding, EncodingName, Orientation};
use crate::network::EvaluatorError;
use crate::network::fake::Hashed;
use crate::rng::{Purpose, Seed};

const RULES: Rules = Rules { max_plies: 512 };

/// Fifteen positions: random games of 0 to 77 plies, a mate in one, a near draw, and one with every kind of move.
pub fn positions() -> Vec<Game> {
    let opened = (0..12).map(|game| {
        let mut stream = Seed { run: 9, step: 0 }.stream(game, Purpose::Opening);
        random_opening(game as u32 * 7, &RULES, &mut stream)
    });
    let fens = [
        "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1",
        "8/8/8/8/8/3k4/4p3/4K3 w - - 96 90",
        "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    ];
    let from_fen = |fen| Game::from_position(Position::from_fen(fen).expect("the bench positions are legal"));
    opened.chain(fens.map(from_fen)).collect()
}

/// A signature in 31 bits, which match servers can store.
pub fn short(signature: u64) -> u32 {
    (signature ^ signature >> 32) as u32 >> 1
}

/// The search signature: one number for the visits of the default search with 500 simulations on the bench positions. It
/// changes with the behaviour of the search, which must be intended and announced.
pub fn signature() -> Result<u64, EvaluatorError> {
    let params = SearchParams { simulations: 500, ..SearchParams::default() };
    let mut signature = 0u64;
    for (salt, game) in (0..).zip(positions()) {
        let mut evaluator = Hashed::new(Encoding::new(EncodingName::Dc0, Orientation::SideToMove), salt);
        let mut search = Search::new(game, RULES, params.clone())?;
        search.run(&mut evaluator)?;
        for mv in search.root_moves() {
            let item = u64::from(mv.played.packed()) << 32 | u64::from(mv.visits);
            // FNV-1a's step (Fowler, Noll & Vo).
            signature = (signature ^ item).wrapping_mul(0x100_0000_01b3);
        }
    }
    Ok(signature)
}

impl Search {
    /// Checks the tree's invariants.
    ///
    /// # Panics
    /// If one does not hold.
    pub fn check_invariants(&self) {
        for row in self.rows(0, false) {
            let shares = [row.win, row.draw, row.loss, row.net_d];
            assert!(
                shares.iter().all(|share| (-1e-5..=1.0 + 1e-5).contains(share)),
                "probabilities: {row:?}"
            );
        }
        for (id, node) in self.tree.nodes.iter().enumerate() {
            let (visited, priors) = (self.tree.visited_edges(id as NodeId), self.tree.priors(id as NodeId));
            let below: u32 = visited.iter().map(|edge| edge.visits).sum();
            match (node.state, node.proof) {
                (State::Expanded, None) => {
                    assert_eq!(node.visits, 1 + below, "a node's visits are its own and its edges'");
                }
                _ => assert!(node.visits >= below, "descents end at a proven node"),
            }
            assert!(visited.iter().all(|edge| edge.in_flight == 0), "no leaf is in flight");
            let has_visit = |edge: &VisitedEdge| edge.visits > 0 || edge.proof.is_some();
            assert!(visited.iter().all(has_visit), "visited edges have visits");
            let unvisited = &priors[visited.len()..];
            let is_sorted =
                unvisited.first().is_none_or(|first| unvisited.iter().all(|prior| prior <= first));
            assert!(visited.is_empty() || is_sorted, "the likeliest unvisited edge comes first");
            assert!(node.value_sum.abs() <= f64::from(node.visits) + 1e-6, "values lie in [-1, 1]");
            if self.tree.graph.is_none() {
                for edge in visited {
                    let child = self.tree.node(edge.child);
                    assert_eq!(edge.visits, child.visits, "an edge of a tree has its node's visits");
                    let difference = (edge.value_sum + child.value_sum).abs();
                    assert!(
                        difference <= 1e-6 * f64::from(edge.visits),
                        "and its values, for the other side"
                    );
                }
                let plies = |moves_left: &MovesLeft, node: NodeId| {
                    let of_edge = |edge: &VisitedEdge| moves_left.sum(edge.child) + f64::from(edge.visits);
                    f64::from(moves_left.own(node)) + visited.iter().map(of_edge).sum::<f64>()
                };
                let sums_up = node.state == State::Expanded && node.proof.is_none();
                if let Some(moves_left) = self.tree.moves_left.as_ref().filter(|_| sums_up) {
                    let difference = (moves_left.sum(id as NodeId) - plies(moves_left, id as NodeId)).abs();
                    assert!(
                        difference <= 1e-3 * f64::from(node.visits),
                        "moves left are a ply more than below"
                    );
                }
            }
        }
    }
}
