//! Searches of given positions, stored as tables of their best lines and their trees.

use super::lines::Line;
use super::rows::proof_name;
use super::{Search, SearchParams, search_in_lockstep};
use crate::board::{Game, Rules};
use crate::event::{Cancelled, Event, Observer};
use crate::network::{Evaluator, EvaluatorError};
use crate::params;

params! {
    /// Searches of given positions, without noise and forced playouts.
    pub struct AnalysisParams {
        /// The search of every position. For searches that are continued, its simulations come on top.
        search: SearchParams = SearchParams::default();
        /// Best moves of each position that get a line in the `searches` table (multi-PV).
        lines: u32 = 1, in 1..=218;
        /// Whether the trees are stored, in the `trees` table.
        tree: bool = true;
        /// Whether the trees include moves without a visit. A search can be continued only with them; without them a tree has about
        /// a thirtieth of the rows.
        untried: bool = true;
        /// Positions that are searched in lockstep, and stored and resumed together.
        shard_positions: u32 = 64, in 1..=65_536;
    }
    check |params| params.search.without_effect_on_positions();
}

/// A line of a search: a row of the `searches` table.
#[derive(Debug, Clone, PartialEq)]
pub struct LineRow {
    /// The number of the search; the key of the table, with `line`.
    pub search: u32,
    /// 1 for the best line.
    pub line: u16,
    /// The position the game started from.
    pub start_fen: String,
    /// The moves from there to the position searched, packed.
    pub moves: Vec<u16>,
    /// The position searched.
    pub fen: String,
    /// Simulations of the search.
    pub simulations: u32,
    /// The line's first move, packed.
    pub played: u16,
    /// Simulations that went through it.
    pub visits: u32,
    /// Its prior.
    pub prior: f32,
    /// Its value for the side to move, in [−1, 1], with the draw score: proven, else the mean; without a visit, that of
    /// the position searched.
    pub q: f32,
    /// "win", "draw" or "loss" if that is proven, else "none".
    pub proof: String,
    /// The principal variation, packed.
    pub pv: Vec<u16>,
}

/// The rules of an analysis: games end by the rules of chess, practically without a ply cap.
pub const RULES: Rules = Rules { max_plies: 10_000 };

/// The analysis ended early.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum AnalysisError {
    #[error(transparent)]
    Evaluator(#[from] EvaluatorError),
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// Runs searches in lockstep until all are done. Returns the number of evaluations.
pub fn analyse(
    searches: &mut [Search],
    evaluator: &mut dyn Evaluator,
    observer: &dyn Observer,
) -> Result<u64, AnalysisError> {
    let mut evaluations = 0;
    search_in_lockstep(searches, evaluator, &mut |rows| -> Result<(), AnalysisError> {
        evaluations += rows as u64;
        observer.event(Event::Work { unit: "evaluations", amount: rows as u64 });
        Ok(observer.check()?)
    })?;
    Ok(evaluations)
}

impl LineRow {
    /// The best lines of a search.
    pub fn best_lines(search: &Search, number: u32, count: u32) -> Vec<Self> {
        let lines = (1..).zip(search.lines(count as usize));
        lines.map(|(rank, line)| Self::new(search, number, rank, &line)).collect()
    }

    fn new(search: &Search, number: u32, rank: u16, line: &Line) -> Self {
        let (game, first) = (search.game(), &line.first);
        Self {
            search: number,
            line: rank,
            start_fen: game.start().fen(),
            moves: packed(game),
            fen: game.position().fen(),
            simulations: search.visits(),
            played: first.played.packed(),
            visits: first.visits,
            prior: first.prior,
            q: first.value.unwrap_or_else(|| search.root_score()) as f32,
            proof: proof_name(first.proof).to_owned(),
            pv: line.moves.iter().map(|mv| mv.packed()).collect(),
        }
    }
}

fn packed(game: &Game) -> Vec<u16> {
    game.moves().iter().map(|played| played.packed()).collect()
}
