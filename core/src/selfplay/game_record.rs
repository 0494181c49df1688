//! What a game of self-play has recorded so far, whatever searches its moves, and the ends that its searches decide.

use rand::RngExt;

use super::params::{LevelDraw, SelfPlayParams, SelfPlayResignation};
use super::records::{GameRow, PositionRow};
use super::stats::SelfPlayStats;
use crate::board::{Adjudication, Ending, Game, GameResult, Side, Tablebase, TablebaseError};
use crate::rng::{Purpose, Seed};

/// How a game ended.
pub(super) type End = (GameResult, Ending);

/// The rows of a game in progress.
pub(super) struct GameRecord<'a> {
    params: &'a SelfPlayParams,
    pub(super) number: u32,
    /// Plies before the first search.
    opening_plies: usize,
    rows: Vec<PositionRow>,
    /// Whether nobody resigns in this game.
    is_played_through: bool,
    /// The side that resigned first, or would have.
    would_resign: Option<Side>,
}

/// A finished game with its searched positions.
pub(super) struct FinishedGame {
    pub(super) game: GameRow,
    pub(super) positions: Vec<PositionRow>,
}

impl<'a> GameRecord<'a> {
    pub(super) fn new(params: &'a SelfPlayParams, seed: Seed, number: u32, opening_plies: usize) -> Self {
        let mut stream = seed.stream(u64::from(number), Purpose::Resignation);
        let is_played_through =
            params.resignation.as_ref().is_some_and(|rule| stream.random::<f64>() < rule.played_through);
        Self { params, number, opening_plies, rows: Vec::new(), is_played_through, would_resign: None }
    }

    /// Adds the row of a position in which a move was played.
    pub(super) fn push(&mut self, row: PositionRow) {
        self.rows.push(row);
    }

    /// How the game ended by its last move, if it did: by the rules, by tablebases, or by what its searches found.
    pub(super) fn end(
        &mut self,
        game: &Game,
        tables: Option<&Tablebase>,
    ) -> Result<Option<End>, TablebaseError> {
        if let Some(outcome) = game.outcome(&self.params.rules()) {
            return Ok(Some((outcome.result(), outcome.reason.into())));
        }
        if self.params.tablebase_adjudication
            && let Some(tables) = tables
            && let Some(result) = tables.adjudicate(game.position())?
        {
            return Ok(Some((result, Ending::Adjudicated(Adjudication::Tablebase))));
        }
        Ok(self.adjudicated(game.position().side_to_move().other()))
    }

    /// How the searches so far end the game after a move of `mover`, if they do.
    fn adjudicated(&mut self, mover: Side) -> Option<End> {
        let resignation = self.params.resignation.as_ref();
        if self.would_resign.is_none() && resignation.is_some_and(|rule| rule.holds(&self.rows)) {
            self.would_resign = Some(mover);
            if !self.is_played_through {
                let result = GameResult::won_by(Some(mover.other()));
                return Some((result, Ending::Adjudicated(Adjudication::Resignation)));
            }
        }
        let is_level = self.params.level_draw.as_ref().is_some_and(|rule| rule.holds(&self.rows));
        is_level.then_some((GameResult::Draw, Ending::Adjudicated(Adjudication::AgreedDraw)))
    }

    /// The rows of the game once it is over; the results are filled in.
    pub(super) fn finish(
        &mut self,
        game: &Game,
        (result, ending): End,
        network: &str,
        stats: &mut SelfPlayStats,
    ) -> FinishedGame {
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
            opening_plies: self.opening_plies as u16,
            result,
            reason: ending,
        };
        stats.add_game(&row, &positions);
        let is_tested = self.is_played_through && !ending.is_cut_off();
        if let Some(side) = self.would_resign.filter(|_| is_tested) {
            stats.resignations_tested += 1;
            stats.false_resignations += u64::from(result.score_for(side) >= 0);
        }
        FinishedGame { game: row, positions }
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

impl LevelDraw {
    /// Whether the game is drawn after the last of its positions.
    fn holds(&self, rows: &[PositionRow]) -> bool {
        let searches = 2 * self.moves as usize;
        let is_late = rows.last().is_some_and(|row| u32::from(row.ply) + 1 >= self.first_ply);
        let mut last = rows.iter().rev().take(searches);
        is_late && rows.len() >= searches && last.all(|row| f64::from(row.root_q.abs()) <= self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::{LevelDraw, PositionRow, SelfPlayResignation};

    /// The rows of a game whose searches had these values, from ply 10.
    fn rows(values: &[f32]) -> Vec<PositionRow> {
        let row = |(ply, root_q): (u16, &f32)| PositionRow { ply, root_q: *root_q, ..PositionRow::default() };
        (10..).zip(values).map(row).collect()
    }

    #[test]
    fn a_side_resigns_by_its_own_searches_whatever_the_other_finds() {
        let holds = |values: &[f32]| {
            SelfPlayResignation { moves: 2, value: 0.5, played_through: 0.0 }.holds(&rows(values))
        };
        assert!(holds(&[-0.5, 0.0, -0.5]), "the bound counts, and the other side's values do not");
        assert!(holds(&[0.9, -0.5, -0.5, -0.5]));
        assert!(!holds(&[-0.5, -0.5]), "only one of its own moves was searched");
        assert!(!holds(&[-0.5, 0.0, -0.375]) && !holds(&[-0.375, 0.0, -0.5]));
        assert!(!holds(&[0.5, 0.0, 0.5]), "a side that wins does not resign");
        let patient = SelfPlayResignation { moves: 3, value: 0.5, played_through: 0.0 };
        assert!(patient.holds(&rows(&[-0.5, 0.0, -0.5, 0.0, -0.5])));
        assert!(!patient.holds(&rows(&[0.0, -0.5, 0.0, -0.5])), "only two of its own moves were searched");
    }

    #[test]
    fn a_level_draw_needs_both_sides_and_its_first_ply() {
        let holds =
            |first_ply, values: &[f32]| LevelDraw { moves: 2, value: 0.25, first_ply }.holds(&rows(values));
        let level = [0.25, -0.25, 0.0, 0.25];
        // The last of four rows is ply 13, after which 14 plies are played.
        assert!(holds(14, &level) && !holds(15, &level));
        assert!(!holds(0, &level[1..]) && !holds(0, &[]), "too few searches");
        assert!(holds(14, &[0.75, 0.25, -0.25, 0.0, 0.25]), "earlier searches do not count");
        assert!(!holds(14, &[0.375, 0.0, 0.0, 0.0]) && !holds(14, &[0.0, 0.0, -0.375, 0.0]));
        let patient = LevelDraw { moves: 3, value: 0.25, first_ply: 0 };
        assert!(patient.holds(&rows(&[0.0; 6])) && !patient.holds(&rows(&[0.0; 5])));
    }
}
