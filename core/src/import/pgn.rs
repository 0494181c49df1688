//! PGN files: games of people and programs, with clocks and evaluations.

mod check;
mod cut;
mod params;
mod parse;
mod value;

use std::path::Path;

pub use params::{EvalFormula, PgnParams};
pub use value::value_of;

use super::content::{Content, SourceError};
use super::format::{Chunk, Cut, GameFormat, Parsed};
use super::stats::ImportStats;
use crate::board::{PgnReader, PgnRecord, ScoreView};
use crate::store::{GameRow, HeaderRow, PositionRow};

/// Pairs of evaluations from which on they say whose they are. Chosen.
const LEAST_PAIRS: u64 = 10;

impl GameFormat for PgnParams {
    const CONTENT: &'static str = "games as PGN";
    const SUCH_AS: &'static str = "*.pgn";

    fn max_games(&self) -> Option<u32> {
        self.max_games
    }

    fn shard_games(&self) -> u32 {
        self.shard_games
    }

    fn skip_plies(&self) -> u32 {
        self.skip_plies
    }

    fn probe(head: &[u8], file: &Path) -> Result<(), SourceError> {
        let mut reader = PgnReader::new(head, 1);
        let is_game =
            |record: PgnRecord| record.game.ply() > 0 || record.end.is_some() || !record.tags.is_empty();
        let has_games = std::iter::from_fn(|| reader.next_game(&|_| true)).any(is_game);
        if has_games { Ok(()) } else { Err(SourceError::NotPgn { file: file.to_owned() }) }
    }

    fn cut(content: &mut Content, ahead: &mut Vec<u8>) -> Result<Cut, SourceError> {
        cut::cut(content, ahead)
    }

    fn parse(&self, chunk: &Chunk, source: &str) -> Vec<Parsed> {
        parse::parse(chunk, source, self)
    }

    fn fault(&self, row: &GameRow, header: &HeaderRow, positions: &[PositionRow]) -> Option<String> {
        check::fault(row, header, positions, self)
    }

    /// Two engines that play a game agree more often than not who is ahead.
    fn doubt(&self, stats: &ImportStats) -> Option<String> {
        let (pairs, opposed) = (stats.eval_pairs, stats.opposed_pairs);
        if self.evals == EvalFormula::Ignore || pairs < LEAST_PAIRS {
            return None;
        }
        let advice = match self.scores {
            ScoreView::Mover => "if they are White's, give scores: \"white\" (--scores white)",
            ScoreView::White => "if they are those of the player that moved, leave out scores: \"white\"",
        };
        (2 * opposed > pairs).then(|| {
            format!(
                "{opposed} of {pairs} pairs of consecutive evaluations of at least a pawn have opposite signs, so the scores in comments \
                 seem to be seen from another side: {advice}; or leave them out with evals: \"ignore\""
            )
        })
    }
}

#[cfg(test)]
mod tests;
