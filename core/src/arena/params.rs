//! Parameters of a match.

use super::sprt::SprtParams;
use crate::board::Rules;
use crate::network::Precision;
use crate::params;
use crate::params::Schedule;
use crate::search::{ChoiceParams, SearchParams};

params! {
    /// A match of two players, without noise.
    pub struct ArenaParams {
        /// Games, with `sprt` at most; even, because every opening is played with both colours.
        games: u32 = 100, in 2..=10_000_000;
        /// A sequential test that ends the match once it is decided; () for none. Games after the decision are discarded.
        sprt: Option<SprtParams> = None;
        /// The search of every move of a net.
        search: SearchParams = SearchParams::default();
        /// Another search for the second player, to compare searches with one net; () for the same.
        opponent_search: Option<SearchParams> = None;
        /// The precision of the second player's net on libtorch, to measure its cost in strength; () for that of the run.
        opponent_precision: Option<Precision> = None;
        /// Whether `root.forced_playouts` apply in the match as in training games, to measure their cost in strength.
        force_playouts: bool = false;
        /// Temperature of the move, by ply; 0 plays the most visited move.
        temperature: Schedule = Schedule::constant(0.0), in 0.0..=100.0;
        /// How a `puct` root chooses the move from its statistics.
        choice: ChoiceParams = ChoiceParams::default();
        /// Random legal moves at the start of each pair. Without them two nets repeat the same two games.
        opening_plies: u32 = 6, in 0..=60;
        /// A game this long is drawn.
        max_plies: u32 = 512, in 1..=10_000;
        /// Size of a shard's evaluation cache for each player, first in, first out; 0 for none.
        cache: u32 = 0, in 0..=100_000_000;
        /// Games in a shard, the unit that is stored and resumed; even.
        shard_games: u32 = 64, in 2..=1_000_000;
    }
    check |params| {
        let mut problems = Vec::new();
        for (name, games) in [("games", params.games), ("shard_games", params.shard_games)] {
            if games % 2 == 1 {
                problems.push((name, format!("must be even, because games come in pairs, got {games}")));
            }
        }
        if params.opening_plies >= params.max_plies {
            problems.push(("opening_plies", format!("must stay below max_plies = {}", params.max_plies)));
        }
        problems
    };
}

impl ArenaParams {
    /// What ends a game.
    pub fn rules(&self) -> Rules {
        Rules { max_plies: self.max_plies }
    }
}
