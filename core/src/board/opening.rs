//! Random openings, so that games differ.

use rand::RngExt;

use super::{Game, Rules};
use crate::rng::{Purpose, Seed, Stream};

/// How often random moves may end the game before it starts without them: enough for any start but one near its end.
const ATTEMPTS: u32 = 1000;

/// A game of `plies` random legal moves from the initial position that is not over under `rules`.
pub fn random_opening(plies: u32, rules: &Rules, stream: &mut Stream) -> Game {
    random_moves(&Game::initial(), plies, rules, stream)
}

/// Games of 0 to `plies` − 1 random plies, over and over, for measurements: the same for equal seeds.
pub fn random_games(seed: Seed, plies: u64) -> impl Iterator<Item = Game> {
    (0..).map(move |number| {
        let mut stream = seed.stream(number, Purpose::Opening);
        random_opening((number % plies) as u32, &Rules { max_plies: 512 }, &mut stream)
    })
}

/// The game after `plies` random legal moves that do not end it under `rules`. Others are tried where they do; if all do, as near a
/// mate, there are none.
pub fn random_moves(start: &Game, plies: u32, rules: &Rules, stream: &mut Stream) -> Game {
    for _ in 0..ATTEMPTS {
        let mut game = start.clone();
        for _ in 0..plies {
            let moves = game.position().legal_moves();
            if moves.is_empty() {
                break;
            }
            game.play_unchecked(moves[stream.random_range(0..moves.len())]);
        }
        if game.ply() == start.ply() + plies as usize && game.outcome(rules).is_none() {
            return game;
        }
    }
    start.clone()
}
