//! For tests and benches: fixed positions, one number for what the search does on them, and what holds of every tree.

use super::tree::{NodeId, State};
use super::{Search, SearchParams};
use crate::board::{Game, Position, Rules, random_opening};
use crate::encoding::{Encoding, EncodingName, Orientation};
use crate::network::EvaluatorError;
use crate::network::fake::Hashed;
use crate::rng::{Purpose, Seed};

const RULES: Rules = Rules { max_plies: 512 };

/// Fifteen positions: random games of 0 to 77 plies, a mate in one, a draw at hand, and one with every kind of move.
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
    let from_fen =
        |fen| Game::from_position(Position::from_fen(fen).expect("the positions of the suite are legal"));
    opened.chain(fens.map(from_fen)).collect()
}

/// A signature in 31 bits, which match servers keep.
pub fn short(signature: u64) -> u32 {
    (signature ^ signature >> 32) as u32 >> 1
}

/// One number for the visits of the default search with 500 simulations on the suite's positions. It changes when the
/// behaviour of the search does, which must be meant and announced.
pub fn signature() -> Result<u64, EvaluatorError> {
    let params = SearchParams { simulations: 500, ..SearchParams::default() };
    let mut signature = 0u64;
    for (salt, game) in (0..).zip(positions()) {
        let mut evaluator = Hashed::new(Encoding::new(EncodingName::Dc0, Orientation::SideToMove), salt);
        let mut search = Search::new(game, RULES, params.clone())?;
        search.run(&mut evaluator)?;
        for seen in search.root_moves() {
            let item = u64::from(seen.played.packed()) << 32 | u64::from(seen.visits);
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
