//! The game slot: one self-play game in progress.

use rand::RngExt;

use super::game_record::{End, FinishedGame, GameRecord};
use super::params::SelfPlayParams;
use super::records::PositionRow;
use super::stats::SelfPlayStats;
use crate::board::{Game, Move, Tablebase, TablebaseError};
use crate::event::GameSnapshot;
use crate::rng::{Purpose, Seed, Stream};
use crate::search::{Exploration, Search, SearchParams, SearchSlot};

/// A game, its search, and what is recorded so far.
pub(super) struct GameSlot<'a> {
    params: &'a SelfPlayParams,
    search: Search,
    /// The tablebases that decide games.
    tables: Option<&'a Tablebase>,
    noise: Stream,
    choice: Stream,
    cap: Stream,
    /// Whether the current search is a full one.
    full: bool,
    /// Whether the current search has its noise.
    noise_added: bool,
    record: GameRecord<'a>,
    /// How the game ended, if it has; an error if a table cannot be read.
    end: Result<Option<End>, TablebaseError>,
}

impl<'a> GameSlot<'a> {
    pub(super) fn new(
        params: &'a SelfPlayParams,
        search: &SearchParams,
        tables: Option<&'a Tablebase>,
        seed: Seed,
        number: u32,
        start: Game,
    ) -> Self {
        let stream = |purpose| seed.stream(u64::from(number), purpose);
        let rules = params.rules();
        let mut slot = Self {
            params,
            record: GameRecord::new(params, seed, number, start.ply()),
            search: Search::with_tablebases(start, rules, search.clone(), tables.cloned()),
            tables,
            noise: stream(Purpose::RootNoise),
            choice: stream(Purpose::MoveChoice),
            cap: stream(Purpose::PlayoutCap),
            full: true,
            noise_added: false,
            end: Ok(None),
        };
        slot.start_move();
        slot
    }

    /// Prepares the search of the current position.
    fn start_move(&mut self) {
        self.full = true;
        if let Some(cap) = &self.params.playout_cap {
            self.full = self.cap.random::<f64>() >= cap.fast_share;
            if !self.full {
                self.search.set_budget(cap.fast_simulations);
            }
        }
        self.noise_added = false;
    }

    fn add_noise(&mut self) {
        self.noise_added = true;
        let ply = self.search.game().ply() as u32;
        let fast_factor =
            self.params.playout_cap.as_ref().filter(|_| !self.full).map(|cap| cap.fast_gumbel_noise);
        let gumbel = self.params.gumbel_noise.at(ply) * fast_factor.unwrap_or(1.0);
        let exploration =
            Exploration { dirichlet: self.params.root_noise.as_ref(), gumbel, is_full: self.full };
        self.search.add_noise(&exploration, &mut self.noise);
        if self.full {
            self.search.force_playouts();
        }
    }

    fn play_move(&mut self) {
        let ply = self.search.game().ply();
        let played =
            self.search.choose(&self.params.choice, self.params.temperature.at(ply as u32), &mut self.choice);
        let row = self.row(played);
        self.record.push(row);
        self.search.play_unchecked(played);
        self.end = self.record.end(self.search.game(), self.tables);
        self.start_move();
    }

    /// The row of the current position; its result is filled in when the game ends.
    fn row(&self, played: Move) -> PositionRow {
        let game = self.search.game();
        let mut row = PositionRow {
            game: self.record.number,
            ply: game.ply() as u16,
            fen: game.position().fen(),
            played: played.packed(),
            full: self.full && self.params.policy_targets,
            ..PositionRow::default()
        };
        row.set_search(&self.search);
        row
    }

    /// The game's number.
    pub(super) fn number(&self) -> u32 {
        self.record.number
    }

    /// The game so far.
    pub(super) fn snapshot(&self) -> GameSnapshot {
        self.search.game().snapshot(self.record.number)
    }

    /// The rows of the game, if it is over.
    pub(super) fn finish(
        &mut self,
        network: &str,
        stats: &mut SelfPlayStats,
    ) -> Result<Option<FinishedGame>, TablebaseError> {
        let end = self.end.clone()?;
        Ok(end.map(|end| self.record.finish(self.search.game(), end, network, stats)))
    }
}

impl SearchSlot for GameSlot<'_> {
    fn waiting(&mut self) -> Option<(usize, &mut Search)> {
        matches!(self.end, Ok(None)).then_some((0, &mut self.search))
    }

    fn advance(&mut self) {
        if !self.noise_added {
            self.add_noise();
        }
        if self.search.is_done() {
            self.play_move();
        }
    }
}
