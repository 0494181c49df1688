//! One game of a match in progress.

use super::job::{Match, Mover};
use super::params::ArenaParams;
use crate::board::{Game, Move, Outcome, Side, random_opening};
use crate::event::GameSnapshot;
use crate::rng::{Purpose, Stream};
use crate::search::{Search, SearchSlot};
use crate::store::MatchGameRow;

/// A game between two movers.
pub(super) struct MatchGame<'a> {
    params: &'a ArenaParams,
    number: u32,
    /// The first player's mover and the second's.
    movers: [Mover; 2],
    /// A search for each player, so that each keeps its own tree.
    searches: [Search; 2],
    choice: Stream,
    random: Stream,
    outcome: Option<Outcome>,
}

impl<'a> MatchGame<'a> {
    pub(super) fn new(job: &Match<'a>, movers: [Mover; 2], number: u32) -> Self {
        let (params, seed, rules) = (job.params, job.seed, job.params.rules());
        let searches = [&params.search, params.opponent_search.as_ref().unwrap_or(&params.search)];
        let mut opening = seed.stream(u64::from(number / 2), Purpose::Opening);
        let game = random_opening(params.opening_plies, &rules, &mut opening);
        let mut slot = Self {
            params,
            number,
            movers,
            searches: [0, 1].map(|player| {
                let tablebases = job.tables[player].cloned();
                Search::with_tablebases(game.clone(), rules, searches[player].clone(), tablebases)
            }),
            choice: seed.stream(u64::from(number), Purpose::MoveChoice),
            random: seed.stream(u64::from(number), Purpose::RandomPlayer),
            outcome: None,
        };
        slot.play_without_search();
        slot
    }

    /// Whether the first player has White, as in the first game of each pair.
    fn first_is_white(&self) -> bool {
        self.number.is_multiple_of(2)
    }

    fn game(&self) -> &Game {
        self.searches[0].game()
    }

    /// The player to move: 0 for the first, 1 for the second.
    fn to_move(&self) -> usize {
        let white_moves = self.game().position().side_to_move() == Side::White;
        usize::from(white_moves != self.first_is_white())
    }

    fn mover(&self) -> Mover {
        self.movers[self.to_move()]
    }

    fn play(&mut self, played: Move) {
        self.searches.iter_mut().for_each(|search| search.play_unchecked(played));
        self.outcome = self.searches[0].outcome();
    }

    /// Plays until a net is to move or the game is over.
    fn play_without_search(&mut self) {
        while self.outcome.is_none() {
            let mut game: Game = self.game().clone();
            let Mover::Baseline(baseline) = self.mover() else { return };
            let played = baseline.choose(&mut game, &self.params.rules(), &mut self.random);
            self.play(played);
        }
    }

    /// The game's number.
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// The game so far.
    pub(super) fn snapshot(&self) -> GameSnapshot {
        self.game().snapshot(self.number)
    }

    /// The game's row, if it is over.
    pub(super) fn row(&self, names: [&str; 2]) -> Option<MatchGameRow> {
        let outcome = self.outcome?;
        let game = self.game();
        let first_side = if self.first_is_white() { Side::White } else { Side::Black };
        Some(MatchGameRow {
            game: self.number,
            pair: self.number / 2,
            first: names[0].to_owned(),
            second: names[1].to_owned(),
            first_is_white: self.first_is_white(),
            start_fen: game.start().fen(),
            moves: game.moves().iter().map(|played| played.packed()).collect(),
            opening_plies: self.params.opening_plies as u16,
            plies: game.ply() as u16,
            score: f64::from(1 + outcome.score_for(first_side)) / 2.0,
            result: outcome.result(),
            reason: outcome.reason,
        })
    }
}

impl SearchSlot for MatchGame<'_> {
    fn waiting(&mut self) -> Option<(usize, &mut Search)> {
        match (self.outcome, self.mover()) {
            (None, Mover::Evaluator(number)) => Some((number, &mut self.searches[self.to_move()])),
            _ => None,
        }
    }

    fn advance(&mut self) {
        let player = self.to_move();
        if self.params.force_playouts {
            self.searches[player].force_playouts();
        }
        let search = &self.searches[player];
        if !search.is_done() {
            return;
        }
        let temperature = self.params.temperature.at(search.game().ply() as u32);
        let played = search.choose(&self.params.choice, temperature, &mut self.choice);
        self.play(played);
        self.play_without_search();
    }
}
