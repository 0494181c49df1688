//! The positions that the benchmarks of encodings, nets and the search share.

use dc0_core::board::{Game, Rules, random_opening};
use dc0_core::rng::{Purpose, Seed};

/// The rules of their games.
pub(crate) const RULES: Rules = Rules { max_plies: 512 };

/// Positions from the opening to deep in random games, of fewer than `plies` plies.
pub(crate) fn games(count: u64, plies: u64) -> Vec<Game> {
    let game = |number| {
        let mut stream = Seed { run: 1, step: 1 }.stream(number, Purpose::Opening);
        random_opening((number % plies) as u32, &RULES, &mut stream)
    };
    (0..count).map(game).collect()
}
