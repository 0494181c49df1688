//! One game of self-play in progress.

use super::lockstep::Seat;
use super::params::SelfPlayParams;
use super::records::{GameRow, PositionRow};
use super::stats::SelfPlayStats;
use crate::board::{Move, Outcome, random_opening};
use crate::rng::{Purpose, Seed, Stream};
use crate::search::{Search, Visited, choose_move};

/// A game, its search, and the rows recorded so far.
pub(super) struct SeatedGame<'a> {
    params: &'a SelfPlayParams,
    number: u32,
    search: Search,
    noise: Stream,
    choice: Stream,
    /// The net's own value and P(draw) of the position that is being searched; `None` before the root's evaluation.
    net: Option<(f64, f64)>,
    rows: Vec<PositionRow>,
    outcome: Option<Outcome>,
}

/// A finished game with its searched positions.
pub(super) struct FinishedGame {
    pub(super) game: GameRow,
    pub(super) positions: Vec<PositionRow>,
}

impl<'a> SeatedGame<'a> {
    pub(super) fn new(params: &'a SelfPlayParams, seed: Seed, number: u32) -> Self {
        let stream = |purpose| seed.stream(u64::from(number), purpose);
        let rules = params.rules();
        let game = random_opening(params.opening_plies, &rules, &mut stream(Purpose::Opening));
        Self {
            params,
            number,
            search: Search::new(game, rules, params.search.clone()),
            noise: stream(Purpose::RootNoise),
            choice: stream(Purpose::MoveChoice),
            net: None,
            rows: Vec::new(),
            outcome: None,
        }
    }

    fn note_root_evaluation(&mut self) {
        self.net = Some(self.search.root_value());
        if let Some(noise) = &self.params.root_noise {
            self.search.add_noise(noise, &mut self.noise);
        }
    }

    fn play_move(&mut self) {
        let moves: Vec<Visited> = self.search.root_moves().collect();
        let ply = self.search.game().ply();
        let played = choose_move(&moves, self.params.temperature.at(ply as u32), &mut self.choice);
        let row = self.row(&moves, played);
        self.rows.push(row);
        self.search.play(played);
        self.net = None;
        self.outcome = self.search.outcome();
    }

    /// The row of the present position; its result is filled in when the game ends.
    fn row(&self, moves: &[Visited], played: Move) -> PositionRow {
        let mut visited: Vec<(u16, u32)> = moves
            .iter()
            .filter(|candidate| candidate.visits > 0)
            .map(|candidate| (candidate.played.packed(), candidate.visits))
            .collect();
        visited.sort_unstable();
        let (root_q, root_d) = self.search.root_value();
        let (net_q, net_d) = self.net.expect("the root was evaluated before a move is played");
        PositionRow {
            game: self.number,
            ply: self.search.game().ply() as u16,
            fen: self.search.game().position().fen(),
            played: played.packed(),
            legal: moves.len() as u16,
            moves: visited.iter().map(|(packed, _)| *packed).collect(),
            visits: visited.iter().map(|(_, visits)| *visits).collect(),
            root_q: root_q as f32,
            root_d: root_d as f32,
            net_q: net_q as f32,
            net_d: net_d as f32,
            simulations: self.search.visits(),
            full: true,
            result: 0,
        }
    }

    /// The rows of the game, if it is over.
    pub(super) fn finish(&mut self, network: &str, stats: &mut SelfPlayStats) -> Option<FinishedGame> {
        let outcome = self.outcome?;
        let game = self.search.game();
        let mut positions = std::mem::take(&mut self.rows);
        for row in &mut positions {
            let side =
                game.position_before(game.ply() - row.ply as usize).expect("a row is a ply of the game");
            row.result = outcome.score_for(side.side_to_move());
        }
        let row = GameRow {
            game: self.number,
            network: network.to_owned(),
            start_fen: game.start().fen(),
            moves: game.moves().iter().map(|played| played.packed()).collect(),
            opening_plies: self.params.opening_plies as u16,
            result: outcome.score_for(crate::board::Side::White),
            reason: outcome.reason.word().to_owned(),
        };
        stats.add_game(outcome, game.ply(), &positions);
        Some(FinishedGame { game: row, positions })
    }
}

impl Seat for SeatedGame<'_> {
    fn waiting(&mut self) -> Option<(usize, &mut Search)> {
        self.outcome.is_none().then_some((0, &mut self.search))
    }

    fn advance(&mut self) {
        if self.net.is_none() {
            self.note_root_evaluation();
        }
        if self.search.is_done() {
            self.play_move();
        }
    }
}
