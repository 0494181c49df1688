//! The game slot: one self-play game in progress.

use rand::RngExt;

use super::params::{SelfPlayParams, SelfPlayResignation};
use super::records::{GameRow, PositionRow};
use super::stats::SelfPlayStats;
use crate::board::{Adjudication, Ending, GameResult, Move, Side, Tablebase, random_opening};
use crate::event::GameSnapshot;
use crate::rng::{Purpose, Seed, Stream};
use crate::search::{Exploration, Search, SearchSlot, Target};

/// A game, its search, and the rows recorded so far.
pub(super) struct GameSlot<'a> {
    params: &'a SelfPlayParams,
    number: u32,
    search: Search,
    noise: Stream,
    choice: Stream,
    cap: Stream,
    /// Whether the current search is a full one.
    full: bool,
    /// Whether the current search has its noise.
    noise_added: bool,
    /// The root's moves with their priors before noise.
    priors: Vec<(Move, f32)>,
    rows: Vec<PositionRow>,
    /// Whether nobody resigns in this game.
    is_played_through: bool,
    /// The side that resigned first, or would have.
    would_resign: Option<Side>,
    /// How the game ended.
    end: Option<(GameResult, Ending)>,
}

/// A finished game with its searched positions.
pub(super) struct FinishedGame {
    pub(super) game: GameRow,
    pub(super) positions: Vec<PositionRow>,
}

impl<'a> GameSlot<'a> {
    pub(super) fn new(
        params: &'a SelfPlayParams,
        tables: Option<Tablebase>,
        seed: Seed,
        number: u32,
    ) -> Self {
        let stream = |purpose| seed.stream(u64::from(number), purpose);
        let rules = params.rules();
        let game = random_opening(params.opening_plies, &rules, &mut stream(Purpose::Opening));
        let mut slot = Self {
            params,
            number,
            search: Search::with_tablebases(game, rules, params.search.clone(), tables),
            noise: stream(Purpose::RootNoise),
            choice: stream(Purpose::MoveChoice),
            cap: stream(Purpose::PlayoutCap),
            full: true,
            noise_added: false,
            priors: Vec::new(),
            rows: Vec::new(),
            is_played_through: params
                .resignation
                .as_ref()
                .is_some_and(|rule| stream(Purpose::Resignation).random::<f64>() < rule.played_through),
            would_resign: None,
            end: None,
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
        self.priors.clear();
        self.priors.extend(self.search.root_moves().map(|mv| (mv.played, mv.prior)));
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
        self.rows.push(row);
        let mover = self.search.game().position().side_to_move();
        self.search.play_unchecked(played);
        self.end = self.end_after(mover);
        self.start_move();
    }

    /// How the game ended by the last move, `mover`'s, if it did.
    fn end_after(&mut self, mover: Side) -> Option<(GameResult, Ending)> {
        if let Some(outcome) = self.search.outcome() {
            return Some((outcome.result(), outcome.reason.into()));
        }
        if self.params.tablebase_adjudication
            && let Some(result) = self.search.tablebase_result()
        {
            return Some((result, Ending::Adjudicated(Adjudication::Tablebase)));
        }
        let rule = self.params.resignation.as_ref()?;
        if self.would_resign.is_none() && rule.holds(&self.rows) {
            self.would_resign = Some(mover);
            if !self.is_played_through {
                let result = GameResult::won_by(Some(mover.other()));
                return Some((result, Ending::Adjudicated(Adjudication::Resignation)));
            }
        }
        None
    }

    /// The row of the current position; its result is filled in when the game ends.
    fn row(&self, played: Move) -> PositionRow {
        let target = self.search.policy_target();
        let legal = target.len() as u16;
        let mut kept: Vec<(u16, u32, u16)> = target
            .iter()
            .map(|mv: &Target| (mv.played.packed(), mv.visits, quantised(mv.share)))
            .filter(|(_, visits, share)| *visits > 0 || *share > 0)
            .collect();
        kept.sort_unstable();
        let (root_q, root_d) = self.search.root_value();
        let (net_q, net_d) = self.search.net_value();
        PositionRow {
            game: self.number,
            ply: self.search.game().ply() as u16,
            fen: self.search.game().position().fen(),
            played: played.packed(),
            legal,
            moves: kept.iter().map(|(packed, _, _)| *packed).collect(),
            visits: kept.iter().map(|(_, visits, _)| *visits).collect(),
            target: kept.iter().map(|(_, _, share)| *share).collect(),
            root_q: root_q as f32,
            root_d: root_d as f32,
            net_q: net_q as f32,
            net_d: net_d as f32,
            simulations: self.search.visits(),
            full: self.full && self.params.policy_targets,
            policy_surprise: self.policy_surprise(&target),
            result: 0,
        }
    }

    /// KL(target ‖ prior) in nats, with the priors before noise.
    fn policy_surprise(&self, target: &[Target]) -> f32 {
        let divergence = |mv: &Target| {
            let prior =
                self.priors.iter().find(|(played, _)| *played == mv.played).map_or(0.0, |(_, prior)| *prior);
            mv.share * (mv.share / f64::from(prior.max(f32::MIN_POSITIVE))).ln()
        };
        target.iter().filter(|mv| mv.share > 0.0).map(divergence).sum::<f64>().max(0.0) as f32
    }

    /// The game's number.
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// The game so far.
    pub(super) fn snapshot(&self) -> GameSnapshot {
        self.search.game().snapshot(self.number)
    }

    /// The rows of the game, if it is over.
    pub(super) fn finish(&mut self, network: &str, stats: &mut SelfPlayStats) -> Option<FinishedGame> {
        let (result, ending) = self.end?;
        let game = self.search.game();
        let mut positions = std::mem::take(&mut self.rows);
        for row in &mut positions {
            let side =
                game.position_before(game.ply() - row.ply as usize).expect("a row is a ply of the game");
            row.result = result.score_for(side.side_to_move());
        }
        let row = GameRow {
            game: self.number,
            network: network.to_owned(),
            start_fen: game.start().fen(),
            moves: game.moves().iter().map(|played| played.packed()).collect(),
            opening_plies: self.params.opening_plies as u16,
            result,
            reason: ending,
        };
        stats.add_game(&row, &positions);
        if let Some(side) = self.would_resign.filter(|_| self.is_played_through) {
            stats.resignations_tested += 1;
            stats.false_resignations += u64::from(result.score_for(side) >= 0);
        }
        Some(FinishedGame { game: row, positions })
    }
}

impl SelfPlayResignation {
    /// Whether the side that searched the last of a game's positions resigns.
    fn holds(&self, rows: &[PositionRow]) -> bool {
        let moves = self.moves as usize;
        let mut own = rows.iter().rev().step_by(2).take(moves);
        rows.len() >= 2 * moves - 1 && own.all(|row| f64::from(row.root_q) <= -self.value)
    }
}

/// A share in [0, 1] as `PositionRow::target` stores it.
fn quantised(share: f64) -> u16 {
    (share * f64::from(u16::MAX)).round() as u16
}

impl SearchSlot for GameSlot<'_> {
    fn waiting(&mut self) -> Option<(usize, &mut Search)> {
        self.end.is_none().then_some((0, &mut self.search))
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
