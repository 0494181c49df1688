//! Standard algebraic notation (SAN), parsed leniently and written in standard form.

use shakmaty::san::SanPlus;
use thiserror::Error;

use super::illegal::IllegalReason;
use super::reading::{Reading, castling, readings};
use super::text_file::shortened;
use super::{Move, Position};

/// Text that does not identify one legal move.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum MoveTextError {
    #[error("\"{text}\" is not a move; expected one such as {example}")]
    NotAMove {
        text: String,
        /// A legal move, or `none`.
        example: String,
    },
    #[error("\"{text}\" may be {}; say which", candidates.join(" or "))]
    Ambiguous {
        text: String,
        /// The moves as they should be written.
        candidates: Vec<String>,
    },
    #[error("{text} is not legal: {reason}")]
    Illegal { text: String, reason: IllegalReason },
}

impl Position {
    /// A legal move in standard algebraic notation, with `+` for check and `#` for mate.
    pub fn san(&self, mv: Move) -> String {
        SanPlus::from_move(self.0.clone(), self.unpack(mv)).to_string()
    }

    /// Parses a legal move from SAN such as `Nf3`, `exd5`, `O-O` and `e8=Q`, or from UCI text such as `g1f3` and `e7e8q`.
    ///
    /// An exact match always wins. Otherwise zeros for castling, missing or superfluous `x`, `=`, `+` and squares, and lower-case
    /// pieces are accepted as long as only one legal move matches.
    pub fn read_move(&self, text: &str) -> Result<Move, MoveTextError> {
        let plain = without_marks(text);
        let legal = self.legal_moves();
        let is_exact =
            |mv: &&Move| mv.to_string() == plain || without_marks(&self.san(**mv)) == castling(plain);
        if let Some(exact) = legal.iter().find(is_exact) {
            return Ok(*exact);
        }
        let readings = readings(plain);
        let matches = |mv: &&Move| readings.iter().any(|reading| reading.matches(self, **mv));
        match legal.iter().filter(matches).copied().collect::<Vec<_>>()[..] {
            [only] => Ok(only),
            [] => Err(self.read_error(text, &readings, &legal)),
            ref several => Err(MoveTextError::Ambiguous {
                text: shortened(text),
                candidates: several.iter().map(|mv| self.san(*mv)).collect(),
            }),
        }
    }

    fn read_error(&self, text: &str, readings: &[Reading], legal: &[Move]) -> MoveTextError {
        let text = shortened(text);
        let example = || legal.first().map_or("none".to_owned(), |mv| self.san(*mv));
        match readings.first().map(|reading| self.illegal_reason(reading)) {
            Some(reason) => MoveTextError::Illegal { text, reason },
            None => MoveTextError::NotAMove { text, example: example() },
        }
    }
}

/// Without surrounding blanks and the marks `+`, `#`, `!` and `?` at the end.
fn without_marks(text: &str) -> &str {
    text.trim().trim_end_matches(['+', '#', '!', '?'])
}

#[cfg(test)]
mod tests;
