//! The best material balance, one ply ahead.

use rand::RngExt;

use super::Baseline;
use crate::board::{Game, Move, Reason, Rules};
use crate::rng::Stream;

/// Plays the move with the best material balance after it; a mate is best, a draw counts as balance 0, and ties are broken at random.
#[derive(Debug)]
pub(super) struct Greedy;

impl Baseline for Greedy {
    fn name(&self) -> &'static str {
        "greedy"
    }

    fn about(&self) -> &'static str {
        "the best material balance after one ply"
    }

    fn choose(&self, game: &mut Game, rules: &Rules, stream: &mut Stream) -> Move {
        let mut best: (i32, Vec<Move>) = (i32::MIN, Vec::new());
        for mv in game.position().legal_moves() {
            let score = score_of(game, mv, rules);
            if score > best.0 {
                best = (score, Vec::new());
            }
            if score == best.0 {
                best.1.push(mv);
            }
        }
        best.1[stream.random_range(0..best.1.len())]
    }
}

fn score_of(game: &mut Game, mv: Move, rules: &Rules) -> i32 {
    let (ply, mover) = (game.ply(), game.position().side_to_move());
    game.play_unchecked(mv);
    let score = match game.outcome(rules) {
        Some(outcome) if outcome.reason == Reason::Checkmate => i32::MAX,
        Some(_) => 0,
        None => game.position().material_balance(mover),
    };
    game.take_back_to(ply);
    score
}
