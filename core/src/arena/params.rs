//! Parameters of a match.

use super::adjudication::AdjudicationParams;
use super::sprt::SprtParams;
use crate::alphabeta::AlphaBetaParams;
use crate::board::Rules;
use crate::book::BookParams;
use crate::durable;
use crate::network::Precision;
use crate::params;
use crate::params::{Param, Schedule};
use crate::search::{ChoiceParams, SearchParams};

params! {
    /// What a player of a match has of its own; `player(net, #{…})` makes such a player.
    pub struct PlayerParams {
        /// The search of its moves; () for that of the match.
        search: Option<SearchParams> = None;
        /// The precision of its net on libtorch, to measure its cost in strength; () for that of the run.
        precision: Option<Precision> = None;
        /// The alpha-beta search of its moves, by the values of its net, which must be an `nnue`; () for a tree search.
        alphabeta: Option<AlphaBetaParams> = None;
        /// Its name in tables, after the net's; () for the number of simulations and a digest of the search.
        name: Option<String> = None;
    }
    check |params| {
        let has_both = params.alphabeta.is_some() && params.search.is_some();
        let problem = ("alphabeta", "expected one of `search` and `alphabeta`, got both; leave one of them out".to_owned());
        let is_wrong = |name: &&String| name.trim().is_empty() || !PlayerParams::is_one_line(name);
        let name = params.name.as_ref().filter(is_wrong);
        let name = name.map(|name| ("name", format!("expected text of one line, got {name:?}")));
        let search = params.search.iter().flat_map(SearchParams::without_effect);
        search.chain(has_both.then_some(problem)).chain(name).collect()
    };
}

params! {
    /// A match of two players, without noise.
    pub struct ArenaParams {
        /// Games, with `sprt` at most; even, because every opening is played with both colours.
        games: u32 = 100, in 2..=10_000_000;
        /// A sequential test that ends the match once it is decided; () for none. Games after the decision are discarded.
        sprt: Option<SprtParams> = None;
        /// The search of every move of a net that has none of its own.
        search: SearchParams = SearchParams::default();
        /// What the first player has of its own. A player made by `player` brings it along.
        first: PlayerParams = PlayerParams::default();
        /// What the second player has of its own. A player made by `player` brings it along.
        second: PlayerParams = PlayerParams::default();
        /// Whether `root.forced_playouts` apply in the match as in training games, to measure their cost in strength.
        force_playouts: bool = false;
        /// Temperature of the move of a `puct` root, by ply; 0 plays the most visited move.
        temperature: Schedule = Schedule::constant(0.0), in 0.0..=100.0;
        /// How a `puct` root chooses the move from its statistics.
        choice: ChoiceParams = ChoiceParams::default();
        /// A book of openings, or its file; () for random moves.
        openings: Option<BookParams> = None;
        /// Random legal moves at the start of each pair, without `openings`. Without any, two nets repeat the same two games.
        opening_plies: u32 = 6, in 0..=60;
        /// A game this long is drawn.
        max_plies: u32 = 512, in 1..=10_000;
        /// What ends games before the rules do.
        adjudication: AdjudicationParams = AdjudicationParams::default();
        /// Size of a shard's evaluation cache for each player, first in, first out; 0 for none.
        cache: u32 = 0, in 0..=100_000_000;
        /// Games in a shard, the unit that is stored and resumed; even. Games without a tree search by a net are
        /// stored by pairs.
        shard_games: u32 = 64, in 2..=1_000_000;
        /// The most games in a shard between a net's tree search and alpha-beta or a program that does not play by time; even. A
        /// lane plays them at the same time, each with a searcher or process of its own.
        program_games: u32 = 16, in 2..=1024;
    }
    check |params| {
        let mut problems = params.search.without_effect();
        if params.temperature.max() == 0.0 {
            problems.extend(params.choice.of_temperatures());
        }
        let even = [
            ("games", params.games),
            ("shard_games", params.shard_games),
            ("program_games", params.program_games),
        ];
        for (name, games) in even {
            if games % 2 == 1 {
                problems.push((name, format!("must be even, because games come in pairs, got {games}")));
            }
        }
        if params.openings.is_none() && params.opening_plies >= params.max_plies {
            problems.push(("opening_plies", format!("must stay below max_plies = {}", params.max_plies)));
        }
        problems
    };
}

impl PlayerParams {
    /// The name that distinguishes the player from the same net with another search: the given one, or the simulations with four digits of
    /// a digest of all parameters. `None` if it has nothing of its own.
    pub fn label(&self) -> Option<String> {
        if *self == Self::default() {
            return None;
        }
        let simulations = |search: &SearchParams| search.simulations.to_string();
        let own = || {
            let digest = durable::digest(self.to_value().to_string().as_bytes());
            let search = self.search.as_ref().map_or_else(|| "own".to_owned(), simulations);
            let search = if self.alphabeta.is_some() { "alphabeta".to_owned() } else { search };
            format!("{search}-{}", &digest[..4])
        };
        Some(self.name.clone().unwrap_or_else(own))
    }

    /// Whether a text stays on its line wherever it is shown, which names and what else identifies players must.
    pub fn is_one_line(text: &str) -> bool {
        !text.chars().any(|letter| letter.is_control() || "\u{2028}\u{2029}".contains(letter))
    }
}

impl ArenaParams {
    /// What a player has of its own, 0 for the first.
    pub fn own(&self, player: usize) -> &PlayerParams {
        [&self.first, &self.second][player]
    }

    /// The search of a player, 0 for the first.
    pub fn search_of(&self, player: usize) -> &SearchParams {
        self.own(player).search.as_ref().unwrap_or(&self.search)
    }

    /// The alpha-beta searches of the players that have one.
    pub fn alphabetas(&self) -> impl Iterator<Item = &AlphaBetaParams> {
        [&self.first, &self.second].into_iter().filter_map(|player| player.alphabeta.as_ref())
    }

    /// What ends a game.
    pub fn rules(&self) -> Rules {
        Rules { max_plies: self.max_plies }
    }
}

#[cfg(test)]
mod tests {
    use super::PlayerParams;
    use crate::params::{Value, read};

    #[test]
    fn the_name_of_a_player_is_one_line_with_more_than_blanks() {
        let named = |name: &str| {
            let given = Value::of([("name", Value::Text(name.to_owned()))]);
            read::<PlayerParams>("player", &given).map_err(|error| error.to_string())
        };
        for wrong in ["", "  ", "\u{2003}", "two\nlines", "two\u{2028}lines", "two\u{2029}lines"] {
            let message = format!("name: expected text of one line, got {wrong:?}");
            assert!(named(wrong).expect_err("is refused").contains(&message), "{wrong:?}");
        }
        assert!(named("Zoë 2").is_ok());
    }
}
