//! Moves as people write them: standard algebraic notation (SAN), read with tolerance and written by the book.

use shakmaty::san::SanPlus;
use thiserror::Error;

use super::illegal::Obstacle;
use super::reading::{Reading, castling, readings};
use super::{Move, Position};

/// Text that names no one legal move.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MoveTextError {
    /// It does not look like a move.
    #[error("\"{text}\" is not a move; expected one such as {example}")]
    NotAMove {
        /// The text given.
        text: String,
        /// A legal move, or `none`.
        example: String,
    },
    /// Several legal moves are meant by it.
    #[error("\"{text}\" may be {}; say which", candidates.join(" or "))]
    Ambiguous {
        /// The text given.
        text: String,
        /// The moves as they should be written.
        candidates: Vec<String>,
    },
    /// No legal move is meant by it.
    #[error("{text} is not legal: {obstacle}")]
    Illegal {
        /// The text given.
        text: String,
        /// What stands against it.
        obstacle: Obstacle,
    },
}

impl Position {
    /// A legal move in standard algebraic notation, with `+` for check and `#` for mate.
    pub fn san(&self, played: Move) -> String {
        SanPlus::from_move(self.0.clone(), self.unpack(played)).to_string()
    }

    /// The legal move that is meant by SAN such as `Nf3`, `exd5`, `O-O` and `e8=Q`, or by UCI text such as `g1f3` and `e7e8q`.
    ///
    /// What is written by the book is taken as it is written. Otherwise zeros for castling, missing or needless `x`, `=`, `+`
    /// and squares, and lower-case pieces are understood as long as one legal move alone can be meant.
    pub fn read_move(&self, text: &str) -> Result<Move, MoveTextError> {
        let plain = without_marks(text);
        let legal = self.legal_moves();
        let is_exact =
            |of: &&Move| of.to_string() == plain || without_marks(&self.san(**of)) == castling(plain);
        if let Some(exact) = legal.iter().find(is_exact) {
            return Ok(*exact);
        }
        let readings = readings(plain);
        let is_meant = |of: &&Move| readings.iter().any(|reading| reading.is_meant(self, **of));
        match legal.iter().filter(is_meant).copied().collect::<Vec<_>>()[..] {
            [only] => Ok(only),
            [] => Err(self.refuse(text, &readings, &legal)),
            ref several => Err(MoveTextError::Ambiguous {
                text: text.to_owned(),
                candidates: several.iter().map(|of| self.san(*of)).collect(),
            }),
        }
    }

    fn refuse(&self, text: &str, readings: &[Reading], legal: &[Move]) -> MoveTextError {
        let text = text.to_owned();
        let example = || legal.first().map_or("none".to_owned(), |of| self.san(*of));
        match readings.first().map(|reading| self.obstacle(reading)) {
            Some(obstacle) => MoveTextError::Illegal { text, obstacle },
            None => MoveTextError::NotAMove { text, example: example() },
        }
    }
}

/// Without blanks, praise, check and mate at the end.
fn without_marks(text: &str) -> &str {
    text.trim().trim_end_matches(['+', '#', '!', '?'])
}

#[cfg(test)]
mod tests;
