//! The positions that the benchmarks of encodings, nets and the search share.

use dc0_core::board::{Game, Rules, random_games};
use dc0_core::rng::Seed;

/// The rules of their games.
pub(crate) const RULES: Rules = Rules { max_plies: 512 };

/// Positions from the opening to deep in random games, of fewer than `plies` plies.
pub(crate) fn games(count: u64, plies: u64) -> Vec<Game> {
    random_games(Seed { run: 1, step: 1 }, plies).take(count as usize).collect()
}
