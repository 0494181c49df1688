//! Random openings, so that games differ.

use rand::RngExt;

use super::{Game, Rules};
use crate::rng::Stream;

/// A game of `plies` random legal moves from the initial position that is not over under `rules`.
///
/// Retries whenever the random moves end the game, so it always returns for `plies` well below a game's length.
pub fn random_opening(plies: u32, rules: &Rules, stream: &mut Stream) -> Game {
    loop {
        let mut game = Game::initial();
        for _ in 0..plies {
            let moves = game.position().legal_moves();
            if moves.is_empty() {
                break;
            }
            game.play_unchecked(moves[stream.random_range(0..moves.len())]);
        }
        if game.ply() == plies as usize && game.outcome(rules).is_none() {
            return game;
        }
    }
}
