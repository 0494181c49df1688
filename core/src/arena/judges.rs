//! Judges of openings: nets and programs that say how good a position is.

use super::error::ArenaError;
use super::program::Program;
use crate::board::Game;
use crate::event::Observer;
use crate::network::{Evaluator, LEELA_SCALE, centipawns};
use crate::search::{ANALYSIS_RULES, AnalysisError, Search, SearchParams, analyse};

/// Judges openings. What it says of a position depends on nothing but that position and those beside it.
pub trait OpeningJudge {
    /// The scores of the last positions of games, which are not over, in centipawns for the side to move.
    fn scores(&mut self, games: &[Game], observer: &dyn Observer) -> Result<Vec<f64>, ArenaError>;
}

/// A net with a search; one of a single simulation is the net's own value.
pub struct NetJudge {
    evaluator: Box<dyn Evaluator>,
    search: SearchParams,
}

impl NetJudge {
    /// A judge by the root's value of a search, in centipawns as in matches.
    pub fn new(evaluator: Box<dyn Evaluator>, search: SearchParams) -> Self {
        Self { evaluator, search }
    }
}

impl OpeningJudge for NetJudge {
    fn scores(&mut self, games: &[Game], observer: &dyn Observer) -> Result<Vec<f64>, ArenaError> {
        self.evaluator.start_shard();
        let search =
            |game: &Game| Search::with_tablebases(game.clone(), ANALYSIS_RULES, self.search.clone(), None);
        let mut searches: Vec<Search> = games.iter().map(search).collect();
        match analyse(&mut searches, &mut *self.evaluator, observer) {
            Ok(_) => {}
            Err(AnalysisError::Evaluator(cause)) => return Err(cause.into()),
            Err(AnalysisError::Cancelled(cause)) => return Err(cause.into()),
        }
        Ok(searches.iter().map(|search| centipawns(search.root_value().value, LEELA_SCALE)).collect())
    }
}

/// A program, which is given each position as a game of its own.
pub struct ProgramJudge {
    name: String,
    program: Box<dyn Program>,
}

impl ProgramJudge {
    /// A judge by the score that a program reports with its move; `name` is for messages.
    pub fn new(name: String, program: Box<dyn Program>) -> Self {
        Self { name, program }
    }
}

impl OpeningJudge for ProgramJudge {
    fn scores(&mut self, games: &[Game], observer: &dyn Observer) -> Result<Vec<f64>, ArenaError> {
        let mut score = |game: &Game| {
            self.program.begin()?;
            self.program.think(game, None);
            loop {
                observer.check()?;
                if let Some(answer) = self.program.answer() {
                    let no_score = || ArenaError::NoScore { player: self.name.clone() };
                    return answer?.score.ok_or_else(no_score);
                }
            }
        };
        games.iter().map(&mut score).collect()
    }
}
